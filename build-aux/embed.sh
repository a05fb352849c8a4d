#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# embed.sh OUTPUT FILE...: a C header with the bytes of each file, ended by a zero, and a table of their
# names without folder and suffix: shipped[] of {name, text, size}, ended by a name of NULL.
set -eu

output=$1
shift
{
    echo '/* Made by build-aux/embed.sh; change the files that it was made of. */'
    for file in "$@"; do
        name=$(basename "$file" | sed 's/\..*//')
        printf 'static const char text_%s[] = {\n' "$(printf %s "$name" | tr -c 'a-zA-Z0-9' _)"
        od -An -v -t u1 "$file" | sed 's/  */ /g; s/^ //; s/ /, /g; s/$/,/'
        echo '0};'
    done
    echo 'static const struct { const char *name, *text; size_t size; } shipped[] = {'
    for file in "$@"; do
        name=$(basename "$file" | sed 's/\..*//')
        text=text_$(printf %s "$name" | tr -c 'a-zA-Z0-9' _)
        printf '    {"%s", %s, sizeof %s - 1},\n' "$name" "$text" "$text"
    done
    echo '    {NULL, NULL, 0},'
    echo '};'
} >"$output.tmp"
mv "$output.tmp" "$output"
