#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The fuzzing targets over the inputs that fuzzers have kept: products, profiles and settings.
. "${srcdir:-.}/tests/behaviour/harness.sh"

[ -e "$stand_in" ] || skip 'the stand-in driver is not built'
export builddir
for corpus in "$srcdir"/tests/fuzz/corpus/*; do
    name=$(basename "$corpus" .corpus)
    mkdir "$scratch/$name"
    "$python" "$srcdir/tests/fuzz/corpora.py" unpack "$corpus" "$scratch/$name" ||
        fail "$name: cannot be unpacked"
    run_as fuzz timeout "$limit" "$builddir/tests/fuzz/fuzz_$name" "$scratch/$name"
    [ "$(cat "$scratch/fuzz.rc")" = 0 ] || {
        fail "$name: exit status $(cat "$scratch/fuzz.rc")"
        tail -n 12 "$scratch/fuzz.err"
    }
    echo "$name: $(cat "$scratch/fuzz.out")"
done
finish
