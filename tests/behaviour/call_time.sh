#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A small call takes at most 10 ns more than the backend's own.
. "${srcdir:-.}/tests/behaviour/harness.sh"
. "$srcdir/tests/behaviour/blas_dirs.sh"
OPENBLAS_NUM_THREADS=1
export OPENBLAS_NUM_THREADS
LD_PRELOAD=$preload "$cases/forward_time" 10 "$openblas_dir/libopenblas.so.0" ||
    fail 'a small call takes more than 10 ns longer'
finish
