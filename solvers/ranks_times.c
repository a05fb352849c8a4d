/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks_times.c: where a plan's time over ranks goes, for who asks. */
#include <string.h>
#include <yoke_tools.h>

#include "lib/status.h"
#include "solvers/cg/ranks.h"
#include "solvers/plan.h"

yoke_status yoke_plan_watch_ranks(yoke_plan *plan, int on)
{
    if (!plan) return yk_fail(YOKE_INVALID, "plan is NULL");
    if (plan->cg.ranks) plan->cg.ranks->clock = (yk_rank_clock){.on = on != 0};
    return YOKE_OK;
}

yoke_status yoke_plan_rank_times(const yoke_plan *plan, yoke_rank_times *times)
{
    if (!plan || !times) return yk_fail(YOKE_INVALID, "plan or times is NULL");
    memset(times, 0, sizeof *times);
    if (plan->cg.ranks && plan->cg.ranks->clock.on) *times = plan->cg.ranks->clock.times;
    return YOKE_OK;
}
