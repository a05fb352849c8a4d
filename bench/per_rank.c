/* SPDX-License-Identifier: BSD-3-Clause */
/* per_rank.c: a line for each rank of a solve. */
#include "bench/per_rank.h"

#include <inttypes.h>

#include "bench/explain.h"
#include "bench/ranks.h"
#include "bench/take.h"

void per_rank_gather(const source *s, const yoke_report *report, row *r)
{
    rank_row mine = {.rows = s->rows,
                     .nonzeros = s->nonzeros,
                     .halo = s->share.halo,
                     .sent = s->share.sent,
                     .neighbours = s->share.neighbours,
                     .threads = report->threads,
                     .solve = report->solve_seconds};
    r->each = take("figures of ranks", ranks_count(), sizeof *r->each);
    r->each_count = ranks_count();
    ranks_gather(&mine, sizeof mine, r->each);
}

void write_per_rank(const row_list *rows, FILE *stream)
{
    for (int i = 0; i < rows->count; i++) {
        const row *r = &rows->row[i];
        char label[512], seconds[32];
        if (!r->each) continue;
        row_label(r, label, sizeof label);
        fprintf(stream, "\n%s\n%6s %12s %12s %10s %10s %10s %8s %10s\n", label, "rank", "rows",
                "nonzeros", "halo", "sent", "neighbours", "threads", "solve");
        for (int k = 0; k < r->each_count; k++) {
            const rank_row *e = &r->each[k];
            format_seconds(e->solve, seconds, sizeof seconds);
            fprintf(stream,
                    "%6d %12" PRId64 " %12" PRId64 " %10" PRId64 " %10" PRId64 " %10" PRId64
                    " %8" PRId64 " %10s\n",
                    k, e->rows, e->nonzeros, e->halo, e->sent, e->neighbours, e->threads, seconds);
        }
    }
}
