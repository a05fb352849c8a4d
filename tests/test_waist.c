/* SPDX-License-Identifier: BSD-3-Clause */
/* test_waist.c: cuts that are moved to where fewer columns cross them, and those that are not. */
#include <math.h>
#include <stdbool.h>

#include "lib/iface/partition.h"
#include "lib/sum.h"
#include "partition/balance.h"
#include "partition/waist.h"
#include "tests/matrix_fixture.h"

TestSuite(waist, .init = make_context, .fini = drop_context);

enum { CHUNKS = 440, ROWS = CHUNKS * YK_CHUNK, MIDDLE = CHUNKS / 2 * YK_CHUNK };
#define ROW_BYTES 80.0

/* Each row is linked to the next, and to `reach(row, k)` behind it, k = 0 to 2, where that is not
 * 0.
 */
static yoke_matrix *linked(int (*reach)(int row, int k))
{
    static int32_t start[ROWS + 1], column[5 * ROWS];
    static double value[5 * ROWS];
    int count = 0;
    for (int i = 0; i < ROWS; i++) {
        const int other[5] = {i, i + 1, i + reach(i, 0), i + reach(i, 1), i + reach(i, 2)};
        for (int k = 0; k < 5; k++) {
            if (other[k] >= ROWS || (k > 1 && other[k] == i)) continue;
            column[count] = other[k];
            value[count++] = k == 0 ? 16.0 : -1.0;
        }
        start[i + 1] = count;
    }
    yoke_csr csr = csr32(ROWS, start, column, value);
    csr.triangle = YOKE_UPPER;
    return created(&csr);
}

/* Only the next row is beyond it. */
static int waist_at;

static int reach_to_waist(int row, int k)
{
    static const int length[] = {5003, 10007, 20011};
    return row < waist_at && row + length[k] >= waist_at ? 0 : length[k];
}

static int64_t cut_of_two(const yk_csr *csr)
{
    int64_t first[3];
    yk_partition_cpu.cut(&(yk_cut_request){csr, 2, 0, ROW_BYTES, 0}, first);
    cr_assert_eq(first[0], 0);
    cr_assert_eq(first[2], ROWS);
    return first[1];
}

static int64_t within(int64_t value, int64_t from, int64_t chunks)
{
    int64_t low = from - chunks * YK_CHUNK, high = from + chunks * YK_CHUNK;
    return value < low ? low : value > high ? high : value;
}

/* 1 % of a half are 2 chunks, of a quarter 1. A waist beyond draws the cut no farther. */
Test(waist, cuts_of_cpu_parts_go_to_a_waist_that_is_near)
{
    for (int away = -5; away <= 5; away++) {
        waist_at = MIDDLE + away * YK_CHUNK;
        yoke_matrix *matrix = linked(reach_to_waist);
        int64_t wanted = yk_cut_at_share(&matrix->csr, ROW_BYTES, 0, ROWS, 0.5), first[5];
        cr_assert_eq(cut_of_two(&matrix->csr), within(waist_at, wanted, 2), "2 parts, %d", away);
        yk_partition_cpu.cut(&(yk_cut_request){&matrix->csr, 4, 0, ROW_BYTES, 0}, first);
        cr_assert_eq(first[2], within(waist_at, wanted, 1), "4 parts, %d", away);
        yoke_matrix_destroy(matrix);
    }
}

Test(waist, the_models_cut_goes_to_a_waist_and_a_given_share_does_not)
{
    waist_at = MIDDLE + 2 * YK_CHUNK;
    yoke_matrix *matrix = linked(reach_to_waist);
    const yk_csr *csr = &matrix->csr;
    cr_assert_eq(yk_partition_model.gpu_rows(csr, ROW_BYTES, 0.5), waist_at);
    cr_assert_eq(yk_partition_ratio.gpu_rows(csr, ROW_BYTES, 0.5), MIDDLE);
    cr_assert_eq(yk_partition_nonzeros.gpu_rows(csr, ROW_BYTES, 0.5),
                 yk_cut_at_share(csr, 0.0, 0, ROWS, 0.5));
    cr_assert_eq(yk_partition_model.gpu_rows(csr, ROW_BYTES, 0.0), ROWS);
    cr_assert_eq(yk_partition_model.gpu_rows(csr, ROW_BYTES, 1.0), 0);
    yoke_matrix_destroy(matrix);
}

/* Few columns fewer are not worth a chunk. */
static int reach_almost_even(int row, int k)
{
    return k > 0 ? 0 : row % 4096 == 0 ? 199 : 200;
}

Test(waist, cuts_stay_where_all_are_much_the_same)
{
    yoke_matrix *matrix = linked(reach_almost_even);
    int64_t wanted = yk_cut_at_share(&matrix->csr, ROW_BYTES, 0, ROWS, 0.5);
    cr_assert_eq(cut_of_two(&matrix->csr), wanted);
    yoke_matrix_destroy(matrix);
}

static int reach_at_random(int row, int k)
{
    uint64_t seed = (uint64_t)(row / 256 * 3 + k) * 6364136223846793005u + 1442695040888963407u;
    return 2 + 1000 * k + (int)((seed >> 40) % 900);
}

/* Rows on either side that the other side has columns of, from all entries. */
static int64_t crossing(const yk_csr *csr, int64_t cut)
{
    int64_t count = 0;
    for (int64_t i = 0; i < csr->rows; i++) {
        bool crosses = false;
        for (int64_t k = yk_row_start(csr, i); k < yk_row_start(csr, i + 1); k++)
            crosses |= (csr->column[k] < cut) != (i < cut);
        count += crosses;
    }
    return count;
}

/* Against all cuts within 1 %, each counted from all entries. */
Test(waist, the_cheapest_cut_is_found_by_the_entries_between)
{
    yoke_matrix *matrix = linked(reach_at_random);
    const yk_csr *csr = &matrix->csr;
    for (int64_t wanted = 110 * YK_CHUNK; wanted <= 330 * YK_CHUNK; wanted += 55 * YK_CHUNK) {
        double at = yk_bytes_before(csr, ROW_BYTES, wanted);
        double all = yk_bytes_before(csr, ROW_BYTES, ROWS), least = INFINITY;
        int64_t best = 0;
        for (int64_t cut = wanted - 5 * YK_CHUNK; cut <= wanted + 5 * YK_CHUNK; cut += YK_CHUNK) {
            double moved = fabs(yk_bytes_before(csr, ROW_BYTES, cut) - at);
            double cost = moved + 64.0 * (double)crossing(csr, cut);
            if (moved > 0.01 * fmin(at, all - at) || cost >= least) continue;
            least = cost;
            best = cut;
        }
        cr_assert_eq(yk_cut_at_waist(csr, ROW_BYTES, 0, ROWS, wanted), best, "near %lld",
                     (long long)wanted);
    }
    yoke_matrix_destroy(matrix);
}

Test(waist, an_operator_and_the_ends_have_none)
{
    const yk_csr rows_alone = {.rows = ROWS};
    cr_assert_eq(yk_cut_at_waist(&rows_alone, ROW_BYTES, 0, ROWS, MIDDLE), MIDDLE);
    waist_at = MIDDLE + 2 * YK_CHUNK;
    yoke_matrix *matrix = linked(reach_to_waist);
    cr_assert_eq(yk_cut_at_waist(&matrix->csr, ROW_BYTES, 0, ROWS, 0), 0);
    cr_assert_eq(yk_cut_at_waist(&matrix->csr, ROW_BYTES, 0, ROWS, ROWS), ROWS);
    cr_assert_eq(
        yk_cut_at_waist(&matrix->csr, ROW_BYTES, MIDDLE - YK_CHUNK, MIDDLE + YK_CHUNK, MIDDLE),
        MIDDLE);
    yoke_matrix_destroy(matrix);
}
