#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ranks.sh [PROGRAM...]: the programs of tests/mpi, and cgbench, on 1 to 4 ranks of this machine,
# whatever it has of processors, within a time in which nobody can hang unseen. In the build folder.
# RANKS: other numbers of ranks.
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
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ranks COUNT COMMAND...
ranks()
{
    count=$1
    shift
    # shellcheck disable=SC2086 # an option or none
    timeout "$limit" "$MPIRUN" $oversubscribe -n "$count" "$@"
}

failed()
{
    echo "FAILED: $*"
    status=1
}

# claims_hold PROGRAM [COUNTS]
claims_hold()
{
    for count in ${RANKS:-${2:-1 2 3 4}}; do
        echo "=== $(basename "$1"), $count ranks"
        code=0
        ranks "$count" "$1" || code=$?
        [ "$code" = 0 ] || failed "$(basename "$1") on $count ranks: exit $code (124: no end within $limit s)"
    done
}

# A rank that is killed takes the others with it: MPI's launchers see to that.
nobody_outlives_a_killed_rank()
{
    for solver in cg cg-single cg-pipelined; do
        code=0
        limit=60 ranks 3 tests/mpi/killed "$solver" >"$work/killed" 2>&1 || code=$?
        case $code in
            0 | 124) failed "$solver: a rank was killed, and mpirun ended with $code"; cat "$work/killed" ;;
            *) echo "ok     $solver: a rank that is killed ends all (exit $code)" ;;
        esac
    done
}

# ends EXPECTED COUNT ARGUMENTS...: cgbench over ranks, its words in $work/out and $work/err.
ends()
{
    expected=$1
    shift
    code=0
    count=$1
    shift
    ranks "$count" ./cgbench "$@" >"$work/out" 2>"$work/err" || code=$?
    [ "$code" = "$expected" ] || { failed "cgbench $* on $count ranks: exit $code, expected $expected"; cat "$work/err"; }
}

# says_once WORDS: one line of cgbench's on stderr, with these words.
says_once()
{
    lines=$(grep -c '^cgbench: ' "$work/err") || :
    if [ "$lines" = 1 ] && grep -q -e "$1" "$work/err"; then
        echo "ok     refused once: $1"
    else
        failed "expected one line with '$1':"
        cat "$work/err"
    fi
}

cgbench_speaks_once()
{
    echo "=== cgbench"
    ./cgbench solve gen:poisson3d7:20 --quiet --out "$work/alone"
    ends 0 3 solve gen:poisson3d7:20 --out "$work/together" --json "$work/json" --per-rank
    cmp "$work/alone" "$work/together" || failed "x of 3 ranks is not that of one"
    [ "$(wc -l <"$work/json")" = 1 ] || failed "the record is not one line"
    grep -q '"rows":8000,.*"ranks":3,' "$work/json" || failed "the record lacks rows or ranks: $(cat "$work/json")"
    [ "$(grep -c 'converged after' "$work/out")" = 1 ] || failed "more than one rank speaks"
    [ "$(grep -c -E '^ +[012] +2[0-9]{3} ' "$work/out")" = 3 ] || failed "--per-rank shows: $(cat "$work/out")"
    grep -q 'sums wait$' "$work/out" || failed "--per-rank shows no times of a meeting: $(cat "$work/out")"
    [ "$(grep -c -E '^ +[012] .*( +[0-9.]+ [mun]?s){4}$' "$work/out")" = 3 ] || failed "--per-rank lacks times: $(cat "$work/out")"
    ./cgbench solve gen:poisson3d7:20 --quiet --solver cg-pipelined --out "$work/piped"
    ends 0 3 solve gen:poisson3d7:20 --quiet --solver cg-pipelined --out "$work/piped3"
    cmp "$work/piped" "$work/piped3" || failed "x of 3 ranks by cg-pipelined is not that of one"
    ends 1 3 solve gen:poisson3d7:20 --maxit 3
    says_once 'limit reached (3)'
    ends 2 3 solve gen:poisson3d7:20 --frob
    says_once '--frob'
    ends 2 3 solve "$work/nothing.mtx"
    says_once 'nothing.mtx'
    ends 2 3 solve gen:poisson3d7:20 --json "$work/no/folder"
    says_once 'no/folder'
    ends 2 3 solve gen:poisson3d7:20 --ranks-file "$work/json" --deal rows
    says_once '--deal has no say'
    ends 0 3 solve gen:poisson3d7:20 --deal rows --shares equal --out "$work/dealt"
    cmp "$work/alone" "$work/dealt" || failed "x of rows dealt out by rows is not that of one process"
    TERM=xterm ends 0 3 run gen:poisson2d5:20 --repeat 1 # 400 rows: two chunks, so a rank has none
    if grep -q "$(printf '\033')" "$work/out"; then failed "colours in a file: $(cat "$work/out")"; fi
    ends 2 1 solve gen:poisson3d7:20 : -n 1 ./cgbench solve gen:poisson3d7:20 --repeat 3
    says_once 'different arguments'
    ends 2 1 solve gen:poisson3d7:20 : -n 1 ./cgbench solve gen:poisson3d7:20 --frob
    says_once 'another rank'
    ends 0 1 solve gen:poisson3d7:20 --threads 1 : -n 1 ./cgbench solve gen:poisson3d7:20 --threads 2 --quiet
    ends 2 3 study gen:poisson3d7:20
    says_once 'start one rank'
    ends 2 3 machine --calibrate
    says_once 'start one on each machine'
    ends 3 3 solve gen:poisson3d7:20 --vs petsc
    says_once 'not measured over ranks'
    ends 2 2 solve gen:poisson3d7:20 --rhs "$work/json"
    says_once 'json:1'
}

if [ $# -gt 0 ]; then
    for program in "$@"; do claims_hold "$program"; done
else
    claims_hold tests/mpi/ranks
    claims_hold tests/mpi/recurrences
    claims_hold tests/mpi/deals
    if [ -x tests/mpi/gpus_on_fake ]; then
        claims_hold tests/mpi/gpus_on_fake "1 3"
        claims_hold tests/mpi/gpu_failures "2"
    else
        echo "SKIPPED: ranks with GPUs on a fake runtime (tests/mpi/gpus_on_fake is not built)"
    fi
    nobody_outlives_a_killed_rank
    cgbench_speaks_once
fi
[ "$status" != 0 ] || echo "ranks: every claim held on ${RANKS:-1 2 3 4} ranks"
exit $status
