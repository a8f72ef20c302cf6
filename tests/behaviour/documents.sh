#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# No document holds another list than the library's tables: the README's settings, the man pages,
# the completion. And the man pages are in order.
. "${srcdir:-.}/tests/behaviour/harness.sh"
need awk

settings=$(sed -n 's/^SB_SETTING([a-z_]*, "\([A-Z_]*\)".*/\1/p' "$srcdir/src/settings.def")
reasons=$(sed -n 's/^SB_REASON([A-Z_]*, "\([a-z-]*\)".*/\1/p' "$srcdir/src/reasons.def")
commands=$(sed -n 's/^SB_COMMAND(\([a-z]*\),.*/\1/p' "$srcdir/tools/commands.def")
functions=$(sed -n 's/^SB_API(\(.*\))$/\1/p' "$srcdir/src/api.def")
[ -n "$settings" ] && [ -n "$reasons" ] && [ -n "$commands" ] && [ -n "$functions" ] ||
    fail 'the tables cannot be read'

# README: its table of settings is what `tables` makes of settings.def, to the letter.
echo '@settings.markdown@' | "$builddir/tables" >"$scratch/made"
for word in $settings; do
    grep -q "^| \`$word\` |" "$scratch/made" || fail "tables: no row for $word"
done
sed -n '/^| variable | values |/,/^$/p' "$srcdir/README.md" | sed '/^$/d' >"$scratch/written"
diff "$scratch/written" "$scratch/made" || fail 'README.md: settings (< written, > settings.def)'

# Man pages.
page() {
    MANWIDTH=80 man -l "$builddir/doc/$1" 2>/dev/null | col -bx
}
need man col
for name in shimblas.1 shimblas.7; do
    page "$name" >"$scratch/page"
    sed -n '/^ENVIRONMENT/,/^[A-DF-Z]/p' "$scratch/page" |
        sed -n 's/^  *\(SHIMBLAS_[A-Z_]*\)=.*/\1/p' >"$scratch/found"
    echo "$settings" | diff - "$scratch/found" || fail "$name: ENVIRONMENT (< table, > page)"
done
page shimblas.7 | sed -n '/^ *Why a call was answered/,/^ *The report/p' >"$scratch/page"
for word in $reasons; do
    grep -q "^  *$word  " "$scratch/page" || fail "shimblas.7: no reason $word"
done
page shimblas.1 >"$scratch/page"
for word in $commands; do
    grep -Eq "^     $word( |\$)" "$scratch/page" || fail "shimblas.1: no command $word"
done
sed -n 's/^SB_OPTION([a-z]*, \([a-z_]*\),.*/\1/p' "$srcdir/tools/options.def" | tr _ - |
    while read -r word; do
        grep -q -- "--$word" "$scratch/page" || echo "fail: shimblas.1: no option --$word"
    done >"$scratch/missing"
[ ! -s "$scratch/missing" ] || { cat "$scratch/missing"; fail 'shimblas.1: options'; }
sed -n '/^.Sh SYNOPSIS/,/^.Sh DESC/s/^\.Fn \(shimblas_[a-z_]*\) .*/\1/p' "$builddir/doc/shimblas.3" >"$scratch/found"
echo "$functions" | diff - "$scratch/found" || fail 'shimblas.3: functions (< api.def, > page)'

for name in shimblas.1 shimblas.3 shimblas.7; do
    grep -q '^@' "$builddir/doc/$name" && fail "$name: a marker was left"
    LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z \
        "$builddir/doc/$name" 2>"$scratch/warnings" >/dev/null
    [ ! -s "$scratch/warnings" ] || { fail "$name: warnings"; cat "$scratch/warnings"; }
    command -v mandoc >/dev/null || continue
    mandoc -Tlint -Wwarning "$builddir/doc/$name" >"$scratch/warnings" 2>/dev/null
    [ ! -s "$scratch/warnings" ] || { fail "$name: warnings of mandoc"; cat "$scratch/warnings"; }
done

# Completion: every subcommand, every option.
cat >"$scratch/complete.bash" <<'EOS'
set -u
. "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_shimblas
printf '%s\n' ${COMPREPLY[@]+"${COMPREPLY[@]}"} | sort
EOS
if command -v bash >/dev/null; then
    complete() {
        bash "$scratch/complete.bash" "$builddir/tools/completion/shimblas" "$@"
    }
    echo "$commands" | sort >"$scratch/wanted"
    complete shimblas '' | diff "$scratch/wanted" - || fail 'completion: subcommands'
    complete shimblas help '' | diff "$scratch/wanted" - || fail 'completion: help'
    for word in $commands; do
        sed -n "s/^SB_OPTION($word, \([a-z_]*\),.*/--\1/p" "$srcdir/tools/options.def" |
            tr _ - | sort >"$scratch/wanted"
        complete shimblas "$word" -- | sed '/^$/d' | diff "$scratch/wanted" - ||
            fail "completion: options of $word"
    done
    : >"$scratch/some-report"
    complete shimblas bench --only '' 2>"$scratch/errors" | tr '\n' ' ' >"$scratch/words"
    [ "$(cat "$scratch/words")" = 'device host wire ' ] || fail 'completion: words after --only'
    complete shimblas bench --sizes '' 2>>"$scratch/errors" >/dev/null
    [ ! -s "$scratch/errors" ] || { fail 'completion: complains'; cat "$scratch/errors"; }
    [ "$(complete shimblas run --report "$scratch/some")" = "$scratch/some-report" ] ||
        fail 'completion: a file after --report'
    complete shimblas run ech | grep -qx echo || fail 'completion: a program after run'
fi
finish
