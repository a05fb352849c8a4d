/* SPDX-License-Identifier: BSD-3-Clause */
/* predict_write.c: a forecast as a table, sentences, JSON and CSV. */
#include <math.h>
#include <string.h>

#include "bench/commit.h"
#include "bench/explain.h"
#include "bench/predict.h"
#include "bench/write_rows.h"

enum { SHOWN = 24, SCHEMA = 1 };

static int is_shared(const predicted_plan *p)
{
    return p->plan.cpu_share > 0.0 && p->plan.cpu_share < 1.0;
}

static void owners_of(const predicted_plan *p, char *text, size_t capacity)
{
    if (is_shared(p))
        snprintf(text, capacity, "GPU + CPU %.2f %%", 100.0 * p->plan.cpu_share);
    else
        snprintf(text, capacity, "%s alone", p->plan.cpu_share > 0.0 ? "CPU" : "GPU");
}

void name_plan(const predicted_plan *p, char *text, size_t capacity)
{
    const char *home = p->plan.home && strcmp(p->plan.home, "owner") != 0 ? p->plan.home : NULL;
    int is_cg = !p->plan.solver || !strcmp(p->plan.solver, "cg");
    const char *const part[] = {p->plan.memory, home,          p->plan.driver,
                                p->plan.format, p->plan.shape, is_cg ? NULL : p->plan.solver};
    owners_of(p, text, capacity);
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        size_t used = strlen(text);
        if (part[i] && used < capacity) snprintf(text + used, capacity - used, ", %s", part[i]);
    }
}

/* ------------------------------------------------------------------- table */

int largest_term(const yoke_prediction *p)
{
    int largest = 0;
    for (int t = 1; t < p->terms; t++)
        if (p->term[t].counted > p->term[largest].counted) largest = t;
    return largest;
}

double percent_of(const predicted_plan *p, int term)
{
    const double whole = p->p.seconds;
    return whole > 0.0 ? 100.0 * p->p.term[term].counted / whole : 0.0;
}

static void write_line(const predicted_plan *p, FILE *stream)
{
    char text[160];
    const yoke_prediction *q = &p->p;
    int t = largest_term(q);
    name_plan(p, text, sizeof text);
    fprintf(stream, "  %-58s %11.2f", text, 1e6 * q->seconds);
    if (isfinite(p->gain))
        fprintf(stream, " %6.3f", p->gain);
    else
        fprintf(stream, " %6s", "-");
    fprintf(stream, "  %s (%.0f %%)%s\n", q->term[t].text, percent_of(p, t),
            q->fits ? "" : "; does not fit in the GPU's memory");
}

static void write_factor(const char *what, double factor, const char *winner, FILE *stream)
{
    if (isnan(factor))
        fprintf(stream,
                "  With %s from a thousandth to a thousand times as fast that does not change.\n",
                what);
    else
        fprintf(stream, "  With %s %.3g times as fast, %s would win.\n", what, factor, winner);
}

/* What would have to change. */
static void write_break_evens(const forecast *f, FILE *stream)
{
    if (f->single < 0 || f->shared < 0) return;
    const predicted_plan *single = &f->plan[f->single], *shared = &f->plan[f->shared];
    int wins = shared->p.seconds < single->p.seconds;
    char owner[32], rows[40];
    owners_of(single, owner, sizeof owner);
    fprintf(stream, "  Best share of the CPU %.2f %%: %.3f times the speed of the %s.\n",
            100.0 * shared->plan.cpu_share, shared->gain, owner);
    format_grouped((int64_t)(isnan(f->rows_even) ? 0.0 : f->rows_even), rows, sizeof rows);
    if (isnan(f->rows_even))
        fprintf(stream, "  Sharing %s at any size of such a matrix.\n", wins ? "wins" : "loses");
    else
        fprintf(stream, "  Sharing loses below %s rows of such a matrix.\n", rows);
    write_factor("a link", f->link_even, wins ? owner : "sharing", stream);
    write_factor("cores", f->cores_even, wins ? owner : "sharing", stream);
}

void write_forecast(const forecast *f, FILE *stream)
{
    char rows[40], nonzeros[40];
    format_grouped((int64_t)f->shape.rows, rows, sizeof rows);
    format_grouped((int64_t)f->shape.nonzeros, nonzeros, sizeof nonzeros);
    fprintf(stream, "\n%s on %s: %s rows, %s nonzeros", f->matrix, f->machine, rows, nonzeros);
    if (f->plan[0].plan.ranks > 1) fprintf(stream, ", %d ranks", f->plan[0].plan.ranks);
    fprintf(stream, "\n\n  %-58s %11s %6s  %s\n", "plan", "us", "gain", "most of it");
    for (int i = 0; i < f->count && i < SHOWN; i++) write_line(&f->plan[i], stream);
    if (f->count > SHOWN) fprintf(stream, "  and %d slower ones\n", f->count - SHOWN);
    fputc('\n', stream);
    write_break_evens(f, stream);
}

/* The fastest of one owner and of both. */
void write_forecast_terms(const forecast *f, FILE *stream)
{
    const int of[] = {f->single, f->shared};
    for (int i = 0; i < 2; i++) {
        char text[160];
        if (of[i] < 0) continue;
        const predicted_plan *p = &f->plan[of[i]];
        name_plan(p, text, sizeof text);
        fprintf(stream, "\n%s: %.2f us\n  %10s  %10s  (us; counted: not behind the other owner)\n",
                text, 1e6 * p->p.seconds, "work", "counted");
        if (p->p.cpu > 0.0 && p->p.gpu > 0.0)
            fprintf(stream, "  the CPU works %.2f us, the GPU %.2f us\n", 1e6 * p->p.cpu,
                    1e6 * p->p.gpu);
        for (int t = 0; t < p->p.terms; t++)
            if (p->p.term[t].work > 0.0)
                fprintf(stream, "  %10.3f  %10.3f  %s\n", 1e6 * p->p.term[t].work,
                        1e6 * p->p.term[t].counted, p->p.term[t].text);
    }
}

/* ------------------------------------------------------------- JSON and CSV */

static void write_number(const char *key, double value, FILE *stream)
{
    char text[40];
    format_number(value, text, sizeof text);
    fprintf(stream, ",\"%s\":%s", key, text);
}

static void write_text(const char *key, const char *value, FILE *stream)
{
    fprintf(stream, ",\"%s\":", key);
    write_json_text(value, stream);
}

static void write_plan_json(const predicted_plan *p, FILE *stream)
{
    fprintf(stream, "{\"owners\":\"%s\"",
            is_shared(p)              ? "gpu+cpu"
            : p->plan.cpu_share > 0.0 ? "cpu"
                                      : "gpu");
    write_text("memory", p->plan.memory, stream);
    write_text("home", p->plan.home ? p->plan.home : "owner", stream);
    write_text("partition", p->partition, stream);
    write_text("driver", p->plan.driver, stream);
    write_text("format", p->plan.format, stream);
    write_text("shape", p->plan.shape, stream);
    write_text("solver", p->plan.solver, stream);
    write_number("cpu_share", p->plan.cpu_share, stream);
    write_number("us_per_iteration", 1e6 * p->p.seconds, stream);
    write_number("gain", p->gain, stream);
    fprintf(stream, ",\"fits\":%s", p->p.fits ? "true" : "false");
    write_number("gpu_bytes", p->p.gpu_bytes, stream);
    fputs(",\"us\":{", stream);
    for (int t = 0; t < p->p.terms; t++) {
        char text[40];
        format_number(1e6 * p->p.term[t].counted, text, sizeof text);
        fprintf(stream, "%s\"%s\":%s", t ? "," : "", p->p.term[t].name, text);
    }
    fputs("}}", stream);
}

void write_forecast_json(const forecast *f, FILE *stream)
{
    fprintf(stream, "{\"schema\":%d", SCHEMA);
    write_text("version", yoke_version(NULL, NULL, NULL), stream);
    write_text("commit", YOKE_COMMIT, stream);
    write_text("machine", f->machine, stream);
    write_text("matrix", f->matrix, stream);
    write_number("rows", f->shape.rows, stream);
    write_number("nonzeros", f->shape.nonzeros, stream);
    write_number("ranks", f->ranks, stream);
    const predicted_plan *shared = f->shared < 0 ? NULL : &f->plan[f->shared];
    write_number("best_cpu_share", shared ? shared->plan.cpu_share : NAN, stream);
    write_number("gain_of_sharing", shared ? shared->gain : NAN, stream);
    write_number("rows_below_which_sharing_loses", f->rows_even, stream);
    write_number("link_factor", f->link_even, stream);
    write_number("cores_factor", f->cores_even, stream);
    fputs(",\"plans\":[", stream);
    for (int i = 0; f->plan && i < f->count; i++) {
        if (i) fputc(',', stream);
        write_plan_json(&f->plan[i], stream);
    }
    fputs("]}\n", stream);
}

void write_forecast_csv(const forecast *f, int first, FILE *stream)
{
    if (first)
        fputs("machine,matrix,rows,nonzeros,partition,cpu_share,memory,home,driver,format,shape,"
              "us_per_iteration,gain,fits,gpu_bytes,solver\n",
              stream);
    for (int i = 0; i < f->count; i++) {
        const predicted_plan *p = &f->plan[i];
        const char *const text[] = {p->plan.memory, p->plan.home, p->plan.driver, p->plan.format,
                                    p->plan.shape};
        write_csv_text(f->machine, stream);
        fputc(',', stream);
        write_csv_text(f->matrix, stream);
        fprintf(stream, ",%.0f,%.0f,%s,%.6g", f->shape.rows, f->shape.nonzeros, p->partition,
                p->plan.cpu_share);
        for (int k = 0; k < 5; k++) fprintf(stream, ",%s", text[k] ? text[k] : "");
        fprintf(stream, ",%.6g,%.6g,%d,%.0f,%s\n", 1e6 * p->p.seconds, p->gain, p->p.fits,
                p->p.gpu_bytes, p->plan.solver);
    }
}
