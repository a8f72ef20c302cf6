#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A setting that makes no sense is said once, on one line, and the call is answered all the same.
. "${srcdir:-.}/tests/behaviour/harness.sh"

program=$cases/plain
run_as bare "$program"

# bad NAME SETTING...: one line that names the variable, and the answer of the bare run.
bad() {
    variable=${1%%=*}
    run_as shim with_shim "$@" "$program"
    cmp -s "$scratch/bare.out" "$scratch/shim.out" || fail "$*: the answer differs"
    [ "$(cat "$scratch/shim.rc")" = 0 ] || fail "$*: exit status $(cat "$scratch/shim.rc")"
    one_line "$*" "$scratch/shim.err"
    grep -q "$variable" "$scratch/shim.err" || fail "$*: the line does not name the variable"
    sed "s/^/$variable: /" "$scratch/shim.err"
}

bad SHIMBLAS_MODE=sideways
bad SHIMBLAS_MODE="$(printf 'side\nways')"
bad SHIMBLAS_VERBOSE=loud
bad SHIMBLAS_VERBOSE=3
bad SHIMBLAS_DEVICE=first
bad SHIMBLAS_DEVICE=0,,1
bad SHIMBLAS_DEVICE=-1
bad SHIMBLAS_DEVICE=all,1
bad SHIMBLAS_THREADS=-3
bad SHIMBLAS_THREADS=many
bad SHIMBLAS_REPRODUCIBLE=perhaps
bad SHIMBLAS_BACKEND=/nowhere/libblas.so.3
bad SHIMBLAS_BACKEND=/etc/passwd
# A library that opens and has no such routine is no backend either.
bad SHIMBLAS_BACKEND=libm.so.6
# The backend must not be ourselves.
bad SHIMBLAS_BACKEND="$SB_LIBRARY"
# The driver is looked for only when a call may go there.
bad SHIMBLAS_DRIVER=/nowhere/libcuda.so.1 SHIMBLAS_MODE=gpu
bad SHIMBLAS_REPORT=/nowhere/report
bad SHIMBLAS_LOGFILE=/nowhere/log SHIMBLAS_VERBOSE=1

# Empty is as good as unset, and what makes sense is taken without a word.
for setting in SHIMBLAS_MODE= SHIMBLAS_VERBOSE= SHIMBLAS_REPORT= SHIMBLAS_LOGFILE= \
    SHIMBLAS_BACKEND= SHIMBLAS_DRIVER= SHIMBLAS_DEVICE= SHIMBLAS_THREADS= SHIMBLAS_PROFILE= \
    SHIMBLAS_REPRODUCIBLE= SHIMBLAS_MODE=auto SHIMBLAS_MODE=cpu SHIMBLAS_VERBOSE=0 \
    SHIMBLAS_DEVICE=0 SHIMBLAS_DEVICE=0,1 SHIMBLAS_DEVICE=all SHIMBLAS_THREADS=2 SHIMBLAS_REPRODUCIBLE=1 \
    SHIMBLAS_BACKEND=libopenblas.so.0; do
    run_as shim with_shim "$setting" "$program"
    same_run "$setting" bare shim
done

# Two settings that make no sense are two lines; many calls repeat none.
run_as shim with_shim SHIMBLAS_MODE=sideways SHIMBLAS_THREADS=many "$program" 100
[ "$(wc -l <"$scratch/shim.err")" = 2 ] || fail 'two bad settings: not two lines'

# A log file that is a symbolic link is not followed: it may have been laid by another user.
ln -s "$scratch/target" "$scratch/link"
run_as shim with_shim SHIMBLAS_VERBOSE=1 SHIMBLAS_LOGFILE="$scratch/link" "$program"
[ ! -e "$scratch/target" ] || fail 'SHIMBLAS_LOGFILE: a symbolic link was followed'

# What is asked for arrives where it was asked for, and nowhere else.
run_as shim with_shim SHIMBLAS_VERBOSE=1 SHIMBLAS_LOGFILE="$scratch/log.%p.%h" "$program" 3
same_run 'a log file' bare shim
log=$(find "$scratch" -name "log.[0-9]*.$(uname -n)")
[ "$(grep -c '^shimblas: .*sgemm' "${log:-/dev/null}")" = 3 ] || fail 'SHIMBLAS_LOGFILE: not 3 lines'
run_as shim with_shim SHIMBLAS_VERBOSE=1 "$program" 3
cmp -s "$scratch/bare.out" "$scratch/shim.out" || fail 'SHIMBLAS_VERBOSE: stdout differs'
[ "$(grep -c '^shimblas: .*sgemm' "$scratch/shim.err")" = 3 ] || fail 'SHIMBLAS_VERBOSE: not 3 lines'
grep -v '^shimblas: ' "$scratch/shim.err" && fail 'SHIMBLAS_VERBOSE: a line does not say it is ours'
run_as shim with_shim SHIMBLAS_REPORT=- "$program" 3
cmp -s "$scratch/bare.out" "$scratch/shim.out" || fail 'SHIMBLAS_REPORT=-: stdout differs'
grep -q calls "$scratch/shim.err" || fail 'SHIMBLAS_REPORT=-: no report on stderr'
# The numbers of a report do not depend on the program's language.
run_as shim with_shim SHIMBLAS_REPORT="$scratch/report.json" "$program" 3
"$python" -c 'import json, sys; report = json.load(open(sys.argv[1])); report["format"]' \
    "$scratch/report.json" || fail 'SHIMBLAS_REPORT: not JSON with a format number'
[ "$(calls_in "$scratch/report.json")" = 3 ] || fail 'SHIMBLAS_REPORT: not 3 calls'
finish
