#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The promise of the binary interface: what the library exports is names.def and the API, to the
# letter, and what it needs is libc.
. "${srcdir:-.}/tests/behaviour/harness.sh"
need nm readelf

sed -n 's/^SB_NAME([^,]*, *\([^,]*\),.*/\1/p' "$srcdir/src/names.def" | sort >"$scratch/spellings"
cat >"$scratch/promised" <<'EOF'
cblas_sgemm
cblas_sgemm64_
cblas_sgemm_64
scipy_cblas_sgemm
scipy_cblas_sgemm64_
scipy_sgemm_
scipy_sgemm_64_
sgemm_
sgemm_64
sgemm_64_
EOF
diff "$scratch/promised" "$scratch/spellings" || fail 'names.def is not the list that was promised'

# The API is what the public header declares.
"$CC" -E -P "$srcdir/include/shimblas.h" |
    grep -oE '\bshimblas_[a-z_]+\(' | tr -d '(' | sort -u >"$scratch/api"
[ -s "$scratch/api" ] || fail 'include/shimblas.h declares no function'

sort "$scratch/promised" "$scratch/api" >"$scratch/wanted"
nm -D --defined-only "$SB_LIBRARY" | awk '{ print $NF }' | sort >"$scratch/found"
diff "$scratch/wanted" "$scratch/found" || fail 'exported symbols differ (< promised, > found)'

if [ -z "$sanitizer" ]; then
    readelf -d "$SB_LIBRARY" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >"$scratch/needed"
    grep -vx 'libc\.so\.6\|ld-linux.*' "$scratch/needed" && fail 'the library needs more than libc'
fi
readelf -d "$SB_LIBRARY" >"$scratch/dynamic"
grep -q 'Library soname: \[libshimblas.so.0\]' "$scratch/dynamic" || fail 'wrong SONAME'
grep -q 'NODELETE' "$scratch/dynamic" || fail 'the library can be unloaded'
grep -Eq 'RPATH|RUNPATH' "$scratch/dynamic" && fail 'the library carries a search path'

# Static TLS of a library that is dlopened late comes out of a small reserve.
tls=$(readelf -lW "$SB_LIBRARY" | awk '$1 == "TLS" { print $6 }')
[ "$((${tls:-0}))" -le 64 ] || fail "thread-local storage is $((tls)) bytes, more than 64"

provider=$SB_PROVIDER_DIR/libblas.so.3
readelf -d "$provider" >"$scratch/dynamic"
grep -q 'Library soname: \[libblas.so.3\]' "$scratch/dynamic" || fail 'provider: wrong SONAME'
grep -q 'NEEDED.*\[libshimblas.so.0\]' "$scratch/dynamic" || fail 'provider: carries its own copy'
grep -q 'NEEDED.*openblas' "$scratch/dynamic" || fail 'provider: does not need the full BLAS'
grep -q 'RUNPATH.*ORIGIN' "$scratch/dynamic" || fail 'provider: does not look beside itself'
finish
