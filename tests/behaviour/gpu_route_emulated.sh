#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The suites that call the library as programs do, with every product sent to the GPU and emulated,
# beginning with each of the tiers; and once with both sides compared. By the stand-in driver. (test_api
# chooses the arithmetic itself.)
. "${srcdir:-.}/tests/behaviour/harness.sh"

stand_in=$builddir/tests/stand_in/libcuda.so.1
[ -x "$builddir/test_values" ] || skip 'the suites are not built'
[ -e "$stand_in" ] || skip 'the stand-in driver is not built'
export SHIMBLAS_DRIVER="$stand_in" SHIMBLAS_MATH=emulated

# suite NAME VARIABLE=VALUE...: run one, and show what it said if it failed.
suite() {
    suite_name=$1
    shift
    if ! env SB_LIBRARY="$SB_LIBRARY" builddir="$builddir" "$@" "$builddir/$suite_name" \
        >"$scratch/log" 2>&1; then
        fail "$suite_name $*"
        grep -E -A6 'FAILED|child:|ERROR:|WARNING:|runtime error' "$scratch/log" | head -n 40
    fi
}

for kernel in sgemm_fp16x3_128x128x64 sgemm_bf16x6_256x128x16; do
    for name in test_values test_memory test_entry test_as_found; do
        suite $name SHIMBLAS_MODE=gpu SHIMBLAS_TEST_SIDE=gpu SHIMBLAS_KERNEL=$kernel
    done
done
suite test_values SHIMBLAS_MODE=check SHIMBLAS_KERNEL=sgemm_fp16x3_128x128x64
grep -q 'check: [1-9][0-9]* calls compared' "$scratch/log" || fail 'nothing was compared'
finish
