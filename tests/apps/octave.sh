#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Octave in single precision: sgemm_ through the system's libblas.
. "${srcdir:-.}/tests/apps/programs.sh"
need octave-cli
same_program "Octave" octave-cli --quiet --no-init-file --no-history "$programs/octave_products.m"
finish
