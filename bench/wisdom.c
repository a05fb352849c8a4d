/* SPDX-License-Identifier: BSD-3-Clause */
/* wisdom.c: --wisdom FILE. */
#include "bench/wisdom.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "bench/outfile.h"
#include "bench/say.h"

static int importing;

void wisdom_log(void *user, yoke_log_level level, const char *text)
{
    (void)user;
    if (importing && level == YOKE_LOG_NOTICE) say_notice("%s", text);
}

int wisdom_begin(const bench_options *options, yoke_context *context)
{
    const char *path = options->wisdom;
    if (!path) return 0;
    if (!strcmp(path, "-")) return say_error(ENDS_BAD_INPUT, "--wisdom needs a file, given '-'");
    int code = outfile_check("--wisdom", path);
    if (code || (access(path, F_OK) && errno == ENOENT)) return code;
    importing = 1;
    yoke_status status = yoke_wisdom_import(context, path);
    importing = 0;
    if (!status) return 0;
    return say_error(ENDS_BAD_INPUT, "--wisdom: %s", library_sentence());
}

int wisdom_end(const bench_options *options, yoke_context *context, int code)
{
    if (!options->wisdom || !context || code == ENDS_BAD_INPUT) return code;
    if (!yoke_wisdom_export(context, options->wisdom)) return code;
    return say_error(ENDS_BAD_INPUT, "--wisdom: %s", library_sentence());
}
