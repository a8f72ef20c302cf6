#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shimblas tune, without a device and over the stand-in driver: a profile that is whole, taken where
# it serves and refused where it does not; nothing half-written, no bar where nobody looks.
. "${srcdir:-.}/tests/behaviour/harness.sh"

HOME=$scratch/home
mkdir "$HOME"
export HOME
unset XDG_CONFIG_HOME
tune() {
    "$command" tune --seconds 1 "$@"
}

# Without a device: the backend alone, and it says so.
run_as cpu env SHIMBLAS_DRIVER=/nowhere.so "$command" tune --seconds 1
[ "$(cat "$scratch/cpu.rc")" = 0 ] || fail "status $(cat "$scratch/cpu.rc")"
[ "$(wc -l <"$scratch/cpu.err")" -le 1 ] || { fail 'stderr'; cat "$scratch/cpu.err"; }
grep -q '^gpu  *not measured: ' "$scratch/cpu.out" || fail 'it does not say that there is no GPU'
file=$(sed -n 's/^profile  *//p' "$scratch/cpu.out")
case $file in
"$HOME"/.config/shimblas/*.profile) ;;
*) fail "written to $file" ;;
esac
[ "$(find "$HOME" -type f)" = "$file" ] || { fail 'other files too'; find "$HOME" -type f; }
grep -q '^shimblas profile 2$' "$file" && grep -q '^gpu none$' "$file" &&
    grep -q '^cpu 1 nn 47 47 ' "$file" && [ "$(tail -n 1 "$file")" = end ] || fail 'no profile'

# It is found, and is what is in force; explain says which it is.
profile_of() {
    sed -n 's/^profile  *//p' "$1"
}
run_as found env SHIMBLAS_DRIVER=/nowhere.so "$command" explain 300
case $(profile_of "$scratch/found.out") in
"$file"*) ;;
*) fail "explain: $(profile_of "$scratch/found.out")" ;;
esac
run_as xdg env SHIMBLAS_DRIVER=/nowhere.so XDG_CONFIG_HOME="$HOME/.config" HOME=/ "$command" explain 300
case $(profile_of "$scratch/xdg.out") in
"$file"*) ;;
*) fail 'XDG_CONFIG_HOME' ;;
esac
# In the working directory nobody looks.
mkdir -p "$scratch/here/.config/shimblas" "$scratch/here/shimblas"
cp "$file" "$scratch/here/.config/shimblas"
cp "$file" "$scratch/here/shimblas"
run_as here sh -c "cd '$scratch/here' && HOME=. XDG_CONFIG_HOME=.config SHIMBLAS_DRIVER=/nowhere.so \
    '$command' explain 300"
case $(profile_of "$scratch/here.out") in
'built in'*) ;;
*) fail 'the working directory' ;;
esac

# On a device: links and whole calls too, into a file of one's choice.
run_as gpu env SHIMBLAS_DRIVER="$stand_in" "$command" tune --quick --seconds 2 \
    --output "$scratch/new/gpu.profile"
[ "$(cat "$scratch/gpu.rc")" = 0 ] || fail "with a device: status $(cat "$scratch/gpu.rc")"
[ ! -s "$scratch/gpu.err" ] || { fail 'with a device: stderr'; cat "$scratch/gpu.err"; }
grep -q '^gpu Stand-in' "$scratch/new/gpu.profile" && grep -q '^whole nn 47 47 ' "$scratch/new/gpu.profile" ||
    fail 'with a device: no profile of it'
start=$(sed -n 's/^start //p' "$scratch/new/gpu.profile")
[ "${start%.*}" -lt 10000000 ] && [ "$start" != "$(sed -n 's/^start //p' "$file")" ] ||
    fail "the start of CUDA is not measured: $start"
run_as named env SHIMBLAS_DRIVER="$stand_in" SHIMBLAS_PROFILE="$scratch/new/gpu.profile" \
    "$command" explain 300
[ ! -s "$scratch/named.err" ] || { fail 'SHIMBLAS_PROFILE: stderr'; cat "$scratch/named.err"; }
grep -q "^profile  *$scratch/new/gpu.profile (Stand-in" "$scratch/named.out" || fail 'SHIMBLAS_PROFILE'
grep -q 'whole calls of such sizes' "$scratch/named.out" || fail 'factors of whole calls are not used'

# Refused with one line, and the answer is that of the built-in figures.
refused() {
    run_as refused env SHIMBLAS_DRIVER="$stand_in" SHIMBLAS_PROFILE="$1" "$command" explain 300
    one_line "$2" "$scratch/refused.err"
    grep -q "$2" "$scratch/refused.err" || fail "$2: $(cat "$scratch/refused.err")"
    case $(profile_of "$scratch/refused.out") in
    'built in'*) ;;
    *) fail "$2: $(profile_of "$scratch/refused.out")" ;;
    esac
}
sed 's/^gpu .*/gpu Another/' "$scratch/new/gpu.profile" >"$scratch/bad"
refused "$scratch/bad" 'its key is not'
sed 's/^shimblas profile 2/shimblas profile 1/' "$scratch/new/gpu.profile" >"$scratch/bad"
refused "$scratch/bad" 'format'
head -n 100 "$scratch/new/gpu.profile" >"$scratch/bad"
refused "$scratch/bad" 'end is missing'
refused "$scratch/nowhere" 'no such file'
# Tuned on another driver: only seen once CUDA has started.
SHIMBLAS_DRIVER=$stand_in SB_STAND_IN=driver=13010 tune --output "$scratch/older.profile" >/dev/null
refused "$scratch/older.profile" 'another driver'

# A program takes the refusal as one line and goes on.
run_as bare "$cases/plain"
run_as shim with_shim SHIMBLAS_PROFILE="$scratch/bad" "$cases/plain"
cmp -s "$scratch/bare.out" "$scratch/shim.out" || fail 'a program is disturbed'
[ "$(wc -l <"$scratch/shim.err")" -le 1 ] || fail 'a program sees more than one line'

run_as where env SHIMBLAS_DRIVER=/nowhere.so "$command" tune --seconds 1 --output /proc/nowhere/x
[ "$(cat "$scratch/where.rc")" = 1 ] || fail 'a file that cannot be written'
for words in '--seconds 0' '--seconds x' word --nonsense; do
    # shellcheck disable=SC2086
    run_as wrong "$command" tune $words
    [ "$(cat "$scratch/wrong.rc")" = 2 ] && [ -s "$scratch/wrong.err" ] || fail "tune $words"
done
finish
