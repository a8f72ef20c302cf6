#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs every test that tests/CASES names on a card, and says of each row what became of it:
#     tests/cases_on_a_card.sh BUILD LOGS         run, keep the logs in LOGS, and read them
#     tests/cases_on_a_card.sh --read LOGS        read them again
#     tests/cases_on_a_card.sh --mark OUTPUT      write `card` into the rows that OUTPUT saw held
# A line a row: report | test | words | routes | `held`, `failed: WHY` or `not run: WHY`. A row is held
# if its own case ran on each of its routes, in both kinds of arithmetic where the suite leaves that
# to us, and passed: an exit status alone says nothing of a case that is not in the list for a card.
# Scripts of the CPU route run as programs without settings do, on a machine with a card.
# BUILD has the test programs; SB_CARD is the driver, libcuda.so.1 unless it says otherwise. Tests
# run SB_JOBS at a time, 4 unless told; those that measure time run last and alone. Exit status 1: a
# row failed.
set -u
srcdir=$(cd "$(dirname "$0")/.." && pwd)
list=${SB_CASES:-$srcdir/tests/CASES}

die() {
    echo "cases_on_a_card.sh: $*" >&2
    exit 2
}

rows() {
    sed '/^#/d; s/ *| */|/g' "$list"
}

# Suites that go where the settings send them; the others choose routes and arithmetic themselves.
sent='test_values.c test_memory.c'
timed='behaviour/call_time.sh behaviour/warm_call_time.sh'
fp16x3=sgemm_fp16x3_128x128x64 bf16x6=sgemm_bf16x6_256x128x16

# logs_of TEST ROUTE: the logs in which a row of that route has to be found.
logs_of() {
    logs_name=$(basename "${1%.*}")
    case " $sent | $2" in
    *" $1 "*'| cpu') echo "$logs_name.cpu" ;;
    *" $1 "*'| gpu') echo "$logs_name.strict $logs_name.fp16x3 $logs_name.bf16x6" ;;
    *) echo "$logs_name.card" ;;
    esac
}

# settings_of LOG: what the test runs with there.
settings_of() {
    case $1 in
    *.cpu) echo SHIMBLAS_MODE=cpu SHIMBLAS_TEST_SIDE=cpu ;;
    *.strict) echo SHIMBLAS_MODE=gpu SHIMBLAS_TEST_SIDE=gpu SHIMBLAS_MATH=strict ;;
    *.fp16x3) echo SHIMBLAS_MODE=gpu SHIMBLAS_TEST_SIDE=gpu SHIMBLAS_MATH=emulated SHIMBLAS_KERNEL=$fp16x3 ;;
    *.bf16x6) echo SHIMBLAS_MODE=gpu SHIMBLAS_TEST_SIDE=gpu SHIMBLAS_MATH=emulated SHIMBLAS_KERNEL=$bf16x6 ;;
    esac
}

# run_test TEST LOG: its output and, as the last line, its exit status.
run_test() {
    case $1 in
    *.c) set -- "$2" "$builddir/$(basename "$1" .c)" ;;
    *) set -- "$2" sh "$srcdir/tests/$1" ;;
    esac
    run_log=$1
    shift
    run_status=0
    # shellcheck disable=SC2046
    (cd "$builddir" && timeout "${SB_LIMIT:-150}" env SHIMBLAS_DRIVER="$SB_CARD" \
        $(settings_of "$run_log") "$@") >"$logs/$run_log" 2>&1 </dev/null || run_status=$?
    printf '\nexit status %d\n' $run_status >>"$logs/$run_log"
}

run_all() {
    builddir=$(cd "$1" && pwd) || die "no folder $1"
    mkdir -p "$2" || exit 2
    logs=$(cd "$2" && pwd)
    SB_CARD=${SB_CARD:-libcuda.so.1}
    SB_LIBRARY=$builddir/libshimblas.so.0 SB_PROVIDER_DIR=$builddir/provider
    export SB_CARD SB_LIBRARY SB_PROVIDER_DIR builddir srcdir
    [ -e "$SB_LIBRARY" ] || die "no libshimblas.so.0 in $1"
    rows | while IFS='|' read -r _ file _ routes _; do
        for route in $(echo "${routes%% only*}"); do
            for log in $(logs_of "$file" "$route"); do
                echo "$file $log"
            done
        done
    done | sort -u >"$logs/jobs"
    # A job is a line, TEST LOG.
    for file in $timed; do
        grep "^$file " "$logs/jobs"
    done >"$logs/alone"
    grep -vxFf "$logs/alone" "$logs/jobs" |
        xargs -L 1 -P "${SB_JOBS:-4}" sh "$srcdir/tests/cases_on_a_card.sh" --one "$logs"
    xargs -L 1 sh "$srcdir/tests/cases_on_a_card.sh" --one "$logs" <"$logs/alone"
}

# judge TEST WORDS ROUTE LOG: what that log says of the row.
judge() {
    [ -f "$logs/$4" ] || {
        echo 'not run: no log'
        return
    }
    # Without a device scripts, and test_memory, are content with the CPU: that products go there at all, a suite tells.
    card=no
    ! grep -q '^ *Test: ones add up \.\.\.passed' "$logs/test_values.strict" 2>/dev/null || card=yes
    awk -v card="$card" -v suite="${1%%_*}" -v words="$2" -v route="$3" '
        # The text of a case is from its name to the next one: what it prints comes between.
        /^ *Test: / {
            cases++
            at = $0
            sub(/^ *Test: /, "", at)
            inside = index(at, wanted " ...") == 1
            if (inside) { seen = 1; result = "" }
        }
        inside && /FAILED/ { result = "failed" }
        inside && /(\.\.\.|^ *)passed$/ && result == "" { result = "held" }
        inside && /^skip: / { result = "not run: " substr($0, 7) }
        /^Run Summary/ { inside = 0 }
        /^skip: / { skipped = substr($0, 7) }
        /^fail: / { if (!wrong || index($0, words)) wrong = substr($0, 7, 60) }
        /^route: gpu/ || /^driver: / { on_gpu = 1 }
        /^exit status / { status = $3 }
        BEGIN { wanted = words; sub(/: .*/, "", wanted); status = "none" }
        END {
            if (suite == "test") {
                if (status == 124) result = "failed: took too long"
                else if (!seen && cases && (status == 0 || status == 1 || status == 77))
                    result = "not run: no such case there"
                else if (!seen) result = skipped ? "not run: " skipped : "failed: exit status " status
                else if (result == "failed") result = "failed: its assertion"
                else if (result == "") result = "failed: no result, exit status " status
                if (result == "held" && route == "gpu" && card == "no")
                    result = "not run: no product goes to the card"
                print result
            } else if (status == 77) print "not run: " skipped
            else if (status != 0) print "failed: " (wrong ? wrong : "exit status " status)
            else if (wrong) print "failed: " wrong
            else if (route == "gpu" && !on_gpu) print "not run: the script names no driver"
            else if (route == "gpu" && card == "no") print "not run: no product goes to the card"
            else print "held"
        }' "$logs/$4"
}

read_all() {
    logs=$1
    [ -d "$logs" ] || die "no folder $logs"
    rows >"$logs/rows"
    bad=0
    while IFS='|' read -r report file words routes mark; do
        said=held
        for route in $(echo "${routes%% only*}"); do
            for log in $(logs_of "$file" "$route"); do
                one=$(judge "$file" "$words" "$route" "$log")
                [ "$one" = held ] || said="$one ($log)"
            done
        done
        case $mark in
        stand-in*) said="not run: $mark" ;;
        esac
        case $said in failed*) bad=1 ;; esac
        echo "$report | $file | $words | $routes | $said"
    done <"$logs/rows"
    return $bad
}

# A row in CASES that OUTPUT saw held says `card`; one that it saw fail says so no more.
mark() {
    awk -F ' *[|] *' -v OFS=' | ' '
        NR == FNR { if (NF == 5) said[$1 FS $2 FS $3 FS $4] = $5; next }
        /^#/ || NF < 5 { print; next }
        {
            now = said[$1 FS $2 FS $3 FS $4]
            if (now == "held") sub(/[|] *[^|]*$/, "| card")
            else if (now ~ /^failed/ && $5 == "card") sub(/[|] *[^|]*$/, "| unseen: " now)
            print
        }' "$1" "$list" >"$list.new" && mv "$list.new" "$list"
}

case ${1-} in
--one) logs=$2; run_test "$3" "$4" ;; # of run_all()
--read) [ $# = 2 ] || die 'a folder of logs is wanted'; read_all "$2" ;;
--mark) [ $# = 2 ] && [ -f "$2" ] || die 'the output of a run is wanted'; mark "$2" ;;
-* | '') die 'BUILD LOGS, --read LOGS or --mark OUTPUT' ;;
*) [ $# = 2 ] || die 'BUILD LOGS'; run_all "$1" "$2"; read_all "$2" ;;
esac
