/* SPDX-License-Identifier: BSD-3-Clause */
/* spread_symmetry.c: is a_ij = a_ji, where row i and row j may be of two ranks? Pairs of one rank
 * are compared there. Of a pair of two ranks each sends its entry to the other, so both decide, and
 * take the mean, from the same two numbers. */
#include <math.h>
#include <string.h>

#include "lib/csr_input.h"
#include "lib/spread.h"
#include "lib/status.h"
#include "lib/threads.h"

/* Given in yoke.h: what round-off in an assembly may leave. */
static const double round_off = 1e-12;

/* An entry at the boundary: of the sender's row, in the receiver's column. */
typedef struct mirror {
    int64_t row, column; /* in the system as given */
    double value;
} mirror;

typedef struct check {
    const yoke_matrix *matrix;
    const yk_csr *csr;
    const int64_t *row_of;
    int64_t rows;
    double *value;
    int64_t wrong; /* first entry without its equal; INT64_MAX: none */
    int mean;
} check;

/* Entries of a row are in the order of the given columns. -1: none. */
static int64_t place_of(const check *c, int64_t row, int64_t given_column)
{
    int64_t low = yk_row_start(c->csr, row), end = yk_row_start(c->csr, row + 1), high = end;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (c->row_of[c->csr->column[middle]] < given_column)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && c->row_of[c->csr->column[low]] == given_column ? low : -1;
}

static bool equal(double a, double b)
{
    return a == b || !isfinite(a) || !isfinite(b);
}

static bool equal_to_round_off(double a, double b)
{
    return fabs(a - b) <= round_off * fmax(fabs(a), fabs(b));
}

/* above, below: of a_ij with i < j in the system as given, and a_ji. The value for both places. */
static double judge(check *c, int64_t k, double above, double below)
{
    if (equal(above, below)) return c->value[k];
    if (!equal_to_round_off(above, below)) {
        yk_note_first(&c->wrong, k);
        return c->value[k];
    }
    __atomic_store_n(&c->mean, 1, __ATOMIC_RELAXED);
    return above + 0.5 * (below - above);
}

/* Above the diagonal both places of a pair are looked at, and written. */
static void check_above(void *user, int64_t first, int64_t last)
{
    check *c = user;
    for (int64_t i = first; i < last; i++)
        for (int64_t k = yk_row_start(c->csr, i); k < yk_row_start(c->csr, i + 1); k++) {
            int64_t j = c->csr->column[k];
            if (j >= c->rows || c->row_of[j] <= c->row_of[i]) continue;
            int64_t m = place_of(c, j, c->row_of[i]);
            double value = judge(c, k, c->value[k], m < 0 ? 0.0 : c->value[m]);
            if (value == c->value[k]) continue;
            c->value[k] = value;
            if (m >= 0) c->value[m] = value;
        }
}

/* Below it only what has no counterpart is left. */
static void check_below(void *user, int64_t first, int64_t last)
{
    check *c = user;
    for (int64_t i = first; i < last; i++)
        for (int64_t k = yk_row_start(c->csr, i); k < yk_row_start(c->csr, i + 1); k++) {
            int64_t j = c->csr->column[k];
            if (j >= c->rows || c->row_of[j] >= c->row_of[i]) continue;
            if (place_of(c, j, c->row_of[i]) < 0 && !equal(c->value[k], 0.0))
                yk_note_first(&c->wrong, k);
        }
}

/* ------------------------------------------------------------ of two ranks */

typedef struct boundary {
    yoke_context *context;
    const yk_spread *spread;
    int ranks;
    size_t *to, *from; /* [ranks] bytes */
    mirror *sent, *came;
    int64_t sends, comes;
} boundary;

static int owner_of_halo(const boundary *b, int64_t position)
{
    const yk_spread *spread = b->spread;
    int low = 0, high = spread->receives - 1;
    while (low < high) {
        int middle = low + (high - low + 1) / 2;
        if (spread->receive[middle].at <= position)
            low = middle;
        else
            high = middle - 1;
    }
    return spread->receive[low].rank;
}

static void count_mirrors(boundary *b, const check *c)
{
    memset(b->to, 0, (size_t)b->ranks * sizeof *b->to);
    for (int64_t k = 0; k < c->csr->nonzeros; k++) {
        int64_t halo = c->csr->column[k] - c->rows;
        if (halo < 0) continue;
        b->to[owner_of_halo(b, halo)] += sizeof(mirror);
        b->sends++;
    }
}

static void fill_mirrors(boundary *b, const check *c)
{
    size_t at[(size_t)b->ranks];
    at[0] = 0;
    for (int r = 1; r < b->ranks; r++) at[r] = at[r - 1] + b->to[r - 1] / sizeof(mirror);
    for (int64_t i = 0; i < c->rows; i++)
        for (int64_t k = yk_row_start(c->csr, i); k < yk_row_start(c->csr, i + 1); k++) {
            int64_t j = c->csr->column[k];
            if (j < c->rows) continue;
            b->sent[at[owner_of_halo(b, j - c->rows)]++] =
                (mirror){c->row_of[i], c->row_of[j], c->value[k]};
        }
}

/* Our row of that number: numbers of own rows ascend. */
static int64_t own_row(const check *c, int64_t given)
{
    int64_t low = 0, high = c->rows - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (c->row_of[middle] < given)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Marks the places that were met; what was met by none must be 0. */
static void compare(const boundary *b, check *c, uint8_t *met)
{
    for (int64_t n = 0; n < b->comes; n++) {
        const mirror *m = &b->came[n];
        int64_t i = own_row(c, m->column), k = place_of(c, i, m->row);
        if (k < 0) continue; /* its sender finds out */
        met[k] = 1;
        bool above = c->row_of[i] < m->row;
        double own = c->value[k], other = m->value;
        c->value[k] = above ? judge(c, k, own, other) : judge(c, k, other, own);
    }
    for (int64_t k = 0; k < c->csr->nonzeros; k++)
        if (c->csr->column[k] >= c->rows && !met[k] && !equal(c->value[k], 0.0))
            yk_note_first(&c->wrong, k);
}

static yoke_status allocate_sizes(boundary *b)
{
    YK_TRY(yk_alloc(b->context, "sizes of lanes", b->ranks, sizeof *b->to, &b->to));
    return yk_alloc(b->context, "sizes of lanes", b->ranks, sizeof *b->from, &b->from);
}

static yoke_status exchange_sizes(boundary *b)
{
    size_t each[(size_t)b->ranks];
    for (int r = 0; r < b->ranks; r++) each[r] = sizeof(size_t);
    YK_TRY(yk_ranks_exchange(b->context, b->to, each, b->from, each));
    for (int r = 0; r < b->ranks; r++) b->comes += (int64_t)(b->from[r] / sizeof(mirror));
    return YOKE_OK;
}

static yoke_status check_boundary(boundary *b, check *c)
{
    uint8_t *met = NULL;
    YK_TRY(yk_agree(b->context, allocate_sizes(b), 0.0));
    count_mirrors(b, c);
    YK_TRY(exchange_sizes(b));
    yoke_status status =
        yk_alloc(b->context, "entries at the boundary", b->sends, sizeof *b->sent, &b->sent);
    if (status == YOKE_OK)
        status =
            yk_alloc(b->context, "entries at the boundary", b->comes, sizeof *b->came, &b->came);
    if (status == YOKE_OK) status = yk_alloc(b->context, "marks", c->csr->nonzeros, 1, &met);
    status = yk_agree(b->context, status, 0.0);
    if (status == YOKE_OK) {
        fill_mirrors(b, c);
        status = yk_ranks_exchange(b->context, b->sent, b->to, b->came, b->from);
    }
    if (status == YOKE_OK) {
        memset(met, 0, (size_t)c->csr->nonzeros);
        compare(b, c, met);
    }
    yk_free(b->context, met, c->csr->nonzeros, 1);
    return status;
}

static void free_boundary(boundary *b)
{
    yk_free(b->context, b->to, b->ranks, sizeof *b->to);
    yk_free(b->context, b->from, b->ranks, sizeof *b->from);
    yk_free(b->context, b->sent, b->sends, sizeof *b->sent);
    yk_free(b->context, b->came, b->comes, sizeof *b->came);
}

/* ----------------------------------------------------------------- verdict */

static yoke_status refuse(const check *c)
{
    int64_t low = 0, high = c->rows - 1, base = c->matrix->given.base;
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        if (yk_row_start(c->csr, middle) <= c->wrong)
            low = middle;
        else
            high = middle - 1;
    }
    return yk_fail(YOKE_UNSUITABLE,
                   "the matrix is not symmetric: entry (%lld, %lld) is %.17g and its mirror image "
                   "is another%s",
                   (long long)(c->row_of[low] + base),
                   (long long)(c->row_of[c->csr->column[c->wrong]] + base), c->value[c->wrong],
                   base ? "" : " (counted from 0)");
}

yoke_status yk_spread_symmetrise(yoke_matrix *matrix, double *value, int threads, bool *mean)
{
    const yk_spread *spread = matrix->spread;
    yoke_context *context = matrix->context;
    check c = {.matrix = matrix,
               .csr = &matrix->csr,
               .row_of = spread->row_of,
               .rows = spread->rows,
               .value = value,
               .wrong = INT64_MAX};
    boundary b = {.context = context, .spread = spread, .ranks = context->comm->ranks};
    yk_parallel_for(threads, c.rows, YK_ROW_GRAIN, check_above, &c);
    yk_parallel_for(threads, c.rows, YK_ROW_GRAIN, check_below, &c);
    yoke_status status = check_boundary(&b, &c);
    free_boundary(&b);
    YK_TRY(status);
    YK_TRY(yk_agree(context, c.wrong == INT64_MAX ? YOKE_OK : refuse(&c), 0.0));
    *mean = yk_ranks_most(context, c.mean) > 0.0;
    return YOKE_OK;
}
