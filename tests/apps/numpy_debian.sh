#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Debian's NumPy: cblas_sgemm of the system's libblas.so.3.
. "${srcdir:-.}/tests/apps/programs.sh"
python=/usr/bin/python3
"$python" -c "import numpy" 2>/dev/null || skip "no python3-numpy"
same_program "Debian NumPy" "$python" "$programs/numpy_products.py"

# The same program on the provider, without and with the preload.
run_as bare "$python" "$programs/numpy_products.py"
for first in "" "$preload"; do
    run_as provider env LD_LIBRARY_PATH="$SB_PROVIDER_DIR" LD_PRELOAD="$first" \
        SHIMBLAS_REPORT="$scratch/provider.json" "$python" "$programs/numpy_products.py"
    same_run "Debian NumPy on the provider (preload: ${first:-none})" bare provider
    [ "$(wc -l <"$scratch/provider.json")" = 1 ] || fail "provider: not one report"
    [ "$(calls_in "$scratch/provider.json")" -gt 0 ] || fail "provider: no call came to us"
    rm -f "$scratch/provider.json"
done
finish
