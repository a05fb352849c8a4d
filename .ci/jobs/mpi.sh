# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154,SC2164 # work, about: .ci/run, under set -e
# mpi.sh: ranks, by both MPIs that Debian has. MPICH's spin while they wait, so they get fewer.

# speaks_mpi FOLDER NAME: tests/ranks.sh of that build sees a failing rank, and libyoke stays without MPI.
speaks_mpi()
{
    (cd "$1" && MPIRUN="mpirun.$2" RANKS=2 must_fail "failing rank" "$OLDPWD/tests/ranks.sh" /bin/false)
    if ldd "$1/.libs/libyoke.so" | grep -i mpi; then echo "libyoke links MPI"; return 1; fi
}

about[mpi]="solves over ranks by MPICH, as by Open MPI in scripts/check; libyoke itself links neither"
job_mpi()
{
    needs_check
    grep 'ranks: every claim held on 1 2 3 4 ranks' build/tests/ranks.sh.log
    grep -q '^MPICC = .*openmpi' build/Makefile
    speaks_mpi build openmpi
    configured_in mpich --with-mpi --enable-werror MPICC="$(type -P mpicc.mpich)" \
        MPIRUN="$(type -P mpirun.mpich)"
    makes mpich all
    RANKS='1 2 3' checks mpich TESTS=tests/ranks.sh \
        check_PROGRAMS='tests/mpi/deals tests/mpi/killed tests/mpi/ranks tests/mpi/recurrences' check_LTLIBRARIES=
    speaks_mpi "$work/mpich" mpich
}
