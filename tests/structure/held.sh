#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every row of tests/CASES, and every promise of doc/promises.md, names a test that exists, says what
# the row says, and is run; what is said to hold on the GPU route is run there. Each row of the first says
# what a card has shown of it.
. "${srcdir:-.}/tests/behaviour/harness.sh"

grep -v '^#' "$srcdir/tests/CASES" | sed 's/ *| */|/g' >"$scratch/rows"
[ "$(wc -l <"$scratch/rows")" -ge 50 ] || fail 'the rows are not found any more'
# | promise | test | words |, without the heads of the tables; suites are run on both routes. Cards are no part of it.
sed -n 's/^| \(.*\) | \([^|]*\) | \([^|]*\) |$/\1|\2|\3|gpu|promise/p' "$srcdir/doc/promises.md" |
    grep -v '|test|words|' >"$scratch/promises"
[ "$(wc -l <"$scratch/promises")" -ge 50 ] || fail 'the promises are not found any more'
cat "$scratch/promises" >>"$scratch/rows"
while IFS='|' read -r report file words routes seen; do
    path=$srcdir/tests/$file
    [ -f "$path" ] || {
        fail "$report: there is no tests/$file"
        continue
    }
    # A case of a suite, and the subject of a line in it.
    case $file in
    test_*) said=${words%%: *} subject=${words#*: } ;;
    *) said=$words subject=$words ;;
    esac
    grep -qF "$said" "$path" && grep -qF "$subject" "$path" ||
        fail "$report: tests/$file does not say '$words'"
    name=$(basename "$file" .c)
    grep -q "^	\(tests/$file\|$name\) \\\\\$\|^	\(tests/$file\|$name\)\$" "$srcdir/Makefile.am" ||
        fail "$report: tests/$file is not run"
    case $routes in
    cpu | 'cpu gpu' | gpu | 'cpu only: '* | 'gpu only: '*) ;;
    *) fail "$report: '$routes' is no route" ;;
    esac
    case $seen in
    card | 'stand-in: '?* | 'unseen: '?* | promise) ;;
    *) fail "$report: '$seen' does not say what a card has shown" ;;
    esac
    # Suites that know no driver are taken there by gpu_route.sh.
    case "$routes $file" in
    'cpu gpu test_'*)
        grep -q "for name in .*$name[ ;]" "$srcdir/tests/behaviour/gpu_route.sh" ||
            fail "$report: tests/$file is not run on the GPU route"
        ;;
    'cpu gpu behaviour/'*)
        grep -q '^ *every_route ' "$path" || fail "$report: tests/$file is not run on the GPU route"
        ;;
    esac
done <"$scratch/rows"
# A report is held on both routes, by one test or by two, or says why it is of one alone.
grep -v '^#' "$srcdir/tests/CASES" | awk -F ' *[|] *' '
    { held[$1] = held[$1] " " $4 }
    END { for (r in held) if (held[r] !~ / only: / && !(held[r] ~ /cpu/ && held[r] ~ /gpu/)) print r }' \
    >"$scratch/halves"
[ ! -s "$scratch/halves" ] || fail "held on one route alone: $(tr '\n' ' ' <"$scratch/halves")"
finish
