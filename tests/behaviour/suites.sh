# SPDX-License-Identifier: BSD-3-Clause
# How scripts run suites that call the library as programs do. Sourced after harness.sh.
[ -x "$builddir/test_values" ] || skip 'the suites are not built'
[ -e "$stand_in" ] || skip 'the stand-in driver is not built'

# suite NAME VARIABLE=VALUE...: run one, and show what it said if it failed.
suite() {
    suite_name=$1
    shift
    if ! env SB_LIBRARY="$SB_LIBRARY" builddir="$builddir" "$@" "$builddir/$suite_name" \
        >"$scratch/log" 2>&1; then
        fail "$suite_name $*"
        grep -E -A6 'FAILED|child:|ERROR:|WARNING:|runtime error' "$scratch/log" | head -n 40
    fi
}
