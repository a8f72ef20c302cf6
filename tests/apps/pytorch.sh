#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# PyTorch's wheel: sgemm_ with 13 arguments, MKL inside. Large, so only where it already is.
. "${srcdir:-.}/tests/apps/programs.sh"
needed_python 'PyTorch' SB_TORCH_PYTHON 'import torch'
same_program "PyTorch" "$python" "$programs/torch_products.py"
finish
