#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The figures of doc/measurements.md and doc/accuracy.md, made again on this machine, a part at a time.
#
#     doc/measure.sh DIR [PART...]
#
# Without a part, all of them; some take minutes. Of each, DIR/PART.csv holds what was measured, and
# standard output what a table says of it. SHIMBLAS_COMMAND names the command, PYTHON the interpreter for
# the programs. Needs a GPU; peers are those that are found.
set -eu
[ $# -ge 1 ] || {
    echo "usage: $0 DIR [PART...]" >&2
    exit 2
}
dir=$1
shift
command=${SHIMBLAS_COMMAND:-shimblas} python=${PYTHON:-python3}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
mkdir -p "$dir"

# bench PART OPTION...: with its options a comment in the file.
bench() {
    part=$1
    shift
    echo "# shimblas bench --csv $*" >>"$dir/$part.csv"
    "$command" bench --csv "$@" >>"$dir/$part.csv"
}

# ratios PART COLUMN [BY...]: the geometric mean and the least of a column, how many of it are below 1,
# for each value of the other columns.
ratios() {
    awk -F, -v column="$2" -v keys="${3:-}" '
    /^#/ { next }
    /^m,n,k/ { delete at; for (i = 1; i <= NF; i++) at[$i] = i; next }
    at[column] && $at[column] + 0 > 0 {
        key = ""
        for (i = split(keys, by, " "); i > 0; i--)
            key = $at[by[i]] " " key
        x = $at[column]; n[key]++; logs[key] += log(x)
        if (!least[key] || x < least[key]) { least[key] = x; shape[key] = $1 "x" $2 "x" $3 " " $4 }
        below[key] += x < 1
    }
    END {
        for (key in n)
            printf "  %s%s: mean %.3f, least %.3f (%s), below one %d of %d\n", key, column, \
                exp(logs[key] / n[key]), least[key], shape[key], below[key], n[key]
    }' "$dir/$1.csv" | sort
}

squares() {
    bench squares --only device --peers --transposes nn,nt,tn,tt --sizes 256,512,1024,2048,4096,8192,16384
    ratios squares x_cublas m
}

deepbench() {
    bench deepbench --only device --peers --packed --repeat 5 --shapes-from "$here/shapes/deepbench"
    ratios deepbench x_cublas
}

ragged() {
    bench ragged --only device --peers --packed --repeat 5 --shapes-from "$here/shapes/ragged"
    ratios ragged x_cublas
}

# Every kernel that may be picked, and what is lost by the pick.
picks() {
    for list in deepbench ragged skinny; do
        bench picks --picks --peers --repeat 2 --shapes-from "$here/shapes/$list"
    done
    grep '^# regret' "$dir/picks.csv" | sed 's/^#/ /'
}

# Split included, during half a second each, against the strict kernels and cuBLAS's SGEMM; the second
# time by bf16x6 alone.
emulated() {
    bench emulated --only device --peers --math both --transposes nt --sustained 500 --repeat 3 \
        --sizes 1024,2048,4096,8192,16384
    bf16x6=$("$command" info --kernels | awk '$1 ~ /^sgemm_bf16x6_[0-9]/ { print $1; exit }')
    (
        export SHIMBLAS_KERNEL="$bf16x6"
        bench emulated --only device --math emulated --transposes nt --sustained 500 --repeat 3 \
            --sizes 2048,4096,8192,16384
    )
    awk -F, '/^m,n,k/ { for (i = 1; i <= NF; i++) at[$i] = i }
    /^[0-9]/ { print "  " $1, $at["kernel"], $at["TFLOP/s"], at["x_cublas"] ? $at["x_cublas"] : "" }' "$dir/emulated.csv"
}

# From pageable memory to pageable memory.
calls() {
    bench calls --only host --peers --math both --sizes 512,1024,2048,4096,8192,16384
    awk -F, '/^# bound/ { exit }
    /^m,n,k/ { for (i = 1; i <= NF; i++) at[$i] = i }
    /^[0-9]/ { print "  " $1, $at["math"], $at["ms"] " ms, of the bound " $at["share"] }' "$dir/calls.csv"
}

crossover() {
    for threads in 16 4 1; do
        for seed in 1 2 3; do
            (
                export OPENBLAS_NUM_THREADS="$threads"
                bench crossover --crossover --seed "$seed" --shapes 200 --largest 8192
            )
        done
    done
    grep -E '^# (regret|beyond)' "$dir/crossover.csv" | sed 's/^#/ /'
}

accuracy() {
    SHIMBLAS_COMMAND=$command "$here/accuracy.sh" "$dir/accuracy"
}

programs() {
    "$here/measure_programs.sh" "$command" "$python" | tee "$dir/programs.md"
}

[ $# -gt 0 ] || set -- squares deepbench ragged picks emulated calls crossover accuracy programs
for part; do
    case $part in
    squares | deepbench | ragged | picks | emulated | calls | crossover | accuracy | programs) ;;
    *)
        echo "$0: no part is called $part" >&2
        exit 2
        ;;
    esac
    echo "$part, $(date '+%Y-%m-%d %H:%M')"
    rm -f "$dir/$part.csv"
    $part
done
