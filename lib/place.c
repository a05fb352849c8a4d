/* SPDX-License-Identifier: BSD-3-Clause */
/* place.c: host memory by the host, all other by what the build has for it. */
#include "lib/place.h"

#include <string.h>

#include "lib/status.h"

bool yk_place_knows_devices(void)
{
    return yk_foreign_memory() != NULL;
}

yoke_status yk_place_find(const char *what, const void *pointer, yk_place *place)
{
    const yk_foreign *foreign = yk_foreign_memory();
    *place = (yk_place){.foreign = false};
    return foreign && pointer ? foreign->find(what, pointer, place) : YOKE_OK;
}

yoke_status yk_place_copy(const yk_place *place, void *to, const void *from, size_t bytes)
{
    if (bytes == 0) return YOKE_OK;
    if (place->foreign) return yk_foreign_memory()->copy(place, to, from, bytes);
    memcpy(to, from, bytes);
    return YOKE_OK;
}

yoke_status yk_place_clear(const yk_place *place, void *to, size_t bytes)
{
    if (bytes == 0) return YOKE_OK;
    if (place->foreign) return yk_foreign_memory()->clear(place, to, bytes);
    memset(to, 0, bytes);
    return YOKE_OK;
}

yoke_status yk_place_settle(const yk_place *place)
{
    return place->foreign ? yk_foreign_memory()->settle(place) : YOKE_OK;
}

yoke_status yk_place_wait(void *stream)
{
    const yk_foreign *foreign = yk_foreign_memory();
    if (!foreign)
        return yk_fail(YOKE_NOT_BUILT,
                       "use_stream needs the CUDA engine, which this build does not have");
    return foreign->wait(stream);
}
