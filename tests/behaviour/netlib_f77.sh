#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# netlib's own tester of the Fortran interface over OpenBLAS and over netlib's library: 17,496 calls
# of sgemm and all its error exits (the program brings its own xerbla, which must be the one called).
. "${srcdir:-.}/tests/behaviour/harness.sh"
. "$srcdir/tests/behaviour/blas_dirs.sh"

tester=$netlib_dir/xblat3s
[ -x "$tester" ] || skip 'netlib testers are not installed (libblas-test)'

for backend in "$openblas_dir" "$netlib_dir"; do
    [ -e "$backend/libblas.so.3" ] || skip "no libblas.so.3 in $backend"
    for kind in bare shim; do
        mkdir -p "$scratch/$kind"
        cd "$scratch/$kind" || exit 1
        [ "$kind" = bare ] && with= || with="LD_PRELOAD=$preload"
        env LD_LIBRARY_PATH="$backend" ${with:+"$with"} "$tester" \
            <"$netlib_dir/sblat3.in" >stdout 2>stderr
        echo $? >status
    done
    cd "$scratch" || exit 1
    for part in stdout stderr status sblat3.out; do
        cmp "bare/$part" "shim/$part" || fail "$backend: $part differs"
    done
    grep -q 'SGEMM  PASSED THE TESTS OF ERROR-EXITS' shim/sblat3.out ||
        fail "$backend: error exits of SGEMM"
    grep -q 'SGEMM  PASSED THE COMPUTATIONAL TESTS ( 17496 CALLS)' shim/sblat3.out ||
        fail "$backend: computational tests of SGEMM"
    grep FAIL shim/sblat3.out && fail "$backend: the tester found a fault"

    mkdir -p asked
    (cd asked && env LD_LIBRARY_PATH="$backend" LD_PRELOAD="$preload" \
        SHIMBLAS_REPORT="$scratch/report.json" "$tester" <"$netlib_dir/sblat3.in" >stdout 2>stderr)
    calls=$(calls_in report.json)
    [ "$calls" -ge 17496 ] || fail "$backend: only $calls calls came through the shim"
    echo "$backend: $calls calls"
    rm -rf bare shim asked report.json
done
finish
