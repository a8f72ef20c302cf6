#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The products of call_times are right in each of its situations, whoever else wants the processors.
. "${srcdir:-.}/tests/behaviour/harness.sh"
[ -e "$stand_in" ] || skip 'the stand-in driver is not built'
for situation in warm pause after yielding spinning others fresh bound beta nt tn tt threads; do
    for size in 96 33x260x48; do
        run_as it with_shim SHIMBLAS_MODE=gpu SHIMBLAS_THREADS=3 SHIMBLAS_DRIVER="$stand_in" \
            SHIMBLAS_REPORT="$scratch/report.json" "$cases/call_times" $situation $size 3 1
        [ "$(cat "$scratch/it.rc")" -eq 0 ] || fail "$situation $size: $(cat "$scratch/it.rc") $(cat "$scratch/it.err")"
        grep -q "^$situation $size: " "$scratch/it.out" || fail "$situation $size: nothing is told"
    done
done
finish
