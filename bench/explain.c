/* SPDX-License-Identifier: BSD-3-Clause */
/* explain.c: rows in sentences. */
#include "bench/explain.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void format_seconds(double seconds, char *text, size_t capacity)
{
    static const struct {
        double from, factor;
        const char *unit;
    } units[] = {{1.0, 1.0, "s"}, {1e-3, 1e3, "ms"}, {1e-6, 1e6, "us"}, {0.0, 1e9, "ns"}};
    if (!isfinite(seconds)) {
        snprintf(text, capacity, "-");
        return;
    }
    int u = 0;
    while (u < 3 && seconds < units[u].from) u++;
    double value = seconds * units[u].factor;
    snprintf(text, capacity, "%.*f %s",
             value < 10.0    ? 2
             : value < 100.0 ? 1
                             : 0,
             value, units[u].unit);
}

void format_grouped(int64_t value, char *text, size_t capacity)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%" PRId64, value), used = 0;
    for (int i = 0; i < length && (size_t)used + 2 < capacity; i++) {
        if (i && (length - i) % 3 == 0) text[used++] = ' ';
        text[used++] = digits[i];
    }
    text[used] = '\0';
}

static void write_what(const row *r, FILE *stream)
{
    char rows[40], nonzeros[40];
    format_grouped(r->rows, rows, sizeof rows);
    format_grouped(r->nonzeros, nonzeros, sizeof nonzeros);
    fprintf(stream, "%s: %s rows, %s nonzeros\n", r->matrix, rows, nonzeros);
}

static void write_how(const row *r, FILE *stream)
{
    const char *home = r->home && strcmp(r->home, "owner") != 0 ? r->home : NULL;
    const char *const parts[] = {r->solver, r->memory, home,    r->partition,
                                 r->driver, r->format, r->shape};
    char workers[64];
    fputs("  ", stream);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i]) fprintf(stream, "%s, ", parts[i]);
    row_workers(r, workers, sizeof workers);
    fprintf(stream, "preconditioner %s, %s", r->precond ? r->precond : "unknown", workers);
    if (r->gpus > 0 && r->cpu_rows > 0)
        fprintf(stream, ", %.3g %% of the rows on the CPU",
                100.0 * (double)r->cpu_rows / (double)r->rows);
    if (r->reorder && strcmp(r->reorder, "none") != 0) fprintf(stream, ", rows by %s", r->reorder);
    fputc('\n', stream);
}

static void write_outcome(const row *r, FILE *stream)
{
    fprintf(stream,
            "  %s after %" PRId64 " iterations; residual / ||b||: %.3e true, %.3e recursive\n",
            r->outcome, r->iterations, r->residual_true, r->residual_recursive);
}

static void write_times(const row *r, FILE *stream)
{
    char setup[32], upload[32], transfer[32], solve[32], one[32];
    format_seconds(r->setup, setup, sizeof setup);
    format_seconds(r->transfer, transfer, sizeof transfer);
    format_seconds(r->solve, solve, sizeof solve);
    format_seconds(r->us_median * 1e-6, one, sizeof one);
    format_seconds(r->upload, upload, sizeof upload);
    fprintf(stream, "  setup %s", setup);
    if (isfinite(r->upload)) fprintf(stream, " (%s of it upload)", upload);
    fprintf(stream, ", transfer %s, solve %s", transfer, solve);
    if (isfinite(r->us_median)) fprintf(stream, "; %s an iteration", one);
    if (isfinite(r->gb_per_s)) fprintf(stream, ", %.1f GB/s", r->gb_per_s);
    if (isfinite(r->fraction)) fprintf(stream, ", %.2f of the read bandwidth", r->fraction);
    fputc('\n', stream);
}

void write_summary(const row_list *rows, FILE *stream)
{
    if (!rows->count) return;
    const row *r = &rows->row[0];
    write_what(r, stream);
    write_how(r, stream);
    write_outcome(r, stream);
    write_times(r, stream);
    for (int i = 0; i < RIVALS; i++)
        if (r->asked[i] && isfinite(r->speedup[i]))
            fprintf(stream, "  %.2f times the speed of %s\n", r->speedup[i], rival_names[i]);
}

static void write_bytes(const row *r, FILE *stream)
{
    if (!isfinite(r->bytes) || r->rows <= 0) return;
    fprintf(stream, "  bytes an iteration: %.0f, %.1f a row, %.1f a nonzero", r->bytes,
            r->bytes / (double)r->rows, r->nonzeros > 0 ? r->bytes / (double)r->nonzeros : 0.0);
    if (isfinite(r->gb_per_s)) fprintf(stream, "; %.1f GB/s", r->gb_per_s);
    if (isfinite(r->fraction)) fprintf(stream, ", %.2f of the read bandwidth", r->fraction);
    fputc('\n', stream);
}

/* Counts that are known: of a rival not all are. */
static void write_workers(const row *r, FILE *stream)
{
    const struct {
        const char *what;
        int64_t count;
    } item[] = {{"rows on the CPU", r->cpu_rows},
                {"GPUs", r->gpus},
                {"ranks", r->ranks},
                {"threads", r->threads}};
    const char *before = "; ";
    fprintf(stream, "  home %s, effort %s, reorder %s", r->home ? r->home : "unknown",
            r->effort ? r->effort : "unknown", r->reorder ? r->reorder : "unknown");
    for (size_t i = 0; i < sizeof item / sizeof item[0]; i++) {
        if (item[i].count < 0) continue;
        fprintf(stream, "%s%s %" PRId64, before, item[i].what, item[i].count);
        before = ", ";
    }
    fputc('\n', stream);
}

/* What was asked for is in the label of a row that ran; one that did not has its own. */
static void write_refused(const row *r, FILE *stream)
{
    fprintf(stream, "\n%s%s%s\n  did not run: %s\n", r->matrix, r->configuration ? " " : "",
            r->configuration ? r->configuration : "", r->reason ? r->reason : "unknown");
}

/* What auto chose from. */
static void write_plans(const row *r, FILE *stream)
{
    if (r->plans.count == 0) return;
    fprintf(stream,
            "  plans that could be made, by an iteration's time; * is this one\n"
            "    %10s %10s\n",
            "predicted", "measured");
    for (int k = 0; k < r->plans.count; k++) fprintf(stream, "  %s\n", r->plans.word[k]);
}

static void write_one(const row *r, FILE *stream)
{
    char label[512];
    if (!r->outcome) {
        write_refused(r, stream);
        return;
    }
    row_label(r, label, sizeof label);
    fprintf(stream, "\n%s\n", label);
    write_workers(r, stream);
    write_bytes(r, stream);
    write_plans(r, stream);
    if (isfinite(r->joules)) fprintf(stream, "  energy of a solve: %.3g J\n", r->joules);
    if (r->reason) fprintf(stream, "  no time: %s\n", r->reason);
    for (int k = 0; k < r->notices.count; k++)
        if (!r->reason || strcmp(r->reason, r->notices.word[k]) != 0)
            fprintf(stream, "  notice: %s\n", r->notices.word[k]);
}

void write_explanation(const row_list *rows, FILE *stream)
{
    for (int i = 0; i < rows->count; i++) write_one(&rows->row[i], stream);
}
