#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# netlib's own tester of the C interface over netlib's library, the only one that has the variable
# RowMajorStrg it imports. Row- and column-major, and the error exits of both.
. "${srcdir:-.}/tests/behaviour/harness.sh"
. "$srcdir/tests/behaviour/blas_dirs.sh"

tester=$netlib_dir/xscblat3
[ -x "$tester" ] || skip 'netlib testers are not installed (libblas-test)'
[ -e "$netlib_dir/libblas.so.3" ] || skip "no libblas.so.3 in $netlib_dir (libblas3)"
LD_LIBRARY_PATH=$netlib_dir
export LD_LIBRARY_PATH

cd "$scratch" || exit 1
"$tester" <"$netlib_dir/sin3" >bare.out 2>bare.err
echo $? >bare.rc
LD_PRELOAD=$preload "$tester" <"$netlib_dir/sin3" >shim.out 2>shim.err
echo $? >shim.rc
same_run xscblat3 bare shim
grep -q 'cblas_sgemm  PASSED THE TESTS OF ERROR-EXITS' shim.out || fail 'error exits'
for order in COLUMN ROW; do
    grep -q "cblas_sgemm  PASSED THE $order-MAJOR *COMPUTATIONAL TESTS ( 17496 CALLS)" shim.out ||
        fail "$order-major computational tests"
done
grep FAIL shim.out && fail 'the tester found a fault'
LD_PRELOAD=$preload SHIMBLAS_REPORT=$scratch/report.json "$tester" <"$netlib_dir/sin3" >asked.out 2>&1
calls=$(calls_in report.json)
# netlib's function calls the Fortran one, which is ours too: that is no call of the program's.
[ "$calls" -ge 34992 ] || fail "only $calls calls came through the shim"
[ "$calls" -le 35200 ] || fail "$calls calls are counted"
echo "$calls calls"
finish
