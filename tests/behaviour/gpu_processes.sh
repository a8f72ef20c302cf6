#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Threads, forks and failing allocations with every product sent to the GPU: whose products went
# where, and all of them right. By the stand-in driver, or the real one where there is one.
. "${srcdir:-.}/tests/behaviour/harness.sh"

need_driver
OPENBLAS_NUM_THREADS=1
export OPENBLAS_NUM_THREADS

# on_gpu NAME VARIABLE=VALUE... COMMAND...: run it, with a line for each call.
on_gpu() {
    gpu_name=$1
    shift
    run_as "$gpu_name" with_shim SHIMBLAS_MODE=gpu SHIMBLAS_DRIVER="$driver" \
        SHIMBLAS_VERBOSE=1 "$@"
    [ "$(cat "$scratch/$gpu_name.rc")" = 0 ] || {
        fail "$driver: $gpu_name: exit status $(cat "$scratch/$gpu_name.rc")"
        tail -n 20 "$scratch/$gpu_name.out" "$scratch/$gpu_name.err"
    }
}

# counted SIDE REASON NAME: the calls of all processes.
counted() {
    grep -c "side=$1 .*reason=$2\$" "$scratch/$3.err"
}

# is WORDS WANTED FOUND
is() {
    [ "$2" = "$3" ] || fail "$driver: $1: $3, not $2"
}

for driver in $drivers; do
    echo "driver: $driver"
    on_gpu threads "$cases/many_threads"
    is 'threads: products that stayed' 0 "$(counted cpu '[a-z-]*' threads)"

    # A child of a parent with CUDA live stays on the CPU, and so does its own; the parent goes on.
    on_gpu fork "$cases/fork_again" 300
    is 'fork: on the GPU' 2 "$(counted gpu forced fork)"
    is 'fork: forked' 2 "$(counted cpu forked fork)"
    # A parent that never touched CUDA has poisoned nothing: its child, not the grandchild.
    on_gpu late "$cases/fork_again" late 300
    is 'fork before CUDA: on the GPU' 2 "$(counted gpu forced late)"
    is 'fork before CUDA: forked' 1 "$(counted cpu forked late)"

    # An xerbla that leaves by longjmp leaves nothing held behind it.
    on_gpu xerbla "$cases/own_xerbla" jump
    is 'after a longjmp: on the GPU' 3 "$(counted gpu forced xerbla)"
done

# Memory that is short when asked can only be ordered.
[ -z "${SB_CARD-}" ] || finish
driver=$stand_in
for fault in from=memory_create:1 from=host_alloc:1; do
    on_gpu memory SB_STAND_IN=$fault "$cases/plain"
    is "$fault" '58 64 139 154' "$(cat "$scratch/memory.out")"
    is "$fault: for want of memory" 1 "$(counted cpu memory memory)"
done
on_gpu memory SB_STAND_IN=fail=memory_create:1 "$cases/fork_again" 200
is 'one allocation fails: on the GPU' 2 "$(counted gpu forced memory)"
finish
