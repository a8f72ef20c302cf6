#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# PyTorch with CUDA in one process with us. SB_TORCH_PYTHON names a python that has it.
. "${srcdir:-.}/tests/apps/beside_cuda.sh"
need_card
needed_python 'PyTorch with CUDA' SB_TORCH_PYTHON 'import torch; assert torch.cuda.is_available()'
for order in cuda-first product-first; do
    beside_cuda "PyTorch, $order" 7 "$python" "$programs/torch_cuda_products.py" "$order"
done
finish
