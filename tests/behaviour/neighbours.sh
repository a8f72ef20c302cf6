#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Other libraries that carry names like ours, or a BLAS of their own, are left what is theirs.
. "${srcdir:-.}/tests/behaviour/harness.sh"
. "$srcdir/tests/behaviour/blas_dirs.sh"

cp "$(readlink -f "$openblas_dir/libopenblas.so.0")" "$scratch/libcopy.so"

look_beside() {
    # A by-value `sgemm(char, char, int, ...)` is not what we export.
    unchanged "a by-value sgemm, $route" "$cases/by_value"
    [ "$(cat "$scratch/shim.rc")" = 0 ] || fail "a by-value sgemm is called wrongly, $route"
    # A program on OpenBLAS, with a second copy of it opened beside.
    unchanged "two copies of OpenBLAS, $route" "$cases/two_copies" "$scratch/libcopy.so"
    [ "$(cat "$scratch/shim.rc")" = 0 ] || fail "two copies of OpenBLAS: wrong values, $route"
    was_asked "two copies of OpenBLAS, $route" "$cases/two_copies" "$scratch/libcopy.so"
}
every_route look_beside

# Two plug-ins with the same names, and a copy of OpenBLAS beside them.
unchanged 'two plug-ins' "$cases/two_plugins" "$cases/plugin_1.so" "$cases/plugin_2.so"
sort -u "$scratch/shim.out" >"$scratch/reached"
[ "$(wc -l <"$scratch/reached")" = 4 ] || fail 'two plug-ins: one answers for the other'
was_asked 'two plug-ins' "$cases/two_plugins" "$cases/plugin_1.so" "$cases/plugin_2.so"
unchanged 'two plug-ins and a BLAS' "$cases/two_plugins" "copy=$openblas_dir/libopenblas.so.0" \
    "$cases/plugin_2.so" "copy=$scratch/libcopy.so" "$cases/plugin_1.so"

# No variable, no file, no GPU: no crash and no word.
unchanged 'a program without settings' env -i "$cases/plain"
[ "$(cat "$scratch/shim.out")" = '58 64 139 154' ] || fail 'wrong value'
[ ! -s "$scratch/shim.err" ] || fail 'chatter on stderr'

# Opened and closed again and again, alone, as the provider, and on top of the preload.
# A sanitizer's own memory grows with what it has seen.
[ -z "$sanitizer" ] && growth='1 64' || growth='20 4000'
for library in "$SB_LIBRARY" "$SB_PROVIDER_DIR/libblas.so.3"; do
    run_as reload timeout "$limit" env ${sanitizer:+LD_PRELOAD="$sanitizer"} \
        "$cases/reload" "$library" $growth
    cat "$scratch/reload.out"
    [ "$(cat "$scratch/reload.rc")" = 0 ] || fail "$library: opened and closed 100 times"
    [ ! -s "$scratch/reload.err" ] || { fail "$library: stderr"; head -n 5 "$scratch/reload.err"; }
    run_as reload with_shim "$cases/reload" "$library" $growth
    [ "$(cat "$scratch/reload.rc")" = 0 ] || fail "$library: opened and closed under the preload"
done
finish
