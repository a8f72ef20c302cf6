#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A small call takes at most 10 ns more than the backend's own where the GPU has been started too.
. "${srcdir:-.}/tests/behaviour/harness.sh"
. "$srcdir/tests/behaviour/blas_dirs.sh"
driver=${SB_CARD:-$stand_in}
need_driver
OPENBLAS_NUM_THREADS=1
export OPENBLAS_NUM_THREADS
echo "driver: $driver"
SHIMBLAS_DRIVER=$driver SHIMBLAS_REPRODUCIBLE=1 LD_PRELOAD=$preload "$cases/forward_time" 10 \
    "$openblas_dir/libopenblas.so.0" warm || fail 'a small call takes more than 10 ns longer'
finish
