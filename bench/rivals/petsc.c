/* SPDX-License-Identifier: BSD-3-Clause */
/* petsc.c: PETSc's KSPCG on MATAIJ, as its manual sets up a symmetric system.
 * The natural norm is the root of r.z, which the iteration has anyway, so the timed form makes two
 * reductions an iteration and no third for a norm; the verified one asks for ||r||_2. */
#include <petscksp.h>
#include <stdio.h>

#include "bench/rivals/engine.h"

static Mat matrix;
static Vec b, x;
static KSP solver;

static const char *version(void)
{
    static char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR,
             PETSC_VERSION_SUBMINOR);
    return text;
}

static int start(int *argc, char ***argv)
{
    return PetscInitialize(argc, argv, NULL, NULL) != 0;
}

static PetscErrorCode make_matrix(const rival_share *s)
{
    PetscInt local = (PetscInt)s->local, rows = (PetscInt)s->rows;
    PetscCall(MatCreate(PETSC_COMM_WORLD, &matrix));
    PetscCall(MatSetSizes(matrix, local, local, rows, rows));
    PetscCall(MatSetType(matrix, MATAIJ));
    /* Whichever of the two MATAIJ has become takes its call; the other does nothing. */
    PetscCall(MatSeqAIJSetPreallocationCSR(matrix, s->row_start, s->column, s->value));
    PetscCall(MatMPIAIJSetPreallocationCSR(matrix, s->row_start, s->column, s->value));
    PetscCall(MatSetOption(matrix, MAT_SPD, PETSC_TRUE));
    return 0;
}

static PetscErrorCode make_vectors(const rival_share *s)
{
    PetscScalar *values;
    PetscCall(MatCreateVecs(matrix, &x, &b));
    PetscCall(VecGetArrayWrite(b, &values));
    for (int64_t i = 0; i < s->local; i++) values[i] = s->b[i];
    PetscCall(VecRestoreArrayWrite(b, &values));
    return 0;
}

static PetscErrorCode make_solver(int jacobi)
{
    PC preconditioner;
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &solver));
    PetscCall(KSPSetOperators(solver, matrix, matrix));
    PetscCall(KSPSetType(solver, KSPCG));
    PetscCall(KSPCGSetType(solver, KSP_CG_SYMMETRIC));
    PetscCall(KSPGetPC(solver, &preconditioner));
    PetscCall(PCSetType(preconditioner, jacobi ? PCJACOBI : PCNONE));
    PetscCall(KSPSetConvergenceTest(solver, KSPConvergedSkip, NULL, NULL));
    PetscCall(KSPSetNormType(solver, KSP_NORM_NATURAL));
    PetscCall(KSPSetUp(solver));
    return 0;
}

static int setup(const rival_share *share, int jacobi)
{
    return make_matrix(share) || make_vectors(share) || make_solver(jacobi);
}

static PetscErrorCode solve_petsc(int iterations, int norms, int *done, double *recursive)
{
    PetscInt count = 0;
    PetscReal norm = 0.0;
    PetscCall(KSPSetNormType(solver, norms ? KSP_NORM_UNPRECONDITIONED : KSP_NORM_NATURAL));
    PetscCall(KSPSetTolerances(solver, 0.0, 0.0, PETSC_DEFAULT, iterations));
    PetscCall(KSPSolve(solver, b, x));
    PetscCall(KSPGetIterationNumber(solver, &count));
    PetscCall(KSPGetResidualNorm(solver, &norm));
    *done = (int)count;
    *recursive = norm;
    return 0;
}

static int solve(int iterations, int norms, int *done, double *recursive)
{
    return solve_petsc(iterations, norms, done, recursive) != 0;
}

static PetscErrorCode residual_petsc(double *norm)
{
    Vec r;
    PetscReal value = 0.0;
    PetscCall(VecDuplicate(b, &r));
    PetscCall(MatMult(matrix, x, r));
    PetscCall(VecAYPX(r, -1.0, b));
    PetscCall(VecNorm(r, NORM_2, &value));
    PetscCall(VecDestroy(&r));
    *norm = value;
    return 0;
}

static int residual(double *norm)
{
    return residual_petsc(norm) != 0;
}

static void finish(void)
{
    KSPDestroy(&solver);
    VecDestroy(&x);
    VecDestroy(&b);
    MatDestroy(&matrix);
    PetscFinalize();
}

const rival_engine rival = {
    .name = "petsc",
    .version = version,
    .start = start,
    .setup = setup,
    .solve = solve,
    .residual = residual,
    .finish = finish,
};
