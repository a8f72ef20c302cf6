#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# CuPy, and NumPy's products, in one process with us. SB_CUPY_PYTHON names a python that has both.
. "${srcdir:-.}/tests/apps/beside_cuda.sh"
need_card
needed_python 'CuPy' SB_CUPY_PYTHON 'import cupy; assert cupy.cuda.runtime.getDeviceCount()'
for order in cuda-first product-first; do
    beside_cuda "CuPy, $order" 5 "$python" "$programs/cupy_products.py" "$order"
done
finish
