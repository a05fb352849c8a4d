/* SPDX-License-Identifier: BSD-3-Clause */
/* test_generate.c: matrices by name: their shape, entries, definiteness and bits. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yoke_io.h>

#include "lib/context.h"
#include "lib/matrix.h"
#include "matrices/permutation.h"

/* Every generator, small enough for a dense factorisation. */
static const char *const small[] = {
    "poisson2d5:1",
    "poisson2d5:7",
    "poisson3d7:1",
    "poisson3d7:2",
    "poisson3d7:5",
    "poisson3d27:1",
    "poisson3d27:2",
    "poisson3d27:5",
    "anisotropic3d7:5:0.5",
    "anisotropic3d7:4:1e-6",
    "jumps3d7:5:1e4:1",
    "jumps3d7:9:1e-3:7",
    "jumps3d7:1:3:0",
    "elasticity3d:2",
    "elasticity3d:3",
    "elasticity3d:5",
    "graph:1000:7:1",
    "graph:7:6:2",
    "graph:500:100:3",
    "graph:2:1:0",
    "random_spd:1000:9:1",
    "random_spd:1:1:5",
    "random_spd:500:99:3",
    "random_spd:600:1:3",
    "shuffled:1:poisson2d5:7",
    "shuffled:0:elasticity3d:3",
    "shuffled:7:graph:500:9:3",
};

enum { SMALL = sizeof small / sizeof *small };

static yoke_context *context_of(int threads)
{
    yoke_context_options options = yoke_context_defaults();
    options.threads = threads;
    yoke_context *context = NULL;
    cr_assert_eq(yoke_context_create(&options, &context), YOKE_OK);
    return context;
}

static yoke_matrix *make_with(int threads, const char *spec)
{
    yoke_context *context = context_of(threads);
    yoke_matrix *matrix = NULL;
    cr_assert_eq(yoke_matrix_generate(context, spec, &matrix), YOKE_OK, "%s: %s", spec,
                 yoke_error_text());
    yoke_context_destroy(context);
    return matrix;
}

static yoke_matrix *make(const char *spec)
{
    return make_with(2, spec);
}

/* The entry, 0 if the row does not hold it. */
static double entry(const yk_csr *csr, int64_t row, int64_t column)
{
    for (int64_t k = yk_row_start(csr, row); k < yk_row_start(csr, row + 1); k++)
        if (csr->column[k] == column) return csr->value[k];
    return 0;
}

static bool holds(const yk_csr *csr, int64_t row, int64_t column)
{
    for (int64_t k = yk_row_start(csr, row); k < yk_row_start(csr, row + 1); k++)
        if (csr->column[k] == column) return true;
    return false;
}

static void assert_size(const char *spec, int64_t rows, int64_t nonzeros)
{
    yoke_matrix *matrix = make(spec);
    cr_assert_eq(yoke_matrix_rows(matrix), rows, "%s", spec);
    cr_assert_eq(yoke_matrix_nonzeros(matrix), nonzeros, "%s", spec);
    cr_assert_eq(yk_row_start(&matrix->csr, 0), 0);
    cr_assert_eq(yk_row_start(&matrix->csr, rows), nonzeros);
    yoke_matrix_destroy(matrix);
}

/* Each grid direction of n nodes has 3 n - 2 pairs within distance 1. */
Test(generate, rows_and_nonzeros_have_their_closed_forms)
{
    assert_size("poisson2d5:50", 2500, 5 * 2500 - 4 * 50);
    assert_size("poisson3d7:20", 8000, 7 * 8000 - 6 * 400);
    assert_size("poisson3d27:20", 8000, 58 * 58 * 58);
    assert_size("poisson3d27:2", 8, 64);
    assert_size("anisotropic3d7:20:0.01", 8000, 7 * 8000 - 6 * 400);
    assert_size("jumps3d7:20:1e3:1", 8000, 7 * 8000 - 6 * 400);
    assert_size("elasticity3d:10", 2700, 9 * 28 * 28 * 25);
    assert_size("elasticity3d:2", 12, 9 * 16);
    assert_size("poisson3d7:1", 1, 1);
    assert_size("random_spd:5:1:9", 5, 5);
}

Test(generate, columns_ascend_within_bounds)
{
    for (int i = 0; i < SMALL; i++) {
        yoke_matrix *matrix = make(small[i]);
        const yk_csr *csr = &matrix->csr;
        for (int64_t row = 0; row < csr->rows; row++)
            for (int64_t k = yk_row_start(csr, row); k < yk_row_start(csr, row + 1); k++) {
                cr_assert_geq(csr->column[k], 0, "%s", small[i]);
                cr_assert_lt(csr->column[k], csr->rows, "%s", small[i]);
                if (k > yk_row_start(csr, row))
                    cr_assert_lt(csr->column[k - 1], csr->column[k], "%s row %lld", small[i],
                                 (long long)row);
            }
        yoke_matrix_destroy(matrix);
    }
}

Test(generate, every_entry_has_its_mirror_image_to_the_bit)
{
    for (int i = 0; i < SMALL; i++) {
        yoke_matrix *matrix = make(small[i]);
        const yk_csr *csr = &matrix->csr;
        for (int64_t row = 0; row < csr->rows; row++)
            for (int64_t k = yk_row_start(csr, row); k < yk_row_start(csr, row + 1); k++) {
                cr_assert(holds(csr, csr->column[k], row), "%s: (%lld, %d) alone", small[i],
                          (long long)row, csr->column[k]);
                cr_assert_eq(entry(csr, csr->column[k], row), csr->value[k], "%s", small[i]);
            }
        yoke_matrix_destroy(matrix);
    }
}

/* Dense Cholesky in place; false at a pivot that is not positive. */
static bool cholesky(double *a, int n)
{
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++)
            if (a[j * n + k] != 0)
                for (int i = j; i < n; i++) a[i * n + j] -= a[i * n + k] * a[j * n + k];
        if (!(a[j * n + j] > 0)) return false;
        double pivot = sqrt(a[j * n + j]);
        for (int i = j; i < n; i++) a[i * n + j] /= pivot;
    }
    return true;
}

Test(generate, every_matrix_is_positive_definite, .timeout = 60)
{
    for (int i = 0; i < SMALL; i++) {
        yoke_matrix *matrix = make(small[i]);
        const yk_csr *csr = &matrix->csr;
        int n = (int)csr->rows;
        double *dense = calloc((size_t)n * (size_t)n, sizeof *dense);
        for (int row = 0; row < n; row++)
            for (int64_t k = yk_row_start(csr, row); k < yk_row_start(csr, row + 1); k++)
                dense[row * n + csr->column[k]] = csr->value[k];
        cr_assert(cholesky(dense, n), "%s", small[i]);
        free(dense);
        yoke_matrix_destroy(matrix);
    }
}

static double row_sum(const yk_csr *csr, int64_t row)
{
    double sum = 0;
    for (int64_t k = yk_row_start(csr, row); k < yk_row_start(csr, row + 1); k++)
        sum += csr->value[k];
    return sum;
}

/* Small integers add exactly, so 0 is exact. */
Test(generate, stencils_sum_to_zero_inside_and_to_more_at_the_boundary)
{
    static const char *const specs[] = {"poisson3d7:7", "poisson3d27:7", "anisotropic3d7:7:0.25"};
    for (int i = 0; i < 3; i++) {
        yoke_matrix *matrix = make(specs[i]);
        for (int64_t row = 0; row < 343; row++) {
            int64_t x = row % 7, y = row / 7 % 7, z = row / 49;
            bool inside = x % 6 && y % 6 && z % 6;
            cr_assert_eq(row_sum(&matrix->csr, row) == 0, inside, "%s row %lld", specs[i],
                         (long long)row);
            cr_assert_geq(row_sum(&matrix->csr, row), 0);
        }
        yoke_matrix_destroy(matrix);
    }
}

Test(generate, entries_stand_where_the_numbering_puts_them)
{
    yoke_matrix *two = make("poisson2d5:4"), *full = make("poisson3d27:4"),
                *weak = make("anisotropic3d7:4:0.125");
    cr_assert_eq(entry(&two->csr, 5, 5), 4);
    cr_assert_eq(entry(&two->csr, 5, 4), -1);
    cr_assert_eq(entry(&two->csr, 5, 9), -1);
    cr_assert_not(holds(&two->csr, 3, 4), "end of a line and start of the next are no neighbours");
    cr_assert_eq(entry(&full->csr, 0, 0), 26);
    cr_assert_eq(entry(&full->csr, 0, 21), -1, "over the corner: 1 + 4 + 16");
    cr_assert_eq(entry(&weak->csr, 0, 0), 4.25);
    cr_assert_eq(entry(&weak->csr, 0, 1), -1);
    cr_assert_eq(entry(&weak->csr, 0, 4), -1);
    cr_assert_eq(entry(&weak->csr, 0, 16), -0.125, "z is the slowest direction");
    yoke_matrix_destroy(two);
    yoke_matrix_destroy(full);
    yoke_matrix_destroy(weak);
}

static void assert_same_bits(const yk_csr *a, const yk_csr *b, const char *spec)
{
    cr_assert_eq(a->rows, b->rows);
    cr_assert_eq(a->nonzeros, b->nonzeros);
    for (int64_t row = 0; row <= a->rows; row++)
        cr_assert_eq(yk_row_start(a, row), yk_row_start(b, row), "%s", spec);
    size_t nonzeros = (size_t)a->nonzeros;
    cr_assert_eq(memcmp(a->column, b->column, nonzeros * sizeof *a->column), 0, "%s", spec);
    cr_assert_eq(memcmp(a->value, b->value, nonzeros * sizeof *a->value), 0, "%s", spec);
}

Test(generate, the_bits_do_not_depend_on_the_threads)
{
    for (int i = 0; i < SMALL; i++) {
        yoke_matrix *one = make_with(1, small[i]);
        for (int threads = 2; threads <= 5; threads++) {
            yoke_matrix *many = make_with(threads, small[i]);
            assert_same_bits(&one->csr, &many->csr, small[i]);
            yoke_matrix_destroy(many);
        }
        yoke_matrix_destroy(one);
    }
}

/* The sum over all bytes of a matrix, FNV-1a (Fowler, Noll, Vo, draft-eastlake-fnv). */
static uint64_t digest(const yk_csr *csr)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int64_t k = 0; k < csr->nonzeros; k++) {
        uint64_t bits;
        memcpy(&bits, &csr->value[k], sizeof bits);
        hash = (hash ^ (uint64_t)csr->column[k]) * 0x100000001b3u;
        hash = (hash ^ bits) * 0x100000001b3u;
    }
    return hash;
}

/* What rules and seeds gave on x86-64 and, under emulation, on aarch64. A change here changes every
 * published result on these matrices: say so in NEWS. */
Test(generate, the_bits_are_those_of_every_machine_and_version)
{
    static const struct {
        const char *spec;
        uint64_t digest;
    } known[] = {
        {"poisson3d27:9", 0x7e68554aab6ee8ddu},     {"anisotropic3d7:9:0.3", 0x6088b1d98ccee413u},
        {"jumps3d7:17:1e4:7", 0x8510a2a77998466eu}, {"elasticity3d:9", 0xadfc1695f1cc4069u},
        {"graph:3001:7:5", 0x24eedd8e4b4c9062u},    {"random_spd:3001:12:5", 0x33432052bd393080u},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        yoke_matrix *matrix = make(known[i].spec);
        cr_assert_eq(digest(&matrix->csr), known[i].digest, "%s", known[i].spec);
        yoke_matrix_destroy(matrix);
    }
}

Test(generate, seeds_give_different_matrices)
{
    static const char *const pairs[][2] = {{"jumps3d7:9:100:1", "jumps3d7:9:100:2"},
                                           {"graph:100:4:1", "graph:100:4:2"},
                                           {"random_spd:100:4:1", "random_spd:100:4:2"}};
    for (int i = 0; i < 3; i++) {
        yoke_matrix *a = make(pairs[i][0]), *b = make(pairs[i][1]);
        cr_assert_neq(digest(&a->csr), digest(&b->csr), "%s", pairs[i][0]);
        yoke_matrix_destroy(a);
        yoke_matrix_destroy(b);
    }
}

Test(generate, jumps_without_contrast_are_poisson)
{
    yoke_matrix *jumps = make("jumps3d7:6:1:3"), *poisson = make("poisson3d7:6");
    assert_same_bits(&jumps->csr, &poisson->csr, "jumps3d7:6:1:3");
    yoke_matrix_destroy(jumps);
    yoke_matrix_destroy(poisson);
}

Test(generate, jumps_couple_by_1_the_contrast_or_their_harmonic_mean)
{
    yoke_matrix *matrix = make("jumps3d7:16:3:5");
    const yk_csr *csr = &matrix->csr;
    int seen[3] = {0};
    for (int64_t row = 0; row < csr->rows; row++)
        for (int64_t k = yk_row_start(csr, row); k < yk_row_start(csr, row + 1); k++) {
            if (csr->column[k] == row) continue;
            double coupling = -csr->value[k];
            cr_assert(coupling == 1 || coupling == 1.5 || coupling == 3, "%g", coupling);
            seen[coupling == 1 ? 0 : coupling == 1.5 ? 1 : 2]++;
        }
    cr_assert(seen[0] && seen[1] && seen[2]);
    yoke_matrix_destroy(matrix);
}

/* Component c of the displacement of mode m at a node: three translations, three rotations. */
static double rigid(int m, int c, const double at[3])
{
    if (m < 3) return c == m;
    int i = (m + 1) % 3, j = (m + 2) % 3;
    return c == i ? -at[j] : c == j ? at[i] : 0;
}

/* Sums of at most 81 products of entries below 1 and coordinates below 7: 81 * 7 * 2^-53 is
 * 6.3e-14. */
static const double ROUND_OFF = 1e-13;

Test(generate, elasticity_resists_no_rigid_motion_away_from_the_fixed_face)
{
    yoke_matrix *matrix = make("elasticity3d:6");
    const yk_csr *csr = &matrix->csr;
    for (int mode = 0; mode < 6; mode++)
        for (int64_t row = 0; row < csr->rows; row++) {
            double force = 0;
            for (int64_t k = yk_row_start(csr, row); k < yk_row_start(csr, row + 1); k++) {
                int64_t node = csr->column[k] / 3;
                double at[3] = {(double)(node % 6), (double)(node / 6 % 6),
                                (double)(node / 36 + 1)};
                force += csr->value[k] * rigid(mode, csr->column[k] % 3, at);
            }
            bool beside_fixed = row / 3 < 36;
            if (!beside_fixed) cr_assert_lt(fabs(force), ROUND_OFF, "mode %d", mode);
            if (beside_fixed && row % 3 == mode) cr_assert_gt(fabs(force), 0.01);
        }
    yoke_matrix_destroy(matrix);
}

/* Stretched along x with free contraction, u = (x, -nu y, -nu z): the stress is E along x, so the
 * nodes of the faces x = 0 and x = 3 carry E times their share of the face, all others nothing. */
Test(generate, elasticity_answers_a_uniform_stretch_with_its_modulus)
{
    yoke_matrix *matrix = make("elasticity3d:4");
    const yk_csr *csr = &matrix->csr;
    for (int64_t node = 16; node < 48; node++) /* those whose neighbours are all free */
        for (int c = 0; c < 3; c++) {
            double force = 0;
            int64_t row = 3 * node + c;
            for (int64_t k = yk_row_start(csr, row); k < yk_row_start(csr, row + 1); k++) {
                int64_t other = csr->column[k] / 3;
                double u[3] = {(double)(other % 4), -0.3 * (double)(other / 4 % 4),
                               -0.3 * (double)(other / 16 + 1)};
                force += csr->value[k] * u[csr->column[k] % 3];
            }
            int64_t x = node % 4, y = node / 4 % 4, z = node / 16 + 1;
            double area = (y % 3 ? 1 : 0.5) * (z % 3 ? 1 : 0.5);
            double expected = c ? 0 : x == 3 ? area : x == 0 ? -area : 0;
            cr_assert_float_eq(force, expected, ROUND_OFF, "node %lld", (long long)node);
        }
    yoke_matrix_destroy(matrix);
}

Test(generate, graph_rows_count_their_neighbours)
{
    yoke_matrix *matrix = make("graph:20000:8:4");
    const yk_csr *csr = &matrix->csr;
    for (int64_t row = 0; row < csr->rows; row++) {
        int64_t others = yk_row_start(csr, row + 1) - yk_row_start(csr, row) - 1;
        cr_assert_eq(entry(csr, row, row), (double)others + 1);
        cr_assert_eq(row_sum(csr, row), 1);
    }
    /* Of 80000 random edges about 8 are loops and 20 are met twice: far below 1 in 100. */
    cr_assert_gt(csr->nonzeros, (int64_t)(20000 * 9 * 0.99));
    yoke_matrix_destroy(matrix);
}

Test(generate, random_spd_dominates_its_row)
{
    yoke_matrix *matrix = make("random_spd:5000:12:4");
    const yk_csr *csr = &matrix->csr;
    for (int64_t row = 0; row < csr->rows; row++) {
        double others = 0;
        for (int64_t k = yk_row_start(csr, row); k < yk_row_start(csr, row + 1); k++)
            if (csr->column[k] != row) others += fabs(csr->value[k]);
        cr_assert_gt(entry(csr, row, row), others);
    }
    cr_assert_gt(csr->nonzeros, (int64_t)(5000 * 12 * 0.99));
    yoke_matrix_destroy(matrix);
}

Test(generate, permutations_are_one_to_one_and_go_back)
{
    for (uint32_t count = 1; count < 300; count += count < 40 ? 1 : 37) {
        yk_permutation p = yk_permutation_make(count * 17, count);
        bool seen[300] = {false};
        for (uint32_t x = 0; x < count; x++) {
            uint32_t to = yk_permute(&p, x);
            cr_assert_lt(to, count);
            cr_assert_not(seen[to]);
            seen[to] = true;
            cr_assert_eq(yk_permute_back(&p, to), x);
        }
    }
}

/* Row and column k of the one are yk_permute(k) of the other, and few stay where they were. */
Test(generate, shuffled_is_the_same_matrix_in_another_order)
{
    yoke_matrix *ordered = make("jumps3d7:9:1e4:7"),
                *shuffled = make("shuffled:5:jumps3d7:9:1e4:7");
    const yk_csr *of = &ordered->csr, *csr = &shuffled->csr;
    const yk_permutation p = yk_permutation_make(5, (uint32_t)of->rows);
    int64_t stay = 0;
    cr_assert_eq(csr->rows, of->rows);
    cr_assert_eq(csr->nonzeros, of->nonzeros);
    for (int64_t i = 0; i < csr->rows; i++) {
        int64_t row = yk_permute(&p, (uint32_t)i);
        stay += row == i;
        for (int64_t k = yk_row_start(csr, i); k < yk_row_start(csr, i + 1); k++) {
            if (k > yk_row_start(csr, i)) cr_assert_lt(csr->column[k - 1], csr->column[k]);
            int64_t column = yk_permute(&p, (uint32_t)csr->column[k]);
            cr_assert(holds(of, row, column), "row %d", (int)i);
            cr_assert_eq(csr->value[k], entry(of, row, column));
        }
    }
    cr_assert_lt(stay, 20, "of 729 rows one is expected to stay");
    yoke_matrix_destroy(ordered);
    yoke_matrix_destroy(shuffled);
}
