/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_shipped.c: the profiles that come with the library, made of lib/profiles at build time.
 */
#include <stddef.h>
#include <string.h>

#include "lib/profile.h"
#include "lib/shipped_profiles.h"
#include "lib/status.h"

const char *yk_profile_shipped_name(int k)
{
    return k >= 0 && (size_t)k < sizeof shipped / sizeof *shipped ? shipped[k].name : NULL;
}

yoke_status yk_profile_shipped(const char *name, yk_profile *profile)
{
    for (int k = 0; shipped[k].name; k++) {
        if (strcmp(shipped[k].name, name) != 0) continue;
        YK_TRY(yk_profile_parse(shipped[k].text, shipped[k].size, name, profile, NULL));
        strncpy(profile->name, name, sizeof profile->name - 1);
        return YOKE_OK;
    }
    return yk_fail(YOKE_UNKNOWN_NAME, "no profile named '%s' comes with this library", name);
}
