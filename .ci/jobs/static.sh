# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2046,SC2154,SC2164 # work, about: .ci/run, under set -e
# static.sh: what can be said without running anything.

about[scripts]="shellcheck on every script"
job_scripts()
{
    shellcheck -x $(git grep -lE '^#!.*[/ ](sh|bash)$|^# shellcheck shell=')
    # shellcheck disable=SC2016 # planted
    printf '#!/bin/sh\nrm $1\n' >"$work/planted.sh"
    must_fail "unquoted word" shellcheck "$work/planted.sh"
}

about[format]="clang-format on every source"
job_format()
{
    clang-format --dry-run -Werror $(sources)
    cp .clang-format "$work/"
    echo 'int  planted ;' >"$work/planted.c"
    must_fail "stray space" clang-format --dry-run -Werror "$work/planted.c"
}

# Missing headers are the system's, and CUDA's, which refuse a compiler they do not know. cppcheck does
# not follow loops that fill arrays: uninitialised values are valgrind's and the analyzer's to find.
cppchecks()
{
    cppcheck -q -j "$(nproc)" --std=c11 --enable=warning,performance,portability --inline-suppr \
        --suppress=missingIncludeSystem --suppress=uninitvar \
        --error-exitcode=1 -Ilib/include -I. -D_GNU_SOURCE "$@"
}

about[cppcheck]="cppcheck on the library, the tool and the examples"
job_cppcheck()
{
    cppchecks $(sources | grep '\.c$' | grep -v '^tests/')
    echo 'int planted(void) { int a[2] = {0, 0}; return a[2]; }' >"$work/planted.c"
    must_fail "index out of range" cppchecks "$work/planted.c"
}

# What -I finds CUDA's headers, if the toolkit is here.
cuda_include()
{
    local nvcc
    if nvcc=$(nvcc_found); then echo "-I$(dirname "$nvcc")/../include"; fi
}

# The analyzer and bugprone, without those that are about taste or that the code cannot please:
# memcpy_s and the like; widths that the language converts exactly; macros that take a type. clang
# 14's on va_list knows no va_start of x86-64.
tidy_checks='-*,clang-analyzer-*,-clang-analyzer-security.insecureAPI.*,-clang-analyzer-valist.Uninitialized
    bugprone-*,-bugprone-easily-swappable-parameters,-bugprone-narrowing-conversions
    -bugprone-implicit-widening-of-multiplication-result,-bugprone-reserved-identifier
    -bugprone-macro-parentheses,-bugprone-assignment-in-if-condition'

# makefile_values NAME...: variables of the Makefile in ./build, as the shell would see them.
makefile_values()
{
    # shellcheck disable=SC2016 # make's
    printf 'include Makefile\n.PHONY: ci-print\nci-print:\n\t@echo %s\n' "$(printf '$(%s) ' "$@")" |
        make -s -C build -f - ci-print
}

# In ./build, where the Makefile's relative folders hold.
tidies()
{
    export tidy_flags
    tidy_flags="-std=gnu11 $(makefile_values DEFS DEFAULT_INCLUDES AM_CPPFLAGS cgbench_CPPFLAGS OPENMP_CFLAGS MPI_CFLAGS) $(cuda_include)"
    # shellcheck disable=SC2016 # of the inner shell
    (cd build && printf '%s\n' "$@" | xargs -P "$(nproc)" -n 4 sh -c 'exec clang-tidy --quiet \
        --warnings-as-errors="*" --checks="$0" "$@" -- $tidy_flags' "$(echo "$tidy_checks" | tr -s '\n ' ',')") 2>"$work/tidy.err"
}

# Reads sources from stdin: those that this machine has the headers for.
readable()
{
    local file
    while read -r file; do
        if [ -z "$(cuda_include)" ] && grep -q '^#include <cuda' "$file"; then
            echo "left out, without CUDA's headers: $file" >&2
        elif [ -z "$(makefile_values MPI_CFLAGS)" ] && grep -q -E '^#include [<"](yoke_mpi.h|lib/mpi/|bench/ranks.h")' "$file" &&
            grep -q MPI_ "$file"; then
            echo "left out, without MPI's headers: $file" >&2
        else
            echo "$file"
        fi
    done
}

about[tidy]="clang-tidy: the analyzer and bugprone, on the library and the tool"
job_tidy()
{
    needs_check
    tidies $(sources | grep -E '^(lib|memmodes|partition|matrices|solvers|bench|examples)/.*\.c$' |
        grep -v '^bench/rivals/' | readable | sed "s|^|$PWD/|")
    echo 'int planted(int *p); int planted(int *p) { if (!p) return *p; return 0; }' >"$work/planted.c"
    must_fail "null dereference" tidies "$work/planted.c"
    grep -q 'Dereference of null' "$work/planted.log" || { cat "$work/planted.log"; return 1; }
}
