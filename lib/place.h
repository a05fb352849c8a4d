/* SPDX-License-Identifier: BSD-3-Clause */
/* place.h: where a caller's pointer leads, and reading and writing there: the pointer decides. */
#ifndef YK_PLACE_H
#define YK_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <yoke.h>

typedef struct yk_place {
    bool foreign; /* device or managed memory: CUDA copies, the host does not touch it */
    bool managed;
    int device; /* where foreign: whose, or for managed memory by which it was made */
} yk_place;

/* Initialises nothing: a pointer that CUDA cannot know yet is the host's. NULL is the host's. */
yoke_status yk_place_find(const char *what, const void *pointer, yk_place *place);

/* One of to and from is at the place, the other the host's; complete at return. */
yoke_status yk_place_copy(const yk_place *place, void *to, const void *from, size_t bytes);
yoke_status yk_place_clear(const yk_place *place, void *to, size_t bytes);

/* Waits for what the legacy default stream of the place's device holds: a caller who names no
 * stream has most likely filled device memory on that one, and even a plain cudaMemcpy may return
 * before the device has the last bytes. */
yoke_status yk_place_settle(const yk_place *place);

/* Waits for what a caller's stream holds. Refuses one that is being captured, or any where there is
 * no CUDA. */
yoke_status yk_place_wait(void *stream);

/* False in a build without CUDA, where all memory is the host's. */
bool yk_place_knows_devices(void);

/* Doubles that are looked at at a time, on the stack, where a vector may be a device's. */
enum { YK_PLACE_CHUNK = 4096 };

/* ------------------------------------------------------- behind these calls */

/* As above, of places that are foreign; a place comes as that of the host. */
typedef struct yk_foreign {
    yoke_status (*find)(const char *what, const void *pointer, yk_place *place);
    yoke_status (*copy)(const yk_place *place, void *to, const void *from, size_t bytes);
    yoke_status (*clear)(const yk_place *place, void *to, size_t bytes);
    yoke_status (*settle)(const yk_place *place);
    yoke_status (*wait)(void *stream);
} yk_foreign;

/* features.c: what this build has of it; NULL: nothing. */
const yk_foreign *yk_foreign_memory(void);

extern const yk_foreign yk_foreign_cuda;

#endif
