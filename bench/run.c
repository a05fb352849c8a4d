/* SPDX-License-Identifier: BSD-3-Clause */
/* run.c: cgbench run. */
#include "bench/campaign.h"
#include "bench/commands.h"
#include "bench/explain.h"
#include "bench/outputs.h"
#include "bench/per_rank.h"
#include "bench/roofline.h"
#include "bench/say.h"
#include "bench/write_rows.h"

int command_run(const bench_options *options)
{
    if (!options->matrices.count)
        return say_error(ENDS_BAD_INPUT, "run: no MATRIX given: a file, - or gen:NAME:ARGS");
    int lacking = 0;
    int code = campaign_check(options, &lacking);
    outputs out;
    code = outputs_open_if(code, options, &out);
    if (code) return code;
    row_list rows = {0, NULL};
    code = campaign_run(options, &rows);
    if (code != ENDS_BAD_INPUT) {
        if (!options->quiet) write_table(&rows, out.table);
        if (options->roofline && !options->quiet) write_roofline(&rows, out.table);
        if (options->explain && !options->quiet) write_explanation(&rows, out.table);
        if (!options->quiet) write_per_rank(&rows, out.table);
        int written = outputs_write(&out, &rows);
        code = written ? written : lacking > code ? lacking : code;
    }
    outputs_discard(&out);
    rows_free(&rows);
    return code;
}
