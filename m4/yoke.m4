# SPDX-License-Identifier: BSD-3-Clause
# yoke.m4: the probes of configure.ac. Each optional part is tried by default and is a hard error
# only when asked for by name; each leaves a line for the summary in yoke_<part>_summary.

# YOKE_VERSION_CHECK: the header and AC_INIT say the same version.
AC_DEFUN([YOKE_VERSION_CHECK], [
yoke_header_version=`$SED -n 's/^@%:@define YOKE_VERSION_@<:@A-Z@:>@* //p' "$srcdir/lib/include/yoke.h" | tr '\n' .`
AS_IF([test "x$yoke_header_version" != "x$PACKAGE_VERSION."],
  [AC_MSG_ERROR([lib/include/yoke.h says version $yoke_header_version but configure.ac says $PACKAGE_VERSION])])
])

# YOKE_WITH(NAME, HELP): --with-NAME, in with_NAME as "try" (nothing said), "no", "yes" or a directory.
AC_DEFUN([YOKE_WITH], [
AC_ARG_WITH([$1], [AS_HELP_STRING([--with-$1], [$2 (tried by default)])], [], [with_$1=try])
])

# YOKE_MISSING(NAME, REASON): notes why a part is not there; an error if it was asked for.
AC_DEFUN([YOKE_MISSING], [
yoke_$1=no
yoke_$1_summary="no: $2"
AS_IF([test "x$with_$1" != xtry], [AC_MSG_ERROR([--with-$1 was asked for, but $2])])
])

# YOKE_RUNS(NAME, PROLOGUE, BODY, FLAGS, LIBS): sets yoke_NAME_runs to "yes", "no" (links, but does
# not run), "cross" (links; cannot be run here) or "" (does not link).
AC_DEFUN([YOKE_RUNS], [
yoke_save_CPPFLAGS=$CPPFLAGS yoke_save_LIBS=$LIBS
CPPFLAGS="$CPPFLAGS $4" LIBS="$5 $LIBS"
yoke_$1_runs=
AC_MSG_CHECKING([whether a program with $1 links and runs])
AC_LINK_IFELSE([AC_LANG_PROGRAM([$2], [$3])],
  [AC_RUN_IFELSE([AC_LANG_PROGRAM([$2], [$3])], [yoke_$1_runs=yes], [yoke_$1_runs=no], [yoke_$1_runs=cross])])
AC_MSG_RESULT([${yoke_$1_runs:-does not link}])
CPPFLAGS=$yoke_save_CPPFLAGS LIBS=$yoke_save_LIBS
])

# YOKE_WARNINGS: --enable-werror for CI.
AC_DEFUN([YOKE_WARNINGS], [
AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [make warnings errors])],
  [], [enable_werror=no])
YOKE_CFLAGS="-std=gnu11 -fvisibility=hidden -ffp-contract=off -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wno-unknown-pragmas"
# clang warns of a loop that it did not vectorise as asked; that is a matter of speed, not of sense.
AC_MSG_CHECKING([whether $CC knows -Wno-pass-failed])
yoke_save_CFLAGS=$CFLAGS CFLAGS="$CFLAGS -Werror -Wpass-failed"
AC_COMPILE_IFELSE([AC_LANG_PROGRAM()],
  [AC_MSG_RESULT([yes]); YOKE_CFLAGS="$YOKE_CFLAGS -Wno-pass-failed"], [AC_MSG_RESULT([no])])
CFLAGS=$yoke_save_CFLAGS
AS_IF([test "x$enable_werror" = xyes], [YOKE_CFLAGS="$YOKE_CFLAGS -Werror"])
AC_SUBST([YOKE_CFLAGS])
AC_MSG_CHECKING([whether $CC takes -fvect-cost-model=dynamic -fpeel-loops])
yoke_save_CFLAGS=$CFLAGS
CFLAGS="$CFLAGS -Werror -fvect-cost-model=dynamic -fpeel-loops"
AC_COMPILE_IFELSE([AC_LANG_PROGRAM()],
  [VECTORISE_CFLAGS="-fvect-cost-model=dynamic -fpeel-loops"; AC_MSG_RESULT([yes])],
  [VECTORISE_CFLAGS=; AC_MSG_RESULT([no])])
CFLAGS=$yoke_save_CFLAGS
AC_SUBST([VECTORISE_CFLAGS])
])

# YOKE_ALIGN: ALIGN_CFLAGS, what the compiler takes of the flags that put functions and loops on the lines
# of a cache, so that what stands before them does not change their speed.
AC_DEFUN([YOKE_ALIGN], [
ALIGN_CFLAGS=
for yoke_flag in -falign-functions=64 -falign-loops=64; do
  AC_MSG_CHECKING([whether $CC takes $yoke_flag])
  yoke_save_CFLAGS=$CFLAGS CFLAGS="$CFLAGS -Werror $yoke_flag"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM()],
    [ALIGN_CFLAGS="$ALIGN_CFLAGS $yoke_flag"; AC_MSG_RESULT([yes])], [AC_MSG_RESULT([no])])
  CFLAGS=$yoke_save_CFLAGS
done
AC_SUBST([ALIGN_CFLAGS])
])

# YOKE_SIMD: which row sums are compiled beside the portable ones; chosen at run time.
AC_DEFUN([YOKE_SIMD], [
yoke_simd_summary="portable"
yoke_x86=no
AS_CASE([$host_cpu], [x86_64], [yoke_x86=yes; yoke_simd_summary="portable, avx2, avx512 (chosen at run time)"],
  [aarch64], [yoke_simd_summary="portable (compiled to NEON)"])
AM_CONDITIONAL([X86_64], [test "x$yoke_x86" = xyes])
AS_IF([test "x$yoke_x86" = xyes], [AC_DEFINE([HAVE_X86_64], [1], [Define on x86-64: AVX2 and AVX-512 passes are built.])])
])

AC_DEFUN([YOKE_OPENMP], [
AC_OPENMP
AS_IF([test "x$enable_openmp" = xno], [yoke_openmp_summary="no: --disable-openmp (one thread)"],
  [test "x$ac_cv_prog_c_openmp" = xunsupported],
  [yoke_openmp_summary="no: $CC has none that links (one thread)"
   AS_IF([test "x$enable_openmp" = xyes], [AC_MSG_ERROR([--enable-openmp was asked for, but $CC has none that links])])],
  [yoke_openmp_summary="yes ($OPENMP_CFLAGS)"])
])

AC_DEFUN([YOKE_ZLIB], [
PKG_CHECK_MODULES([ZLIB], [zlib], [],
  [AC_CHECK_HEADER([zlib.h], [AC_CHECK_LIB([z], [inflate], [ZLIB_LIBS=-lz],
     [AC_MSG_ERROR([libz is missing: install zlib1g-dev])])],
     [AC_MSG_ERROR([zlib.h is missing: install zlib1g-dev])])])
])

# YOKE_CUDA: the GPU engine. The CUDA runtime needs no driver to link,
# and without one the probe still runs and says so.
AC_DEFUN([YOKE_CUDA], [
AC_ARG_WITH([cuda], [AS_HELP_STRING([--with-cuda@<:@=DIR@:>@], [CUDA toolkit (tried by default)])],
  [], [with_cuda=try])
yoke_cuda=no
yoke_cuda_summary="no: --without-cuda"
AC_ARG_WITH([cuda-arch], [AS_HELP_STRING([--with-cuda-arch=LIST], [GPU architectures, default 80,90])],
  [], [with_cuda_arch=80,90])
AS_IF([test "x$with_cuda" != xno], [
  yoke_cuda_path="$PATH$PATH_SEPARATOR/usr/local/cuda/bin"
  AS_CASE([$with_cuda], [yes|try], [], [yoke_cuda_path="$with_cuda/bin"])
  AC_PATH_PROG([NVCC], [nvcc], [], [$yoke_cuda_path])
  AS_IF([test -z "$NVCC"], [YOKE_MISSING([cuda], [nvcc is not in $yoke_cuda_path])], [YOKE_CUDA_RUNTIME])
])
])

AC_DEFUN([YOKE_CUDA_RUNTIME], [
yoke_cuda_root=`AS_DIRNAME(["$NVCC"])`/..
yoke_cuda_lib=$yoke_cuda_root/lib64
AS_IF([test -d "$yoke_cuda_lib"], [], [yoke_cuda_lib=$yoke_cuda_root/lib])
yoke_cuda_version=`"$NVCC" --version | $SED -n 's/.*release \(@<:@0-9.@:>@*\).*/\1/p'`
YOKE_RUNS([cuda], [[#include <cuda_runtime.h>]],
  [[int n = 0; return cudaGetDeviceCount(&n) == cudaErrorInitializationError;]],
  [-I$yoke_cuda_root/include], [-L$yoke_cuda_lib -lcudart_static -ldl -lrt -lpthread])
AS_CASE([$yoke_cuda_runs],
  [yes|cross], [yoke_cuda=yes
    yoke_cuda_summary="toolkit $yoke_cuda_version, for sm_`AS_ECHO(["$with_cuda_arch"]) | sed 's/,/, sm_/g'`, newer ones by PTX"],
  [no], [YOKE_MISSING([cuda], [a program with the CUDA runtime $yoke_cuda_version does not run])],
  [YOKE_MISSING([cuda], [$NVCC is there, but the runtime in $yoke_cuda_root does not link])])
])

# YOKE_MPI: libyoke_mpi, and cgbench over ranks. What mpicc would say to the compiler is asked of it,
# so that one compiler makes everything: Open MPI's answers to --showme, MPICH's to -show. MPICC,
# or MPI_CFLAGS and MPI_LIBS, name another. Also finds the launcher, of CPU rivals too.
AC_DEFUN([YOKE_MPI], [
YOKE_WITH([mpi], [libyoke_mpi and cgbench over ranks])
AC_ARG_VAR([MPICC], [MPI's compiler wrapper, asked for flags])
AC_ARG_VAR([MPI_CFLAGS], [C flags of MPI, in place of what MPICC says])
AC_ARG_VAR([MPI_LIBS], [libraries of MPI, in place of what MPICC says])
AC_PATH_PROGS([MPIRUN], [mpirun mpiexec])
yoke_mpi=no
yoke_mpi_summary="no: --without-mpi"
AS_IF([test "x$with_mpi" != xno], [
  AC_PATH_PROGS([MPICC], [mpicc mpicc.openmpi mpicc.mpich])
  AS_IF([test -z "$MPICC$MPI_LIBS"], [YOKE_MISSING([mpi], [mpicc is not on the PATH])], [YOKE_MPI_FLAGS])
])
AM_CONDITIONAL([HAVE_MPI], [test "x$yoke_mpi" = xyes])
AS_IF([test "x$yoke_mpi" = xyes], [AC_DEFINE([HAVE_MPI], [1], [Define if libyoke_mpi is built.])])
])

AC_DEFUN([YOKE_MPI_FLAGS], [
AS_IF([test -z "$MPI_CFLAGS$MPI_LIBS"], [
  MPI_CFLAGS=`"$MPICC" --showme:compile 2>/dev/null` && MPI_LIBS=`"$MPICC" --showme:link 2>/dev/null` || {
    MPI_CFLAGS= MPI_LIBS=
    for yoke_word in `"$MPICC" -show 2>/dev/null`; do
      AS_CASE([$yoke_word], [-I*|-D*], [MPI_CFLAGS="$MPI_CFLAGS $yoke_word"],
        [-L*|-l*|-Wl,-rpath*], [MPI_LIBS="$MPI_LIBS $yoke_word"])
    done
  }
])
YOKE_RUNS([mpi], [[#include <mpi.h>]],
  [[char text[MPI_MAX_LIBRARY_VERSION_STRING]; int length; return MPI_Get_library_version(text, &length);]],
  [$MPI_CFLAGS], [$MPI_LIBS])
AS_CASE([$yoke_mpi_runs],
  [yes|cross], [yoke_mpi=yes; yoke_mpi_summary="yes ($MPICC)"],
  [no], [YOKE_MISSING([mpi], [a program with the MPI of $MPICC does not run])],
  [YOKE_MISSING([mpi], [no program with the MPI of $MPICC compiles and links])])
])

# The rivals of --vs. A CPU rival is a program of its own, run as a child under mpirun, so cgbench
# itself never links it, and --without-mpi does not concern it.
# YOKE_RIVAL(NAME, PROLOGUE, BODY, FLAGS, LIBS)
AC_DEFUN([YOKE_RIVAL], [
AS_IF([test -z "$MPIRUN"], [YOKE_MISSING([$1], [mpirun is not on the PATH])], [
  YOKE_RUNS([$1], [$2], [$3], [$4], [$5])
  AS_CASE([$yoke_$1_runs],
    [yes|cross], [yoke_$1=yes; yoke_$1_summary="yes"],
    [no], [YOKE_MISSING([$1], [a program with it links but does not run])],
    [YOKE_MISSING([$1], [no program with it compiles and links])])])
])

AC_DEFUN([YOKE_PETSC], [
YOKE_WITH([petsc], [rival for --vs petsc])
PKG_CHECK_MODULES([OMPI_C], [ompi-c], [], [:])
yoke_petsc=no yoke_petsc_summary="no: --without-petsc"
AS_IF([test "x$with_petsc" != xno], [
  PKG_CHECK_MODULES([PETSC], [PETSc],
    [YOKE_RIVAL([petsc], [[#include <petscksp.h>]], [[return PetscInitializeNoArguments == 0;]],
       [$PETSC_CFLAGS $OMPI_C_CFLAGS], [$PETSC_LIBS $OMPI_C_LIBS])],
    [YOKE_MISSING([petsc], [pkg-config does not know PETSc])])
])
AM_CONDITIONAL([HAVE_PETSC], [test "x$yoke_petsc" = xyes])
])

# A GPU rival opens its libraries at run time: their headers are all that is asked for here.
AC_DEFUN([YOKE_CUSPARSE], [
YOKE_WITH([cusparse], [rival for --vs cusparse])
yoke_cusparse=no yoke_cusparse_summary="no: --without-cusparse"
AS_IF([test "x$with_cusparse" = xno], [],
  [test "x$yoke_cuda" != xyes], [YOKE_MISSING([cusparse], [it needs the CUDA engine])], [
  yoke_save_CPPFLAGS=$CPPFLAGS
  CPPFLAGS="$CPPFLAGS $CUDA_CPPFLAGS"
  AC_MSG_CHECKING([for the headers of cuSPARSE, from CUDA 12.4 on, and cuBLAS])
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <cublas_v2.h>
#include <cusparse.h>]],
      [[return sizeof(__typeof__(cusparseSpMV_preprocess) *) + sizeof(__typeof__(cublasDdot_v2) *) == 0;]])],
    [AC_MSG_RESULT([yes]); yoke_cusparse=yes; yoke_cusparse_summary="yes"],
    [AC_MSG_RESULT([no]); YOKE_MISSING([cusparse], [the toolkit has no cusparse.h of 12.4 or later, or no cublas_v2.h])])
  CPPFLAGS=$yoke_save_CPPFLAGS
])
AM_CONDITIONAL([HAVE_CUSPARSE], [test "x$yoke_cusparse" = xyes])
])

AC_DEFUN([YOKE_HYPRE], [
YOKE_WITH([hypre], [rival for --vs hypre])
yoke_hypre=no yoke_hypre_summary="no: --without-hypre"
HYPRE_CFLAGS="-I/usr/include/hypre" HYPRE_LIBS="-lHYPRE"
AS_IF([test "x$with_hypre" != xno],
  [YOKE_RIVAL([hypre], [[#include <HYPRE_parcsr_ls.h>]], [[return HYPRE_ParCSRPCGSolve == 0;]],
     [$HYPRE_CFLAGS $OMPI_C_CFLAGS], [$HYPRE_LIBS $OMPI_C_LIBS])])
AC_SUBST([HYPRE_CFLAGS])
AC_SUBST([HYPRE_LIBS])
AM_CONDITIONAL([HAVE_HYPRE], [test "x$yoke_hypre" = xyes])
])

# YOKE_METIS: probed and summarised; nothing uses it yet.
AC_DEFUN([YOKE_METIS], [
YOKE_WITH([metis], [orderings and partitions over ranks])
yoke_metis=no yoke_metis_summary="no: --without-metis"
AS_IF([test "x$with_metis" != xno], [
  YOKE_RUNS([metis], [[#include <metis.h>]], [[idx_t o[METIS_NOPTIONS]; return METIS_SetDefaultOptions(o) != METIS_OK;]],
    [], [-lmetis])
  AS_CASE([$yoke_metis_runs],
    [yes|cross], [yoke_metis=yes; yoke_metis_summary="found; this version of Yoke does not use it yet"],
    [no], [YOKE_MISSING([metis], [a program with it links but does not run])],
    [YOKE_MISSING([metis], [metis.h or libmetis is not there])])
])
])

# YOKE_CRITERION: by pkg-config, or where the compiler finds it by itself.
AC_DEFUN([YOKE_CRITERION], [
PKG_CHECK_MODULES([CRITERION], [criterion], [], [
  yoke_save_LIBS=$LIBS
  AC_CHECK_HEADER([criterion/criterion.h],
    [AC_CHECK_LIB([criterion], [criterion_initialize], [CRITERION_LIBS=-lcriterion])])
  LIBS=$yoke_save_LIBS])
AS_IF([test -n "$CRITERION_LIBS"], [yoke_criterion_summary="yes (Criterion)"],
  [yoke_criterion_summary="no: Criterion is missing (Debian: libcriterion-dev), make check will fail"])
AM_CONDITIONAL([HAVE_CRITERION], [test -n "$CRITERION_LIBS"])
])
])

AC_DEFUN([YOKE_SUMMARY], [
cat <<EOT

Yoke $PACKAGE_VERSION
  prefix         $prefix
  host           $host
  compiler       $CC $CFLAGS
  libraries      shared $enable_shared, static $enable_static
  row sums       $yoke_simd_summary
  OpenMP         $yoke_openmp_summary
  CUDA           $yoke_cuda_summary
  MPI            $yoke_mpi_summary
  METIS          $yoke_metis_summary
  PETSc rival    $yoke_petsc_summary
  hypre rival    $yoke_hypre_summary
  cuSPARSE rival $yoke_cusparse_summary
  tests          $yoke_criterion_summary

EOT
])

# YOKE_CUDA_USE: what the Makefile needs of it.
AC_DEFUN([YOKE_CUDA_USE], [
AM_CONDITIONAL([HAVE_CUDA], [test "x$yoke_cuda" = xyes])
AS_IF([test "x$yoke_cuda" = xyes], [
  AC_DEFINE([HAVE_CUDA], [1], [Define if the GPU engine is built.])
  AC_DEFINE_UNQUOTED([YK_CUDA_LIBDIR], ["$yoke_cuda_lib"], [Where configure found CUDA's libraries.])
  CUDA_CPPFLAGS="-I$yoke_cuda_root/include"
  CUDA_LIBS="-L$yoke_cuda_lib -lcudart_static -ldl -lrt -lpthread -lstdc++"
  # Fused operations are written out: see lib/subset.h. PTX of the newest serves what comes later.
  AM_NVCCFLAGS="-std=c++17 -fmad=false -Xcompiler=-fvisibility=hidden,-fno-exceptions"
  for yoke_arch in `AS_ECHO(["$with_cuda_arch"]) | tr , ' '`; do
    AM_NVCCFLAGS="$AM_NVCCFLAGS -gencode=arch=compute_$yoke_arch,code=sm_$yoke_arch"
  done
  AM_NVCCFLAGS="$AM_NVCCFLAGS -gencode=arch=compute_$yoke_arch,code=compute_$yoke_arch"
  : ${NVCCFLAGS=-O3}
])
AC_SUBST([CUDA_CPPFLAGS]) AC_SUBST([CUDA_LIBS]) AC_SUBST([AM_NVCCFLAGS]) AC_SUBST([NVCCFLAGS])
])
