#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# An illegal call is the backend's to judge: the same words, the same number, the same end, whatever
# the backend does (OpenBLAS prints and returns, netlib's library ends the process), and a
# program's own xerbla_ is the one that is called, even when it never returns.
. "${srcdir:-.}/tests/behaviour/harness.sh"
. "$srcdir/tests/behaviour/blas_dirs.sh"

look_at_backend() {
    # Both interfaces from this one library: the programs are linked with -lblas.
    unchanged "$backend, $route: illegal" "$cases/illegal"
    [ "$(cat "$scratch/bare.rc")" = 0 ] || fail "$backend: a child was killed without us"
    [ "$(grep -c '^status' "$scratch/shim.out")" = 82 ] || fail "$backend, $route: not 82 illegal calls"
    grep '[1-9][0-9]* elements' "$scratch/shim.out" && fail "$backend, $route: C was touched"

    unchanged "$backend, $route: xerbla_ returns" "$cases/own_xerbla" return
    [ "$(cat "$scratch/shim.rc")" = 0 ] || fail "$backend, $route: xerbla_ was not called once a fault"
    was_asked "$backend, $route: xerbla_ returns" "$cases/own_xerbla" return
    unchanged "$backend, $route: xerbla_ longjmps" "$cases/own_xerbla" jump
    [ "$(cat "$scratch/shim.rc")" = 0 ] || fail "$backend, $route: no answer after a longjmp"
    # A report needs the clock and the counters on every call: they must survive the jump too.
    was_asked "$backend, $route: xerbla_ longjmps" "$cases/own_xerbla" jump
    [ "$asked_calls" -ge 3 ] || fail "$backend, $route: calls after the longjmp are not counted"
}

for backend in "$openblas_dir" "$netlib_dir"; do
    [ -e "$backend/libblas.so.3" ] || skip "no libblas.so.3 in $backend"
    LD_LIBRARY_PATH=$backend
    export LD_LIBRARY_PATH
    every_route look_at_backend
done
finish
