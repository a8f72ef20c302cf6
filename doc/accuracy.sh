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
"$command" bench --accuracy --math both --csv "$@" >"$dir/both.csv"
SHIMBLAS_KERNEL=$bf16x6 "$command" bench --accuracy --math emulated --csv "$@" >"$dir/bf16x6.csv"

# data extent k math, backend 5-7, ours 8-10, cublas 11-13: rows of strict and emulated in turn; and the
# same products in the same order by bf16x6.
for way in both bf16x6; do
    grep -v '^#' "$dir/$way.csv" | sed 1d | tr -d '"' >"$dir/$way.rows"
done
awk -F, -v OFS=, -v emulated="$dir/bf16x6.rows" '
BEGIN {
    print "data", "k", "OpenBLAS", "cuBLAS", "strict", "emulated", "bf16x6", "OpenBLAS bound", \
        "cuBLAS bound", "strict bound", "emulated bound", "bf16x6 bound", "emulated by"
}
NR % 2 { strict = $8; strict_bound = $9; name = $1; next }
{
    if ((getline line <emulated) <= 0 || split(line, b, ",") < 9 || b[1] != $1 || b[3] != $3 || name != $1) {
        print "rows differ: " $0 >"/dev/stderr"
        exit 1
    }
    print $1, $3, $5, $11, strict, $8, b[8], $6, $12, strict_bound, $9, b[9], $4
}' "$dir/both.rows" >"$dir/errors.csv"
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
