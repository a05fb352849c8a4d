# SPDX-License-Identifier: BSD-3-Clause
# yoke.m4: the probes of configure.ac. Each optional part is tried by default and is a hard error
# only when asked for by name; each leaves a line for the summary in yoke_<part>_summary.

# YOKE_WARNINGS: --enable-werror for CI.
AC_DEFUN([YOKE_WARNINGS], [
AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [make warnings errors])],
  [], [enable_werror=no])
YOKE_CFLAGS="-std=gnu11 -fvisibility=hidden -ffp-contract=off -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wno-unknown-pragmas"
AS_IF([test "x$enable_werror" = xyes], [YOKE_CFLAGS="$YOKE_CFLAGS -Werror"])
AC_SUBST([YOKE_CFLAGS])
])

# YOKE_SIMD: which row sums are compiled beside the portable ones; chosen at run time.
AC_DEFUN([YOKE_SIMD], [
yoke_simd_summary="portable"
yoke_x86=no
AS_CASE([$host_cpu], [x86_64], [yoke_x86=yes; yoke_simd_summary="portable, avx2, avx512"],
  [aarch64], [yoke_simd_summary="portable (compiled to NEON)"])
AM_CONDITIONAL([X86_64], [test "x$yoke_x86" = xyes])
AS_IF([test "x$yoke_x86" = xyes], [AC_DEFINE([HAVE_X86_64], [1], [Define on x86-64: AVX2 and AVX-512 passes are built.])])
])

AC_DEFUN([YOKE_OPENMP], [
AC_OPENMP
yoke_openmp_summary="no (one thread): --disable-openmp, or the compiler has none"
AS_IF([test "x$enable_openmp" != xno && test "x$ac_cv_prog_c_openmp" != xunsupported],
  [yoke_openmp_summary="yes ($OPENMP_CFLAGS)"])
])

AC_DEFUN([YOKE_ZLIB], [
PKG_CHECK_MODULES([ZLIB], [zlib], [],
  [AC_CHECK_HEADER([zlib.h], [AC_CHECK_LIB([z], [inflate], [ZLIB_LIBS=-lz],
     [AC_MSG_ERROR([zlib is missing: install zlib1g-dev])])],
     [AC_MSG_ERROR([zlib.h is missing: install zlib1g-dev])])])
])

# YOKE_CUDA: probed and summarised; nothing uses it yet.
AC_DEFUN([YOKE_CUDA], [
AC_ARG_WITH([cuda], [AS_HELP_STRING([--with-cuda@<:@=DIR@:>@], [CUDA toolkit (tried by default)])],
  [], [with_cuda=try])
yoke_cuda=no
yoke_cuda_summary="no: --without-cuda"
AS_IF([test "x$with_cuda" != xno], [
  yoke_cuda_path="$PATH$PATH_SEPARATOR/usr/local/cuda/bin"
  AS_CASE([$with_cuda], [yes|try], [], [yoke_cuda_path="$with_cuda/bin"])
  AC_PATH_PROG([NVCC], [nvcc], [], [$yoke_cuda_path])
  AS_IF([test -n "$NVCC"],
    [yoke_cuda=found
     yoke_cuda_version=`"$NVCC" --version | $SED -n 's/.*release \(@<:@0-9.@:>@*\).*/\1/p'`
     yoke_cuda_summary="toolkit $yoke_cuda_version found; this version of Yoke does not use it yet"],
    [yoke_cuda_summary="no: nvcc not found"
     AS_IF([test "x$with_cuda" != xtry], [AC_MSG_ERROR([--with-cuda was asked for, but nvcc is not in $yoke_cuda_path])])])
])
])

# YOKE_MPI: probed and summarised; nothing uses it yet.
AC_DEFUN([YOKE_MPI], [
AC_ARG_WITH([mpi], [AS_HELP_STRING([--with-mpi], [libyoke_mpi and cgbench over ranks (tried by default)])],
  [], [with_mpi=try])
yoke_mpi_summary="no: --without-mpi"
AS_IF([test "x$with_mpi" != xno], [
  AC_PATH_PROGS([MPICC], [mpicc mpicc.openmpi mpicc.mpich])
  AS_IF([test -n "$MPICC"],
    [yoke_mpi_summary="$MPICC found; this version of Yoke does not use it yet"],
    [yoke_mpi_summary="no: mpicc not found"
     AS_IF([test "x$with_mpi" = xyes], [AC_MSG_ERROR([--with-mpi was asked for, but mpicc is not on the PATH])])])
])
])

# YOKE_RIVALS: what --vs can compare with. A CPU rival is a program of its own, run as a child
# under mpirun, so cgbench itself never links it.
AC_DEFUN([YOKE_RIVALS], [
AC_PATH_PROGS([MPIRUN], [mpirun mpiexec])
AC_ARG_WITH([petsc], [AS_HELP_STRING([--with-petsc], [rival for --vs petsc (tried by default)])], [], [with_petsc=try])
AC_ARG_WITH([hypre], [AS_HELP_STRING([--with-hypre], [rival for --vs hypre (tried by default)])], [], [with_hypre=try])
yoke_petsc=no yoke_petsc_summary="no: --without-petsc"
AS_IF([test "x$with_petsc" != xno], [
  PKG_CHECK_MODULES([OMPI_C], [ompi-c], [], [:])
  PKG_CHECK_MODULES([PETSC], [PETSc], [yoke_petsc=yes], [yoke_petsc_summary="no: pkg-config does not know PETSc"])
  AS_IF([test "x$yoke_petsc" = xyes && test -n "$MPIRUN"],
    [yoke_petsc_summary="yes"],
    [AS_IF([test "x$yoke_petsc" = xyes], [yoke_petsc_summary="no: mpirun not found"]); yoke_petsc=no
     AS_IF([test "x$with_petsc" = xyes], [AC_MSG_ERROR([--with-petsc: $yoke_petsc_summary])])])
])
yoke_hypre=no yoke_hypre_summary="no: --without-hypre"
AS_IF([test "x$with_hypre" != xno], [
  PKG_CHECK_MODULES([OMPI_C], [ompi-c], [], [:])
  HYPRE_CFLAGS="-I/usr/include/hypre" HYPRE_LIBS="-lHYPRE"
  yoke_save_CPPFLAGS=$CPPFLAGS yoke_save_LIBS=$LIBS
  CPPFLAGS="$CPPFLAGS $HYPRE_CFLAGS $OMPI_C_CFLAGS" LIBS="$HYPRE_LIBS $OMPI_C_LIBS $LIBS"
  yoke_hypre_summary="no: HYPRE_parcsr_ls.h or libHYPRE not found"
  AC_CHECK_HEADER([HYPRE_parcsr_ls.h], [AC_LINK_IFELSE([AC_LANG_CALL([], [HYPRE_ParCSRPCGSolve])], [yoke_hypre=yes])])
  CPPFLAGS=$yoke_save_CPPFLAGS LIBS=$yoke_save_LIBS
  AS_IF([test "x$yoke_hypre" = xyes && test -n "$MPIRUN"],
    [yoke_hypre_summary="yes"],
    [AS_IF([test "x$yoke_hypre" = xyes], [yoke_hypre_summary="no: mpirun not found"]); yoke_hypre=no
     AS_IF([test "x$with_hypre" = xyes], [AC_MSG_ERROR([--with-hypre: $yoke_hypre_summary])])])
])
AC_SUBST([HYPRE_CFLAGS]) AC_SUBST([HYPRE_LIBS])
AM_CONDITIONAL([HAVE_PETSC], [test "x$yoke_petsc" = xyes])
AM_CONDITIONAL([HAVE_HYPRE], [test "x$yoke_hypre" = xyes])
])

AC_DEFUN([YOKE_CRITERION], [
PKG_CHECK_MODULES([CRITERION], [criterion], [yoke_criterion=yes], [yoke_criterion=no])
AM_CONDITIONAL([HAVE_CRITERION], [test "x$yoke_criterion" = xyes])
])

AC_DEFUN([YOKE_SUMMARY], [
cat <<EOT

Yoke $PACKAGE_VERSION
  prefix       $prefix
  compiler     $CC $CFLAGS
  row sums     $yoke_simd_summary
  OpenMP       $yoke_openmp_summary
  CUDA         $yoke_cuda_summary
  MPI          $yoke_mpi_summary
  PETSc rival  $yoke_petsc_summary
  hypre rival  $yoke_hypre_summary
  tests        $yoke_criterion (Criterion)

EOT
])
