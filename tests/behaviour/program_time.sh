#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program of 10,000 small products and a large one is at most 1 % slower, and never starts CUDA for
# them; one of enough large products starts it.
. "${srcdir:-.}/tests/behaviour/harness.sh"
. "$srcdir/tests/behaviour/blas_dirs.sh"
[ -e "$stand_in" ] || skip 'the stand-in driver is not built'
OPENBLAS_NUM_THREADS=1
export OPENBLAS_NUM_THREADS
# A busy machine is given more processes to show a quiet moment; of one, so few rounds are not worth a start.
status=1 process=0
while [ $status = 1 ] && [ $process -lt 25 ]; do
    SHIMBLAS_DRIVER=$stand_in LD_PRELOAD=$preload "$cases/program_time" 1 \
        "$openblas_dir/libopenblas.so.0" "$stand_in" 12
    status=$?
    process=$((process + 1))
done
[ $status = 0 ] || fail "it ended with $status"
finish
