#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shimblas info, version and help: complete with regard to the tables, and right about what they say.
. "${srcdir:-.}/tests/behaviour/harness.sh"
need python3

settings=$(sed -n 's/^SB_SETTING([a-z_]*, "\([A-Z_]*\)".*/\1/p' "$srcdir/src/settings.def")
spellings=$(sed -n 's/^SB_NAME([A-Z0-9]*, *\([a-z0-9_]*\),.*/\1/p' "$srcdir/src/names.def")
commands=$(sed -n 's/^SB_COMMAND(\([a-z]*\),.*/\1/p' "$srcdir/tools/commands.def")
[ -n "$settings" ] && [ -n "$spellings" ] && [ -n "$commands" ] || fail 'the tables cannot be read'

# info
run_as info "$command" info
[ "$(cat "$scratch/info.rc")" = 0 ] || fail "info: status $(cat "$scratch/info.rc")"
[ ! -s "$scratch/info.err" ] || fail "info: stderr: $(head -n 1 "$scratch/info.err")"
for word in $settings $spellings; do
    grep -q "^  $word  *" "$scratch/info.out" || fail "info: no row for $word"
done
for word in version library backend threads profile driver verdict; do
    grep -q "^$word" "$scratch/info.out" || fail "info: no $word"
done
grep -qF "$SB_LIBRARY" "$scratch/info.out" || fail 'info: the library is another'

# What is in force and where it comes from, by both ways of writing it.
run_as given env SHIMBLAS_MODE=cpu SHIMBLAS_THREADS=some SHIMBLAS_REPORT='a"b' "$command" info
grep -q '^  SHIMBLAS_MODE  *cpu  *environment$' "$scratch/given.out" || fail 'info: a given value'
grep -q '^  SHIMBLAS_THREADS  *0  *default, since some makes no sense$' "$scratch/given.out" ||
    fail 'info: a refused value'
grep -q '^verdict .*SHIMBLAS_MODE chose' "$scratch/given.out" || fail 'info: verdict of mode cpu'
run_as json env SHIMBLAS_MODE=cpu SHIMBLAS_THREADS=some SHIMBLAS_REPORT='a"b' "$command" info --json
cat >"$scratch/read.py" <<'EOS'
import json, sys
page = json.load(open(sys.argv[1]))
assert page["format"] == 1, page["format"]
rows = {row["variable"]: row for row in page["settings"]}
assert list(rows) == sys.argv[2].split(), list(rows)
assert rows["SHIMBLAS_MODE"] == {"variable": "SHIMBLAS_MODE", "value": "cpu",
                                 "source": "environment"}
assert rows["SHIMBLAS_THREADS"]["value"] == "0" and "some" in rows["SHIMBLAS_THREADS"]["source"]
assert rows["SHIMBLAS_REPORT"]["value"] == 'a"b'
assert [row["spelling"] for row in page["backend"]] == sys.argv[3].split()
for name in "version", "library", "threads", "driver", "verdict":
    assert page[name], name
EOS
python3 "$scratch/read.py" "$scratch/json.out" "$settings" "$spellings" || fail 'info --json'

# A backend that was asked for is the one that answers; one that is not there is said once.
openblas=$(ldconfig -p | awk '$1 == "libopenblas.so.0" { print $NF; exit }')
if [ -n "$openblas" ]; then
    run_as backend env SHIMBLAS_BACKEND="$openblas" "$command" info
    grep -q "^  cblas_sgemm  *setting  *$openblas" "$scratch/backend.out" || fail 'info: SHIMBLAS_BACKEND'
fi
run_as backend env SHIMBLAS_BACKEND=/nowhere.so "$command" info
one_line 'a backend that is not there' "$scratch/backend.err"

# A driver that was asked for and is not there.
run_as driver env SHIMBLAS_DRIVER=/nowhere/libcuda.so "$command" info
grep -q '^driver .*/nowhere/libcuda.so' "$scratch/driver.out" || fail 'info: SHIMBLAS_DRIVER'
grep -q '^verdict .*Every call is answered by' "$scratch/driver.out" || fail 'info: verdict, no driver'

# A driver with devices: each is listed, the one that would be used is named, its kernels are known.
[ -e "$stand_in" ] || fail "no stand-in driver at $stand_in"
run_as gpu env SHIMBLAS_DRIVER="$stand_in" "$command" info --kernels
[ ! -s "$scratch/gpu.err" ] || fail "info: stderr: $(head -n 1 "$scratch/gpu.err")"
grep -q "^driver .*$stand_in (usable, for CUDA [0-9]*\.[0-9])" "$scratch/gpu.out" || fail 'info: driver'
grep -q '^  *0  *Stand-in .* [0-9]\.[0-9] ' "$scratch/gpu.out" || fail 'info: no row for the device'
grep -q '^device  *0 (Stand-in' "$scratch/gpu.out" || fail 'info: which device'
grep -q '^links' "$scratch/gpu.out" && fail 'info: links of a device alone'
grep -q '^verdict .*go to the GPU' "$scratch/gpu.out" || fail "info: $(grep verdict "$scratch/gpu.out")"
kernels=$(grep -Ec '^SB_(KERNEL|TENSOR)\(' "$srcdir/kernels/kernels.def")
[ "$(grep -c '^  sgemm_.* [1-9][0-9]*  *[0-9]*  *[0-9]*  *[1-9]' "$scratch/gpu.out")" = "$kernels" ] ||
    fail "info --kernels: not $kernels rows with what the driver knows"
# Several: which, and whether they are linked.
run_as team env SB_STAND_IN=devices=4 SHIMBLAS_DEVICE=3,1 SHIMBLAS_DRIVER="$stand_in" "$command" info
grep -q '^device  *3,1 (Stand-in' "$scratch/team.out" || fail 'info: which devices'
grep -q '^links  *each' "$scratch/team.out" || fail 'info: linked devices'
run_as team env SB_STAND_IN=devices=4,nopeer=1 SHIMBLAS_DEVICE=all SHIMBLAS_DRIVER="$stand_in" \
    "$command" info
grep -q '^device  *0,1,2,3 (Stand-in' "$scratch/team.out" || fail 'info: all devices'
grep -q '^links  *not every' "$scratch/team.out" || fail 'info: devices without links'
# What can be wrong with one is told, and the verdict follows.
while IFS='|' read -r fault line verdict; do
    run_as fault env SB_STAND_IN="$fault" SHIMBLAS_DRIVER="$stand_in" "$command" info
    grep -q "$line" "$scratch/fault.out" || fail "info, $fault: no line $line"
    grep -q "^verdict  *Every call is answered by .*$verdict" "$scratch/fault.out" ||
        fail "info, $fault: $(grep verdict "$scratch/fault.out")"
done <<'EOS'
driver=12000|^driver .*too old, for CUDA 12.0|driver is older
from=init:1|^device  *none: CUDA_ERROR|no usable CUDA
from=primary_retain:1:OUT_OF_MEMORY|^device  *none: CUDA could not|no usable CUDA
from=module_load:1:NO_BINARY_FOR_GPU|^images  *none|no usable CUDA
EOS
run_as gpu "$command" info --kernels
[ "$(grep -c '^  sgemm_.*  -  ' "$scratch/gpu.out")" = "$kernels" ] ||
    echo 'info: this machine has a device'

# Affinity: one processor is one processor.
if command -v taskset >/dev/null; then
    run_as one taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" "$command" info
    grep -q '^threads  *1 processors' "$scratch/one.out" || fail "info: $(grep threads "$scratch/one.out")"
fi

# Output that cannot be written is an error, and the only one.
if [ -e /dev/full ]; then
    "$command" info >/dev/full 2>/dev/null && fail 'info: a full disk went unnoticed'
fi

# version, help, and what is neither.
version=$("$command" version)
[ "$version" = "shimblas $(sed -n 's/^AC_INIT(\[shimblas\], \[\(.*\)\])/\1/p' "$srcdir/configure.ac")" ] ||
    fail "version: $version"
[ "$("$command" --version)" = "$version" ] || fail '--version'
run_as help "$command" help
run_as option "$command" --help
same_run 'help and --help' help option
[ "$(cat "$scratch/help.rc")" = 0 ] && [ ! -s "$scratch/help.err" ] || fail 'help'
for word in $commands; do
    grep -q "^  $word " "$scratch/help.out" || fail "help: no $word"
    run_as one "$command" help "$word"
    grep -q "^usage: shimblas $word" "$scratch/one.out" || fail "help $word"
    run_as behind "$command" "$word" --help
    same_run "help $word and $word --help" one behind
    for option in $(sed -n "s/^SB_OPTION($word, \([a-z_]*\),.*/\1/p" "$srcdir/tools/options.def" | tr _ -); do
        grep -q -- "--$option" "$scratch/one.out" || fail "help $word: no --$option"
    done
done
for words in '' nonsense 'help nonsense' 'info nonsense' 'info --nonsense' 'version nonsense'; do
    # shellcheck disable=SC2086
    run_as wrong "$command" $words
    [ "$(cat "$scratch/wrong.rc")" = 2 ] || fail "shimblas $words: status $(cat "$scratch/wrong.rc")"
    [ -s "$scratch/wrong.err" ] && [ ! -s "$scratch/wrong.out" ] || fail "shimblas $words: streams"
done
finish
