#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ranks.sh [PROGRAM...]: the programs of tests/mpi on 1 to 4 ranks of this machine, whatever it has of
# processors, within a time in which nobody can hang unseen. RANKS: other numbers of ranks.
set -eu
limit=300
status=0

MPIRUN=${MPIRUN:-mpirun}
command -v "$MPIRUN" >/dev/null 2>&1 || { echo "SKIPPED: ranks ($MPIRUN is not there)"; exit 77; }

# Open MPI wants to be told that there are more ranks than processors, and that root may.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
oversubscribe=
case $("$MPIRUN" --version 2>&1) in
    *"Open MPI"* | *OpenRTE* | *PRRTE*) oversubscribe=--oversubscribe ;;
esac

# ranks COUNT COMMAND...
ranks()
{
    count=$1
    shift
    # shellcheck disable=SC2086 # an option or none
    timeout "$limit" "$MPIRUN" $oversubscribe -n "$count" "$@"
}

[ $# -gt 0 ] || set -- tests/mpi/ranks tests/mpi/deals
for program in "$@"; do
    for count in ${RANKS:-1 2 3 4}; do
        echo "=== $(basename "$program"), $count ranks"
        code=0
        ranks "$count" "$program" || code=$?
        if [ "$code" != 0 ]; then
            echo "FAILED: $(basename "$program") on $count ranks: exit $code (124: no end within $limit s)"
            status=1
        fi
    done
done
[ "$status" != 0 ] || echo "ranks: every claim held on ${RANKS:-1 2 3 4} ranks"
exit $status
