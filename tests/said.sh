#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# said.sh: what scripts/check says of logs of its kinds: a suite of which no test ran has not passed.
set -eu

top=$(cd "${srcdir:-.}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tests"
printf '%s\n' '[SKIP] gpu::a: no usable GPU' '[SKIP] gpu::b: no usable GPU' \
    '[====] Synthesis: Tested: 0 | Passing: 0 | Failing: 0 | Crashing: 0 ' >"$work/tests/test_gpu.log"
printf '%s\n' '[SKIP] some::a: no usable GPU' \
    '[====] Synthesis: Tested: 10 | Passing: 10 | Failing: 0 | Crashing: 0 ' >"$work/tests/test_some.log"
printf '%s\n' 'layers: all is well' 'PASS tests/layers.sh (exit status: 0)' >"$work/tests/layers.log"
printf '%s\n' 'PASS: tests/test_gpu' 'PASS: tests/test_some' 'FAIL: tests/layers.sh' '# FAIL:  1' \
    'make: of no interest' >"$work/check.log"

cd "$top"
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
{ results "$work"; closing_lines "$work"; } >"$work/said"
says() { grep -q -x "$1" "$work/said" || { cat "$work/said"; echo "said: no line '$1'"; exit 1; }; }
says 'SKIP: tests/test_gpu: no usable GPU'
says 'PASS: tests/test_some'
says 'FAIL: tests/layers.sh'
says '# FAIL:  1'
says 'test_gpu  *skipped: no usable GPU'
says 'test_some .*Tested: 10 .*'
says 'layers  *layers: all is well'
if grep -q 'no interest' "$work/said"; then echo "said: a line of make"; exit 1; fi
echo "said: skipped suites are told from those that passed"
