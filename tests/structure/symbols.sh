#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The ABI of libshimblas.so.0: a name in tests/structure/symbols is never taken back, nor does it
# become something else than a function; a new name is written down there.
. "${srcdir:-.}/tests/behaviour/harness.sh"
need nm

grep -v '^#' "$srcdir/tests/structure/symbols" | sort >"$scratch/promised"
[ "$(wc -l <"$scratch/promised")" -ge 20 ] || fail 'the list of symbols is too short'
nm -D --defined-only "$SB_LIBRARY" >"$scratch/nm"
awk '$2 == "T" { print $3 }' "$scratch/nm" | sort >"$scratch/exported"
awk '$2 != "T" { print $3 " is not a function: " $2 }' "$scratch/nm" | grep . && fail 'not functions'
comm -23 "$scratch/promised" "$scratch/exported" >"$scratch/gone"
comm -13 "$scratch/promised" "$scratch/exported" >"$scratch/new"
while read -r name; do
    fail "$name was promised and is gone"
done <"$scratch/gone"
while read -r name; do
    fail "$name is new: add it to tests/structure/symbols, or take it back"
done <"$scratch/new"
finish
