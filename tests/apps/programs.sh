# SPDX-License-Identifier: BSD-3-Clause
# How a real program is held against itself: the same output, byte for byte, with and without the
# shim, nothing on stderr that was not there, and proof that its products came through us. One BLAS
# thread, so that the backend's own bits do not depend on who else is busy.
. "${srcdir:-.}/tests/behaviour/harness.sh"

OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0
export OPENBLAS_NUM_THREADS OMP_NUM_THREADS MKL_NUM_THREADS
export PYTHONDONTWRITEBYTECODE PYTHONHASHSEED
programs=$srcdir/tests/apps
wheels=${SB_WHEELS:-$builddir/../wheels}

# wheel_python NAME: the interpreter that has these wheels.
wheel_python() {
    python=$wheels/$1/bin/python
    [ -f "$wheels/$1/complete" ] || skip "no wheels in $wheels/$1 (./check fetches them)"
}

# needed_python WHAT VARIABLE CODE: the first interpreter that runs the code, of the one that the
# variable names and the system's.
needed_python() {
    eval "named=\${$2:-}"
    for python in "$named" python3 /usr/bin/python3; do
        [ -n "$python" ] && "$python" -c "$3" 2>/dev/null && return
    done
    skip "no Python here has $1; $2 names one that has"
}

# same_program NAME COMMAND...
same_program() {
    unchanged "$@"
    [ "$(cat "$scratch/bare.rc")" = 0 ] || { fail "$1 does not run"; cat "$scratch/bare.err"; }
    [ -s "$scratch/bare.out" ] || fail "$1 prints no result"
    was_asked "$@"
}

# same_in_children NAME LEAST COMMAND...: the same for a program whose children leave without
# running exit handlers; a log file for each process shows that at least so many were in the path.
same_in_children() {
    children_name=$1
    children_least=$2
    shift 2
    unchanged "$children_name" "$@"
    [ -s "$scratch/bare.out" ] || fail "$children_name prints no result"
    rm -rf "$scratch/logs"
    mkdir "$scratch/logs"
    run_as asked with_shim SHIMBLAS_VERBOSE=1 SHIMBLAS_LOGFILE="$scratch/logs/%p" "$@"
    same_run "$children_name, logged" bare asked
    children=$(grep -l sgemm "$scratch"/logs/* 2>/dev/null | wc -l)
    echo "$children_name: $children processes went through the shim"
    [ "$children" -ge "$children_least" ] || fail "$children_name: fewer than $children_least"
}
