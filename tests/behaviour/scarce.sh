#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every allocation, mapping and thread of the library fails in turn, or the address space is nearly
# full: the answers are right, nothing hangs, and a call later all is well. In every mode, with all
# that can be asked for written and nothing.
. "${srcdir:-.}/tests/behaviour/harness.sh"

[ -e "$stand_in" ] || skip 'the stand-in driver is not built'
OPENBLAS_NUM_THREADS=1
export OPENBLAS_NUM_THREADS
# The stand-in's C++ library is there from the beginning: while it is loaded the loader itself gives
# up where it has no memory for the names that are unique in a process.
cxx=$(ldd "$stand_in" | awk '/libstdc/ { print $3; exit }')

# scarce LEAST VARIABLE=VALUE...: so many allocations at least have to be tried.
scarce() {
    least=$1
    shift
    run_as scarce timeout "$limit" env LD_PRELOAD="$cases/scarce.so $SB_LIBRARY $cxx" \
        SHIMBLAS_DRIVER="$stand_in" "$@" "$cases/scarce_calls"
    [ "$(cat "$scratch/scarce.rc")" = 0 ] || {
        fail "$*: exit status $(cat "$scratch/scarce.rc")"
        head -n 20 "$scratch/scarce.out" "$scratch/scarce.err"
    }
    tried=$(sed -n 's/^allocations: //p' "$scratch/scarce.out")
    [ "${tried:-0}" -ge "$least" ] || fail "$*: only ${tried:-0} allocations failed"
    echo "$*: $(tr '\n' ' ' <"$scratch/scarce.out")"
    run_as rooms timeout "$limit" env LD_PRELOAD="$SB_LIBRARY" SHIMBLAS_DRIVER="$stand_in" "$@" \
        "$cases/scarce_calls" address
    [ "$(cat "$scratch/rooms.rc")" = 0 ] || {
        fail "$*: address space: exit status $(cat "$scratch/rooms.rc")"
        head -n 20 "$scratch/rooms.out" "$scratch/rooms.err"
    }
}

scarce 5 SHIMBLAS_MODE=cpu
scarce 20 SHIMBLAS_MODE=gpu
scarce 20 SHIMBLAS_MODE=check SHIMBLAS_LOGFILE=/dev/null
scarce 20 SHIMBLAS_MODE=gpu SHIMBLAS_VERBOSE=2 SHIMBLAS_LOGFILE=/dev/null \
    SHIMBLAS_REPORT="$scratch/report" SHIMBLAS_TRACE="$scratch/trace.%p"
scarce 20 SHIMBLAS_MODE=gpu SHIMBLAS_THREADS=4 SHIMBLAS_DEVICE=all SB_STAND_IN=devices=3
finish
