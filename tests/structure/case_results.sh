#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What cases_on_a_card.sh reads from a log is what happened there: a case that passed is held; one that
# failed, did not run, was not there, was cut off or said to skip is not, whatever the others did.
# And what it has seen held is marked, nothing else.
. "${srcdir:-.}/tests/behaviour/harness.sh"

logs=$scratch/logs
mkdir "$logs"
cat >"$scratch/list" <<'END'
# A head stays.
r1 | test_one.c | it passes | gpu | unseen: x
r2 | test_one.c | it passes and says so | gpu | unseen: x
r3 | test_one.c | it fails | gpu | card
r4 | test_one.c | it | gpu | unseen: x
r5 | test_one.c | it skips | gpu | unseen: x
r6 | test_one.c | it passes: a row of a table | gpu | unseen: x
r7 | test_cut.c | it passes | gpu | unseen: x
r8 | test_cut.c | it was cut off | gpu | unseen: x
r9 | test_none.c | it never ran | gpu | unseen: x
r10 | test_skip.c | it would pass | gpu | unseen: x
r11 | test_values.c | it passes | cpu gpu | unseen: x
r12 | test_memory.c | it passes | cpu gpu | unseen: x
b1 | behaviour/good.sh | words | cpu gpu | unseen: x
b2 | behaviour/bad.sh | these words | gpu | unseen: x
b3 | behaviour/skipping.sh | words | cpu | unseen: x
b4 | behaviour/nowhere.sh | words | gpu | unseen: x
b5 | behaviour/nowhere.sh | words | cpu | unseen: x
b6 | behaviour/good.sh | ordered | gpu | stand-in: order
END
cat >"$logs/test_one.card" <<'END'
Suite: one
  Test: it passes ...passed
  Test: it passes and says so ...    a figure: 3
passed
  Test: it fails ...    child: one.c:3: x
FAILED
    1. one.c:5  - CU_ASSERT_EQUAL(x,3)
  Test: it skips ...
skip: no such device
passed

Run Summary:    Type  Total    Ran Passed Failed Inactive
exit status 1
END
printf '  Test: it passes ...passed\n  Test: it was cut off ...\nexit status 139\n' >"$logs/test_cut.card"
printf '\nskip: no driver to test with\n\nexit status 77\n' >"$logs/test_skip.card"
for log in cpu strict fp16x3 bf16x6; do
    printf '  Test: it passes ...passed\n  Test: ones add up ...passed\n\nexit status 0\n' >"$logs/test_values.$log"
    cp "$logs/test_values.$log" "$logs/test_memory.$log"
done
printf '  Test: it passes ...FAILED\n    1. x\n\nexit status 1\n' >"$logs/test_memory.bf16x6"
printf 'driver: libcuda.so.1\n\nexit status 0\n' >"$logs/good.card"
printf 'driver: libcuda.so.1\nfail: libcuda.so.1: these words: 3\n\nexit status 1\n' >"$logs/bad.card"
printf 'driver: libcuda.so.1\nskip: none\n\nexit status 77\n' >"$logs/skipping.card"
printf 'all well\n\nexit status 0\n' >"$logs/nowhere.card"

SB_CASES=$scratch/list
export SB_CASES
sh "$srcdir/tests/cases_on_a_card.sh" --read "$logs" >"$scratch/said" &&
    fail 'rows failed, and the exit status does not tell'
sed 's/^\([^ ]*\) .*| /\1 /' "$scratch/said" >"$scratch/short"
cat >"$scratch/wanted" <<'END'
r1 held
r2 held
r3 failed: its assertion (test_one.card)
r4 not run: no such case there (test_one.card)
r5 not run: no such device (test_one.card)
r6 held
r7 held
r8 failed: no result, exit status 139 (test_cut.card)
r9 not run: no log (test_none.card)
r10 not run: no driver to test with (test_skip.card)
r11 held
r12 failed: its assertion (test_memory.bf16x6)
b1 held
b2 failed: libcuda.so.1: these words: 3 (bad.card)
b3 not run: none (skipping.card)
b4 not run: the script names no driver (nowhere.card)
b5 held
b6 not run: stand-in: order
END
diff "$scratch/wanted" "$scratch/short" || fail 'the logs are read wrongly'

# Where no product went to the card, what scripts say of it counts for nothing.
cp -r "$logs" "$scratch/blind"
rm "$scratch/blind/test_values.strict"
sh "$srcdir/tests/cases_on_a_card.sh" --read "$scratch/blind" >"$scratch/unseen"
for row in r1 b1; do
    grep -q "^$row .*| not run: no product" "$scratch/unseen" || fail "$row is believed without a card"
done

sh "$srcdir/tests/cases_on_a_card.sh" --mark "$scratch/said" || fail 'nothing can be marked'
[ "$(sed -n 1p "$scratch/list")" = '# A head stays.' ] || fail 'the head is gone'
sed -n 's/^\([rb0-9]*\) .*| card$/\1/p' "$scratch/list" | tr '\n' ' ' >"$scratch/marked"
[ "$(cat "$scratch/marked")" = 'r1 r2 r6 r7 r11 b1 b5 ' ] || fail "marked: $(cat "$scratch/marked")"
grep -q '^r3 .*| unseen: failed: its assertion' "$scratch/list" || fail 'a row that failed is still marked'
finish
