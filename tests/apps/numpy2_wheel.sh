#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The NumPy 2 wheel: scipy_cblas_sgemm64_ in a library that it brings and opens RTLD_LOCAL.
. "${srcdir:-.}/tests/apps/programs.sh"
wheel_python numpy-2
same_program "NumPy 2 wheel" "$python" "$programs/numpy_products.py"
finish
