#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The main job, smaller: the neighbours found are the same.
. "${srcdir:-.}/tests/apps/programs.sh"
wheel_python numpy-2
job=$srcdir/doc/examples/patch_neighbours.py
"$python" "$job" --step 8 --save "$scratch/neighbours.npy" || fail "it does not run"
run_as shim with_shim SHIMBLAS_REPORT="$scratch/report.json" \
    "$python" "$job" --step 8 --against "$scratch/neighbours.npy"
cat "$scratch/shim.out"
[ "$(cat "$scratch/shim.rc")" = 0 ] || fail "the neighbours differ"
[ ! -s "$scratch/shim.err" ] || fail "stderr is not empty"
[ "$(calls_in "$scratch/report.json")" -gt 0 ] || fail "no call came to us"
finish
