# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154,SC2164 # work, about: .ci/run, under set -e
# memory.sh: jobs that watch a program run. Criterion 2.4.1 passes a test whose leak a sanitizer
# saw, and its children's reports are lost, so reports go to files and a file fails the job.

san_flags="-O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined"

# sanitized REPORTS COMMAND...: fails if the command does or a report was written to REPORTS.*.
# gcc's undefined-behaviour sanitizer, beside the address one, writes no file: it aborts instead,
# which no exit code that a test expects of a child looks like.
sanitized()
{
    local reports=$1 status=0
    shift
    ASAN_OPTIONS="log_path=$reports:allocator_may_return_null=1:detect_stack_use_after_return=1" \
        UBSAN_OPTIONS="abort_on_error=1:print_stacktrace=1" "$@" || status=1
    no_reports "$reports".* || status=1
    return $status
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
        must_fail "${names[fault - 1]}" sanitized "$work/planted-$fault" "$work/planted"
    done
}

# All but the battery on the fake runtime, which goes the ways of other suites once more for their bits, and
# the study without it; of the scripts none, which run no code that is built here.
# shellcheck disable=SC2016 # make's
sanitized_tests='$(filter-out tests/test_battery_on_fake tests/test_study,$(criterion_suites) $(fake_suites))'
sanitized_tests+=' tests/fake_stress tests/rank_stress tests/stress'

about[sanitizers]="the suites under the address, leak and undefined-behaviour sanitizers"
job_sanitizers()
{
    planted_for_sanitizers
    configured_in sanitizers CC=gcc CFLAGS="$san_flags" --disable-shared
    sanitized "$work/san-report" checks sanitizers TESTS="$sanitized_tests"
}

# raced REPORTS COMMAND...: fails if the command does or a race was reported to REPORTS.*. clang's
# OpenMP tells archer of its barriers, so only real races are left.
raced()
{
    local reports=$1 status=0
    shift
    OMP_TOOL_LIBRARIES=$(archer) TSAN_OPTIONS="ignore_noninstrumented_modules=1:log_path=$reports" "$@" || status=1
    no_reports "$reports".* || status=1
    return $status
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
    must_fail race raced "$work/planted-race" "$work/race"
}

about[threads]="the stress programs under the thread sanitizer (clang, libomp, archer)"
job_threads()
{
    [ -n "$(archer)" ] || { echo "libarcher.so is missing (libomp-dev)"; return 1; }
    planted_race
    configured_in threads CC=clang CFLAGS="-O1 -g -fsanitize=thread" --disable-shared
    makes threads tests/stress tests/fake_stress tests/rank_stress
    raced "$work/race-report" "$work/threads/tests/stress"
    raced "$work/race-report" "$work/threads/tests/fake_stress"
    raced "$work/race-report" "$work/threads/tests/rank_stress"
}

# Definite and indirect leaks only: the OpenMP runtime keeps its threads until the end. libtool finds
# the program behind its wrapper script.
grind()
{
    "$work/archive/libtool" --mode=execute valgrind -q --leak-check=full --errors-for-leak-kinds=definite,indirect \
        --show-leak-kinds=definite,indirect --error-exitcode=9 "$@"
}

about[valgrind]="cgbench, and the GPU path on the fake runtime, under valgrind: uninitialised values, leaks"
job_valgrind()
{
    (archive_build)
    local tool=$work/archive/cgbench
    grind "$tool" solve matrices/real/1138_bus.mtx --precond jacobi --threads 2 --quiet
    grind "$tool" solve gen:poisson3d7:12 --threads 2 --parts 2 --out "$work/x.mtx" --quiet
    grind "$tool" list >"$work/list.log"
    makes archive tests/fake_stress tests/rank_stress
    grind "$work/archive/tests/fake_stress"
    grind "$work/archive/tests/rank_stress"
    printf '#include <stdlib.h>\nint main(int c, char **v) { int *p = malloc(8); (void)v; return *p == c; }\n' >"$work/planted.c"
    gcc -g "$work/planted.c" -o "$work/planted"
    must_fail "uninitialised value and leak" grind "$work/planted"
}

# A target whose every input is a finding.
planted_finding()
{
    mkdir "$work/planted-tree"
    cp -R build-aux lib matrices tests "$work/planted-tree"
    rm "$work"/planted-tree/tests/fuzz/fuzz_[!v]*.c
    sed -i '/^int LLVMFuzzerTestOneInput/,/^{/s/^{/{ if (size > 0) __builtin_trap();/' \
        "$work/planted-tree/tests/fuzz/fuzz_vector.c"
    TMPDIR=$work must_fail "crash" tests/fuzz/run 5 "$work/planted-tree"
    # a target that does not build fails too
    grep -q 'fuzzing found a fault' "$work/planted.log" || { cat "$work/planted.log"; return 1; }
}

about[fuzz]="a minute of fuzzing over all readers"
job_fuzz()
{
    planted_finding
    tests/fuzz/run 60
}
