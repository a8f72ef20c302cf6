#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Draws a call of a trace that SHIMBLAS_TRACE or `shimblas run --trace` wrote: time to the right, a row
# a stream of the device, the calling thread and each copy thread. Needs gnuplot.
#     draw_timeline.sh TRACE PICTURE.svg|PICTURE.png [CALL]
# CALL counts from 1; without it the last one on the GPU is drawn.
set -eu
[ $# -ge 2 ] || {
    echo "usage: $0 TRACE PICTURE.svg|PICTURE.png [CALL]" >&2
    exit 2
}
trace=$1 picture=$2 call=${3:-0}
case $picture in
*.svg) terminal='svg size 1200, height font "sans-serif,13" background "white"' ;;
*.png) terminal='pngcairo size 1200, height font "sans-serif,11"' ;;
*)
    echo "$0: $picture: neither .svg nor .png" >&2
    exit 2
    ;;
esac
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The library writes one event a line, its members always in the same order.
awk -v call="$call" -v out="$scratch" '
function text(key,  at) {
    at = match($0, "\"" key "\":\"[^\"]*\"")
    return at ? substr($0, at + length(key) + 4, RLENGTH - length(key) - 5) : ""
}
# As it is written: joined to a text, a number of awk would lose its last digits.
function number(key) {
    return match($0, "\"" key "\":[0-9.]+") ? \
        substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) : "0"
}
function kind(name) {
    if (name ~ /^(up|pack|gemm|down|clear|peer) /)
        return substr(name, 1, index(name, " ") - 1)
    return name ~ /^(fill|commit) / ? substr(name, 1, index(name, " ") - 1) : name
}
/"name":"thread_name"/ {
    match($0, /"args":\{"name":"[^"]*"/)
    track[number("pid") "/" number("tid")] = substr($0, RSTART + 16, RLENGTH - 17)
    next
}
/"ph":"X"/ {
    this = number("call")
    if (text("cat") == "call") {
        title[this] = text("name")
        start[this] = number("ts")
        length_of[this] = number("dur")
        if (text("side") != "cpu")
            last = this
    }
    line[++lines] = this " " number("ts") " " number("dur") " " number("pid") "/" number("tid")
    word[lines] = text("cat") == "call" ? "call" : kind(text("name"))
}
END {
    call = call ? call : last
    if (!(call in title))
        exit 1
    # Streams above, device by device and in the order of their work, then the threads.
    split("up pack compute compute_2 down", streams, " ")
    for (i in streams)
        rank[streams[i]] = i
    rank["calling_thread"] = 100
    rank["copy_thread"] = 200
    split("clear up pack gemm down fill commit pages prepare wait peer", kinds, " ")
    split("#999999 #1f77b4 #ff9f1c #2a9d4e #8e44ad #6baed6 #b39ddb #c0a080 #f2d06b #e4e4e4 #d1495b", hues, " ")
    for (i in kinds)
        hue[kinds[i]] = hues[i]
    for (i = 1; i <= lines; i++) {
        split(line[i], part, " ")
        if (part[1] != call || word[i] == "call" || !(word[i] in hue))
            continue
        key = part[4]
        name = track[key]
        gsub(/ /, "_", name)
        if (!(key in row)) {
            row[key] = 1
            split(key, ids, "/")
            order[++rows] = sprintf("%04d %012d %04d %012d %s %s", name ~ /_thread$/ ? \
                rank[name] : 1, name ~ /_thread$/ ? 0 : ids[1], rank[name] ? rank[name] : 90, \
                ids[2], key, name)
        }
    }
    for (i = 1; i <= rows; i++)
        for (j = i + 1; j <= rows; j++)
            if (order[j] < order[i]) {
                swap = order[i]; order[i] = order[j]; order[j] = swap
            }
    tics = ""
    for (i = 1; i <= rows; i++) {
        split(order[i], part, " ")
        row[part[5]] = rows - i
        gsub(/_/, " ", part[6])
        tics = tics (i > 1 ? ", " : "") "\"" part[6] "\" " rows - i
    }
    for (i = 1; i <= lines; i++) {
        split(line[i], part, " ")
        if (part[1] != call || !(word[i] in hue) || !(part[4] in row))
            continue
        begin = (part[2] - start[call]) / 1000
        printf "%.6f %.6f %d\n", begin, begin + part[3] / 1000, row[part[4]] >(out "/" word[i])
        used[word[i]] = 1
    }
    printf "title = \"%s: %.2f ms\"\n", title[call], length_of[call] / 1000 >(out "/names")
    printf "rows = %d\nmost = %.6f\nset ytics (%s)\n", rows, length_of[call] / 1000, tics >(out "/names")
    gap = "plot "
    # Waiting first, so that work is drawn over it.
    for (i = 11; i >= 1; i--)
        if (kinds[i] in used) {
            printf "%s\"%s/%s\" using (($1+$2)/2):3:1:2:($3-.4):($3+.4) with boxxyerror fill solid noborder fc rgb \"%s\" title \"%s\"", \
                gap, out, kinds[i], hue[kinds[i]], kinds[i] >(out "/plot")
            gap = ", \\\n    "
        }
    print "" >(out "/plot")
}' "$trace" || {
    echo "$0: $trace: no such call" >&2
    exit 1
}
cat >"$scratch/script" <<EOF
load "$scratch/names"
height = 160 + 26 * rows
set terminal $terminal
set output "$picture"
set title title
set xlabel "ms since the call began"
set xrange [0:most]
set yrange [-.6:rows - .4]
set grid xtics
set tics nomirror
set border 3
set key outside right center reverse Left
load "$scratch/plot"
EOF
LC_ALL=C gnuplot "$scratch/script"
