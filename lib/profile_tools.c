/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_tools.c: profiles for tools. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/calibrate.h"
#include "lib/context.h"
#include "lib/status.h"
#include "lib/threads.h"

struct yoke_profile {
    yk_profile profile;
    char notice[1024];
};

static yoke_status make(yoke_profile **made)
{
    *made = calloc(1, sizeof **made);
    return *made ? YOKE_OK : yk_fail(YOKE_NO_MEMORY, "no memory for %zu bytes", sizeof **made);
}

yoke_status yoke_profile_open(const char *machine, int device, yoke_profile **profile)
{
    yoke_profile *made;
    if (!machine || !profile)
        return yk_fail(YOKE_INVALID, "%s is NULL", machine ? "profile" : "machine");
    YK_TRY(make(&made));
    yoke_status status =
        yk_profile_open(machine, device, &made->profile, made->notice, sizeof made->notice);
    if (status == YOKE_OK)
        *profile = made;
    else
        free(made);
    return status;
}

static yoke_status check_device(int device)
{
    const char *reason;
    int count = device >= 0 ? yoke_gpu_count(&reason) : 0;
    if (count == 0 || device < count) return YOKE_OK;
    return yk_fail(YOKE_UNUSABLE, "device %d: this machine has %d, counted from 0", device, count);
}

yoke_status yoke_profile_calibrate(yoke_context *context, int device,
                                   void (*progress)(void *user, const char *step), void *user,
                                   yoke_profile **profile)
{
    yoke_profile *made;
    if (!context || !profile)
        return yk_fail(YOKE_INVALID, "%s is NULL", context ? "profile" : "context");
    YK_TRY(check_device(device));
    YK_TRY(make(&made));
    yk_calibration c = {.context = context,
                        .profile = &made->profile,
                        .progress = progress,
                        .user = user,
                        .threads = yk_threads(context, 0)};
    yk_calibrate(&c, device);
    memcpy(made->notice, c.notice, sizeof made->notice);
    *profile = made;
    return YOKE_OK;
}

yoke_status yoke_profile_save(const yoke_profile *profile, const char *path, char *where,
                              size_t size)
{
    char kept[4096];
    if (!profile) return yk_fail(YOKE_INVALID, "profile is NULL");
    if (!path) {
        YK_TRY(yk_profile_kept_path(&profile->profile.key, true, kept, sizeof kept));
        path = kept;
    }
    YK_TRY(yk_profile_write(path, &profile->profile));
    if (where) snprintf(where, size, "%s", path);
    return YOKE_OK;
}

void yoke_profile_close(yoke_profile *profile)
{
    free(profile);
}

const char *yoke_profile_notice(const yoke_profile *profile)
{
    return profile->notice;
}

void yoke_profile_describe(const yoke_profile *profile, yoke_profile_machine *machine)
{
    const yk_profile *p = &profile->profile;
    *machine = (yoke_profile_machine){p->name,    p->text,       p->date,       p->key.cpu,
                                      p->key.gpu, p->key.driver, p->key.threads};
}

int yoke_profile_figure(const yoke_profile *profile, int k, yoke_figure *figure)
{
    if (k < 0 || k >= yk_profile_entry_count) return 0;
    yk_profile *p = (yk_profile *)&profile->profile; /* only looked at */
    const yk_profile_entry *e = &yk_profile_entries[k];
    *figure = (yoke_figure){.name = e->name,
                            .text = e->text,
                            .unit = yk_unit_text(e->unit),
                            .at_unit = e->is_curve ? yk_unit_text(e->at) : NULL,
                            .value = (double)NAN};
    if (e->is_curve) {
        const yk_curve *curve = yk_profile_curve(p, e);
        figure->points = curve->points;
        figure->at = curve->at;
        figure->values = curve->value;
        figure->kind = yk_figure_kind_text(curve->kind);
        figure->source = curve->source;
    } else {
        const yk_figure *one = yk_profile_figure(p, e);
        figure->value = one->value;
        figure->kind = yk_figure_kind_text(one->kind);
        figure->source = one->source;
    }
    return 1;
}

double yoke_profile_value(const yoke_profile *profile, const char *name, double at)
{
    yk_profile *p = (yk_profile *)&profile->profile; /* only looked at */
    for (int k = 0; k < yk_profile_entry_count; k++) {
        const yk_profile_entry *e = &yk_profile_entries[k];
        if (strcmp(e->name, name) != 0) continue;
        return e->is_curve ? yk_curve_at(yk_profile_curve(p, e), at)
                           : yk_profile_figure(p, e)->value;
    }
    return NAN;
}
