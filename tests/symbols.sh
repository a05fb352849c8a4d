#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# symbols.sh: what the libraries show to the world. Every dynamic symbol of libyoke.so and libyoke_mpi.so begins
# yoke_, every global of libyoke.a yoke_ or yk_; libyoke asks for nothing of MPI. Runs in the build folder.
set -eu
NM=${NM:-nm}

# Names in standard input that do not match a pattern, in one sentence on failure.
all_match()
{
    strangers=$(grep -v -E "$1" || :)
    if [ -n "$strangers" ]; then
        echo "symbols: $2 also shows: $(echo "$strangers" | tr '\n' ' ')"
        return 1
    fi
}

# _init, _fini and the marks of sections come from the linker, not from us.
shared_names() { $NM -D --defined-only "$1" | awk 'NF == 3 { print $3 }' | grep -v -E '^(_init|_fini|__bss_start|_edata|_end)$'; }
# __odr_asan. marks come from the address sanitizer.
archive_names() { $NM -g --defined-only "$1" 2>/dev/null | awk 'NF == 3 { print $3 }' | grep -v '^__odr_asan\.'; }

# The test itself must be able to fail.
if echo helper | all_match '^yoke_' planted >/dev/null; then
    echo "symbols: a planted name was not seen"
    exit 1
fi

found=0
if [ -e .libs/libyoke.so ]; then
    found=1
    count=$(shared_names .libs/libyoke.so | wc -l)
    [ "$count" -gt 0 ] || { echo "symbols: libyoke.so shows nothing"; exit 1; }
    shared_names .libs/libyoke.so | all_match '^yoke_' libyoke.so
    echo "symbols: libyoke.so shows $count names, all yoke_"
fi
if [ -e .libs/libyoke.a ]; then
    found=1
    count=$(archive_names .libs/libyoke.a | wc -l)
    [ "$count" -gt 0 ] || { echo "symbols: libyoke.a shows nothing"; exit 1; }
    archive_names .libs/libyoke.a | all_match '^(yoke|yk)_' libyoke.a
    echo "symbols: libyoke.a shows $count names, all yoke_ or yk_"
fi
if [ -e .libs/libyoke_mpi.so ]; then
    shared_names .libs/libyoke_mpi.so | all_match '^yoke_' libyoke_mpi.so
    if $NM -D --undefined-only .libs/libyoke.so | grep ' MPI_'; then
        echo "symbols: libyoke.so asks for MPI"
        exit 1
    fi
    echo "symbols: libyoke_mpi.so shows $(shared_names .libs/libyoke_mpi.so | wc -l) names, all yoke_; libyoke.so knows no MPI"
fi
[ "$found" = 1 ] || { echo "symbols: no libyoke in $(pwd)/.libs"; exit 1; }
