/* SPDX-License-Identifier: BSD-3-Clause */
/* generate.c: the list of generators, and the choice among them by name. */
#include "matrices/generate.h"

#include <stdio.h>
#include <string.h>

#include <yoke_io.h>

#include "lib/ranks.h"
#include "lib/status.h"
#include "matrices/random_graph.h"

#define SIZE_FROM(least)                                                                           \
    {                                                                                              \
        YK_SIZE, least, INT64_MAX                                                                  \
    }

const yk_generator yk_generators[] = {
    {"poisson2d5",
     "poisson2d5:N",
     "5-point Laplacian of an N x N grid, Dirichlet",
     yk_make_poisson2d5,
     {SIZE_FROM(1)}},
    {"poisson3d7",
     "poisson3d7:N",
     "7-point Laplacian of an N x N x N grid, Dirichlet",
     yk_make_poisson3d7,
     {SIZE_FROM(1)}},
    {"poisson3d27",
     "poisson3d27:N",
     "27-point Laplacian of an N x N x N grid, Dirichlet",
     yk_make_poisson3d27,
     {SIZE_FROM(1)}},
    {"anisotropic3d7",
     "anisotropic3d7:N:EPS",
     "7-point Laplacian, couplings in z weakened to EPS",
     yk_make_anisotropic3d7,
     {SIZE_FROM(1), {YK_REAL, 0, 0}}},
    {"jumps3d7",
     "jumps3d7:N:CONTRAST:SEED",
     "finite volumes with coefficients 1 or CONTRAST in random blocks",
     yk_make_jumps3d7,
     {SIZE_FROM(1), {YK_REAL, 0, 0}, {YK_SEED, 0, 0}}},
    {"elasticity3d",
     "elasticity3d:N",
     "elastic cube of N x N x N nodes, trilinear hexahedra, face z = 0 fixed",
     yk_make_elasticity3d,
     {SIZE_FROM(2)}},
    {"graph",
     "graph:ROWS:DEGREE:SEED",
     "Laplacian of a random graph of about DEGREE neighbours a node, plus identity",
     yk_make_graph,
     {SIZE_FROM(1), {YK_SIZE, 1, YK_MOST_NEIGHBOURS}, {YK_SEED, 0, 0}}},
    {"random_spd",
     "random_spd:ROWS:PER_ROW:SEED",
     "random symmetric, diagonally dominant, about PER_ROW entries a row",
     yk_make_random_spd,
     {SIZE_FROM(1), {YK_SIZE, 1, YK_MOST_NEIGHBOURS + 1}, {YK_SEED, 0, 0}}},
    {"shuffled",
     "shuffled:SEED:GENERATOR:...",
     "the rows of another generator's matrix in a random order",
     NULL,
     {{YK_SEED, 0, 0}}},
    {NULL, NULL, NULL, NULL, {{0, 0, 0}}},
};

static const yk_generator *find(const char *name, size_t length)
{
    for (const yk_generator *g = yk_generators; g->name; g++)
        if (strlen(g->name) == length && memcmp(g->name, name, length) == 0) return g;
    return NULL;
}

static yoke_status unknown(const char *name, size_t length)
{
    char known[512] = "";
    size_t used = 0;
    for (const yk_generator *g = yk_generators; g->name && used < sizeof known; g++)
        used +=
            (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", g->form);
    return yk_fail(YOKE_UNKNOWN_NAME, "no generator is named '%.*s'; known: %s",
                   length < 64 ? (int)length : 64, name, known);
}

yoke_status yk_find_generator(const char *spec, const yk_generator **generator)
{
    size_t length = strcspn(spec, ":");
    *generator = find(spec, length);
    return *generator ? YOKE_OK : unknown(spec, length);
}

static yoke_status parse(const char *spec, yoke_matrix *const *matrix,
                         const yk_generator **generator, yk_argument *arguments)
{
    if (!spec) return yk_fail(YOKE_INVALID, "spec is NULL");
    if (!matrix) return yk_fail(YOKE_INVALID, "matrix is NULL");
    YK_TRY(yk_find_generator(spec, generator));
    if (!*generator || !(*generator)->make) return YOKE_OK;
    return yk_parse_arguments(*generator, spec + strlen((*generator)->name), arguments);
}

yoke_status yoke_matrix_generate(yoke_context *context, const char *spec, yoke_matrix **matrix)
{
    const yk_generator *generator = NULL;
    yk_argument arguments[YK_ARGUMENTS] = {{0}};
    if (!context) return yk_fail(YOKE_INVALID, "context is NULL");
    yoke_status status = parse(spec, matrix, &generator, arguments);
    double mark = spec ? yk_ranks_mark(spec, strlen(spec), 0.0) : 0.0;
    YK_TRY(yk_agree(context, status, mark));
    if (!generator->make)
        return yk_make_shuffled(context, generator, spec + strlen(generator->name), matrix);
    return generator->make(context, arguments, matrix);
}
