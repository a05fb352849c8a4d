#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# installcheck.sh: the installed tree as an application meets it. make installcheck gives the folders.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PKG_CONFIG=${PKG_CONFIG:-pkg-config} DESTDIR=${DESTDIR-}
export PKG_CONFIG_PATH="$DESTDIR$PKGCONFIGDIR${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
if [ -n "$DESTDIR" ]; then export PKG_CONFIG_SYSROOT_DIR="$DESTDIR"; fi
libdir=$DESTDIR$LIB_DIR
heat=$SRCDIR/examples/heat.c

say() { echo "installcheck: $*"; }

# Words of CC and of flags are meant to split.
# shellcheck disable=SC2086,SC2046
shared_by_pkg_config()
{
    say "examples/heat.c, shared, through pkg-config"
    $CC $CFLAGS $($PKG_CONFIG --cflags yoke) -o "$work/shared" "$heat" $($PKG_CONFIG --libs yoke) -lm
    LD_LIBRARY_PATH=$libdir "$work/shared"
}

# The linker prefers a shared library of the same folder, so the archive gets a folder of its own.
# shellcheck disable=SC2086,SC2046
static_by_pkg_config()
{
    say "examples/heat.c, static, through pkg-config --static"
    mkdir "$work/archive"
    cp "$libdir/libyoke.a" "$work/archive/"
    $CC $CFLAGS $($PKG_CONFIG --cflags yoke) -o "$work/static" "$heat" -L"$work/archive" \
        $($PKG_CONFIG --static --libs yoke | sed 's/-L[^ ]*//') -lm
    "$work/static"
    if ldd "$work/static" | grep libyoke; then say "the static program needs the shared library"; return 1; fi
}

# The header promises C99, C11 and C++.
# shellcheck disable=SC2086,SC2046
headers_alone()
{
    for header in yoke.h yoke_comm.h yoke_io.h yoke_tools.h; do
        echo "#include <$header>" >"$work/header.c"
        for std in c99 c11; do
            say "$header as $std"
            $CC -std=$std -pedantic -Wall -Wextra -Werror -fsyntax-only $($PKG_CONFIG --cflags yoke) "$work/header.c"
        done
        if [ -z "$cxx" ]; then continue; fi
        say "$header as C++11"
        $cxx -x c++ -std=c++11 -pedantic -Wall -Wextra -Werror -fsyntax-only \
            $($PKG_CONFIG --cflags yoke) "$work/header.c"
    done
}

# shellcheck disable=SC2086,SC2046
example_of_the_manual()
{
    say "the example of yoke(3)"
    sed -n '/^\.Bd -literal/,/^\.Ed/p' "$SRCDIR/docs/yoke.3" | sed '1d;$d;s/\\e/\\/g' >"$work/manual.c"
    printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 -1\n2 2 2\n' >"$work/two.mtx"
    $CC $CFLAGS $($PKG_CONFIG --cflags yoke) -o "$work/manual" "$work/manual.c" $($PKG_CONFIG --libs yoke)
    LD_LIBRARY_PATH=$libdir "$work/manual" "$work/two.mtx"
}

# MPI's own headers may not be pedantic C, so the header is compiled as a program would.
# shellcheck disable=SC2086,SC2046
over_ranks()
{
    say "a program with yoke_mpi.h, through pkg-config yoke_mpi"
    cat >"$work/ranks.c" <<'END'
#include <stdio.h>
#include <yoke_io.h>
#include <yoke_mpi.h>
int main(int argc, char **argv)
{
    int level;
    yoke_context *context = NULL;
    yoke_matrix *matrix = NULL;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    yoke_status status = yoke_mpi_context_create(MPI_COMM_WORLD, NULL, NULL, &context);
    if (status == YOKE_OK) status = yoke_matrix_generate(context, "poisson2d5:9", &matrix);
    printf("%d ranks, %lld rows here: %s\n", yoke_context_ranks(context), (long long)yoke_matrix_rows(matrix),
           yoke_status_text(status));
    yoke_matrix_destroy(matrix);
    yoke_context_destroy(context);
    MPI_Finalize();
    return status != YOKE_OK;
}
END
    # under a DESTDIR pkg-config puts it before MPI's folders too
    own=${DESTDIR:+${MPI_CFLAGS-}} own_libs=${DESTDIR:+${MPI_LIBS-}}
    $CC $CFLAGS $($PKG_CONFIG --cflags yoke_mpi) $own -o "$work/ranks" "$work/ranks.c" \
        $($PKG_CONFIG --libs yoke_mpi) $own_libs
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 LD_LIBRARY_PATH=$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$work/ranks"
}

by_cmake()
{
    say "examples/heat.c, through find_package of cmake"
    cmake -S "$SRCDIR/examples" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$DESTDIR$PREFIX" \
        -Dyoke_DIR="$libdir/cmake/yoke" >"$work/cmake.log" || { cat "$work/cmake.log"; return 1; }
    cmake --build "$work/cmake" >"$work/cmake.log" || { cat "$work/cmake.log"; return 1; }
    LD_LIBRARY_PATH=$libdir "$work/cmake/heat"
}

installed_tool()
{
    say "cgbench solve gen:poisson2d5:20"
    LD_LIBRARY_PATH=$libdir "$DESTDIR$BINDIR/cgbench" solve gen:poisson2d5:20 --precond jacobi
}

cxx=$(command -v c++ || command -v g++ || command -v clang++ || :)
[ -n "$cxx" ] || say "SKIPPED: the headers as C++ (no C++ compiler)"
headers_alone
if [ -e "$libdir/libyoke.so" ]; then
    shared_by_pkg_config
    example_of_the_manual
else
    say "SKIPPED: shared (not built)"
fi
if [ -e "$libdir/libyoke_mpi.so" ]; then over_ranks; else say "SKIPPED: over ranks (not built)"; fi
if [ -e "$libdir/libyoke.a" ]; then static_by_pkg_config; else say "SKIPPED: static (not built)"; fi
if command -v cmake >/dev/null 2>&1; then by_cmake; else say "SKIPPED: cmake (not installed)"; fi
installed_tool
say "passed"
