/* SPDX-License-Identifier: BSD-3-Clause */
/* roofline.c: measures it, and writes it as a table and as JSON. */
#include "bench/roofline.h"

#include <math.h>
#include <string.h>

#include "bench/explain.h"
#include "bench/take.h"
#include "bench/write_rows.h"

enum { SWEEPS = 3 };

static double bytes_of(const yoke_pass *pass, int count, const char *owner)
{
    double bytes = 0.0;
    for (int i = 0; i < count; i++)
        if (!strcmp(pass[i].owner, owner)) bytes += pass[i].bytes;
    return bytes;
}

/* NULL where it cannot be had: then there is no ceiling. */
static yoke_bandwidth *open_bandwidth(yoke_context *context, int device, int threads,
                                      const char *owner, double bytes)
{
    yoke_bandwidth *bandwidth = NULL;
    if (bytes < 1.0 || bytes >= 9e18) return NULL;
    if (!strcmp(owner, "gpu"))
        yoke_bandwidth_create_on_gpu(context, device, (size_t)bytes, &bandwidth);
    else
        yoke_bandwidth_create(context, threads, (size_t)bytes, &bandwidth);
    return bandwidth;
}

static double read_bandwidth(yoke_bandwidth *bandwidth)
{
    double best = NAN;
    for (int i = 0; bandwidth && i < SWEEPS; i++)
        best = fmax(best, yoke_bandwidth_measure(bandwidth, YOKE_STREAM_READ));
    return best;
}

static const char *const owners[] = {"gpu", "cpu"};
enum { OWNERS = 2 };

static void keep(const yoke_pass *pass, int count, const double *ceiling, row *r)
{
    r->roofline = take("a roofline", count, sizeof *r->roofline);
    r->roofline_count = count;
    for (int i = 0; i < count; i++) {
        int owner = !strcmp(pass[i].owner, owners[0]) ? 0 : 1;
        r->roofline[i] = (roofline_pass){pass[i], ceiling[owner]};
    }
}

yoke_status roofline_measure(yoke_context *context, int device, int threads, yoke_plan *plan,
                             row *r)
{
    yoke_pass pass[YOKE_PASSES];
    yoke_bandwidth *bandwidth[OWNERS] = {NULL};
    double ceiling[OWNERS];
    int count = 0;
    yoke_status status = yoke_plan_time_passes(plan, pass, &count);
    for (int i = 0; !status && i < OWNERS; i++) {
        bandwidth[i] =
            open_bandwidth(context, device, threads, owners[i], bytes_of(pass, count, owners[i]));
        ceiling[i] = read_bandwidth(bandwidth[i]);
    }
    if (!status) status = yoke_plan_time_passes(plan, pass, &count);
    for (int i = 0; i < OWNERS; i++) {
        if (!status) ceiling[i] = 0.5 * (ceiling[i] + read_bandwidth(bandwidth[i]));
        yoke_bandwidth_destroy(bandwidth[i]);
    }
    if (!status) keep(pass, count, ceiling, r);
    return status;
}

/* ------------------------------------------------------------------- writing */

static void write_figure(double value, int digits, int width, FILE *stream)
{
    if (isfinite(value))
        fprintf(stream, "  %*.*f", width, digits, value);
    else
        fprintf(stream, "  %*s", width, "-");
}

static void write_line(const roofline_pass *p, FILE *stream)
{
    double rate = p->pass.bytes / p->pass.seconds;
    fprintf(stream, "  %-10s  %-3s  %14.0f", p->pass.name, p->pass.owner, p->pass.bytes);
    write_figure(1e6 * p->pass.seconds, 2, 10, stream);
    write_figure(1e-9 * rate, 1, 8, stream);
    write_figure(1e-9 * p->ceiling, 1, 8, stream);
    write_figure(rate / p->ceiling, 2, 5, stream);
    write_figure(p->pass.flops / p->pass.bytes, 3, 10, stream);
    write_figure(1e-9 * p->pass.flops / p->pass.seconds, 1, 8, stream);
    fputc('\n', stream);
}

void write_roofline(const row_list *rows, FILE *stream)
{
    for (int i = 0; i < rows->count; i++) {
        const row *r = &rows->row[i];
        char label[512];
        if (!r->roofline_count) continue;
        row_label(r, label, sizeof label);
        fprintf(stream, "\n%s, passes alone\n  %-10s  %-3s  %14s  %10s  %8s  %8s  %5s  %10s  %8s\n",
                label, "pass", "on", "bytes", "us", "GB/s", "ceiling", "share", "flops/byte",
                "GFLOP/s");
        for (int k = 0; k < r->roofline_count; k++) write_line(&r->roofline[k], stream);
    }
}

static void write_key(const char *key, double value, FILE *stream)
{
    char text[40];
    format_number(value, text, sizeof text);
    fprintf(stream, ",\"%s\":%s", key, text);
}

void write_roofline_json(const row *r, FILE *stream)
{
    fputs(",\"roofline\":[", stream);
    for (int i = 0; i < r->roofline_count; i++) {
        const roofline_pass *p = &r->roofline[i];
        double rate = p->pass.bytes / p->pass.seconds;
        fprintf(stream, "%s{\"pass\":\"%s\",\"owner\":\"%s\"", i ? "," : "", p->pass.name,
                p->pass.owner);
        write_key("bytes", p->pass.bytes, stream);
        write_key("flops", p->pass.flops, stream);
        write_key("us", 1e6 * p->pass.seconds, stream);
        write_key("gb_per_s", 1e-9 * rate, stream);
        write_key("ceiling_gb_per_s", 1e-9 * p->ceiling, stream);
        write_key("share_of_ceiling", rate / p->ceiling, stream);
        fputc('}', stream);
    }
    fputc(']', stream);
}
