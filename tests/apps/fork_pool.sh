#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Multiprocessing pools of both kinds, made after the parent has multiplied.
. "${srcdir:-.}/tests/apps/programs.sh"
wheel_python numpy-2
same_in_children "fork pool" 3 "$python" "$programs/pool_products.py" fork
same_in_children "spawn pool" 3 "$python" "$programs/pool_products.py" spawn
finish
