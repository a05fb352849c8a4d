#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bars.sh: scripts/bars on rows of known figures: each way to meet, miss and not know a bar; and the
# bars themselves: every file of theirs is there.
set -eu
top=${srcdir:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

printf '# a comment\nmatrix\tus\tratio\tfraction\n' >"$work/bars"
printf 'gen:a:1\t5\t2\t0.9\ngen:b:1\t-\t1.1\t-\nmatrices/real/c.mtx\t6\t-\t-\n' >>"$work/bars"

# row MATRIX US RATIO FRACTION
row()
{
    printf '{"schema":1,"matrix":"%s","solver":"cg","driver":"graph","format":"sell","shape":"folded",' "$1"
    printf '"us_per_iteration":{"median":%s,"min":1,"max":1},"fraction_of_bandwidth":%s,' "$2" "$4"
    printf '"speedup_vs":{"petsc":null,"cusparse":%s},"notices":[]}\n' "$3"
}

expect()
{
    "$top/scripts/bars" "$work/rows" "$work/bars" >"$work/table" || true
    grep -q -E "$1" "$work/table" || { echo "bars: expected '$1' in:"; cat "$work/table"; exit 1; }
}

{ row gen:a:1 4.99 2.01 0.91; row gen:b:1 999 1.2 null; row /x/y/matrices/real/c.mtx 6.01 9 null; } >"$work/rows"
expect '^a:1 +graph +sell +folded +4\.99 +5 us +2\.01 +0\.91  met$'
expect '^b:1 .* met$'
expect '^c\.mtx .* NOT MET: us$'
expect '^2 of 3 rows'
{ row gen:a:1 5.2 null 0.8; row gen:b:1 null 1.0 null; sed s/cg/cusparse/ "$work/rows"; } >"$work/more"
mv "$work/more" "$work/rows"
expect '^a:1 .* NOT MET: us bandwidth; not known: ratio$'
expect '^b:1 .* NOT MET: ratio$'
expect '^matrices/real/c\.mtx +no row$'
if "$top/scripts/bars" "$work/rows" "$work/bars" >/dev/null; then
    echo "bars: a system without a row is no success"
    exit 1
fi

grep '^matrices/' "$top/bench/records/bars.tsv" | while read -r file rest; do
    [ -r "$top/$file" ] || { echo "bars: $file ($rest) is not there"; exit 1; }
done
echo "bars: met, missed, unknown and missing are told apart"
