#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# PyTorch's wheel: sgemm_ with 13 arguments, MKL inside. Large, so only where it already is.
. "${srcdir:-.}/tests/apps/programs.sh"
python=
for candidate in "${SB_TORCH_PYTHON:-}" python3 /usr/bin/python3; do
    [ -n "$candidate" ] && "$candidate" -c "import torch" 2>/dev/null && python=$candidate && break
done
[ -n "$python" ] || skip "no Python here has PyTorch; SB_TORCH_PYTHON names one that has"
same_program "PyTorch" "$python" "$programs/torch_products.py"
finish
