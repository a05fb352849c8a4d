# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154,SC2164 # work, about: .ci/run, under set -e
# build.sh: builds and installations of every kind.

about[check]="scripts/check, the README's second command"
job_check() { scripts/check; }

# planted_warning BUILD CC: the flags of the build refuse an unused variable.
planted_warning()
{
    echo 'int planted(void); int planted(void) { int unused; return 0; }' >"$work/planted.c"
    # shellcheck disable=SC2046 # flags are words
    must_fail warning "$2" $(sed -n 's/^YOKE_CFLAGS = //p' "$work/$1/Makefile") -c "$work/planted.c" -o "$work/planted.o"
}

nvcc_flags="-O3 -Werror=all-warnings"

# The build that gcc, installcheck and cuda look at, made by the first of them.
gcc_build()
{
    # shellcheck disable=SC2046 # one option or none
    [ -f "$work/gcc/Makefile" ] || configured_in gcc --enable-werror CC=gcc --prefix="$work/prefix" \
        NVCCFLAGS="$nvcc_flags" $(cuda_if_found)
    makes gcc all
}

# The same for the jobs that want nothing optional.
plain_build()
{
    [ -f "$work/plain/Makefile" ] || configured_in plain
    makes plain "$@"
}

about[gcc]="no warning from gcc, in the library, the tool and the tests"
job_gcc()
{
    gcc_build
    makes gcc check TESTS=
    planted_warning gcc gcc
}

about[clang]="no warning from clang"
job_clang()
{
    configured_in clang --enable-werror CC=clang
    makes clang all
    makes clang check TESTS=
    planted_warning clang clang
}

about[installcheck]="an application's view of the installed tree; uninstalling leaves nothing"
job_installcheck()
{
    gcc_build
    makes gcc install
    make -C "$work/gcc" -s installcheck
    rm "$work/prefix/include/yoke.h"
    must_fail "missing header" make -C "$work/gcc" -s installcheck
    makes gcc install
    makes gcc uninstall
    local left
    left=$(find "$work/prefix" -type f -o -type l)
    [ -z "$left" ] || { echo "left after uninstall: $left"; return 1; }
}

about[archive]="a plain source archive, no git, built and installed in place"
job_archive()
{
    mkdir "$work/archive"
    git archive HEAD | tar x -C "$work/archive"
    (
        cd "$work/archive"
        quietly archive-autoreconf autoreconf -fi
        if grep -i warning "$work/archive-autoreconf.log"; then exit 1; fi
        quietly archive-configure ./configure "${without_extras[@]}" --prefix="$work/archive-prefix"
        quietly archive-make make -j "$(nproc)"
        quietly archive-install make install
        grep YOKE_COMMIT bench/commit.h | grep "$(git -C "$OLDPWD" rev-parse HEAD)"
    )
}

about[cuda]="no warning from nvcc, in a build with CUDA"
job_cuda()
{
    nvcc_found || return 77
    must_fail "missing toolkit" configured_in no_cuda --with-cuda="$work/nowhere"
    grep -q 'with-cuda was asked for' "$work/planted.log" || { cat "$work/planted.log"; return 1; }
    planted_kernel
    gcc_build # of which scripts/check has run the tests
}

# The build's flags refuse an unused variable in a kernel.
planted_kernel()
{
    echo '__global__ void planted(void) { int unused; }' >"$work/planted.cu"
    # shellcheck disable=SC2086 # flags are words
    must_fail "warning of nvcc" "$(nvcc_found)" $nvcc_flags -c "$work/planted.cu" -o "$work/planted.o"
    grep -q 'never referenced' "$work/planted.log" || { cat "$work/planted.log"; return 1; }
}

about[distcheck]="the release archive builds, passes without OpenMP, installs, cleans up, knows its commit; also with CUDA"
job_distcheck()
{
    plain_build distcheck DISTCHECK_CONFIGURE_FLAGS=--disable-openmp
    tar xzOf "$work"/plain/yoke-*.tar.gz --wildcards '*/.tarball-commit' | grep "^$(git rev-parse HEAD)"
    nvcc_found || return 0
    # its tests are those that scripts/check has run
    makes plain distcheck DISTCHECK_CONFIGURE_FLAGS='--with-cuda --with-cuda-arch=90' TESTS=
}
