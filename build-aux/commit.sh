#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# commit.sh SRCDIR [HEADER]: prints the commit that SRCDIR was taken from, or "unknown"; with HEADER, writes
# it there as YOKE_COMMIT, touching the file only when the commit changed.
set -eu
srcdir=$1 header=${2-}
top=$(cd "$srcdir" && pwd -P)

# A tree unpacked inside some other repository must not take that one's commit: hence show-cdup. A tree that belongs to
# another user (sudo make) is still this one: hence safe.directory.
from_git()
{
    command -v git >/dev/null 2>&1 || return 1
    [ -e "$top/.git" ] || return 1
    cd "$top"
    [ -z "$(git -c safe.directory="$top" rev-parse --show-cdup 2>/dev/null || echo none)" ] || return 1
    git -c safe.directory="$top" describe --always --abbrev=40 --exclude='*' --dirty 2>/dev/null
}

# The first word of a file, unless it is git's unexpanded $Format.
from_file()
{
    [ -r "$1" ] || return 1
    read -r word <"$1" || return 1
    case $word in '' | '$'*) return 1 ;; esac
    echo "$word"
}

commit=$(from_git || from_file "$top/.tarball-commit" || from_file "$top/build-aux/archived-commit" || echo unknown)
if [ -z "$header" ]; then
    echo "$commit"
    exit 0
fi
text="/* Made by build-aux/commit.sh. */
#define YOKE_COMMIT \"$commit\""
if [ ! -f "$header" ] || [ "$(cat "$header")" != "$text" ]; then
    mkdir -p "$(dirname "$header")"
    printf '%s\n' "$text" >"$header"
fi
