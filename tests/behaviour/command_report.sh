#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shimblas report: a page that is well-formed and needs nothing from elsewhere, of a program's own run,
# of none, of a huge one, of one with hostile names, of several processes and of an older format; what
# is no report is refused with a line.
. "${srcdir:-.}/tests/behaviour/harness.sh"
need xmllint python3
"$command" report /nowhere 2>&1 | grep -q 'without jansson' && skip 'built without jansson'
# What run preloads stands before a sanitizer's run-time, which dislikes that.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS

# page NAME FILE OPTION...: makes $scratch/NAME.html, which is well-formed and stands alone.
page() {
    page_name=$1
    shift
    run_as page "$command" report "$@"
    [ "$(cat "$scratch/page.rc")" = 0 ] && [ ! -s "$scratch/page.err" ] ||
        fail "$page_name: status $(cat "$scratch/page.rc"), $(head -n 1 "$scratch/page.err")"
    [ ! -s "$scratch/page.out" ] || cp "$scratch/page.out" "$scratch/$page_name.html"
    xmllint --noout "$scratch/$page_name.html" 2>"$scratch/lint" ||
        { fail "$page_name is not well-formed"; head -n 5 "$scratch/lint"; }
    grep -Ei '(src|href|url|@import)[ =(]' "$scratch/$page_name.html" && fail "$page_name names a resource"
}

# shape FILE: the elements that hold the page together, and the classes of its marks; no numbers.
shape() {
    python3 - "$1" <<'EOP'
import re, sys
import xml.etree.ElementTree as tree
space = "{http://www.w3.org/1999/xhtml}"
root = tree.parse(sys.argv[1]).getroot()
def walk(node, depth):
    name = node.tag.replace(space, "")
    if name == "style":
        return
    text = (node.text or "").strip() if name in ("h1", "h2", "th") else ""
    print("%s%s%s%s" % ("  " * depth, name, "." + node.get("class") if node.get("class") else "",
                        " " + text if text else ""))
    for child in node:
        walk(child, depth + 1)
walk(root, 0)
EOP
}

# A report as a program on a card writes it, all of whose parts the page shows.
cat >"$scratch/card.json" <<'EOJ'
{"format":2,"version":"0.1.0","process":4242,"program":"/usr/bin/python3","wall":3.600000000,"devices":[0],"gpu":"NVIDIA H200","profile":"built in","total":{"calls":5026,"flops":1e12,"bytes":1e9,"seconds":1.626100},"by":[{"side":"cpu","reason":"small","size":32,"calls":5000,"flops":60000000,"bytes":22000000,"seconds":0.006100},{"side":"cpu","reason":"starting","size":4096,"calls":1,"flops":1e10,"bytes":1e9,"seconds":0.460000},{"side":"gpu","reason":"faster","size":4096,"calls":25,"flops":3e12,"bytes":1e9,"seconds":1.160000}],"classes":[{"side":"cpu","reason":"starting","transposes":"tn","m":2048,"n":68952,"k":432,"alike":true,"calls":1,"flops":122008190976,"bytes":687423488,"seconds":0.460000000,"foreseen":1,"seconds_foreseen":0.460000000,"cpu_predicted":0.460000000,"gpu_predicted":0.086000000,"sooner":0.374000000},{"side":"gpu","reason":"faster","transposes":"nn","m":4096,"n":4096,"k":4096,"alike":false,"kernel":"sgemm_bulk_256x128x32","calls":25,"flops":3435973836800,"bytes":5033164800,"seconds":1.160000000,"foreseen":25,"seconds_foreseen":1.160000000,"cpu_predicted":2.900000000,"gpu_predicted":0.110000000,"sooner":0.000000000,"seconds_bound":1.160000000,"bound":0.580000000},{"side":"cpu","reason":"small","transposes":"nn","m":10,"n":20,"k":30,"alike":true,"calls":5000,"flops":60000000,"bytes":22000000,"seconds":0.006100000}]}
EOJ
cat >"$scratch/trace.json" <<'EOJ'
[
{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"x"}},
{"ph":"X","cat":"call","name":"sgemm nn 9x9x9","pid":1,"tid":1,"ts":1.000,"dur":4000.000,"args":{"call":1,"upload busy ms":2.500,"compute busy ms":3.000,"download busy ms":1.500,"bound ms":2.900}},
{"ph":"X","cat":"call","name":"sgemm nn 8x8x8","pid":1,"tid":1,"ts":9000.000,"dur":9000.000,"args":{"call":2,"side":"cpu"}},
{"ph":"X","cat":"wait","name":"wait","pid":1,"tid":1,"ts":1.000,"dur":200.000,"args":{"call":1}},
{"ph":"X","cat":"fill","name":"fill up A[0
EOJ
page card "$scratch/card.json" --trace "$scratch/trace.json" --output "$scratch/card.html"
shape "$scratch/card.html" >"$scratch/card.shape" || fail 'the page has no shape'
diff "$srcdir/tests/behaviour/report_shape" "$scratch/card.shape" >"$scratch/differs" ||
    { fail 'the page is built otherwise'; head -n 20 "$scratch/differs"; }
# holds PAGE WORDS: are they in it, tags taken away?
holds() {
    sed 's/<[^>]*>//g' "$scratch/$1.html" | tr '\n' ' ' | grep -qF -- "$2" || fail "$1 does not say: $2"
}
holds card '5,026 matrix products took 1.63 s of the 3.60 s that the program ran'
holds card 'the GPU answered 25 of them in 1.16 s, and saved about 1.74 s: the CPU would have taken 2.5 times as long'
holds card 'About 374 ms more could have been saved, most of it missed for starting'
holds card '50 % of the bound'
holds card '2.50 ms, 62 %'
holds card 'about 4096 × 4096 × 4096'
for theme in 'prefers-color-scheme:dark' 'max-width:720px' 'width=device-width'; do
    grep -q "$theme" "$scratch/card.html" || fail "no $theme"
done

# A program's own, through run.
if "$CC" -o "$scratch/calls" "$srcdir/tests/cases/linked.c" -lopenblas 2>"$scratch/cc.err"; then
    "$command" run --report "$scratch/own.json" "$scratch/calls" >/dev/null || fail 'run --report'
    page own "$scratch/own.json"
    holds own '1 matrix product took'
fi

# None, of one process and of several, and the format before.
echo '{"format":2,"version":"0.1.0","process":1,"program":"idle","devices":[],"total":{"calls":0,"flops":0,"bytes":0,"seconds":0.0},"by":[],"classes":[]}' >"$scratch/empty.json"
page empty "$scratch/empty.json"
holds empty 'No matrix product of this program came by ShimBLAS.'
cat "$scratch/card.json" "$scratch/empty.json" "$scratch/card.json" >"$scratch/three.json"
page three "$scratch/three.json"
holds three '10,052 matrix products took 3.25 s in 3 processes'
sed 's/"format":2/"format":1/; s/,"classes":.*/}/; s/,"wall":[0-9.]*//' "$scratch/card.json" >"$scratch/old.json"
page old "$scratch/old.json"
holds old 'This report is of a version that told nothing of shapes.'

# Names that would be markup, and bytes of all kinds.
python3 - "$scratch/card.json" "$scratch/hostile.json" <<'EOP'
import json, sys
report = json.load(open(sys.argv[1]))
evil = "</title><script>alert('x')</script>&\"<!--\x01\x1f\x7f" + "\U0001f600é" * 40
report["program"] = report["gpu"] = report["profile"] = report["version"] = evil
for row in report["classes"] + report["by"]:
    row["reason"] = evil[:20] if row["side"] == "cpu" else evil
    row["kernel"] = row["transposes"] = evil
report["classes"][0]["side"] = evil
json.dump(report, open(sys.argv[2], "w"))
EOP
page hostile "$scratch/hostile.json"
[ "$(grep -ci '<script\|<!--' "$scratch/hostile.html")" = 0 ] || fail 'a name became markup'

# A huge one: ten thousand processes' shapes fit, and the page stays small.
python3 - "$scratch/card.json" >"$scratch/huge.json" <<'EOP'
import json, sys
report = json.load(open(sys.argv[1]))
shape = report["classes"][1]
for process in range(300):
    report["process"] = process
    report["classes"] = [dict(shape, m=1 << i % 31, n=1 << process % 31, k=i + 1, calls=10**12,
                              seconds=1e6) for i in range(60)]
    print(json.dumps(report))
EOP
page huge "$scratch/huge.json"
[ "$(wc -c <"$scratch/huge.html")" -lt 300000 ] || fail "a huge report makes $(wc -c <"$scratch/huge.html") bytes"
holds huge 'more shapes: '
holds huge 'And 250 more.'

# What is no report.
refused() {
    run_as wrong "$command" report "$@"
    [ "$(cat "$scratch/wrong.rc")" = "$wanted" ] && [ ! -s "$scratch/wrong.out" ] &&
        [ "$(wc -l <"$scratch/wrong.err")" -ge 1 ] && grep -q '^shimblas report: ' "$scratch/wrong.err" ||
        fail "report $*: status $(cat "$scratch/wrong.rc"), $(head -n 1 "$scratch/wrong.err")"
}
wanted=1
echo 'no JSON' >"$scratch/bad"
refused "$scratch/bad"
echo '{"format":2}' >"$scratch/bad"
refused "$scratch/bad"
echo '[1]' >"$scratch/bad"
refused "$scratch/bad"
sed 's/"format":2/"format":99/' "$scratch/card.json" >"$scratch/bad"
refused "$scratch/bad"
grep -q 'a newer one' "$scratch/wrong.err" || fail 'a newer format'
head -c 300 "$scratch/card.json" >"$scratch/bad"
refused "$scratch/bad"
: >"$scratch/bad"
refused "$scratch/bad"
refused "$scratch/nowhere"
refused "$scratch"
refused "$scratch/card.json" --output "$scratch/no/such/folder"
echo 'no trace' >"$scratch/bad"
refused "$scratch/card.json" --trace "$scratch/bad"
wanted=2
refused
refused "$scratch/card.json" more
refused "$scratch/card.json" --wrong
finish
