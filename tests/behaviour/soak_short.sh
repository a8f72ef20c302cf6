#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The soak for some seconds (SB_SOAK of them): random products from several threads, forks, changing
# modes, faults and shortage of the stand-in driver, while a neighbour of another process takes most
# of a card's memory where there is a real one.
. "${srcdir:-.}/tests/behaviour/harness.sh"

[ -e "$stand_in" ] || skip 'the stand-in driver is not built'
seconds=${SB_SOAK:-15}

run_as soak timeout $((seconds + 120)) env SHIMBLAS_DRIVER="$stand_in" SHIMBLAS_LOGFILE=/dev/null \
    "$builddir/tests/soak/soak" "$seconds"
tail -n 2 "$scratch/soak.out"
[ "$(cat "$scratch/soak.rc")" = 0 ] || {
    fail "soak: exit status $(cat "$scratch/soak.rc")"
    tail -n 5 "$scratch/soak.err"
}
nvidia-smi -L 2>/dev/null | grep -q GPU || finish
timeout $((seconds + 60)) env SHIMBLAS_DRIVER=libcuda.so.1 "$builddir/tests/soak/crowd" "$seconds" &
run_as soak timeout $((seconds + 120)) env SHIMBLAS_DRIVER=libcuda.so.1 \
    "$builddir/tests/soak/soak" "$seconds" 2000
wait
tail -n 2 "$scratch/soak.out"
[ "$(cat "$scratch/soak.rc")" = 0 ] || fail "soak on a card: exit status $(cat "$scratch/soak.rc")"
finish
