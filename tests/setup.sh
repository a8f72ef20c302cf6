# SPDX-License-Identifier: BSD-3-Clause
# What ./quickstart and ./check share: distribution packages, Python environments for wheels, and
# builds outside the source tree. Sourced with `root` set to the top of the tree. Everything made
# lies below $root/build, and what is there already is not made again.

build=$root/build
# What is put before configure and make; see ./check.
calmly=
BUILD_PACKAGES='autoconf automake g++ gcc libjansson-dev libopenblas-dev make pkg-config xz-utils'
PYTHON_PACKAGES='python3 python3-venv'

say() {
    echo "== $*"
}

die() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}

# The packages of a list that are not installed.
missing_packages() {
    for package; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
            printf '%s ' "$package"
    done
}

# install_packages PACKAGE...: asks the network only if something is missing; where rights do not
# allow it the command is named.
install_packages() {
    command -v dpkg-query >/dev/null 2>&1 || {
        say "not a Debian or Ubuntu system: expecting to find what these packages hold: $*"
        return 0
    }
    missing=$(missing_packages "$@")
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" = 0 ]; then
        as_root=
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        as_root=sudo
    else
        die "packages are missing; as root: apt-get install --no-install-recommends $missing"
    fi
    say "installing $missing"
    # shellcheck disable=SC2086
    if ! $as_root apt-get -qq update ||
        ! $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y install \
            --no-install-recommends $missing >/dev/null; then
        die "could not install; try: apt-get install --no-install-recommends $missing"
    fi
}

# wheel_environment NAME REQUIREMENT...: a virtual environment with wheels, $build/wheels/NAME.
# False if it cannot be had, which is for the caller to judge.
wheel_environment() {
    wheel_name=$1
    shift
    folder=$build/wheels/$wheel_name
    [ "$(cat "$folder/complete" 2>/dev/null)" = "$*" ] && return 0
    say "Python environment $wheel_name: $*"
    rm -rf "$folder"
    mkdir -p "$build/wheels"
    if /usr/bin/python3 -m venv "$folder" >"$build/wheels/$wheel_name.log" 2>&1 &&
        "$folder/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: "$@" \
            >>"$build/wheels/$wheel_name.log" 2>&1; then
        echo "$*" >"$folder/complete"
        return 0
    fi
    tail -n 3 "$build/wheels/$wheel_name.log"
    say "no Python environment $wheel_name (see $build/wheels/$wheel_name.log)"
    return 1
}

find_nvcc() {
    command -v nvcc || { [ -x /usr/local/cuda/bin/nvcc ] && echo /usr/local/cuda/bin/nvcc; }
}

# The architectures worth compiling for here: those of the cards in this machine, else an H100's,
# with PTX so that a newer card is served too.
local_architectures() {
    cards=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
        tr -d '. ' | grep -x '[0-9]*' | sort -un)
    list=
    for card in ${cards:-90}; do
        # Tensor copies and wgmma are of 9.0 alone and need its own name.
        [ "$card" = 90 ] && list=$list"90a,"
        list=$list"$card,"
        newest=$card
    done
    echo "${list}ptx$newest"
}

make_configure() {
    if [ ! -x "$root/configure" ] || [ "$root/configure.ac" -nt "$root/configure" ] ||
        [ "$root/Makefile.am" -nt "$root/Makefile.in" ]; then
        say 'autoreconf'
        (cd "$root" && autoreconf -i >"$build/autoreconf.log" 2>&1) ||
            { cat "$build/autoreconf.log"; return 1; }
    fi
}

# configure_build NAME OPTION...: configures $build/NAME unless it is, with these very options.
configure_build() {
    tree=$build/$1
    shift
    mkdir -p "$tree"
    if [ -f "$tree/config.status" ] &&
        [ "$(cat "$tree/options" 2>/dev/null)" = "$*" ] &&
        [ ! "$root/configure" -nt "$tree/config.status" ]; then
        return 0
    fi
    # Objects of other options must not be taken for current.
    [ ! -f "$tree/Makefile" ] || make -s -C "$tree" clean >/dev/null 2>&1 || :
    (cd "$tree" && $calmly "$root/configure" -q "$@" >configure.log 2>&1) ||
        { tail -n 20 "$tree/configure.log"; return 1; }
    grep WARNING "$tree/configure.log" || :
    echo "$*" >"$tree/options"
}
