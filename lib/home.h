/* SPDX-License-Identifier: BSD-3-Clause */
/* home.h: where the arrays of a part lie. */
#ifndef YK_HOME_H
#define YK_HOME_H

/* Memory that kernels of a GPU reach. */
typedef enum yk_memory {
    YK_MEMORY_DEVICE,  /* its own */
    YK_MEMORY_MAPPED,  /* pinned host memory, read and written over the link */
    YK_MEMORY_MANAGED, /* moves between host and device; placed on the device */
    YK_MEMORY_SYSTEM   /* plain host memory, by the host's page tables */
} yk_memory;

typedef enum yk_home_kind {
    YK_HOME_OWNER,  /* in its owner's own memory */
    YK_HOME_SHARED, /* matrix and vectors in a memory mode's */
    YK_HOME_SPILL   /* as owner's, but for the last share of a GPU's matrix, in mapped memory */
} yk_home_kind;

typedef struct yk_home {
    yk_home_kind kind;
    yk_memory memory; /* of matrix and vectors, but for what is spilled */
    double spill;     /* share of the matrix's entries, at least; 0 but for YK_HOME_SPILL */
} yk_home;

/* The share of a device, one in so many bytes, that is left to the driver and to others when
 * managed memory is placed on it. */
enum { YK_MANAGED_MARGIN = 32 };

#endif
