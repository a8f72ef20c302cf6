#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Debian's faiss: sgemm_ from C++ under OpenMP.
. "${srcdir:-.}/tests/apps/programs.sh"
python=/usr/bin/python3
"$python" -c "import faiss" 2>/dev/null || skip "no python3-faiss"
same_program "faiss" "$python" "$programs/faiss_search.py"
finish
