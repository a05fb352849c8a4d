/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_profile.c: any bytes as a machine's profile. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_entry(yk_profile *profile, const yk_profile_entry *e)
{
    if (e->is_curve) {
        const yk_curve *curve = yk_profile_curve(profile, e);
        if (curve->points < 0 || curve->points > YK_CURVE_POINTS) abort();
        for (int k = 0; k < curve->points; k++)
            if (!yk_unit_sane(e->unit, curve->value[k]) ||
                !(curve->at[k] > (k ? curve->at[k - 1] : 0.0)))
                abort();
        if (curve->points && !isfinite(yk_curve_at(curve, 3.0))) abort();
    } else if (yk_known(yk_profile_figure(profile, e)) &&
               !yk_unit_sane(e->unit, yk_profile_figure(profile, e)->value)) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static yk_profile profile;
    bool edited = false;
    yoke_status status = yk_profile_parse((const char *)data, size, "input", &profile, &edited);
    if (status != YOKE_OK && (status != YOKE_FORMAT || !*yoke_error_text())) abort();
    for (int i = 0; i < yk_profile_entry_count; i++) {
        const yk_profile_entry *e = &yk_profile_entries[i];
        check_entry(&profile, e);
        if (status != YOKE_OK && !e->is_curve && yk_known(yk_profile_figure(&profile, e))) abort();
    }
    return 0;
}
