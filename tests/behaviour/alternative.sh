#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The script that makes the provider the system's libblas.so.3, and takes it back, in a sandbox of
# update-alternatives: the system's own are not touched.
. "${srcdir:-.}/tests/behaviour/harness.sh"
PATH=$PATH:/usr/sbin:/sbin
need update-alternatives

mkdir "$scratch/alternatives" "$scratch/admin"
: >"$scratch/other.so.3"
name=libblas.so.3-$("$CC" -print-multiarch)
# The link is in the system's library folder: it is made there only by the real thing. In the
# sandbox a link group of another folder must already be known under the same name.
link=$scratch/libblas.so.3

alternatives() {
    update-alternatives --quiet --altdir "$scratch/alternatives" --admindir "$scratch/admin" \
        --log "$scratch/log" "$@"
}

act() {
    SHIMBLAS_PROVIDER_DIR=$SB_PROVIDER_DIR SHIMBLAS_LIBBLAS_LINK=$link \
        sh "$srcdir/compat/alternatives.sh" "$1" --quiet --altdir "$scratch/alternatives" \
        --admindir "$scratch/admin" --log "$scratch/log"
}

alternatives --install "$link" "$name" "$scratch/other.so.3" 100
before=$(readlink -f "/usr/lib/$("$CC" -print-multiarch)/libblas.so.3")

act install || fail 'install'
[ "$(readlink -f "$link")" = "$SB_PROVIDER_DIR/libblas.so.3" ] || fail 'install: the link is not ours'
act install || fail 'install, a second time'
act remove || fail 'remove'
[ "$(readlink -f "$link")" = "$scratch/other.so.3" ] || fail 'remove: the link is not the old one'
alternatives --list "$name" | grep -i shimblas && fail 'remove: we are still on the list'
act remove || fail 'remove, a second time'

after=$(readlink -f "/usr/lib/$("$CC" -print-multiarch)/libblas.so.3")
[ "$before" = "$after" ] || fail "the system's libblas.so.3 was changed"
sh "$srcdir/compat/alternatives.sh" >"$scratch/usage" 2>&1 && fail 'no action is taken for one'
grep -q usage "$scratch/usage" || fail 'no usage is printed'
SHIMBLAS_PROVIDER_DIR=/nowhere sh "$srcdir/compat/alternatives.sh" forget >"$scratch/usage" 2>&1 &&
    fail 'an unknown action is taken'
grep -q usage "$scratch/usage" || fail 'an unknown action: no usage is printed'
finish
