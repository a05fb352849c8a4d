/* SPDX-License-Identifier: BSD-3-Clause */
/* hypre.c: hypre's PCG on a ParCSR matrix. Without two_norm its test uses r.z, which the iteration
 * has anyway, so that is the timed form; the verified one asks for ||r||_2. */
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <math.h>
#include <stdlib.h>

#include "bench/rivals/engine.h"

static HYPRE_IJMatrix matrix;
static HYPRE_IJVector vectors[3];
static HYPRE_ParCSRMatrix a;
static HYPRE_ParVector b, x, r;
static HYPRE_Solver solver;
static int first_row, last_row;

static const char *version(void)
{
    return HYPRE_RELEASE_VERSION;
}

static int start(int *argc, char ***argv)
{
    return MPI_Init(argc, argv) || HYPRE_Init();
}

static int fill_matrix(const rival_share *s)
{
    int *rows = calloc((size_t)s->local + 1, sizeof *rows);
    int *lengths = calloc((size_t)s->local + 1, sizeof *lengths);
    if (!rows || !lengths) return 1;
    for (int i = 0; i < s->local; i++) {
        rows[i] = first_row + i;
        lengths[i] = s->row_start[i + 1] - s->row_start[i];
    }
    int bad = HYPRE_IJMatrixSetRowSizes(matrix, lengths) || HYPRE_IJMatrixInitialize(matrix) ||
              HYPRE_IJMatrixSetValues(matrix, (int)s->local, lengths, rows, s->column, s->value) ||
              HYPRE_IJMatrixAssemble(matrix) || HYPRE_IJMatrixGetObject(matrix, (void **)&a);
    free(rows);
    free(lengths);
    return bad;
}

static int make_vector(HYPRE_IJVector *vector, HYPRE_ParVector *object, const double *values,
                       int local)
{
    int *rows = calloc((size_t)local + 1, sizeof *rows);
    if (!rows) return 1;
    for (int i = 0; i < local; i++) rows[i] = first_row + i;
    int bad = HYPRE_IJVectorCreate(MPI_COMM_WORLD, first_row, last_row, vector) ||
              HYPRE_IJVectorSetObjectType(*vector, HYPRE_PARCSR) ||
              HYPRE_IJVectorInitialize(*vector) ||
              HYPRE_IJVectorSetValues(*vector, local, rows, values) ||
              HYPRE_IJVectorAssemble(*vector) || HYPRE_IJVectorGetObject(*vector, (void **)object);
    free(rows);
    return bad;
}

static int make_solver(int jacobi)
{
    if (HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &solver)) return 1;
    HYPRE_PCGSetTol(solver, 0.0);
    HYPRE_PCGSetRelChange(solver, 0);
    HYPRE_PCGSetLogging(solver, 0);
    HYPRE_PCGSetPrintLevel(solver, 0);
    if (jacobi)
        HYPRE_PCGSetPrecond(solver, (HYPRE_PtrToSolverFcn)HYPRE_ParCSRDiagScale,
                            (HYPRE_PtrToSolverFcn)HYPRE_ParCSRDiagScaleSetup, NULL);
    return HYPRE_ParCSRPCGSetup(solver, a, b, x);
}

static int setup(const rival_share *s, int jacobi)
{
    first_row = (int)s->first;
    last_row = (int)(s->first + s->local) - 1;
    return HYPRE_IJMatrixCreate(MPI_COMM_WORLD, first_row, last_row, first_row, last_row,
                                &matrix) ||
           HYPRE_IJMatrixSetObjectType(matrix, HYPRE_PARCSR) || fill_matrix(s) ||
           make_vector(&vectors[0], &b, s->b, (int)s->local) ||
           make_vector(&vectors[1], &x, s->b, (int)s->local) ||
           make_vector(&vectors[2], &r, s->b, (int)s->local) || make_solver(jacobi);
}

static int solve(int iterations, int norms, int *done, double *recursive)
{
    double relative = 0.0, squared = 0.0;
    HYPRE_ParVectorSetConstantValues(x, 0.0);
    HYPRE_PCGSetTwoNorm(solver, norms);
    HYPRE_PCGSetMaxIter(solver, iterations);
    HYPRE_ParCSRPCGSolve(solver, a, b, x);
    HYPRE_ClearAllErrors(); /* it calls the limit of iterations an error */
    HYPRE_ParCSRPCGGetNumIterations(solver, done);
    HYPRE_ParCSRPCGGetFinalRelativeResidualNorm(solver, &relative);
    if (norms) HYPRE_ParVectorInnerProd(b, b, &squared);
    *recursive = relative * sqrt(squared);
    return 0;
}

static int residual(double *norm)
{
    double squared = 0.0;
    HYPRE_ParVectorCopy(b, r);
    HYPRE_ParCSRMatrixMatvec(-1.0, a, x, 1.0, r);
    HYPRE_ParVectorInnerProd(r, r, &squared);
    *norm = sqrt(squared);
    return 0;
}

static void finish(void)
{
    HYPRE_ParCSRPCGDestroy(solver);
    for (int i = 0; i < 3; i++) HYPRE_IJVectorDestroy(vectors[i]);
    HYPRE_IJMatrixDestroy(matrix);
    HYPRE_Finalize();
    MPI_Finalize();
}

const rival_engine rival = {
    .name = "hypre",
    .version = version,
    .start = start,
    .setup = setup,
    .solve = solve,
    .residual = residual,
    .finish = finish,
};
