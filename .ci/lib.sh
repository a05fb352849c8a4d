# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # lists are for who sources this; work: .ci/run
# lib.sh: what the jobs of .ci/jobs share.

# Debian 12's clang is 14, and its runtimes carry the number.
ci_needs='git git
clang clang
clang-format clang-format
clang-tidy clang-tidy
cppcheck cppcheck
valgrind valgrind
shellcheck shellcheck
cmake cmake
libopenmpi-dev mpicc.openmpi
openmpi-bin mpirun.openmpi
libmpich-dev mpicc.mpich
mpich mpirun.mpich
qemu-user qemu-aarch64
gcc-aarch64-linux-gnu aarch64-linux-gnu-gcc
libc6-dev-arm64-cross /usr/aarch64-linux-gnu/include/stdio.h
libomp-dev /usr/lib/llvm-*/lib/libarcher.so
libclang-rt-14-dev /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.tsan-*.a
llvm llvm-symbolizer'

# What each job is for, shown in its heading.
declare -A about

heading() { printf '\n=== %s\n' "$*"; }

# The race detector for OpenMP that clang's runtime loads.
archer() { find /usr/lib/llvm-*/lib -name libarcher.so 2>/dev/null | sort | tail -1; }

# quietly NAME COMMAND...: output to a log, its end shown when the command fails.
quietly()
{
    local log=$work/$1.log
    shift
    "$@" >"$log" 2>&1 || { tail -60 "$log"; echo "failed: $*"; return 1; }
}

# must_fail WHAT COMMAND...: a planted fault that the job's own means have to see.
must_fail()
{
    local what=$1
    shift
    if "$@" >"$work/planted.log" 2>&1; then
        echo "a planted $what was not seen by: $*"
        return 1
    fi
    echo "a planted $what is seen"
}

# Every build in $work leaves out CUDA too, whatever the machine has: nvcc takes a minute a build.
without_extras=(--without-cuda --without-mpi --without-petsc --without-hypre --without-metis)

# Where configure looks for it.
nvcc_found() { PATH=$PATH:/usr/local/cuda/bin type -P nvcc; }

# configured_in NAME OPTIONS...: a build folder of its own, with nothing optional but OpenMP.
configured_in()
{
    local name=$1
    shift
    mkdir -p "$work/$name"
    [ -f configure ] || quietly autoreconf autoreconf -fi
    (cd "$work/$name" && quietly "$name-configure" "$OLDPWD/configure" "${without_extras[@]}" "$@")
}

makes()
{
    local name=$1
    shift
    quietly "$name-make" make -C "$work/$name" -j "$(nproc)" "$@"
}

said_of_failures() { grep -h -E '^\[(FAIL|CRASH|----)\]' "$@" | grep -v 'Criterion v'; }

# The suites' verdicts of a build, shown also when they failed.
checks()
{
    local name=$1 status=0
    shift
    make -C "$work/$name" -j "$(nproc)" check "$@" >"$work/$name-check.log" 2>&1 || status=$?
    grep -E '^(FAIL|ERROR|SKIP):' "$work/$name-check.log" || :
    closing_lines "$work/$name"
    [ $status = 0 ] || { tail -20 "$work/$name-check.log"; said_of_failures "$work/$name"/tests/*.log; }
    return $status
}

# no_reports GLOB...: fails, showing them, if any report of a sanitizer holds a word.
no_reports()
{
    local report found=0
    for report in "$@"; do
        [ -s "$report" ] || continue
        found=1
        echo "--- $report"
        head -60 "$report"
    done
    return $found
}

sources() { git ls-files '*.c' '*.h' '*.cu' '*.cuh'; }
