#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes ShimBLAS the system's libblas.so.3, or takes it back, by the distribution's alternatives.
#
#     alternatives.sh install|remove [OPTION of update-alternatives ...]
#
# `remove` is to be run before ShimBLAS itself is uninstalled.
#
# The provider's folder is SHIMBLAS_PROVIDER_DIR, else the one beside this script's installation.
# SHIMBLAS_LIBBLAS_LINK names another link than the system's, as a sandbox needs.
set -eu

usage() {
    echo "usage: $0 install|remove [OPTION of update-alternatives ...]" >&2
    exit 2
}

case ${1:-} in
install | remove) action=$1 ;;
*) usage ;;
esac
shift

triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || ${CC:-cc} -print-multiarch)
name=libblas.so.3-$triplet
link=${SHIMBLAS_LIBBLAS_LINK:-/usr/lib/$triplet/libblas.so.3}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

find_provider() {
    for dir in "${SHIMBLAS_PROVIDER_DIR:-}" "$here/../../lib/shimblas" \
        "$here/../../lib/$triplet/shimblas"; do
        if [ -n "$dir" ] && [ -e "$dir/libblas.so.3" ]; then
            CDPATH='' cd -- "$dir" && pwd
            return
        fi
    done
    echo "$0: no libblas.so.3 of ShimBLAS found; set SHIMBLAS_PROVIDER_DIR" >&2
    exit 1
}

dir=$(find_provider)
case $action in
install) update-alternatives "$@" --install "$link" "$name" "$dir/libblas.so.3" 200 ;;
remove) update-alternatives "$@" --remove "$name" "$dir/libblas.so.3" ;;
esac
