#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Forks and threads: a child and its child answer as the parent does, and many callers at once get
# the bits of the first.
. "${srcdir:-.}/tests/behaviour/harness.sh"

# A backend that splits a small product differently when it is busy would not be ours to judge.
OPENBLAS_NUM_THREADS=1
export OPENBLAS_NUM_THREADS
unchanged 'many threads' "$cases/many_threads"
[ "$(cat "$scratch/shim.rc")" = 0 ] || fail 'many threads: wrong bits'
was_asked 'many threads' "$cases/many_threads"

unset OPENBLAS_NUM_THREADS
unchanged 'fork' "$cases/fork_again"
[ "$(cat "$scratch/shim.rc")" = 0 ] || fail 'fork: wrong values'
unchanged 'fork before the first large call' "$cases/fork_again" late
[ "$(cat "$scratch/shim.rc")" = 0 ] || fail 'fork before the first large call: wrong values'
was_asked 'fork before the first large call' "$cases/fork_again" late
finish
