/* SPDX-License-Identifier: BSD-3-Clause */
/* shape_ranks.c: what contiguous shares of a matrix need of each other, counted entry by entry. */
#include <yoke_tools.h>

#include "lib/matrix.h"
#include "lib/status.h"
#include "matrices/deal.h"

static void note(int ranks, const yk_deal_need *need, yoke_shape *shape)
{
    shape->counted_ranks = ranks;
    shape->rank_halo = shape->rank_neighbours = 0.0;
    for (int r = 0; r < ranks; r++) {
        double halo = (double)need[r].halo;
        if (halo > shape->rank_halo) shape->rank_halo = halo;
        if (need[r].neighbours > shape->rank_neighbours)
            shape->rank_neighbours = need[r].neighbours;
    }
}

yoke_status yoke_shape_count_ranks(const yoke_matrix *matrix, int ranks, yoke_shape *shape)
{
    if (!matrix || !shape) return yk_fail(YOKE_INVALID, "matrix or shape is NULL");
    if (ranks < 1) return yk_fail(YOKE_INVALID, "%d ranks, expected 1 or more", ranks);
    if (matrix->is_operator)
        return yk_fail(YOKE_UNSUITABLE, "an operator has no entries to be counted");
    yk_deal_need *need;
    YK_TRY(yk_alloc(matrix->context, "figures of ranks", ranks, sizeof *need, &need));
    yoke_status status = yk_deal_count_slabs(matrix->context, &matrix->csr, NULL, ranks, need);
    if (status == YOKE_OK) note(ranks, need, shape);
    yk_free(matrix->context, need, ranks, sizeof *need);
    return status;
}
