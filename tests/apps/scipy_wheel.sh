#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The SciPy wheel: scipy_sgemm_, in one process with NumPy and its other BLAS.
. "${srcdir:-.}/tests/apps/programs.sh"
wheel_python numpy-2
same_program "SciPy wheel" "$python" "$programs/scipy_products.py"
finish
