/* SPDX-License-Identifier: BSD-3-Clause */
/* shared.h: memory that the host and a GPU both reach, through which their parts meet. No CUDA
 * header is needed to use it. */
#ifndef YK_CUDA_SHARED_H
#define YK_CUDA_SHARED_H

#include <stddef.h>
#include <yoke.h>

/* Why a GPU does not reach pinned host memory, managed memory while the host works in it, plain
 * memory; "" if it does. The text is the calling thread's, until its next question. */
const char *yk_shared_no_mapped(int device);
const char *yk_shared_no_managed(int device);
const char *yk_shared_no_plain(int device);

/* Pinned host memory, mapped: where the host has it and where the GPU does. Both are NULL on
 * failure. */
yoke_status yk_shared_allocate_mapped(int device, const char *what, size_t bytes, void **host,
                                      void **gpu);
void yk_shared_free_mapped(void *host);

/* Managed memory that stays on the host, where the GPU reaches it without a fault: a page that
 * moved would do so twice a meeting. Refused beyond what the device has free, as asking for that
 * can hang it. *memory is NULL on failure. */
yoke_status yk_shared_allocate_managed(int device, const char *what, size_t bytes, void **memory);
void yk_shared_free_managed(void *memory);

/* Asks that whole pages of plain memory stay on the host, where the GPU reaches them, as above. A
 * driver that does not take the advice may move them at each touch: slower, and as right. */
void yk_shared_keep_on_host(int device, void *memory, size_t bytes);

/* Memory of the device's alone; *memory is NULL on failure. */
yoke_status yk_shared_allocate_device(int device, const char *what, size_t bytes, void **memory);
void yk_shared_free_device(void *memory);

#endif
