#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Floors never point upwards: a file of src/ includes its own header, what stands to its left on its
# floor, and what stands on lower floors. Every file of src/ has a place in the table.
. "${srcdir:-.}/tests/behaviour/harness.sh"
need awk

# One line an include: who, and whom.
for file in "$srcdir"/src/*.[ch]; do
    sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$file" |
        sed "s|^|$(basename "$file") |"
done >"$scratch/includes"
for file in "$srcdir"/src/*; do
    basename "$file"
done >"$scratch/files"

[ "$(wc -l <"$scratch/includes")" -ge 100 ] || fail 'includes are not found any more'

awk '
    # foo.c and foo.h share a place; a table has one of its own.
    function unit(name) { sub(/\.[ch]$/, "", name); return name }
    FILENAME ~ /floors$/ {
        if (/^#/ || NF == 0)
            next
        for (i = 2; i <= NF; i++) {
            places++
            parts = split($i, part, "+")
            for (j = 1; j <= parts; j++) {
                place[part[j]] = places
                floor[part[j]] = $1
            }
        }
        next
    }
    FILENAME ~ /files$/ {
        if ($1 !~ /\.S$/ && !(unit($1) in place))
            print $1 " has no place in tests/structure/floors"
        next
    }
    {
        from = unit($1); to = unit($2)
        if (!(to in place))
            print $1 " includes " $2 ", which has no place in tests/structure/floors"
        else if (from in place && from != to && place[to] > place[from])
            print $1 " (" floor[from] ") includes " $2 " (" floor[to] ")"
    }
' "$srcdir/tests/structure/floors" "$scratch/files" "$scratch/includes" >"$scratch/upwards"
while read -r line; do
    fail "$line"
done <"$scratch/upwards"

# System headers of the device toolkit stay out: the types are our own.
grep -nE '#[[:space:]]*include[[:space:]]*<(cuda|driver_types|cublas)' "$srcdir"/src/*.[ch] &&
    fail 'a CUDA header is included'
finish
