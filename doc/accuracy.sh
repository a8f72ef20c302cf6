#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The evidence of doc/accuracy.md: errors of the strict and of the emulated arithmetic, of OpenBLAS and
# of cuBLAS side by side, over many kinds of numbers, and of five programs that use them.
#     accuracy.sh DIR [BENCH-OPTION...]
# Writes DIR/errors.csv and errors.md (of each kind and length the error's norm, and the largest error over
# the sum of the terms' magnitudes), programs.csv and programs.md. SHIMBLAS_COMMAND names the command,
# PYTHON the interpreter for the programs. Needs a GPU.
set -eu
[ $# -ge 1 ] || {
    echo "usage: $0 DIR [BENCH-OPTION...]" >&2
    exit 2
}
dir=$1
shift
command=${SHIMBLAS_COMMAND:-shimblas} python=${PYTHON:-python3}
here=$(dirname "$0")
mkdir -p "$dir"

bf16x6=$("$command" info --kernels | awk '$1 ~ /^sgemm_bf16x6_[0-9]/ { print $1; exit }')
SHIMBLAS_MATH=strict "$command" bench --accuracy --csv "$@" >"$dir/strict.csv"
SHIMBLAS_MATH=emulated "$command" bench --accuracy --csv "$@" >"$dir/emulated.csv"
SHIMBLAS_MATH=emulated SHIMBLAS_KERNEL=$bf16x6 "$command" bench --accuracy --csv "$@" >"$dir/bf16x6.csv"

# The same rows in the same order in all three: data extent k, backend 4-6, ours 7-9, cublas 10-12.
for way in strict emulated bf16x6; do
    grep -v '^#' "$dir/$way.csv" | sed 1d >"$dir/$way.rows"
done
paste -d, "$dir/strict.rows" "$dir/emulated.rows" "$dir/bf16x6.rows" | awk -F, -v OFS=, '
BEGIN {
    print "data", "extent", "k", "OpenBLAS", "cuBLAS", "strict", "emulated", "bf16x6", \
        "OpenBLAS bound", "cuBLAS bound", "strict bound", "emulated bound", "bf16x6 bound"
}
{ gsub(/"/, ""); w = NF / 3 }
$1 != $(1 + w) || $3 != $(3 + w) || $1 != $(1 + 2 * w) { print "rows differ: " $0 >"/dev/stderr"; exit 1 }
{ print $1, $2, $3, $4, $10, $7, $(7 + w), $(7 + 2 * w), $5, $11, $8, $(8 + w), $(8 + 2 * w) }
' >"$dir/errors.csv"
rm -f "$dir"/*.rows

table() {
    awk -F, '
    { line = "|"; for (i = 1; i <= NF; i++) line = line " " $i " |"; print line }
    NR == 1 { line = "|"; for (i = 1; i <= NF; i++) line = line "---|"; print line }' "$1"
}
table "$dir/errors.csv" >"$dir/errors.md"

programs=$here/examples/five_programs.py
"$python" "$programs" --csv >"$dir/plain.csv"
for way in strict emulated; do
    SHIMBLAS_MATH=$way SHIMBLAS_MODE=gpu "$command" run -- "$python" "$programs" --csv >"$dir/programs_$way.csv"
done
paste -d, "$dir/plain.csv" "$dir/programs_strict.csv" "$dir/programs_emulated.csv" | awk -F, -v OFS=, '
NR == 1 { print "program", "result", "as it is", "strict", "emulated", "seconds", "strict", "emulated"; next }
{ print $1, $2, $3, $7, $11, $4, $8, $12 }' >"$dir/programs.csv"
table "$dir/programs.csv" >"$dir/programs.md"
cat "$dir/programs.md"
