#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# One program on every BLAS that the distribution has, put there by name: netlib's, OpenBLAS, ATLAS,
# BLIS, and a BLAS whose integers have 64 bits under plain names. Each is who answers on the CPU, the
# GPU answers where it is told to, and the values are right. And an OpenMP program of 16 callers.
. "${srcdir:-.}/tests/behaviour/harness.sh"
. "$srcdir/tests/behaviour/blas_dirs.sh"

[ -e "$stand_in" ] || skip 'the stand-in driver is not built'
OPENBLAS_NUM_THREADS=1 BLIS_NUM_THREADS=1
export OPENBLAS_NUM_THREADS BLIS_NUM_THREADS

# on BACKEND NAME PROGRAM ARGUMENT...: the same with us as without, on either side.
on() {
    backend=$1
    name=$2
    shift 2
    LD_LIBRARY_PATH=$backend
    export LD_LIBRARY_PATH
    unchanged "$name, CPU" "$@"
    [ "$(cat "$scratch/shim.rc")" = 0 ] || fail "$name, CPU: exit status $(cat "$scratch/shim.rc")"
    run_as gpu with_shim SHIMBLAS_MODE=gpu SHIMBLAS_DRIVER="$stand_in" SHIMBLAS_VERBOSE=1 \
        SHIMBLAS_LOGFILE="$scratch/log" "$@"
    [ "$(cat "$scratch/gpu.rc")" = 0 ] || fail "$name, GPU: exit status $(cat "$scratch/gpu.rc")"
    grep -q 'side=gpu' "$scratch/log" || fail "$name: nothing went to the GPU"
    rm -f "$scratch/log"
    unset LD_LIBRARY_PATH
}

tried=
for folder in blas atlas blis-pthread blis-openmp blis-serial openblas-pthread openblas-openmp; do
    [ -e "$multiarch/$folder/libblas.so.3" ] || continue
    tried="$tried $folder"
    # Both names from this one library: the program is linked with -lblas.
    on "$multiarch/$folder" "$folder" "$cases/own_xerbla" return
    run_as asked with_shim LD_LIBRARY_PATH="$multiarch/$folder" SHIMBLAS_MODE=gpu \
        SHIMBLAS_DRIVER="$stand_in" SHIMBLAS_VERBOSE=1 "$cases/many_threads"
    [ "$(cat "$scratch/asked.rc")" = 0 ] || fail "$folder: many threads"
    [ -x "$netlib_dir/xblat3s" ] || continue
    # netlib's tester of every routine on this library, its own error exits too.
    mkdir -p "$scratch/$folder"
    (cd "$scratch/$folder" && timeout "$limit" env LD_LIBRARY_PATH="$multiarch/$folder" \
        LD_PRELOAD="$preload" SHIMBLAS_MODE=gpu SHIMBLAS_DRIVER="$stand_in" \
        "$netlib_dir/xblat3s" <"$netlib_dir/sblat3.in" >stdout 2>stderr)
    grep -q 'SGEMM  PASSED THE COMPUTATIONAL TESTS ( 17496 CALLS)' "$scratch/$folder"/*.out ||
        fail "$folder: SGEMM of netlib's tester"
done
echo "backends:$tried"
[ -n "$tried" ] || skip 'no libblas.so.3 by any name'

# A setting names a library that is no plain libblas.so.3.
for library in "$multiarch/libblis.so.4" "$multiarch/blis-pthread/libblis.so.4" \
    "$multiarch/openblas64-pthread/libopenblas64.so.0"; do
    [ -e "$library" ] || continue
    run_as named with_shim SHIMBLAS_BACKEND="$library" "$cases/plain"
    [ "$(cat "$scratch/named.out")" = '58 64 139 154' ] || fail "$library as the backend: wrong value"
done

# A BLAS with 64-bit integers under plain names, and a program that calls it so.
wide=$multiarch/openblas64-pthread
if [ -e "$wide/libblas64.so.3" ]; then
    cat >"$scratch/wide.c" <<'EOC'
#include <stdint.h>
#include <stdio.h>
void cblas_sgemm(int, int, int, int64_t, int64_t, int64_t, float, const float *, int64_t,
		 const float *, int64_t, float, float *, int64_t);
void sgemm_(const char *, const char *, const int64_t *, const int64_t *, const int64_t *,
	    const float *, const float *, const int64_t *, const float *, const int64_t *,
	    const float *, float *, const int64_t *);
static float a[300 * 300], c[300 * 300], d[300 * 300];
int main(void)
{
	const int64_t n = 300;
	const float one = 1, zero = 0;
	int wrong = 0;
	for (int i = 0; i < 300 * 300; i++)
		a[i] = 1;
	cblas_sgemm(102, 111, 111, n, n, n, 1, a, n, a, n, 0, c, n);
	sgemm_("N", "T", &n, &n, &n, &one, a, &n, a, &n, &zero, d, &n);
	for (int i = 0; i < 300 * 300; i++)
		wrong += c[i] != 300 || d[i] != 300;
	printf("%d wrong\n", wrong);
	return wrong != 0;
}
EOC
    $CC -o "$scratch/wide" "$scratch/wide.c" "$wide/libblas64.so.3" -Wl,-rpath,"$wide" || fail 'no wide program'
    unchanged '64-bit integers under plain names' "$scratch/wide"
    [ "$(cat "$scratch/shim.rc")" = 0 ] || fail '64-bit integers: wrong values'
    run_as wide with_shim SHIMBLAS_MODE=gpu SHIMBLAS_DRIVER="$stand_in" "$scratch/wide"
    [ "$(cat "$scratch/wide.rc")" = 0 ] || fail '64-bit integers, GPU asked for: wrong values'
    echo '64-bit integers: right'
fi

# OpenMP programs bring threads of their own.
if $CC -O2 -fopenmp -I"$srcdir/tests/cases" -o "$scratch/omp" "$srcdir/tests/cases/omp_callers.c" \
    -lopenblas >"$scratch/omp.log" 2>&1; then
    unchanged 'OpenMP' "$scratch/omp"
    run_as omp with_shim SHIMBLAS_MODE=gpu SHIMBLAS_DRIVER="$stand_in" "$scratch/omp"
    [ "$(cat "$scratch/omp.rc")" = 0 ] || fail "OpenMP, GPU: $(cat "$scratch/omp.out")"
else
    echo 'no OpenMP here'
fi
finish
