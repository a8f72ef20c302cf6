#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The provider: opened and asked by name, in the place of the distribution's libblas.so.3, and
# together with the preload, when there must still be one shim in the process.
. "${srcdir:-.}/tests/behaviour/harness.sh"
. "$srcdir/tests/behaviour/blas_dirs.sh"

provider=$SB_PROVIDER_DIR/libblas.so.3
san=${sanitizer:+LD_PRELOAD=$sanitizer}

# Opened by a program that links no BLAS at all.
run_as backend "$cases/ask_provider" "$openblas_dir/libopenblas.so.0"
run_as bare env $san "$cases/ask_provider" "$provider"
same_run 'the provider answers as OpenBLAS does' backend bare
[ "$(cat "$scratch/bare.rc")" = 0 ] || { fail 'provider opened'; cat "$scratch/bare.out"; }
run_as asked env $san SHIMBLAS_REPORT="$scratch/opened.json" "$cases/ask_provider" "$provider"
[ "$(calls_in "$scratch/opened.json")" -ge 2 ] || fail 'provider opened: calls did not reach us'

# The same under the preload.
run_as shim with_shim SHIMBLAS_REPORT="$scratch/both.json" "$cases/ask_provider" "$provider"
same_run 'provider and preload together' bare shim
[ "$(wc -l <"$scratch/both.json")" = 1 ] ||
    fail 'provider and preload together: not one report'
[ "$(calls_in "$scratch/both.json")" = "$(calls_in "$scratch/opened.json")" ] ||
    fail 'provider and preload together: calls are counted twice, or not at all'

# A program linked against the distribution's BLAS that finds the provider in its place.
tester=$netlib_dir/xblat3s
if [ -x "$tester" ]; then
    cd "$scratch" || exit 1
    for kind in alone both; do
        [ "$kind" = alone ] && first=$sanitizer || first=$preload
        LD_LIBRARY_PATH=$SB_PROVIDER_DIR LD_PRELOAD=$first SHIMBLAS_REPORT=$scratch/$kind.json \
            "$tester" <"$netlib_dir/sblat3.in" >stdout 2>stderr || fail "provider, $kind: status"
        [ ! -s stderr ] || { fail "provider, $kind: stderr"; head -n 5 stderr; }
        grep -q 'SGEMM  PASSED THE TESTS OF ERROR-EXITS' sblat3.out || fail "$kind: error exits"
        grep -q 'SGEMM  PASSED THE COMPUTATIONAL TESTS ( 17496 CALLS)' sblat3.out ||
            fail "provider, $kind: computational tests"
        # The other level-3 routines come through the provider from the full BLAS.
        [ "$(grep -c 'PASSED THE COMPUTATIONAL' sblat3.out)" = 6 ] || fail "$kind: other routines"
        [ "$(calls_in "$kind.json")" -ge 17496 ] || fail "provider, $kind: calls did not reach us"
    done
else
    skip 'netlib testers are not installed (libblas-test)'
fi
finish
