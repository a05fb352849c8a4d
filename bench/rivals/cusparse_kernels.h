/* SPDX-License-Identifier: BSD-3-Clause */
/* cusparse_kernels.h: what cuBLAS has no call for, so that scalars stay on the device. Vectors are
 * padded to an even length. Each returns a cudaError_t. */
#ifndef BENCH_RIVALS_CUSPARSE_KERNELS_H
#define BENCH_RIVALS_CUSPARSE_KERNELS_H

#ifdef __cplusplus
extern "C" {
#endif

/* alpha = -rz / minus_pq, 0 where nothing is left. */
int rival_launch_alpha(double *alpha, const double *rz, const double *minus_pq, void *stream);

/* p = z + (rz / rz_before) p. */
int rival_launch_direction(double *p, const double *z, const double *rz, const double *rz_before,
                           int rows, void *stream);

/* z = r times the inverse diagonal. */
int rival_launch_jacobi(double *z, const double *r, const double *inverse_diagonal, int rows,
                        void *stream);

#ifdef __cplusplus
}
#endif

#endif
