#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The NumPy 1.26 wheel: cblas_sgemm64_ in a library that it brings.
. "${srcdir:-.}/tests/apps/programs.sh"
wheel_python numpy-1
same_program "NumPy 1.26 wheel" "$python" "$programs/numpy_products.py"
finish
