/* SPDX-License-Identifier: BSD-3-Clause */
/* deal_shares.c: how much of the rows each rank gets: as much as all, or in proportion to the speed
 * of its memory. */
#include <math.h>
#include <string.h>

#include "lib/rank_speed.h"
#include "lib/status.h"
#include "matrices/deal.h"

/* Two calibrations of one machine differ by less. */
#define UNEQUAL 1.1

typedef struct shares {
    const char *name;
    bool measured_alone; /* equal, but where all are measured and differ */
    bool by_speed, on_gpus;
} shares;

static yoke_status find_name(const char *name, const shares **which)
{
    static const shares known[] = {{"auto", true, true, false},
                                   {"equal", false, false, false},
                                   {"profile", false, true, false},
                                   {"auto-gpu", true, true, true},
                                   {"profile-gpu", false, true, true}};
    *which = &known[0];
    if (!name) return YOKE_OK;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0) {
            *which = &known[i];
            return YOKE_OK;
        }
    return yk_fail(YOKE_UNKNOWN_NAME,
                   "no shares of ranks are named '%s'; known: auto, equal, profile, auto-gpu, "
                   "profile-gpu",
                   name);
}

yoke_status yk_deal_check_shares(const yoke_context *context)
{
    const shares *which;
    return find_name(context->comm->shares, &which);
}

bool yk_deal_on_gpus(const yoke_context *context)
{
    const shares *which = NULL;
    return find_name(context->comm->shares, &which) == YOKE_OK && which->on_gpus;
}

double yk_deal_mark(const yoke_context *context, yk_deal_by by)
{
    const shares *which = NULL;
    (void)find_name(context->comm->shares, &which);
    return by + 16.0 * (which->by_speed + 2 * which->measured_alone + 4 * which->on_gpus);
}

/* Of ranks of which one's speed is not known, the first such; -1: all are. */
static int first_unknown(const yk_rank_speed *speed, int ranks)
{
    for (int r = 0; r < ranks; r++)
        if (!(speed[r].speed > 0.0)) return r;
    return -1;
}

/* Guesses do for shares that are asked for by name. */
static bool are_unequal(const yk_rank_speed *speed, int ranks)
{
    double least = INFINITY, most = 0.0;
    for (int r = 0; r < ranks; r++) {
        if (!speed[r].measured) return false;
        least = fmin(least, speed[r].speed);
        most = fmax(most, speed[r].speed);
    }
    return most > UNEQUAL * least;
}

static void divide(const yk_rank_speed *speed, int ranks, double *share)
{
    double all = 0.0;
    for (int r = 0; r < ranks; r++) all += speed[r].speed;
    for (int r = 0; r < ranks; r++) share[r] = speed[r].speed / all;
}

yoke_status yk_deal_find_shares(const yoke_context *context, double *share, bool *equal)
{
    const shares *which;
    int ranks = context->comm->ranks;
    yk_rank_speed mine, all[(size_t)ranks];
    *equal = true;
    YK_TRY(find_name(context->comm->shares, &which));
    if (!which->by_speed || ranks == 1) return YOKE_OK;
    yk_rank_speed_here(context, which->on_gpus, &mine);
    YK_TRY(yk_ranks_gather(context, &mine, sizeof mine, all));
    int unknown = first_unknown(all, ranks);
    if (!which->measured_alone && unknown >= 0)
        return yk_fail(YOKE_UNUSABLE,
                       "shares by profile: the speed of rank %d's memory is not known; run cgbench "
                       "machine --calibrate on its node",
                       unknown);
    if (unknown >= 0 || (which->measured_alone && !are_unequal(all, ranks))) return YOKE_OK;
    *equal = false;
    divide(all, ranks, share);
    return YOKE_OK;
}
