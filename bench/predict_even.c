/* SPDX-License-Identifier: BSD-3-Clause */
/* predict_even.c: where the best plans of one owner and of both change places: in rows, in the
 * link's speed, in the cores'. */
#include <math.h>

#include "bench/predict.h"

yoke_shape shape_scaled(const yoke_shape *a, double factor)
{
    yoke_shape b = *a;
    int scattered = a->sectors > 0.6 * a->nonzeros / a->rows;
    double dimensions = a->dimensions > 0.0 ? a->dimensions : 3.0;
    double face = scattered ? factor : pow(factor, 1.0 - 1.0 / dimensions);
    b.rows *= factor;
    b.nonzeros *= factor;
    b.sell_entries *= factor;
    b.counted_ranks = 0.0;
    for (int k = 0; k < YOKE_HALOS; k++) {
        b.halo_of_last[k] = fmin(a->halo_of_last[k] * face, b.rows);
        b.halo_of_first[k] = fmin(a->halo_of_first[k] * face, b.rows);
    }
    return b;
}

/* The least time of one owner, by any plan that was tried, and of both at the best share. */
static int sharing_wins(const forecast *f, const yoke_model *model, const yoke_shape *shape)
{
    double single = INFINITY, shared = INFINITY;
    for (int i = 0; i < f->count; i++) {
        predicted_plan p = f->plan[i];
        int is_shared = p.plan.cpu_share > 0.0 && p.plan.cpu_share < 1.0;
        if (*p.home) p.plan.home = NULL; /* spilled since it had to: perhaps it has not now */
        if (is_shared) p.plan.cpu_share = best_share(f, model, shape, &p);
        if (is_shared && !(p.plan.cpu_share > 0.0)) continue;
        if (!predict_fitting(f, model, shape, &p) || !p.p.fits) continue;
        if (is_shared)
            shared = fmin(shared, p.p.seconds);
        else
            single = fmin(single, p.p.seconds);
    }
    return shared < single;
}

typedef struct question {
    const forecast *f;
    yoke_context *context;
    const char *part; /* NULL: the rows */
} question;

static int answer(const question *q, double factor)
{
    if (!q->part) {
        yoke_shape shape = shape_scaled(&q->f->shape, factor);
        return sharing_wins(q->f, q->f->model, &shape);
    }
    yoke_model *model = NULL;
    int wins = 0;
    if (yoke_model_open(q->context, q->f->machine, &model)) return 0;
    if (!yoke_model_scale(model, q->part, factor)) wins = sharing_wins(q->f, model, &q->f->shape);
    yoke_model_close(model);
    return wins;
}

/* The factor, within a thousandth and a thousand, at which the answer changes; NaN: nowhere. */
static double turn(const question *q)
{
    enum { STEPS = 24 };
    const double most = log(1000.0);
    int now = answer(q, 1.0);
    double same = 0.0, other = now ? -most : most; /* of logarithms */
    if (answer(q, exp(other)) == now) return NAN;
    for (int i = 0; i < STEPS; i++) {
        double middle = 0.5 * (same + other);
        if (answer(q, exp(middle)) == now)
            same = middle;
        else
            other = middle;
    }
    return exp(0.5 * (same + other));
}

void find_break_evens(yoke_context *context, forecast *f)
{
    f->rows_even = f->link_even = f->cores_even = NAN;
    if (f->single < 0 || f->shared < 0) return;
    f->rows_even = f->shape.rows * turn(&(question){f, context, NULL});
    f->link_even = turn(&(question){f, context, "link"});
    f->cores_even = turn(&(question){f, context, "cores"});
}
