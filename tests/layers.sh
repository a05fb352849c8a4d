#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# layers.sh [TREE]: proves by grep that each folder includes only what stands below it:
#   solvers -> memmodes partition matrices lib;  solvers/cg -> memmodes partition lib;
#   memmodes, partition, matrices -> lib;  bench, examples -> the installed headers;  tests -> all.
# Without TREE it checks the source tree, then copies of it with a fault planted in each.
set -eu

# The folders that a file may include from, as a pattern over "folder/header".
allowed_for()
{
    case $1 in
        solvers/cg/*) echo '^(solvers/cg|memmodes|partition|lib)/' ;;
        solvers/*) echo '^(solvers|memmodes|partition|matrices|lib)/' ;;
        memmodes/*) echo '^(memmodes|lib)/' ;;
        partition/*) echo '^(partition|lib)/' ;;
        matrices/*) echo '^(matrices|lib)/' ;;
        lib/*) echo '^lib/' ;;
        bench/*) echo '^bench/' ;;
        examples/* | bindings/*) echo '^(examples|bindings)/' ;;
        tests/*) echo '.' ;;
    esac
}

# Headers of others in angle brackets that only some folders may see: "pattern where".
foreign_ok()
{
    case $2 in
        cuda* | nccl* | nvml* | cusparse* | cublas*)
            case $1 in lib/cuda/* | memmodes/* | solvers/cg/*.cu | solvers/cg/*.cuh | bench/rivals/* | tests/*) ;; *) return 1 ;; esac ;;
        mpi.h | mpi-ext.h)
            case $1 in lib/mpi/* | lib/include/yoke_mpi.h | bench/rivals/* | tests/*) ;; *) return 1 ;; esac ;;
        metis.h)
            case $1 in lib/mpi/*) ;; *) return 1 ;; esac ;;
        petsc* | HYPRE*)
            case $1 in bench/rivals/*) ;; *) return 1 ;; esac ;;
        yoke*.h) ;;
        */*) case $2 in sys/* | linux/* | arm_*/* | asm/* | criterion/*) ;; *) return 1 ;; esac ;;
    esac
}

# A quoted name without a folder is the file's own neighbour (or config.h).
resolve()
{
    case $2 in
        */*) echo "$2" ;;
        *) echo "${1%/*}/$2" ;;
    esac
}

check_include()
{
    file=$1 kind=$2 header=$3
    if [ "$kind" = '<' ]; then
        foreign_ok "$file" "$header" || { echo "layers: $file must not include <$header>"; return 1; }
    elif [ "$header" != config.h ]; then
        resolve "$file" "$header" | grep -q -E "$(allowed_for "$file")" ||
            { echo "layers: $file must not include \"$header\""; return 1; }
    fi
}

check_tree()
(
    cd "$1"
    files=$(find lib memmodes partition matrices solvers bench tests examples bindings \
        \( -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' \) 2>/dev/null | sort)
    # shellcheck disable=SC2086 # one file a word
    grep -H -E '^[[:space:]]*#[[:space:]]*include' $files |
        sed -n 's/^\([^:]*\):[^"<]*\(["<]\)\([^">]*\)[">].*/\1 \2 \3/p' >"$list"
    status=0
    while read -r file kind header; do
        check_include "$file" "$kind" "$header" || status=1
    done <"$list"
    [ -s "$list" ] || { echo "layers: no sources in $1"; status=1; }
    exit $status
)

# A tree that is one faulty line must be refused.
refuses()
{
    rm -rf "$planted"
    mkdir -p "$planted/${1%/*}"
    echo "#include $2" >"$planted/$1"
    if check_tree "$planted" >/dev/null; then
        echo "layers: a planted '#include $2' in $1 was not seen"
        exit 1
    fi
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
list=$work/list planted=$work/planted
check_tree "${1:-${srcdir:-.}}"
[ $# -eq 0 ] || exit 0
refuses lib/a.c '"solvers/plan.h"'
refuses lib/a.c '"matrices/read.h"'
refuses memmodes/a.c '"partition/partition.h"'
refuses partition/a.c '"memmodes/link.h"'
refuses matrices/a.c '"solvers/plan.h"'
refuses solvers/cg/a.h '"matrices/read.h"'
refuses bench/a.c '"lib/status.h"'
refuses examples/a.c '"lib/status.h"'
refuses solvers/a.c '<cuda_runtime.h>'
refuses lib/a.c '<mpi.h>'
refuses lib/a.c '<metis.h>'
refuses bench/a.c '<petscksp.h>'
echo "layers: every include points down; 12 planted faults were seen"
