#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The scikit-learn wheel: tail jumps through SciPy, whose return address names no BLAS.
. "${srcdir:-.}/tests/apps/programs.sh"
wheel_python numpy-2
same_program "scikit-learn wheel" "$python" "$programs/sklearn_models.py"
finish
