/* SPDX-License-Identifier: BSD-3-Clause */
/* per_rank.c: a line for each rank of a solve. */
#include "bench/per_rank.h"

#include <inttypes.h>
#include <math.h>
#include <yoke_tools.h>

#include "bench/explain.h"
#include "bench/ranks.h"
#include "bench/take.h"

void per_rank_gather(const source *s, const yoke_plan *plan, row *r)
{
    const yoke_report *report = yoke_plan_report(plan);
    yoke_rank_times times = {0};
    (void)yoke_plan_rank_times(plan, &times); /* of 0 iterations: not known */
    double n = times.iterations > 0 ? (double)times.iterations : NAN;
    rank_row mine = {.rows = s->rows,
                     .nonzeros = s->nonzeros,
                     .halo = s->share.halo,
                     .sent = s->share.sent,
                     .neighbours = s->share.neighbours,
                     .threads = report->threads,
                     .solve = report->solve_seconds,
                     .interior = times.interior / n,
                     .halo_wait = times.halo / n,
                     .sums_wait = times.sums / n};
    r->each = take("figures of ranks", ranks_count(), sizeof *r->each);
    r->each_count = ranks_count();
    ranks_gather(&mine, sizeof mine, r->each);
}

static void write_rank(int rank, const rank_row *e, FILE *stream)
{
    const double seconds[] = {e->solve, e->interior, e->halo_wait, e->sums_wait};
    fprintf(stream,
            "%6d %12" PRId64 " %12" PRId64 " %10" PRId64 " %10" PRId64 " %10" PRId64 " %8" PRId64,
            rank, e->rows, e->nonzeros, e->halo, e->sent, e->neighbours, e->threads);
    for (int i = 0; i < 4; i++) {
        char text[32];
        format_seconds(seconds[i], text, sizeof text);
        fprintf(stream, " %10s", text);
    }
    fputc('\n', stream);
}

void write_per_rank(const row_list *rows, FILE *stream)
{
    for (int i = 0; i < rows->count; i++) {
        const row *r = &rows->row[i];
        char label[512];
        if (!r->each) continue;
        row_label(r, label, sizeof label);
        fprintf(stream, "\n%s\n%6s %12s %12s %10s %10s %10s %8s %10s %10s %10s %10s\n", label,
                "rank", "rows", "nonzeros", "halo", "sent", "neighbours", "threads", "solve",
                "interior", "halo wait", "sums wait");
        for (int k = 0; k < r->each_count; k++) write_rank(k, &r->each[k], stream);
    }
}
