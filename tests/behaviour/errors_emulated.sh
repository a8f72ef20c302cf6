#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The errors of emulated products, over every kind of numbers: no more than a quarter over OpenBLAS's,
# and none where all sums are exact; what two parts cannot hold was computed by more of them.
. "${srcdir:-.}/tests/behaviour/harness.sh"

run_as errors "$cases/errors_emulated" 48 1024 2048 4096
[ "$(cat "$scratch/errors.rc")" = 0 ] || fail "exit status $(cat "$scratch/errors.rc")"
awk -F, '
NR == 1 { next }
{ rows++; way[$NF]++ }
$1 == "integers" && $6 != 0 { print "not exact: " $0 }
$1 != "integers" && !($6 <= 1.25 * $3) { print "more than OpenBLAS: " $0 }
$1 ~ /^2\^60/ && $NF == "fp16x3" { print "too wide for two parts: " $0 }
$1 == "normal" && $NF != "fp16x3" { print "two parts hold this: " $0 }
END { if (rows < 60 || !way["fp16x3"] || !way["bf16x6"]) print rows " rows" }' "$scratch/errors.out" >"$scratch/wrong"
[ ! -s "$scratch/wrong" ] || fail "$(cat "$scratch/wrong")"
finish
