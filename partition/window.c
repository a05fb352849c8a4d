/* SPDX-License-Identifier: BSD-3-Clause */
/* window.c: cuts by the CPU's share s of an iteration's bytes. An iteration at s takes the longer
 * of s B / c and (1 - s) B / g, so two shares are next to each other where neither of these differs
 * by more than some per cent, or where the GPU's, which then is the longer one, differs by less. */
#include <stdbool.h>

#include "partition/balance.h"
#include "partition/window.h"

/* Shares up to 1.5 times the first one, either way, are NEAR apart, others FAR, and those below an
 * eighth of it, for a CPU that has lost most of its speed, VERY FAR. */
#define NEAR_RANGE 1.5
#define NEAR       1.05
#define FAR        1.12
#define VERY_FAR   2.0

/* A smaller step of the GPU's time than this is not worth a cut. */
#define GPU_STEP 1.015

typedef struct span {
    const yk_csr *csr;
    double row_bytes, share; /* of the first cut */
} span;

static double factor_at(const span *s, double share)
{
    double away = share > s->share ? share / s->share : s->share / share;
    return away <= NEAR_RANGE ? NEAR : share > s->share || away <= 8.0 ? FAR : VERY_FAR;
}

static double share_at(const span *s, int64_t row)
{
    double all = yk_bytes_before(s->csr, s->row_bytes, s->csr->rows);
    return 1.0 - yk_bytes_before(s->csr, s->row_bytes, row) / all;
}

static int64_t row_at(const span *s, double share)
{
    int64_t rows = s->csr->rows;
    if (share <= 0.0) return yk_gpu_rows(rows, yk_chunks(rows), 1e-9);
    int64_t row = yk_cut_at_share(s->csr, s->row_bytes, 0, rows, 1.0 - share);
    return yk_gpu_rows(rows, yk_chunks(row), share < 1.0 ? share : 0.5);
}

/* The next cut with fewer rows for the CPU; the same where there is none. */
static int64_t next_up(const span *s, int64_t row)
{
    double share = share_at(s, row), by_cpu = share / factor_at(s, share);
    double by_gpu = 1.0 - GPU_STEP * (1.0 - share);
    int64_t most = row_at(s, 0.0), next = row_at(s, by_cpu < by_gpu ? by_cpu : by_gpu);
    if (next <= row) next = row + YK_CHUNK;
    return next < most ? next : most;
}

/* And with more, up to twice the first share. */
static int64_t next_down(const span *s, int64_t row)
{
    double share = share_at(s, row), by_cpu = share * factor_at(s, share);
    double by_gpu = 1.0 - (1.0 - share) / GPU_STEP;
    double next_share = by_cpu > by_gpu ? by_cpu : by_gpu;
    if (share >= 2.0 * s->share) return row;
    int64_t least = YK_CHUNK, next = next_share < 1.0 ? row_at(s, next_share) : least;
    if (next >= row) next = row - YK_CHUNK;
    return next > least ? next : least;
}

static int add_cuts(const span *s, int64_t row, int64_t (*next)(const span *, int64_t),
                    int64_t *cuts, int most)
{
    int count = 0;
    for (int64_t cut = next(s, row); count < most && cut != row; cut = next(s, row))
        cuts[count++] = row = cut;
    return count;
}

yk_window yk_window_around(const yk_csr *csr, double row_bytes, int64_t row, bool narrow)
{
    const span s = {csr, row_bytes,
                    1.0 - yk_bytes_before(csr, row_bytes, row) /
                              yk_bytes_before(csr, row_bytes, csr->rows)};
    yk_window window = {0, 0, {0}};
    int64_t down[YK_MOST_CUTS / 2];
    int below = add_cuts(&s, row, next_down, down, YK_MOST_CUTS / 2);
    for (int i = 0; i < below; i++) window.row[i] = down[below - 1 - i];
    window.row[below] = row;
    window.at = below;
    window.count = below + 1;
    if (!narrow)
        window.count +=
            add_cuts(&s, row, next_up, window.row + window.count, YK_MOST_CUTS - window.count);
    return window;
}

void yk_window_thin(yk_window *window, int most)
{
    while (window->count > most && window->count > 3) {
        yk_window thin = {0, 0, {0}};
        for (int i = 0; i < window->count; i++) {
            bool kept = i == 0 || i == window->count - 1 || (i - window->at) % 2 == 0;
            if (i == window->at) thin.at = thin.count;
            if (kept) thin.row[thin.count++] = window->row[i];
        }
        if (thin.count == window->count) return;
        *window = thin;
    }
}
