# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154,SC2164 # work, about: .ci/run, under set -e
# mpi.sh: ranks, by both MPIs that Debian has. MPICH's spin while they wait, so they get fewer.

# of_mpi NAME RANKS...: a build with that MPI, its programs on so many ranks.
of_mpi()
{
    local name=$1
    shift
    configured_in "$name" --with-mpi --enable-werror MPICC="$(type -P "mpicc.$name")" MPIRUN="$(type -P "mpirun.$name")"
    makes "$name" all
    RANKS="$*" checks "$name" TESTS=tests/ranks.sh \
        check_PROGRAMS='tests/mpi/deals tests/mpi/killed tests/mpi/ranks tests/mpi/recurrences'
    (cd "$work/$name" && MPIRUN="mpirun.$name" RANKS=2 must_fail "failing rank" "$OLDPWD/tests/ranks.sh" /bin/false)
    if ldd "$work/$name/.libs/libyoke.so" | grep -i mpi; then echo "libyoke links MPI"; return 1; fi
}

about[mpi]="solves over ranks, by Open MPI and by MPICH; libyoke itself links neither"
job_mpi()
{
    of_mpi openmpi 1 2 3 4
    of_mpi mpich 1 2 3
}
