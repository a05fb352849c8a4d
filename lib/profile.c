/* SPDX-License-Identifier: BSD-3-Clause */
/* profile.c: the names of a profile's figures, and asking a curve. */
#include "lib/profile.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define FIGURE(name, unit, text)    {#name, text, unit, YK_COUNT, false, offsetof(yk_profile, name)},
#define CURVE(name, unit, at, text) {#name, text, unit, at, true, offsetof(yk_profile, name)},
const yk_profile_entry yk_profile_entries[] = {YK_PROFILE_FIGURES(FIGURE) YK_PROFILE_CURVES(CURVE)};
const int yk_profile_entry_count = sizeof yk_profile_entries / sizeof *yk_profile_entries;

/* What no machine of today is near to: a wrong unit or a slip of the hand is outside. */
static const struct unit {
    const char *text;
    double least, most;
} units[] = {
    [YK_COUNT] = {"", 0.0, 1e6},      [YK_BYTES] = {"B", 1.0, 1e17},
    [YK_SECONDS] = {"s", 1e-10, 1e2}, [YK_SPEED] = {"B/s", 1e5, 1e16},
    [YK_RATE] = {"1/s", 1e3, 1e15},
};

const char *yk_unit_text(yk_unit unit)
{
    return units[unit].text;
}

bool yk_unit_sane(yk_unit unit, double value)
{
    return value >= units[unit].least && value <= units[unit].most;
}

const char *yk_figure_kind_text(yk_figure_kind kind)
{
    static const char *const words[] = {"unknown", "measured", "published", "assumed"};
    return words[kind];
}

void yk_profile_clear(yk_profile *profile)
{
    memset(profile, 0, sizeof *profile);
    for (int i = 0; i < yk_profile_entry_count; i++)
        if (!yk_profile_entries[i].is_curve)
            yk_profile_figure(profile, &yk_profile_entries[i])->value = NAN;
}

void yk_figure_set(yk_figure *figure, double value, yk_figure_kind kind, const char *source)
{
    bool known = !isnan(value) && kind != YK_UNKNOWN;
    figure->value = known ? value : NAN;
    figure->kind = known ? kind : YK_UNKNOWN;
    snprintf(figure->source, sizeof figure->source, "%s", known ? source : "");
}

void yk_curve_add(yk_curve *curve, double at, double value, yk_figure_kind kind, const char *source)
{
    if (isnan(at) || isnan(value) || curve->points == YK_CURVE_POINTS) return;
    curve->at[curve->points] = at;
    curve->value[curve->points++] = value;
    curve->kind = kind;
    snprintf(curve->source, sizeof curve->source, "%s", source);
}

double yk_curve_at(const yk_curve *curve, double at)
{
    int last = curve->points - 1, k = 1;
    if (last < 0 || !(at > 0.0)) return NAN;
    if (at <= curve->at[0]) return curve->value[0];
    if (at >= curve->at[last]) return curve->value[last];
    while (at > curve->at[k]) k++;
    double share = log(at / curve->at[k - 1]) / log(curve->at[k] / curve->at[k - 1]);
    return curve->value[k - 1] + share * (curve->value[k] - curve->value[k - 1]);
}
