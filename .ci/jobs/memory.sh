# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154,SC2164 # work, about: .ci/run, under set -e
# memory.sh: jobs that watch a program run. Criterion 2.4.1 passes a test whose leak a sanitizer
# saw, and its children's reports are lost, so reports go to files and a file fails the job.

san_flags="-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined"

# sanitized REPORTS COMMAND...: runs with reports to REPORTS.*
sanitized()
{
    local reports=$1
    shift
    ASAN_OPTIONS="log_path=$reports:allocator_may_return_null=1:detect_stack_use_after_return=1" \
        UBSAN_OPTIONS="log_path=$reports:print_stacktrace=1" "$@"
}

# Each fault inside a Criterion test, as the suites would have it.
planted_for_sanitizers()
{
    cat >"$work/planted.c" <<'END'
#include <criterion/criterion.h>
#include <limits.h>
#include <stdlib.h>
Test(planted, fault)
{
    volatile int one = 1;
#if FAULT == 1
    char *volatile p = malloc(10);
    p = NULL;
#elif FAULT == 2
    int *p = malloc(4);
    p[one] = 1;
    free(p);
#else
    one += INT_MAX;
#endif
}
END
    local fault names=(leak "write past the end" "signed overflow")
    for fault in 1 2 3; do
        # shellcheck disable=SC2086 # flags are words
        gcc $san_flags -DFAULT=$fault "$work/planted.c" -o "$work/planted" -lcriterion
        sanitized "$work/planted-report" "$work/planted" >/dev/null 2>&1 || :
        must_fail "${names[fault - 1]}" no_reports "$work"/planted-report.*
        rm -f "$work"/planted-report.*
    done
}

about[sanitizers]="all tests under the address, leak and undefined-behaviour sanitizers"
job_sanitizers()
{
    planted_for_sanitizers
    configured_in sanitizers CC=gcc CFLAGS="$san_flags" --disable-shared
    local status=0
    sanitized "$work/san-report" checks sanitizers || status=1
    no_reports "$work"/san-report.* || status=1
    return $status
}

# raced REPORTS COMMAND...: clang's OpenMP tells archer its barriers, so only real races are left.
raced()
{
    local reports=$1
    shift
    OMP_TOOL_LIBRARIES=$(archer) TSAN_OPTIONS="ignore_noninstrumented_modules=1:log_path=$reports" "$@"
}

planted_race()
{
    cat >"$work/race.c" <<'END'
#include <stdio.h>
int main(void)
{
    int sum = 0;
#pragma omp parallel for num_threads(4)
    for (int i = 0; i < 100000; i++) sum += i;
    printf("%d\n", sum);
}
END
    clang -O1 -g -fopenmp -fsanitize=thread "$work/race.c" -o "$work/race"
    raced "$work/planted-race" "$work/race" >/dev/null 2>&1 || :
    must_fail race no_reports "$work"/planted-race.*
}

about[threads]="the stress program under the thread sanitizer (clang, libomp, archer)"
job_threads()
{
    [ -n "$(archer)" ] || { echo "libarcher.so is missing (libomp-dev)"; return 1; }
    planted_race
    configured_in threads CC=clang CFLAGS="-O1 -g -fsanitize=thread" --disable-shared
    makes threads all
    makes threads tests/stress
    local status=0
    raced "$work/race-report" "$work/threads/tests/stress" || status=1
    no_reports "$work"/race-report.* || status=1
    return $status
}

# Definite and indirect leaks only: the OpenMP runtime keeps its threads until the end.
grind()
{
    valgrind -q --trace-children=yes --leak-check=full --errors-for-leak-kinds=definite,indirect \
        --show-leak-kinds=definite,indirect --error-exitcode=9 "$@"
}

about[valgrind]="cgbench and the example under valgrind: uninitialised values, leaks"
job_valgrind()
{
    configured_in valgrind --disable-shared --prefix="$work/valgrind-prefix"
    makes valgrind all
    local tool=$work/valgrind/cgbench
    grind "$tool" solve matrices/real/1138_bus.mtx --precond jacobi --threads 2 --quiet
    grind "$tool" solve gen:poisson3d7:12 --threads 2 --parts 2 --out "$work/x.mtx" --quiet
    grind "$tool" list >"$work/list.log"
    printf '#include <stdlib.h>\nint main(int c, char **v) { int *p = malloc(8); (void)v; return *p == c; }\n' >"$work/planted.c"
    gcc -g "$work/planted.c" -o "$work/planted"
    must_fail "uninitialised value and leak" grind "$work/planted"
}

about[fuzz]="a minute of fuzzing over all readers"
job_fuzz() { tests/fuzz/run 60; }
