#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# CuPy, and NumPy's products, in one process with us. SB_CUPY_PYTHON names a python that has both.
. "${srcdir:-.}/tests/apps/beside_cuda.sh"
need_card
python=
for candidate in "${SB_CUPY_PYTHON:-}" python3 /usr/bin/python3; do
    [ -n "$candidate" ] && "$candidate" -c 'import cupy; assert cupy.cuda.runtime.getDeviceCount()' \
        2>/dev/null && python=$candidate && break
done
[ -n "$python" ] || skip 'no Python here has CuPy; SB_CUPY_PYTHON names one that has'
for order in cuda-first product-first; do
    beside_cuda "CuPy, $order" 5 "$python" "$programs/cupy_products.py" "$order"
done
finish
