#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The suites that call the library as programs do, once more with every product sent to the GPU, and
# once with both sides compared: by the stand-in driver, and by the real one where there is one.
. "${srcdir:-.}/tests/behaviour/harness.sh"
. "$srcdir/tests/behaviour/suites.sh"

for driver in $drivers; do
    echo "driver: $driver"
    for name in test_values test_memory test_entry test_as_found test_api; do
        suite $name SHIMBLAS_MODE=gpu SHIMBLAS_TEST_SIDE=gpu SHIMBLAS_DRIVER="$driver"
    done
    suite test_values SHIMBLAS_MODE=check SHIMBLAS_DRIVER="$driver"
    grep -q 'check: [1-9][0-9]* calls compared' "$scratch/log" || fail "$driver: nothing was compared"
    grep -q ' 0 above 1$' "$scratch/log" || fail "$driver: the sides differ"
    echo "$driver: $(grep 'calls compared' "$scratch/log")"
done
finish
