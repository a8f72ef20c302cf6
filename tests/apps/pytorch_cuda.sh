#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# PyTorch with CUDA in one process with us. SB_TORCH_PYTHON names a python that has it.
. "${srcdir:-.}/tests/apps/beside_cuda.sh"
need_card
python=
for candidate in "${SB_TORCH_PYTHON:-}" python3 /usr/bin/python3; do
    [ -n "$candidate" ] && "$candidate" -c 'import torch; assert torch.cuda.is_available()' \
        2>/dev/null && python=$candidate && break
done
[ -n "$python" ] || skip 'no Python here has PyTorch with CUDA; SB_TORCH_PYTHON names one that has'
for order in cuda-first product-first; do
    beside_cuda "PyTorch, $order" 7 "$python" "$programs/torch_cuda_products.py" "$order"
done
finish
