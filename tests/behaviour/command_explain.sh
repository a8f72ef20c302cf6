#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shimblas explain: both predictions and their parts, on a device, on none, and on one that is only
# assumed; what is asked of it changes what it says.
. "${srcdir:-.}/tests/behaviour/harness.sh"
need python3

cat >"$scratch/read.py" <<'EOS'
import json, sys
page = json.load(open(sys.argv[1]))
assert page["format"] == 1
parts = {}
for row in page["parts"]:
    parts[row["side"]] = parts.get(row["side"], 0) + row["ms"]
ms = {side: float(page[side].split()[0]) for side in ("cpu", "gpu")}
for side in ms:
    assert ms[side] > 0 and abs(parts[side] - ms[side]) < 1e-3 + 1e-3 * ms[side], (side, parts, ms)
faster = "gpu" if ms["gpu"] < ms["cpu"] else "cpu"
assert page["side"] == faster or page["reason"].startswith("small"), page
assert page["kernel"].startswith("sgemm_") and "steps" in page["plan"], page
print(page["side"], ms["cpu"], ms["gpu"], page["reason"].split(":")[0])
EOS
# explains WORDS... : runs explain, checks the page, and leaves what it says in $side $cpu $gpu $why.
explains() {
    run_as page "$command" explain "$@" --json
    [ "$(cat "$scratch/page.rc")" = 0 ] || fail "explain $*: status $(cat "$scratch/page.rc")"
    python3 "$scratch/read.py" "$scratch/page.out" >"$scratch/said" ||
        { fail "explain $*"; cat "$scratch/page.out"; }
    read -r side cpu gpu why <"$scratch/said"
}
less() {
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'
}

# The targets, by the built-in figures, whatever this machine is.
for n in 512 768 1024 2048 4096 8192 16384; do
    explains $n --device H200 --threads 16
    [ "$side $why" = 'gpu faster' ] || fail "$n with 16 threads: $side, $why"
done
for n in 256 512 4096; do
    explains $n --device H200 --threads 1
    [ "$side" = gpu ] || fail "$n with 1 thread: $side"
done
explains 100 --device H200
[ "$side $why" = 'cpu small' ] || fail "100: $side, $why"
explains 129 --device H200 --threads 16
[ "$side $why" = 'cpu faster' ] || fail "129: $side, $why"

# What is asked matters.
explains 1024 1024 1024 --device H200 --threads 4
before=$cpu pageable=$gpu
explains --device H200 --threads 8 --trans tt --pad 3 --beta 0.5 --pinned 1024 1024 1024
less "$cpu" "$before" || fail "8 threads take $cpu, 4 take $before"
less "$gpu" "$pageable" || fail "pinned takes $gpu, pageable $pageable"
grep -q 'beta is applied' "$scratch/page.out" || fail 'beta is not told of'
grep -q 'tt, leading dimensions 1027' "$scratch/page.out" || fail 'transposes or pads are not told of'
explains 1024 --device H200 --threads 4 --callers 64
less "$before" "$cpu" || fail "64 callers take $cpu each, one $before"

# No plan takes more of the device than may be used.
run_as page env SHIMBLAS_DEVICE_MEMORY=100M "$command" explain 8192 --device H200
taken=$(sed -n 's/^plan .*; \([0-9.]*\) MiB on the device.*/\1/p' "$scratch/page.out")
less 0 "$taken" && less "$taken" 100.01 || fail "a plan takes $taken MiB of 100"

# Emulated products, where they are faster.
explains 8192 --device H200 --threads 16 --math strict
strict=$gpu
grep -q '"math":"strict"' "$scratch/page.out" || fail 'strict is not told of'
explains 8192 --device H200 --threads 16 --math emulated
less "$gpu" "$strict" || fail "emulated takes $gpu, strict $strict"
grep -q '"math":"fp16x3, ' "$scratch/page.out" || fail 'fp16x3 is not told of'
grep -q '"kernel":"sgemm_fp16x3_' "$scratch/page.out" || fail 'its kernel is not told of'
explains 4096 4096 512 --device H200 --threads 16 --math emulated
grep -q '"math":"bf16x6, ' "$scratch/page.out" || fail 'bf16x6 is not told of'
explains 512 512 65536 --device H200 --threads 16 --math emulated
grep -q '"cut":"k in 4 of 16384 each, by sgemm_fp16x3cut_' "$scratch/page.out" || fail 'that k is cut is not told of'
explains 300 --device H200 --threads 16 --math emulated
grep -q '"math":"strict, ' "$scratch/page.out" || fail 'that strict is faster is not told of'

# Without a device one is assumed, and it says so; with one it is named.
run_as none env SHIMBLAS_DRIVER=/nowhere.so "$command" explain 1000
grep -q '^device .*none (.*); a .* is assumed$' "$scratch/none.out" || fail 'no device'
SHIMBLAS_DRIVER=$builddir/tests/stand_in/libcuda.so.1
export SHIMBLAS_DRIVER
run_as there "$command" explain 1000
[ ! -s "$scratch/there.err" ] || { fail 'stderr with a device'; cat "$scratch/there.err"; }
grep -q '^device  *Stand-in' "$scratch/there.out" || fail 'a device: its name'
grep -q '^profile .*adapted to the device' "$scratch/there.out" || fail 'a device: its profile'

for words in '' '5 5' '0' 'x' '5 5 5 5' '9 --trans nx' '9 --threads 0' '9 --beta x' '9 --device Z80' '9 --math tf32' \
    '9 --nonsense'; do
    # shellcheck disable=SC2086
    run_as wrong "$command" explain $words
    [ "$(cat "$scratch/wrong.rc")" = 2 ] && [ -s "$scratch/wrong.err" ] &&
        [ ! -s "$scratch/wrong.out" ] || fail "explain $words: status $(cat "$scratch/wrong.rc")"
done
finish
