#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a C that was never written adds to a product on either side, where there is a GPU:
#     doc/measure_fresh.sh LIBRARY CALL_TIMES [THREADS]
# with libshimblas.so.0 and tests/cases/call_times of a build. Milliseconds a call, by the medians of
# each side with the same C again and with a fresh one, and what the fresh one adds for a megabyte.
[ $# -ge 2 ] || {
    sed -n 's/^# \{0,1\}//p' "$0" | sed 1d
    exit 2
}
library=$1 call_times=$2
OPENBLAS_NUM_THREADS=${3:-$(nproc)}
export OPENBLAS_NUM_THREADS

# median SIDE SITUATION SIZE
median() {
    SHIMBLAS_MODE=$1 LD_PRELOAD=$library "$call_times" "$2" "$3" 21 |
        sed -n 's/.*median \([0-9.]*\) ms.*/\1/p'
}

echo "threads $OPENBLAS_NUM_THREADS; huge pages: $(cat /sys/kernel/mm/transparent_hugepage/enabled)"
echo 'side size warm fresh us_per_MB'
for size in 384 512 768 1024 1536 2048 4096; do
    for side in cpu gpu; do
        echo "$side $size $(median "$side" warm "$size") $(median "$side" fresh "$size")"
    done
done | awk '{ printf "%s %.0f\n", $0, 1e3 * ($4 - $3) / (4e-6 * $2 * $2) }'
