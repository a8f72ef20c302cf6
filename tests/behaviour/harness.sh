# SPDX-License-Identifier: BSD-3-Clause
# What every behaviour script begins with: the names of the things under test, a scratch folder that
# goes away, and the words `fail` and `skip`. Scripts speak automake's protocol: 0 passed, 1 failed,
# 77 skipped, the reason being the last line that begins with "skip: ".
#
# Wanted in the environment: SB_LIBRARY (libshimblas.so.0), SB_PROVIDER_DIR (the folder that holds
# the provider's libblas.so.3), srcdir, builddir. CC names the compiler for the programs that a
# script builds as a user would.

: "${SB_LIBRARY:?the library under test}" "${SB_PROVIDER_DIR:?the folder of the provider}"
srcdir=$(cd "${srcdir:-.}" && pwd)
builddir=$(cd "${builddir:-.}" && pwd)
SB_LIBRARY=$(readlink -f "$SB_LIBRARY")
SB_PROVIDER_DIR=$(readlink -f "$SB_PROVIDER_DIR")
CC=${CC:-cc}
command=$builddir/shimblas
cases=$builddir/tests/cases
# What drives the GPU: the stand-in, and the real driver where there is one; or what SB_CARD names alone,
# for cases_on_a_card.sh.
stand_in=$builddir/tests/stand_in/libcuda.so.1
drivers=${SB_CARD:-$stand_in}
[ -n "${SB_CARD-}" ] || ! nvidia-smi -L 2>/dev/null | grep -q GPU || drivers="$drivers libcuda.so.1"

# A person's own settings must not colour what is compared here.
for variable in $(env | sed -n 's/^\(SHIMBLAS_[A-Z_]*\)=.*/\1/p'); do
    unset "$variable"
done
unset LD_PRELOAD
LC_ALL=C
export LC_ALL

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# A sanitizer's runtime has to come before everything else that is preloaded.
sanitizer=$(ldd "$SB_LIBRARY" | awk '/lib(asan|tsan|clang_rt)/ { print $3; exit }')
preload=${sanitizer:+$sanitizer }$SB_LIBRARY

limit=${SB_LIMIT:-300}
python=${PYTHON3:-/usr/bin/python3}
failures=0

# fail WORDS...: say what is wrong and go on, so that one run shows everything.
fail() {
    echo "fail: $*"
    failures=$((failures + 1))
}

skip() {
    echo "skip: $*"
    exit 77
}

finish() {
    [ "$failures" -eq 0 ] || exit 1
    exit 0
}

need() {
    for tool; do
        command -v "$tool" >/dev/null 2>&1 || skip "$tool is not installed"
    done
}

# run_as NAME COMMAND...: keep stdout, stderr and the exit status as $scratch/NAME.out, .err, .rc.
run_as() {
    run_name=$1
    shift
    run_status=0
    "$@" >"$scratch/$run_name.out" 2>"$scratch/$run_name.err" </dev/null || run_status=$?
    echo "$run_status" >"$scratch/$run_name.rc"
}

# A hang is a failure, and not one to wait for. `env` execs, so what is preloaded is the command alone.
with_shim() {
    timeout "$limit" env LD_PRELOAD="$preload" "$@"
}

# For scripts that run on whatever of $drivers there is.
need_driver() {
    [ -n "${SB_CARD-}" ] || [ -e "$stand_in" ] || skip 'the stand-in driver is not built'
}

# every_route COMMAND...: once as it is and, where there is a driver, with every product sent to the
# GPU, in each arithmetic; $route says which.
every_route() {
    route=cpu
    "$@"
    [ -n "${SB_CARD-}" ] || [ -e "$stand_in" ] || return 0
    SHIMBLAS_MODE=gpu SHIMBLAS_DRIVER=${SB_CARD:-$stand_in}
    export SHIMBLAS_MODE SHIMBLAS_DRIVER SHIMBLAS_MATH
    for SHIMBLAS_MATH in strict emulated; do
        route="gpu, $SHIMBLAS_MATH"
        echo "route: $route by $SHIMBLAS_DRIVER"
        "$@"
    done
    unset SHIMBLAS_MODE SHIMBLAS_DRIVER SHIMBLAS_MATH
}

# same_run WORDS A B: the two kept runs agree in all that can be seen of them from outside.
same_run() {
    for part in out err rc; do
        if ! cmp -s "$scratch/$2.$part" "$scratch/$3.$part"; then
            fail "$1: $part differs"
            diff "$scratch/$2.$part" "$scratch/$3.$part" | head -n 20
        fi
    done
}

# unchanged NAME COMMAND...: the command does the same, byte for byte, with and without the shim.
unchanged() {
    unchanged_name=$1
    shift
    run_as bare timeout "$limit" "$@"
    run_as shim with_shim "$@"
    same_run "$unchanged_name" bare shim
}

# calls_in REPORT: the calls that a JSON report counts. Each process adds a line of its own.
calls_in() {
    sed -n 's/.*"total":{"calls":\([0-9]*\).*/\1/p' "$1" 2>/dev/null | awk '{ n += $1 } END { print n + 0 }'
}

# was_asked NAME COMMAND...: prove that we are in the path, not merely preloaded.
was_asked() {
    asked_name=$1
    shift
    rm -f "$scratch/asked.json"
    run_as asked with_shim SHIMBLAS_REPORT="$scratch/asked.json" "$@"
    asked_calls=$(calls_in "$scratch/asked.json")
    if [ "$asked_calls" -gt 0 ]; then
        echo "$asked_name: $asked_calls calls went through the shim"
    else
        fail "$asked_name: no call went through the shim"
        head -n 20 "$scratch/asked.err"
    fi
    cmp -s "$scratch/bare.out" "$scratch/asked.out" ||
        fail "$asked_name: stdout differs when a report is asked for"
}

# one_line NAME FILE: exactly one line, and it is ours.
one_line() {
    lines=$(wc -l <"$2")
    if [ "$lines" -ne 1 ] || ! grep -q '^shimblas: ' "$2"; then
        fail "$1: wanted one line that begins with 'shimblas: ', got $lines"
        head -n 5 "$2"
    fi
}
