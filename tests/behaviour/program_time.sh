#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program of 10,000 small products and a large one is at most 1 % slower, and never starts CUDA for
# them; one of enough large products starts it.
. "${srcdir:-.}/tests/behaviour/harness.sh"
. "$srcdir/tests/behaviour/blas_dirs.sh"
stand_in=$builddir/tests/stand_in/libcuda.so.1
[ -e "$stand_in" ] || skip 'the stand-in driver is not built'
OPENBLAS_NUM_THREADS=1
export OPENBLAS_NUM_THREADS
SHIMBLAS_DRIVER=$stand_in LD_PRELOAD=$preload "$cases/program_time" 1 \
    "$openblas_dir/libopenblas.so.0" "$stand_in" 40 || fail "it ended with $?"
finish
