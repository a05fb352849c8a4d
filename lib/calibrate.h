/* SPDX-License-Identifier: BSD-3-Clause */
/* calibrate.h: measuring a profile's figures. What cannot be measured stays unknown. */
#ifndef YK_CALIBRATE_H
#define YK_CALIBRATE_H

#include "lib/profile.h"

typedef struct yk_calibration {
    yoke_context *context;
    yk_profile *profile;
    void (*progress)(void *user, const char *step); /* or NULL */
    void *user;
    int threads;                  /* that the CPU is measured with */
    char notice[1024];            /* why figures are missing: the first sentence; "" if none is */
    char source[YK_SOURCE_BYTES]; /* of what is measured now: the date */
} yk_calibration;

/* Tells the user what is measured now. */
void yk_calibration_step(const yk_calibration *c, const char *step);

/* A step that failed: kept as the notice, if it is the first. */
void yk_calibration_missed(yk_calibration *c, const char *step, yoke_status status);

static inline void yk_calibration_set(yk_calibration *c, yk_figure *figure, double value)
{
    yk_figure_set(figure, value, YK_MEASURED, c->source);
}

static inline void yk_calibration_add(yk_calibration *c, yk_curve *curve, double at, double value)
{
    yk_curve_add(curve, at, value, YK_MEASURED, c->source);
}

/* The CPU's figures, in some 3 s. */
void yk_calibrate_cpu(yk_calibration *c);
void yk_calibrate_meetings(yk_calibration *c); /* regions, barriers, flags */

/* All of them: of the CPU, and of a GPU where the build has one that is here; -1: none. */
void yk_calibrate(yk_calibration *c, int device);

#endif
