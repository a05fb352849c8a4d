/* SPDX-License-Identifier: BSD-3-Clause */
/* solve.c: cgbench solve. */
#include "bench/campaign.h"
#include "bench/commands.h"
#include "bench/explain.h"
#include "bench/outputs.h"
#include "bench/per_rank.h"
#include "bench/roofline.h"
#include "bench/say.h"

static int refuse_lists(const bench_options *options)
{
    if (options->matrices.count != 1)
        return say_error(ENDS_BAD_INPUT, "solve: expected one MATRIX, given %d",
                         options->matrices.count);
    for (int i = 0; i < AXES; i++)
        if (options->axis[i].count > 1)
            return say_error(ENDS_BAD_INPUT,
                             "solve: a comma list (%s,%s...) is for cgbench run: give one name",
                             options->axis[i].word[0], options->axis[i].word[1]);
    return 0;
}

/* One object in the record: the rivals are in its speedup_vs, and in the text. */
static int write_files(outputs *out, const row_list *rows)
{
    row_list first = {rows->count > 0, rows->row};
    return first.count ? outputs_write(out, &first) : 0;
}

int command_solve(const bench_options *options)
{
    int lacking = 0, code = refuse_lists(options);
    if (!code) code = campaign_check(options, &lacking);
    outputs out;
    code = outputs_open_if(code, options, &out);
    if (code) return code;
    row_list rows = {0, NULL};
    code = campaign_run(options, &rows);
    if (code != ENDS_BAD_INPUT && rows.count) {
        if (!options->quiet) write_summary(&rows, out.table);
        if (options->roofline && !options->quiet) write_roofline(&rows, out.table);
        if (options->explain && !options->quiet) write_explanation(&rows, out.table);
        if (!options->quiet) write_per_rank(&rows, out.table);
        int written = write_files(&out, &rows);
        if (written) code = written;
    }
    outputs_discard(&out);
    rows_free(&rows);
    return code;
}
