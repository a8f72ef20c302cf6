#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Plain cudart in one process with us: before our first product and after it, another current
# device, a capture in progress, an error that is the program's, a reset of the device. SB_CUDA names
# a toolkit; what libcudart asks of its driver in private (cuGetExportTable) only a real one answers.
. "${srcdir:-.}/tests/apps/beside_cuda.sh"
need_card
toolkit=
for candidate in "${SB_CUDA:-}" /usr/local/cuda /usr; do
    [ -n "$candidate" ] && [ -e "$candidate/include/cuda_runtime_api.h" ] && toolkit=$candidate && break
done
[ -n "$toolkit" ] || skip 'there is no CUDA toolkit here; SB_CUDA names one'
library=$(ls "$toolkit"/lib64/libcudart_static.a "$toolkit"/lib/*/libcudart_static.a 2>/dev/null | head -n 1)
[ -n "$library" ] || skip "$toolkit has no libcudart_static.a"
$CC -O1 -I"$toolkit/include" -o "$scratch/program" "$programs/cuda_runtime.c" "$library" \
    -lopenblas -ldl -lpthread -lrt -lm || fail 'it does not compile'
for order in cuda-first product-first; do
    beside_cuda "cudart, $order" 9 "$scratch/program" "$order"
done
finish
