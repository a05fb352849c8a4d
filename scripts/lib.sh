# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034 # the lists are for who sources this
# lib.sh: what demo and check share: installing what is missing, building in ./build, repeating
# what the tests said. Sourced from the project's root.

say() { printf '\n==> %s\n' "$*"; }
die() { printf '%s\n' "$*" >&2; exit 1; }

# What the build needs: a Debian package, and a command, header or file (a pattern) that shows
# that it is there, from that package or any other.
build_needs='build-essential make
build-essential cc
autoconf autoreconf
automake automake
libtool libtoolize
pkg-config pkg-config
zlib1g-dev zlib.h'
test_needs='libcriterion-dev criterion/criterion.h'
mpi_needs='libopenmpi-dev mpicc
openmpi-bin mpirun
libmetis-dev metis.h'

is_there()
{
    # shellcheck disable=SC2086 # a pattern
    case $1 in
        /*) ls $1 >/dev/null 2>&1 ;;
        *.h) echo "#include <$1>" | cc -E -x c - >/dev/null 2>&1 ;;
        *) command -v "$1" >/dev/null 2>&1 ;;
    esac
}

# missing_of "package probe" lines: the packages whose probe fails, each once.
missing_of()
{
    echo "$1" | while read -r package probe; do
        is_there "$probe" || echo "$package"
    done | sort -u | tr '\n' ' ' | sed 's/ $//'
}

# Installs packages by apt, as root or through sudo.
apt_install()
{
    command -v apt-get >/dev/null 2>&1 ||
        die "Missing: $*. There is no apt-get here; install what your system calls these, and run me again."
    sudo=
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null 2>&1 || die "Missing: $*. Run me as root, or install sudo."
        sudo=sudo
    fi
    aptlog=$(mktemp)
    if ! { $sudo apt-get -q update && $sudo env DEBIAN_FRONTEND=noninteractive \
        apt-get -q install -y --no-install-recommends "$@"; } >"$aptlog" 2>&1; then
        tail -20 "$aptlog" >&2
        die "apt-get could not install: $* (log: $aptlog)"
    fi
    rm -f "$aptlog"
}

install_missing()
{
    missing=$(missing_of "$1")
    if [ -z "$missing" ]; then
        say "Everything needed is installed"
        return
    fi
    say "Installing: $missing"
    # shellcheck disable=SC2086 # one package a word
    apt_install $missing
    missing=$(missing_of "$1")
    [ -z "$missing" ] || die "Still missing after installing: $missing"
}

# logged NAME COMMAND...: output to build/NAME.log, its end shown when the command fails.
logged()
{
    log=build/$1.log
    shift
    "$@" >"$log" 2>&1 || { tail -40 "$log" >&2; die "'$*' failed; all it said is in $log"; }
}

# A build that was configured before Criterion came would refuse to test. $1: yes if tests are wanted.
configured()
{
    [ -f build/Makefile ] || return 1
    [ "$1" = no ] || grep -q '^CRITERION_LIBS = .' build/Makefile
}

# build WANT_TESTS: configures and makes in ./build whatever is not up to date.
build()
{
    [ ! -f config.status ] || die "This tree is configured in place: run 'make distclean', then me again."
    mkdir -p build
    if [ ! -f configure ]; then
        say "Making configure (autoreconf; log in build/autoreconf.log)"
        logged autoreconf autoreconf -fi
    fi
    if ! configured "$1"; then
        say "Configuring in ./build (log in build/configure.log)"
        (cd build && ../configure >configure.log 2>&1) ||
            { tail -5 build/configure.log >&2; die "configure failed; all it said is in build/configure.log"; }
        sed -n '/^Yoke [0-9]/,$p' build/configure.log
    fi
    say "Building with $(nproc) jobs (log in build/make.log)"
    logged make make -C build -j "$(nproc)"
}

# skipped_whole LOG: why a suite of which no test ran was skipped; nothing of any other.
skipped_whole()
{
    if grep -q 'Synthesis: Tested: 0 ' "$1"; then sed -n 's/^\[SKIP\] [^ ]*: //p' "$1" | head -1; fi
}

# results BUILD: make check's lines; a suite of which no test ran has not passed.
results()
{
    grep -E '^(PASS|FAIL|SKIP|ERROR|XPASS|# (TOTAL|FAIL|ERROR))' "$1/check.log" | while read -r result name; do
        why=
        if [ "$result" = PASS: ] && [ -e "$1/$name.log" ]; then why=$(skipped_whole "$1/$name.log"); fi
        if [ -n "$why" ]; then echo "SKIP: $name: $why"; else echo "$result $name"; fi
    done
}

# closing_lines BUILD: for each suite, Criterion's closing line; then the skipped tests by name.
closing_lines()
{
    for log in "$1"/tests/*.log; do
        [ -e "$log" ] || continue
        # a script or plain program has no such line; its own last one says as much
        closing=$(grep -h 'Synthesis:' "$log" || grep -v 'exit status: ' "$log" | tail -1)
        why=$(skipped_whole "$log")
        [ -z "$why" ] || closing="skipped: $why"
        printf '%-28s %s\n' "$(basename "$log" .log)" "$closing"
    done
    # a test with parameters says it for each of them
    skipped=$({ sed -n 's/^\[SKIP\] *//p' "$1"/tests/*.log
        grep -l '^:test-result: SKIP' "$1"/tests/*.trs; } 2>/dev/null | sort | uniq -c | sed 's/ *$//')
    if [ -z "$skipped" ]; then
        printf '\nSkipped tests: none\n'
    else
        printf '\nSkipped tests, and how many times each\n%s\n' "$skipped"
    fi
}
