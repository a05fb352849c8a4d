# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154,SC2164 # work, about: .ci/run, under set -e
# build.sh: builds and installations of every kind.

# scripts/check builds as a newcomer would, but with warnings as errors, one of the two MPIs by name and
# one of the GPUs' architectures (distcheck has the other): told by configure's site file.
site_of_check()
{
    cat >"$work/config.site" <<END
enable_werror=yes
with_cuda_arch=90
NVCCFLAGS='$nvcc_flags'
MPICC=$(type -P mpicc.openmpi)
MPIRUN=$(type -P mpirun.openmpi)
END
}

nvcc_flags="-O3 -Werror=all-warnings"

about[check]="scripts/check, the README's second command, with no warning from gcc"
job_check()
{
    site_of_check
    CONFIG_SITE=$work/config.site scripts/check
    planted_warning build gcc
}

# What scripts/check has built is looked at by several jobs.
needs_check() { [ -f build/config.h ] || { echo "needs job check first"; return 1; }; }

# planted_warning FOLDER CC: the flags of the build refuse an unused variable.
planted_warning()
{
    echo 'int planted(void); int planted(void) { int unused; return 0; }' >"$work/planted.c"
    # shellcheck disable=SC2046 # flags are words
    must_fail warning "$2" $(sed -n 's/^YOKE_CFLAGS = //p' "$1/Makefile") -c "$work/planted.c" -o "$work/planted.o"
}

about[clang]="no warning from clang, in the library, the tool and the tests"
job_clang()
{
    configured_in clang --enable-werror CC=clang CFLAGS=-O0 --disable-shared
    makes clang all
    makes clang check TESTS=
    planted_warning "$work/clang" clang
}

about[installcheck]="an application's view of the tree that scripts/check built; uninstalling leaves nothing"
job_installcheck()
{
    needs_check
    local stage=$work/stage left
    quietly install make -C build install DESTDIR="$stage"
    make -C build -s installcheck DESTDIR="$stage"
    rm "$stage/usr/local/include/yoke.h"
    must_fail "missing header" make -C build -s installcheck DESTDIR="$stage"
    quietly uninstall make -C build uninstall DESTDIR="$stage"
    left=$(find "$stage" -type f -o -type l)
    [ -z "$left" ] || { echo "left after uninstall: $left"; return 1; }
}

# The build that archive and valgrind look at, made by the first of them.
archive_build()
{
    [ ! -f "$work/archive/Makefile" ] || return 0
    mkdir "$work/archive"
    git archive HEAD | tar x -C "$work/archive"
    cd "$work/archive"
    quietly archive-autoreconf autoreconf -fi
    if grep -i warning "$work/archive-autoreconf.log"; then return 1; fi
    quietly archive-configure ./configure "${without_extras[@]}" --prefix="$work/archive-prefix"
    quietly archive-make make -j "$(nproc)"
}

about[archive]="a plain source archive, no git, built and installed in place"
job_archive()
{
    (archive_build)
    makes archive install
    [ -x "$work/archive-prefix/bin/cgbench" ]
    grep YOKE_COMMIT "$work/archive/bench/commit.h" | grep "$(git rev-parse HEAD)"
}

about[cuda]="no warning from nvcc, in the build of scripts/check"
job_cuda()
{
    nvcc_found || return 77
    needs_check
    must_fail "missing toolkit" configured_in no_cuda --with-cuda="$work/nowhere"
    grep -q 'with-cuda was asked for' "$work/planted.log" || { cat "$work/planted.log"; return 1; }
    grep 'define HAVE_CUDA 1' build/config.h
    planted_kernel
}

# The flags of the build refuse an unused variable in a kernel.
planted_kernel()
{
    echo '__global__ void planted(void) { int unused; }' >"$work/planted.cu"
    # shellcheck disable=SC2046 # flags are words
    must_fail "warning of nvcc" "$(nvcc_found)" $(sed -n 's/^NVCCFLAGS = //p' build/Makefile) \
        -c "$work/planted.cu" -o "$work/planted.o"
    grep -q 'never referenced' "$work/planted.log" || { cat "$work/planted.log"; return 1; }
}

# lacks_nothing TARBALL: what git keeps is in the release archive.
lacks_nothing()
{
    tar tzf "$1" | sed -n 's|^[^/]*/||p' | sort >"$work/released"
    local lacking
    lacking=$(git ls-files | grep -v '^\.git' | sort | comm -23 - "$work/released")
    [ -z "$lacking" ] || { echo "not in $1: $lacking"; return 1; }
}

# Without OpenMP: the CPU's suites, and of those on the fake runtime two. lacks_nothing has shown that
# what the others test is what scripts/check has tested.
# shellcheck disable=SC2016 # make's
distcheck_tests='$(criterion_suites) tests/rank_stress tests/stress tests/test_gpu_on_fake tests/test_gpu_together_on_fake'

about[distcheck]="the release archive holds all of git, builds with CUDA if found, passes without OpenMP, installs, cleans up, knows its commit"
job_distcheck()
{
    needs_check
    tar czf "$work/short.tar.gz" README.md
    must_fail "file that is not shipped" lacks_nothing "$work/short.tar.gz"
    quietly dist make -C build dist
    lacks_nothing build/yoke-*.tar.gz
    tar xzOf build/yoke-*.tar.gz --wildcards '*/.tarball-commit' | grep "^$(git rev-parse HEAD)"
    local with=--without-cuda
    if nvcc_found; then with='--with-cuda --with-cuda-arch=80 NVCCFLAGS=-Xptxas=-O0'; fi
    quietly distcheck make -C build -j "$(nproc)" distcheck TESTS="$distcheck_tests" check_PROGRAMS="$distcheck_tests" \
        DISTCHECK_CONFIGURE_FLAGS="--disable-openmp CFLAGS=-O1 $with"
    grep -E '^# (TOTAL|PASS|FAIL)' "$work/distcheck.log"
}
