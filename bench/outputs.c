/* SPDX-License-Identifier: BSD-3-Clause */
/* outputs.c: the files that solve and run write. */
#include "bench/outputs.h"

#include <string.h>

#include "bench/roofline.h"
#include "bench/say.h"
#include "bench/write_rows.h"

static int check_distinct(const bench_options *options)
{
    const char *const names[] = {"--json", "--csv", "--svg", "--history", "--out", "--wisdom"};
    const char *const paths[] = {options->json,    options->csv, options->svg,
                                 options->history, options->out, options->wisdom};
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < i; k++)
            if (paths[i] && paths[k] && !strcmp(paths[i], paths[k]))
                return say_error(ENDS_BAD_INPUT, "%s and %s are both '%s'", names[k], names[i],
                                 paths[i]);
    return 0;
}

static int is_stdout(const char *path)
{
    return path && !strcmp(path, "-");
}

int outputs_open(const bench_options *options, outputs *out)
{
    *out = (outputs){.table = stdout, .draws_roofline = options->roofline};
    int code = check_distinct(options);
    if (!code) code = outfile_open("--json", options->json, &out->json);
    if (!code) code = outfile_open("--csv", options->csv, &out->csv);
    if (!code) code = outfile_open("--svg", options->svg, &out->svg);
    if (!code) code = outfile_open("--history", options->history, &out->history);
    if (!code) code = outfile_check("--out", options->out);
    if (is_stdout(options->json) || is_stdout(options->csv) || is_stdout(options->svg) ||
        is_stdout(options->history) || is_stdout(options->out))
        out->table = stderr;
    if (code) outputs_discard(out);
    return code;
}

int outputs_write(outputs *out, const row_list *rows)
{
    if (out->json.stream) write_json(rows, out->json.stream);
    if (out->csv.stream) write_csv(rows, out->csv.stream);
    if (out->svg.stream && out->draws_roofline)
        write_roofline_svg(rows, out->svg.stream);
    else if (out->svg.stream)
        write_svg(rows, out->svg.stream);
    if (out->history.stream) write_history(rows, out->history.stream);
    return outputs_commit(out);
}

int outputs_commit(outputs *out)
{
    int codes[] = {outfile_commit(&out->json), outfile_commit(&out->csv), outfile_commit(&out->svg),
                   outfile_commit(&out->history)};
    for (int i = 0; i < 4; i++)
        if (codes[i]) return codes[i];
    return 0;
}

void outputs_discard(outputs *out)
{
    outfile_discard(&out->json);
    outfile_discard(&out->csv);
    outfile_discard(&out->svg);
    outfile_discard(&out->history);
}
