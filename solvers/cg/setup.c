/* SPDX-License-Identifier: BSD-3-Clause */
/* setup.c: what happens to the vectors outside the loop: in, scaled, checked, out. */
#include "solvers/cg/setup.h"

#include <math.h>
#include <string.h>

static void copy_rows(double *to, const double *from, int64_t first, int64_t last)
{
    if (first == last) return; /* no rows at all may come without an array */
    memcpy(to + first, from + first, (size_t)(last - first) * sizeof *to);
}

/* ------------------------------------------------------- whole-vector work */

typedef struct vectors {
    const double *b, *x0;
    double *x;
} vectors;

static void import_piece(yk_cg *cg, yk_piece *piece, void *user)
{
    const vectors *v = user;
    yk_part *part = &cg->part[piece->part];
    size_t bytes = (size_t)(piece->last - piece->first) * sizeof(double);
    size_t halo_bytes = (size_t)(piece->halo_last - piece->halo_first) * sizeof(double);
    copy_rows(part->b, v->b + part->first, piece->first, piece->last);
    if (v->x0)
        copy_rows(part->x, v->x0 + part->first, piece->first, piece->last);
    else
        memset(part->x + piece->first, 0, bytes);
    memset(part->p + piece->first, 0, bytes);
    memset(part->p + part->rows + piece->halo_first, 0, halo_bytes);
    if (!cg->folded) return;
    memset(part->p_old + piece->first, 0, bytes);
    memset(part->p_old + part->rows + piece->halo_first, 0, halo_bytes);
}

/* A value that is not finite gives infinity. */
static void largest_of(yk_piece *piece, const double *v)
{
    double largest = 0.0;
    for (int64_t i = piece->first; i < piece->last; i++) {
        double magnitude = fabs(v[i]);
        if (!(magnitude <= largest)) largest = isnan(magnitude) ? INFINITY : magnitude;
    }
    piece->largest = largest;
}

static void largest_b(yk_cg *cg, yk_piece *piece, void *user)
{
    (void)user;
    largest_of(piece, cg->part[piece->part].b);
}

static void largest_r(yk_cg *cg, yk_piece *piece, void *user)
{
    (void)user;
    largest_of(piece, cg->part[piece->part].r);
}

static double largest(yk_cg *cg, yk_piece_fn of, void *user)
{
    double most = 0.0;
    yk_team_run(cg, of, user);
    for (int i = 0; i < cg->pieces; i++) most = fmax(most, cg->piece[i].largest);
    return most;
}

static void scale_piece(yk_cg *cg, yk_piece *piece, void *user)
{
    const double *factor = user;
    const yk_part *part = &cg->part[piece->part];
    for (int64_t i = piece->first; i < piece->last; i++) {
        part->b[i] *= *factor;
        part->x[i] *= *factor;
    }
}

static void export_piece(yk_cg *cg, yk_piece *piece, void *user)
{
    const vectors *v = user;
    const yk_part *part = &cg->part[piece->part];
    double factor = ldexp(1.0, cg->exponent);
    for (int64_t i = piece->first; i < piece->last; i++)
        v->x[part->first + i] = part->x[i] * factor;
    largest_of(piece, v->x + part->first);
}

static void save_piece(yk_cg *cg, yk_piece *piece, void *user)
{
    const yk_part *part = &cg->part[piece->part];
    (void)user;
    copy_rows(part->best, part->x, piece->first, piece->last);
}

static void restore_piece(yk_cg *cg, yk_piece *piece, void *user)
{
    const yk_part *part = &cg->part[piece->part];
    (void)user;
    copy_rows(part->x, part->best, piece->first, piece->last);
}

void yk_cg_save_x(yk_cg *cg)
{
    yk_team_run(cg, save_piece, NULL);
}

void yk_cg_restore_x(yk_cg *cg)
{
    yk_team_run(cg, restore_piece, NULL);
}

static void zero_piece(yk_cg *cg, yk_piece *piece, void *user)
{
    (void)user;
    memset(cg->part[piece->part].x + piece->first, 0,
           (size_t)(piece->last - piece->first) * sizeof(double));
}

void yk_cg_zero_x(yk_cg *cg)
{
    yk_team_run(cg, zero_piece, NULL);
}

/* ------------------------------------------------------ constant nullspace */

typedef struct centring {
    bool of_b; /* else of x */
    double mean;
} centring;

static double *centred(yk_cg *cg, const yk_piece *piece, const centring *what)
{
    return what->of_b ? cg->part[piece->part].b : cg->part[piece->part].x;
}

static void sum_piece(yk_cg *cg, yk_piece *piece, void *user)
{
    const double *v = centred(cg, piece, user);
    yk_tree_begin(&piece->sums, (cg->part[piece->part].first + piece->first) / YK_CHUNK, 1);
    for (int64_t chunk = piece->first; chunk < piece->last; chunk += YK_CHUNK) {
        int64_t end = chunk + YK_CHUNK < piece->last ? chunk + YK_CHUNK : piece->last;
        double sum = 0.0;
        for (int64_t i = chunk; i < end; i++) sum += v[i];
        yk_tree_add(&piece->sums, 0, &sum);
    }
}

static void subtract_piece(yk_cg *cg, yk_piece *piece, void *user)
{
    const centring *what = user;
    double *v = centred(cg, piece, what);
    for (int64_t i = piece->first; i < piece->last; i++) v[i] -= what->mean;
}

static void centre(yk_cg *cg, bool of_b)
{
    centring what = {of_b, 0.0};
    double total[YK_DOTS];
    yk_team_run(cg, sum_piece, &what);
    yk_team_total(cg, total);
    what.mean = total[0] / (double)cg->rows;
    yk_team_run(cg, subtract_piece, &what);
}

/* ----------------------------------------------------------- true residual */

static void send_piece(yk_cg *cg, yk_piece *piece, void *user)
{
    const yk_boundary *which = user;
    yk_send_boundary(cg, piece, *which);
}

static void send_all(yk_cg *cg, yk_boundary which)
{
    if (cg->parts > 1) yk_team_run(cg, send_piece, &which);
}

bool yk_cg_residual(yk_cg *cg, double *dot)
{
    const yk_cpu_passes *passes = cg->passes;
    send_all(cg, YK_BOUNDARY_X);
    if (cg->op && !yk_cg_callback(cg, cg->op, YK_VECTOR_X, YK_VECTOR_Q)) return false;
    yk_team_pass(cg, cg->op ? passes->residual_of_q[cg->jacobi] : passes->residual[cg->jacobi],
                 YK_DOTS);
    yk_team_total(cg, dot);
    if (cg->op && !isfinite(dot[YK_DOT_RR])) cg->not_finite_from = "operator";
    if (cg->preconditioner) {
        double of_z[YK_DOTS];
        if (!yk_cg_callback(cg, cg->preconditioner, YK_VECTOR_R, YK_VECTOR_Z)) return false;
        yk_team_pass(cg, passes->dots_z, YK_DOTS);
        yk_team_total(cg, of_z);
        dot[YK_DOT_RZ] = of_z[YK_DOT_RZ];
        if (isfinite(dot[YK_DOT_RR]) && !isfinite(dot[YK_DOT_RZ]))
            cg->not_finite_from = "preconditioner";
        dot[YK_DOT_Z] = of_z[YK_DOT_Z];
    }
    send_all(cg, YK_BOUNDARY_Z);
    return true;
}

bool yk_cg_operator_works(const yk_cg *cg)
{
    return !cg->failed_callback;
}

/* --------------------------------------------------------------- in and out */

static int exponent_of(double magnitude)
{
    if (!(magnitude > 0.0) || !isfinite(magnitude)) return 0;
    int exponent = ilogb(magnitude);
    return exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent;
}

void yk_cg_import(yk_cg *cg, const double *b, const double *x0, bool *b_is_zero,
                  yoke_report *report)
{
    double began = yoke_seconds();
    cg->exponent = 0;
    cg->newest_p = 0;
    cg->overflowed = false;
    cg->failed_callback = cg->not_finite_from = NULL;
    yk_team_run(cg, import_piece, &(vectors){b, x0, NULL});
    if (cg->nullspace && cg->rows > 0) centre(cg, true);
    double most = largest(cg, largest_b, NULL), dot[YK_DOTS];
    *b_is_zero = most == 0.0;
    report->transfer_seconds += yoke_seconds() - began;
    if (x0 && yk_cg_residual(cg, dot)) most = fmax(most, largest(cg, largest_r, NULL));
    cg->exponent = exponent_of(most);
    double factor = ldexp(1.0, -cg->exponent);
    if (cg->exponent != 0) yk_team_run(cg, scale_piece, &factor);
}

void yk_cg_export(yk_cg *cg, double *x, yoke_report *report)
{
    double began = yoke_seconds();
    if (cg->nullspace && cg->rows > 0) centre(cg, false);
    if (!isfinite(largest(cg, export_piece, &(vectors){.x = x})) &&
        report->outcome == YOKE_CONVERGED) {
        report->outcome = YOKE_NOT_FINITE;
        report->residual_true = NAN;
        cg->overflowed = true;
    }
    report->transfer_seconds += yoke_seconds() - began;
}
