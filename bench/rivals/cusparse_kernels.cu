/* SPDX-License-Identifier: BSD-3-Clause */
/* cusparse_kernels.cu: two numbers a thread, so that each load and store is of 16 bytes. */
#include "bench/rivals/cusparse_kernels.h"

#include <cuda_runtime.h>

enum { BLOCK = 256 };

static unsigned blocks_of(int rows)
{
    return (unsigned)((rows / 2 + rows % 2 + BLOCK - 1) / BLOCK);
}

static __global__ void alpha_kernel(double *alpha, const double *rz, const double *minus_pq)
{
    *alpha = *minus_pq != 0.0 ? -*rz / *minus_pq : 0.0;
}

static __global__ void direction_kernel(double2 *__restrict__ p, const double2 *__restrict__ z,
                                        const double *__restrict__ rz,
                                        const double *__restrict__ rz_before, int pairs)
{
    int i = (int)(blockIdx.x * BLOCK + threadIdx.x);
    if (i >= pairs) return;
    double before = *rz_before, beta = before != 0.0 ? *rz / before : 0.0;
    double2 mine = p[i], other = z[i];
    p[i] = make_double2(fma(beta, mine.x, other.x), fma(beta, mine.y, other.y));
}

static __global__ void jacobi_kernel(double2 *__restrict__ z, const double2 *__restrict__ r,
                                     const double2 *__restrict__ inverse, int pairs)
{
    int i = (int)(blockIdx.x * BLOCK + threadIdx.x);
    if (i >= pairs) return;
    double2 a = r[i], b = inverse[i];
    z[i] = make_double2(a.x * b.x, a.y * b.y);
}

extern "C" int rival_launch_alpha(double *alpha, const double *rz, const double *minus_pq,
                                  void *stream)
{
    alpha_kernel<<<1, 1, 0, (cudaStream_t)stream>>>(alpha, rz, minus_pq);
    return cudaGetLastError();
}

extern "C" int rival_launch_direction(double *p, const double *z, const double *rz,
                                      const double *rz_before, int rows, void *stream)
{
    int pairs = rows / 2 + rows % 2;
    direction_kernel<<<blocks_of(rows), BLOCK, 0, (cudaStream_t)stream>>>(
        (double2 *)p, (const double2 *)z, rz, rz_before, pairs);
    return cudaGetLastError();
}

extern "C" int rival_launch_jacobi(double *z, const double *r, const double *inverse_diagonal,
                                   int rows, void *stream)
{
    int pairs = rows / 2 + rows % 2;
    jacobi_kernel<<<blocks_of(rows), BLOCK, 0, (cudaStream_t)stream>>>(
        (double2 *)z, (const double2 *)r, (const double2 *)inverse_diagonal, pairs);
    return cudaGetLastError();
}
