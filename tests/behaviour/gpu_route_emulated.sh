#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The suites that call the library as programs do, with every product sent to the GPU and emulated,
# beginning with each of the tiers; and once with both sides compared. By the stand-in driver, and by the
# real one where there is one, with the suites of emulated products. (test_api chooses the arithmetic
# itself.)
. "${srcdir:-.}/tests/behaviour/harness.sh"
. "$srcdir/tests/behaviour/suites.sh"

for driver in $drivers; do
    echo "driver: $driver"
    export SHIMBLAS_DRIVER="$driver" SHIMBLAS_MATH=emulated
    for kernel in sgemm_fp16x3_128x128x64 sgemm_bf16x6_256x128x16; do
        for name in test_values test_memory test_entry test_as_found; do
            suite $name SHIMBLAS_MODE=gpu SHIMBLAS_TEST_SIDE=gpu SHIMBLAS_KERNEL=$kernel
        done
    done
    suite test_values SHIMBLAS_MODE=check SHIMBLAS_KERNEL=sgemm_fp16x3_128x128x64
    grep -q 'check: [1-9][0-9]* calls compared' "$scratch/log" || fail 'nothing was compared'
    unset SHIMBLAS_MATH
    [ "$driver" = "$stand_in" ] && continue
    suite test_emulated
    suite test_emulated_memory
done
finish
