#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A C++ program on Armadillo, which declares sgemm_ with hidden lengths.
. "${srcdir:-.}/tests/apps/programs.sh"
need c++
c++ -O2 -o "$scratch/armadillo" "$programs/armadillo_products.cpp" -larmadillo 2>"$scratch/log" ||
    { cat "$scratch/log"; skip "no libarmadillo-dev"; }
same_program "Armadillo" "$scratch/armadillo"
finish
