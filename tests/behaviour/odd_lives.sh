#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs that fork, exec, end, cancel, close and interrupt around and during a product, and
# surroundings without what is usually there: on the CPU's route, on the stand-in driver's and on a
# real one's where there is one, every answer is right and nothing hangs.
. "${srcdir:-.}/tests/behaviour/harness.sh"
. "$srcdir/tests/behaviour/blas_dirs.sh"

need_driver
OPENBLAS_NUM_THREADS=1
export OPENBLAS_NUM_THREADS SB_LIBRARY

# live NAME LIFE VARIABLE=VALUE...: the life passes.
live() {
    live_name=$1
    shift
    life=$1
    shift
    # The one that opens the library itself is not preloaded with it.
    with="$preload"
    # OpenBLAS takes its memory from under a thread that is in it when the process ends: one in ten of
    # these lives ends badly by themselves. netlib's BLAS has none to take.
    if [ "$life" = detached-at-exit ]; then
        [ -e "$netlib_dir/libblas.so.3" ] || {
            echo "$live_name: no netlib BLAS"
            return
        }
        set -- "$@" SHIMBLAS_BACKEND="$netlib_dir/libblas.so.3"
    fi
    [ "$life" != dlclose-while-starting ] || with=$sanitizer
    run_as life timeout 90 env "$@" ${with:+LD_PRELOAD="$with"} SHIMBLAS_DRIVER="$driver" \
        "$cases/odd_life" "$life"
    case $(cat "$scratch/life.rc") in
    0) ;;
    77) echo "$live_name: cannot be done here" ;;
    *)
        fail "$live_name: exit status $(cat "$scratch/life.rc") with $*"
        tail -n 8 "$scratch/life.out" "$scratch/life.err"
        ;;
    esac
    [ ! -s "$scratch/life.out" ] || fail "$live_name: stdout"
}

for driver in $drivers; do
    echo "driver: $driver"
    for life in plain fork-during vfork-during system-during constructor exit-handlers \
        detached-at-exit signals-during cancel-during closefrom closed-stderr no-proc; do
        live "$life, CPU" $life SHIMBLAS_MODE=cpu
        live "$life, GPU" $life SHIMBLAS_MODE=gpu
        live "$life, late GPU" $life SHIMBLAS_MODE=gpu SB_STAND_IN=seed=0,slow=1
    done
    # OpenBLAS's own products take more stack than that.
    live 'small-stacks, GPU' small-stacks SHIMBLAS_MODE=gpu SHIMBLAS_VERBOSE=2 \
        SHIMBLAS_LOGFILE=/dev/null SHIMBLAS_TRACE=/dev/null
    for life in fork-while-starting exit-while-starting exec-while-starting \
        dlclose-while-starting; do
        live "$life" $life SHIMBLAS_MODE=gpu SB_STAND_IN=start=300
        live "$life, seconds" $life SHIMBLAS_MODE=gpu SB_STAND_IN=start=2500
    done
    leaving="$builddir/tests/cases/leaving_blas.so"
    live 'exit-while-starting, a BLAS that leaves' exit-while-starting SHIMBLAS_MODE=gpu \
        SB_STAND_IN=start=300 SHIMBLAS_BACKEND="$leaving"
    # One that has waited for a start of which nothing came, and is cancelled in the BLAS. Of a real
    # start something comes.
    if [ "$driver" = "$stand_in" ]; then
        began=$(date +%s)
        live cancel-while-starting cancel-while-starting SHIMBLAS_MODE=gpu \
            SHIMBLAS_LOGFILE=/dev/null SHIMBLAS_BACKEND="$leaving" \
            SB_STAND_IN=start=300,from=primary_retain:1:OUT_OF_MEMORY
        [ $(($(date +%s) - began)) -lt 6 ] || fail 'cancel-while-starting: the end was waited for'
    fi
    # Surroundings: no home, no configuration, a full disk for all that is written, nobody to read it.
    live 'no home' plain -u HOME -u XDG_CONFIG_HOME SHIMBLAS_MODE=gpu
    live 'nothing at all' plain -i SHIMBLAS_MODE=gpu
    for full in /dev/full "$scratch"; do
        live "a log in $full" plain SHIMBLAS_MODE=gpu SHIMBLAS_VERBOSE=2 SHIMBLAS_LOGFILE=$full \
            SHIMBLAS_REPORT=$full SHIMBLAS_TRACE=$full
        live "a log in $full, closed stderr" closed-stderr SHIMBLAS_MODE=gpu SHIMBLAS_VERBOSE=2 \
            SHIMBLAS_LOGFILE=$full SHIMBLAS_REPORT=$full SHIMBLAS_TRACE=$full
    done
    run_as pipe sh -c 'timeout 90 env LD_PRELOAD="$1" SHIMBLAS_DRIVER="$2" SHIMBLAS_MODE=gpu \
        SHIMBLAS_VERBOSE=2 "$3" plain 2>&1 >/dev/null | true' sh "$preload" "$driver" \
        "$cases/odd_life"
    [ "$(cat "$scratch/pipe.rc")" = 0 ] || fail 'nobody reads stderr'
    # A descriptor that the program opens in the place of stderr is the program's.
    live 'closed stderr, verbose' closed-stderr SHIMBLAS_MODE=gpu SHIMBLAS_VERBOSE=2
done
finish
