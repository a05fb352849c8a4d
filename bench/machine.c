/* SPDX-License-Identifier: BSD-3-Clause */
/* machine.c: cgbench machine: the CPU's side, and the record. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <yoke_tools.h>

#include "bench/commands.h"
#include "bench/launcher.h"
#include "bench/machine_gpu.h"
#include "bench/machine_profile.h"
#include "bench/measure.h"
#include "bench/outfile.h"
#include "bench/progress.h"
#include "bench/say.h"
#include "bench/write_rows.h"

enum { KINDS = 3, MOST_COUNTS = 32 };
static const yoke_stream kinds[KINDS] = {YOKE_STREAM_READ, YOKE_STREAM_COPY, YOKE_STREAM_TRIAD};
static const char *const kind_names[KINDS] = {"read", "copy", "triad"};

/* For each count of threads, so that the whole takes seconds. */
static const double SECONDS = 0.3;

typedef struct bandwidths {
    int count, threads[MOST_COUNTS];
    double bytes_per_s[MOST_COUNTS][KINDS];
} bandwidths;

void print_size(const char *name, int64_t bytes, FILE *stream)
{
    if (bytes <= 0) return;
    if (bytes < (int64_t)1 << 20)
        fprintf(stream, "  %-20s %.0f KiB\n", name, (double)bytes / 1024.0);
    else if (bytes < (int64_t)1 << 30)
        fprintf(stream, "  %-20s %.1f MiB\n", name, (double)bytes / 1048576.0);
    else
        fprintf(stream, "  %-20s %.1f GiB\n", name, (double)bytes / 1073741824.0);
}

static void print_machine(const yoke_machine *m, FILE *stream)
{
    fprintf(stream, "%s (%s)\n", *m->cpu_name ? m->cpu_name : "unknown processor", m->arch);
    fprintf(stream, "  %-20s %s\n", "row sums", m->simd);
    fprintf(stream, "  %-20s %d on %d NUMA node%s\n", "processors", m->processors, m->numa_nodes,
            m->numa_nodes == 1 ? "" : "s");
    print_size("level 1 data cache", m->cache_bytes[1], stream);
    print_size("level 2 cache", m->cache_bytes[2], stream);
    print_size("level 3 cache", m->cache_bytes[3], stream);
    print_size("memory", m->memory_total, stream);
    print_size("memory available", m->memory_available, stream);
    print_size("limit of a process", m->memory_limit, stream);
}

/* Four times the last cache, so that memory is measured, within what there is. */
static size_t buffer_bytes(const yoke_machine *m)
{
    int64_t bytes = 4 * m->cache_bytes[3], room = m->memory_available / 4;
    if (bytes < (int64_t)1 << 28) bytes = (int64_t)1 << 28;
    if (bytes > (int64_t)1 << 31) bytes = (int64_t)1 << 31;
    if (m->memory_limit > 0 && m->memory_limit / 4 < room) room = m->memory_limit / 4;
    if (room > 0 && bytes > room) bytes = room;
    return (size_t)bytes;
}

static int measure_threads(yoke_context *context, size_t bytes, bandwidths *b)
{
    yoke_bandwidth *buffer = NULL;
    double *best = b->bytes_per_s[b->count];
    progress_show("bandwidth of %d threads", b->threads[b->count]);
    yoke_status status = yoke_bandwidth_create(context, b->threads[b->count], bytes, &buffer);
    if (status) return say_status(status, NULL);
    for (int k = 0; k < KINDS; k++) {
        double until = yoke_seconds() + SECONDS / KINDS;
        best[k] = 0.0;
        do best[k] = fmax(best[k], yoke_bandwidth_measure(buffer, kinds[k]));
        while (yoke_seconds() < until);
    }
    yoke_bandwidth_destroy(buffer);
    b->count++;
    return 0;
}

/* 1, 2, 4, ... and all of them. */
static int measure_all(yoke_context *context, const yoke_machine *m, int most, bandwidths *b)
{
    int code = 0;
    for (int threads = 1; !code && b->count < MOST_COUNTS - 1; threads *= 2) {
        b->threads[b->count] = threads < most ? threads : most;
        code = measure_threads(context, buffer_bytes(m), b);
        if (threads >= most) break;
    }
    progress_clear();
    return code;
}

static void print_bandwidths(const bandwidths *b, size_t bytes, FILE *stream)
{
    fprintf(
        stream,
        "\nbandwidth of a %.0f MiB buffer, GB/s, best pass\n  threads    read    copy   triad\n",
        (double)bytes / 1048576.0);
    for (int i = 0; i < b->count; i++)
        fprintf(stream, "  %7d %7.1f %7.1f %7.1f\n", b->threads[i], b->bytes_per_s[i][0] * 1e-9,
                b->bytes_per_s[i][1] * 1e-9, b->bytes_per_s[i][2] * 1e-9);
}

static void write_count(const char *key, int64_t value, FILE *stream)
{
    if (value > 0)
        fprintf(stream, ",\"%s\":%" PRId64, key, value);
    else
        fprintf(stream, ",\"%s\":null", key);
}

static void write_object(const yoke_machine *m, const bandwidths *b, const gpu_found *gpu,
                         FILE *stream)
{
    fputs("{\"schema\":1,\"machine\":", stream);
    write_json_text(*m->cpu_name ? m->cpu_name : NULL, stream);
    fputs(",\"arch\":", stream);
    write_json_text(m->arch, stream);
    fputs(",\"simd\":", stream);
    write_json_text(m->simd, stream);
    write_count("processors", m->processors, stream);
    write_count("numa_nodes", m->numa_nodes, stream);
    write_count("cache_l1_bytes", m->cache_bytes[1], stream);
    write_count("cache_l2_bytes", m->cache_bytes[2], stream);
    write_count("cache_l3_bytes", m->cache_bytes[3], stream);
    write_count("memory_total_bytes", m->memory_total, stream);
    write_count("memory_available_bytes", m->memory_available, stream);
    write_count("memory_limit_bytes", m->memory_limit, stream);
    fputs(",\"bandwidth\":[", stream);
    for (int i = 0; i < b->count; i++) {
        fprintf(stream, "%s{\"threads\":%d", i ? "," : "", b->threads[i]);
        for (int k = 0; k < KINDS; k++)
            fprintf(stream, ",\"%s_gb_per_s\":%.6g", kind_names[k], b->bytes_per_s[i][k] * 1e-9);
        fputc('}', stream);
    }
    fputs("],", stream);
    gpu_write(gpu, stream);
    fputs("}\n", stream);
}

/* The threads of --threads, else of OMP_NUM_THREADS, else of the affinity mask. */
static int threads_wanted(const bench_options *options, const yoke_machine *m)
{
    const char *text = getenv("OMP_NUM_THREADS");
    int64_t threads = 0;
    if (options->threads) return (int)options->threads;
    if (text && parse_count(text, &threads) && threads > 0 && threads <= 65536) return (int)threads;
    return m->processors > 0 ? m->processors : 1;
}

/* What ranks measure beside each other is none's. */
static int refuse_ranks(const bench_options *options)
{
    int ranks = launcher_local_ranks();
    if (ranks == 1 || (options->machine && !options->calibrate)) return 0;
    return say_error(ENDS_BAD_INPUT,
                     "machine: %d ranks would measure this machine at the same time; start one on "
                     "each machine",
                     ranks);
}

int command_machine(const bench_options *options)
{
    if (options->matrices.count)
        return say_error(ENDS_BAD_INPUT, "machine: unexpected argument '%s'",
                         options->matrices.word[0]);
    int code = refuse_ranks(options);
    if (!code) code = options_refuse_later(options);
    outfile json;
    if (!code && (options->calibrate || options->machine)) return profile_command(options);
    if (code || (code = outfile_open("--json", options->json, &json))) return code;
    yoke_machine machine;
    yoke_machine_describe(&machine);
    FILE *text = options->quiet ? NULL : json.stream == stdout ? stderr : stdout;
    if (text) print_machine(&machine, text);
    fflush(stdout);
    yoke_context *context = NULL;
    bandwidths found = {0};
    code = open_context(options, &context);
    if (!code) code = measure_all(context, &machine, threads_wanted(options, &machine), &found);
    yoke_context_destroy(context);
    if (!code && text) print_bandwidths(&found, buffer_bytes(&machine), text);
    gpu_found gpu = {0};
    if (!code) gpu_measure(options_device(options), &gpu);
    if (!code && text) gpu_print(&gpu, text);
    if (!code && json.stream) write_object(&machine, &found, &gpu, json.stream);
    if (!code) code = outfile_commit(&json);
    outfile_discard(&json);
    return code;
}
