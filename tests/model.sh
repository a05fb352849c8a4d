#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# model.sh: what the model is held to, on the records of one H200: of matrices that it was not fitted
# to, on a GPU alone, a median error below 5 % and a largest below 12 %; and what a choice by it may lose.
# Runs in the build folder.
set -eu

records=${srcdir:-.}/bench/records
out=$(bench/model_error --hold "$records/2026-12-01-h200.json" "$records/2026-12-01-h200-study.json") || {
    echo "$out"
    echo "model: an error is above what it is held to"
    exit 1
}
echo "$out" | tail -n 6

# Of the plans that were measured on a matrix the model's first is within what the effort estimate may lose.
out=$(bench/model_error --choice --hold "$records/2026-12-01-h200-formats.json" "$records/2026-12-01-h200.json") || {
    echo "$out"
    echo "model: a choice by it loses more than it is held to"
    exit 1
}
echo "$out" | tail -n 1

# A model that knows no such machine, or none at all, is no pass.
if bench/model_error --machine gh200-120 --hold "$records/2026-12-01-h200.json" >/dev/null; then
    echo "model: another machine's profile was not noticed"
    exit 1
fi
