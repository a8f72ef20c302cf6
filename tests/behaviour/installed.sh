#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make install into a staging root: every installed ELF is preloaded once, a program is linked as
# the pkg-config file says and uses routines that are not ours, and make uninstall leaves nothing.
. "${srcdir:-.}/tests/behaviour/harness.sh"
need pkg-config readelf

# The tests of `make check` run below a make whose settings are not those of this one.
unset MAKEFLAGS MFLAGS MAKELEVEL
stage=$scratch/stage
make -s -C "$builddir" install DESTDIR="$stage" >"$scratch/install.log" 2>&1 ||
    { cat "$scratch/install.log"; fail 'make install'; finish; }

find "$stage" -name '*.la' | grep . && fail 'a .la file is installed'

elves=0
for file in $(find "$stage" -type f | sort); do
    readelf -h "$file" >/dev/null 2>&1 || continue
    case $(readelf -h "$file" | awk '/Type:/ { print $2 }') in
    DYN) ;;
    *) continue ;;
    esac
    elves=$((elves + 1))
    # A position-independent program is of type DYN too, and cannot be preloaded.
    readelf -lW "$file" | grep -q INTERP && continue
    preload=${sanitizer:+$sanitizer }$file
    run_as true with_shim /bin/true
    run_as echo with_shim sh -c 'echo x'
    for name in true echo; do
        [ "$(cat "$scratch/$name.rc")" = 0 ] || fail "$file preloaded: $name failed"
        [ ! -s "$scratch/$name.err" ] || { fail "$file preloaded:"; cat "$scratch/$name.err"; }
    done
    [ "$(cat "$scratch/echo.out")" = x ] || fail "$file preloaded: echo x printed something else"
    echo "preloaded: ${file#"$stage"}"
done
[ "$elves" -ge 3 ] || fail "only $elves ELF files are installed: library, provider, command"

# Link as a stranger would: with what pkg-config prints for the staged tree.
pc=$(find "$stage" -name shimblas.pc)
prefix=$(sed -n 's/^prefix=//p' "$pc")
PKG_CONFIG_PATH=$(dirname "$pc") PKG_CONFIG_SYSROOT_DIR=$stage
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
flags=$(pkg-config --cflags --libs shimblas) || fail 'pkg-config does not know shimblas'
pkg-config --exists 'shimblas >= 0.0.1' || fail 'pkg-config: no version'
echo "pkg-config: $flags"
library_dir=$(dirname "$(find "$stage" -name libshimblas.so.0 | head -n 1)")
# The linker script names its library by the final path when it is absolute: a sysroot serves both.
# shellcheck disable=SC2086
if "$CC" -o "$scratch/linked" "$srcdir/tests/cases/linked.c" $flags \
    ${sanitizer:+$sanitizer -Wl,--allow-shlib-undefined} >"$scratch/link.log" 2>&1; then
    unset LD_PRELOAD
    run_as linked env LD_LIBRARY_PATH="$library_dir" ${sanitizer:+LD_PRELOAD="$sanitizer"} \
        SHIMBLAS_REPORT="$scratch/linked.json" "$scratch/linked"
    [ "$(cat "$scratch/linked.rc")" = 0 ] || { fail 'linked program'; cat "$scratch"/linked.???; }
    [ ! -s "$scratch/linked.err" ] || fail 'linked program: stderr is not empty'
    [ "$(calls_in "$scratch/linked.json")" -gt 0 ] || fail 'linked program: no call came to us'
    readelf -d "$scratch/linked" | grep -q 'NEEDED.*\[libshimblas.so.0\]' ||
        fail 'linked program does not need libshimblas.so.0'
else
    fail 'a program does not link with -lshimblas'
    cat "$scratch/link.log"
fi

make -s -C "$builddir" uninstall DESTDIR="$stage" >"$scratch/uninstall.log" 2>&1 ||
    { cat "$scratch/uninstall.log"; fail 'make uninstall'; }
find "$stage" ! -type d | grep . && fail 'make uninstall leaves files'
left=$(find "$stage$prefix" -mindepth 1 -type d -name '*shimblas*')
[ -z "$left" ] || fail "make uninstall leaves $left"
finish
