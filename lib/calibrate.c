/* SPDX-License-Identifier: BSD-3-Clause */
/* calibrate.c: a profile of the machine at hand, measured. */
#include "lib/calibrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/iface/gpu_tools.h"

void yk_calibration_step(const yk_calibration *c, const char *step)
{
    if (c->progress) c->progress(c->user, step);
}

/* Without the place in the source: it is told to a user. */
void yk_calibration_missed(yk_calibration *c, const char *step, yoke_status status)
{
    if (status == YOKE_OK || *c->notice) return;
    const char *text = yoke_error_text(), *place = strrchr(text, '[');
    int length = place && place > text ? (int)(place - text - 1) : (int)strlen(text);
    snprintf(c->notice, sizeof c->notice, "not all could be measured: %s: %.*s", step, length,
             text);
}

static void date_of_today(char *date, size_t size)
{
    struct tm day;
    time_t now = time(NULL);
    if (!gmtime_r(&now, &day) || strftime(date, size, "%Y-%m-%d", &day) == 0) date[0] = '\0';
}

/* Of the whole system: what others do on its other processors takes memory bandwidth too. */
static double load_of_processor(void)
{
    double load = 0.0;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && getloadavg(&load, 1) == 1 ? load / (double)online : 0.0;
}

static void note_load(yk_calibration *c, double load)
{
    if (load > 0.75 && !*c->notice)
        snprintf(c->notice, sizeof c->notice,
                 "this machine was busy, with a load of %.1f a processor: it may be faster than "
                 "was measured",
                 load);
}

void yk_calibrate(yk_calibration *c, int device)
{
    yk_profile *p = c->profile;
    const yk_gpu_tools *tools = yk_gpu_tools_built();
    double load = load_of_processor();
    yk_profile_describe(device, p);
    date_of_today(p->date, sizeof p->date);
    snprintf(p->text, sizeof p->text, "%.40s%s%.40s, %d threads", p->key.cpu,
             *p->key.gpu ? ", " : "", p->key.gpu, c->threads);
    snprintf(c->source, sizeof c->source, "here, %s", p->date);
    yk_calibration_set(c, &p->cpu_threads, c->threads);
    yk_calibrate_cpu(c);
    yk_calibrate_meetings(c);
    if (*p->key.gpu && tools && tools->calibrate) tools->calibrate(c, device);
    note_load(c, load);
}
