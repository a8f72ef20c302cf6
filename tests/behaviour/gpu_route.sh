#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The suites that call the library as programs do, once more with every product sent to the GPU, and
# once with both sides compared: by the stand-in driver, and by the real one where there is one.
. "${srcdir:-.}/tests/behaviour/harness.sh"

stand_in=$builddir/tests/stand_in/libcuda.so.1
[ -x "$builddir/test_values" ] || skip 'the suites are not built'
[ -e "$stand_in" ] || skip 'the stand-in driver is not built'

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

drivers=$stand_in
nvidia-smi -L 2>/dev/null | grep -q GPU && drivers="$drivers libcuda.so.1"
for driver in $drivers; do
    for name in test_values test_memory test_entry test_as_found test_api; do
        suite $name SHIMBLAS_MODE=gpu SHIMBLAS_TEST_SIDE=gpu SHIMBLAS_DRIVER="$driver"
    done
    suite test_values SHIMBLAS_MODE=check SHIMBLAS_DRIVER="$driver"
    grep -q 'check: [1-9][0-9]* calls compared' "$scratch/log" || fail "$driver: nothing was compared"
    grep -q ' 0 above 1$' "$scratch/log" || fail "$driver: the sides differ"
    echo "$driver: $(grep 'calls compared' "$scratch/log")"
done
finish
