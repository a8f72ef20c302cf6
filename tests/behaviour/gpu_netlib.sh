#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# netlib's own testers with every product sent to the GPU, by the stand-in driver and by the real one
# where there is one: the Fortran interface over OpenBLAS and over netlib's library, the C interface
# over netlib's. A report shows that the products went there.
. "${srcdir:-.}/tests/behaviour/harness.sh"
. "$srcdir/tests/behaviour/blas_dirs.sh"

need_driver
[ -x "$netlib_dir/xblat3s" ] || skip 'netlib testers are not installed (libblas-test)'

# The testers do every routine; only sgemm is ours.
sed 's/^\(S[A-Z0-9]*  *\)T /\1F /; s/^\(SGEMM  *\)F /\1T /' "$netlib_dir/sblat3.in" >"$scratch/f77.in"
sed 's/^\(cblas_s[a-z0-9]*  *\)T /\1F /; s/^\(cblas_sgemm  *\)F /\1T /' "$netlib_dir/sin3" \
    >"$scratch/cblas.in"

# tester NAME LIBRARY INPUT PROGRAM LEAST: run it in a folder of its own, products going to the GPU,
# so many of them at least.
tester() {
    folder=$scratch/$1
    rm -rf "$folder"
    mkdir "$folder"
    (cd "$folder" && timeout "$limit" env LD_LIBRARY_PATH="$2" LD_PRELOAD="$preload" \
        SHIMBLAS_MODE=gpu SHIMBLAS_DRIVER="$driver" SHIMBLAS_REPORT="$folder/report.json" \
        "$4" <"$3" >stdout 2>stderr) || fail "$1: exit status $?"
    cat "$folder"/stdout "$folder"/*.out >"$folder/all" 2>/dev/null
    grep FAIL "$folder/all" && fail "$1: the tester found a fault"
    on_gpu=$(tr '{' '\n' <"$folder/report.json" |
        sed -n 's/^"side":"gpu".*"calls":\([0-9]*\).*/\1/p' | awk '{ n += $1 } END { print n + 0 }')
    [ "${on_gpu:-0}" -ge "$5" ] || fail "$1: only ${on_gpu:-0} products went to the GPU"
    echo "$driver: $1: $on_gpu products on the GPU"
}

for driver in $drivers; do
    echo "driver: $driver"
    for backend in "$openblas_dir" "$netlib_dir"; do
        [ -e "$backend/libblas.so.3" ] || skip "no libblas.so.3 in $backend"
        name=f77-$(basename "$backend")
        tester "$name" "$backend" "$scratch/f77.in" "$netlib_dir/xblat3s" 5000
        grep -q 'SGEMM  PASSED THE TESTS OF ERROR-EXITS' "$folder/all" || fail "$name: error exits"
        grep -q 'SGEMM  PASSED THE COMPUTATIONAL TESTS ( 17496 CALLS)' "$folder/all" ||
            fail "$name: computational tests"
    done
    tester cblas "$netlib_dir" "$scratch/cblas.in" "$netlib_dir/xscblat3" 10000
    grep -q 'cblas_sgemm  PASSED THE TESTS OF ERROR-EXITS' "$folder/all" || fail 'cblas: error exits'
    for order in COLUMN ROW; do
        grep -q "cblas_sgemm  PASSED THE $order-MAJOR *COMPUTATIONAL TESTS ( 17496 CALLS)" \
            "$folder/all" || fail "cblas: $order-major computational tests"
    done
done
finish
