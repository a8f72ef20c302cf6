#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A build for AArch64 on another machine, run in QEMU: products through the library have the bits of
# those without it, on the CPU's route and on the GPU's.
. "${srcdir:-.}/tests/apps/programs.sh"
host=aarch64-linux-gnu
need "$host-gcc" "$host-g++" qemu-aarch64
[ "$(uname -m)" != aarch64 ] || skip 'this is such a machine'

built=$scratch/built
mkdir "$built"
# The compilers of this machine are not wanted.
unset CC CXX MAKEFLAGS
(cd "$built" && "$srcdir/configure" -q --host="$host" --without-cuda 'CFLAGS=-O1' &&
    make -s -j2 CFLAGS='-O1 -Werror' libshimblas.so.0 shimblas tests/stand_in/libcuda.so.1) \
    >"$scratch/log" 2>&1 </dev/null || { tail -n 20 "$scratch/log"; fail 'it does not build'; finish; }
"$host-gcc" -O2 -shared -fPIC -Wl,-soname,libloops.so -o "$scratch/libloops.so" "$programs/loops_blas.c" &&
    "$host-gcc" -O2 -o "$scratch/products" "$programs/loops_products.c" -L"$scratch" -lloops ||
    fail 'the program does not build'

# there NAME [VARIABLE=VALUE...]: runs the program on the other machine.
there() {
    name=$1
    shift
    variables="-E LD_LIBRARY_PATH=$scratch"
    for pair; do
        variables="$variables -E $pair"
    done
    # shellcheck disable=SC2086
    QEMU_LD_PREFIX=/usr/$host qemu-aarch64 $variables "$scratch/products" \
        >"$scratch/$name.out" 2>"$scratch/$name.err" </dev/null || fail "$name: status $?"
}

there bare
[ "$(wc -l <"$scratch/bare.out")" = 16 ] || fail 'the program prints no result'
there cpu LD_PRELOAD="$built/libshimblas.so.0" SHIMBLAS_VERBOSE=1
there gpu LD_PRELOAD="$built/libshimblas.so.0" SHIMBLAS_VERBOSE=1 SHIMBLAS_MODE=gpu \
    SHIMBLAS_DRIVER="$built/tests/stand_in/libcuda.so.1"
for side in cpu gpu; do
    cmp -s "$scratch/bare.out" "$scratch/$side.out" || fail "$side: other bits"
    calls=$(grep -c "sgemm .* side=$side " "$scratch/$side.err")
    echo "$side: $calls calls"
    [ "$calls" = 16 ] || { fail "$side: not all calls"; head -n 3 "$scratch/$side.err"; }
done
finish
