#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Where the time of a program's calls went: traces that are JSON whoever writes them and however he
# ends, the text, and what a profiler is told. With none of these asked for, nothing.
. "${srcdir:-.}/tests/behaviour/harness.sh"
need python3
[ -e "$stand_in" ] || skip 'the stand-in driver is not built'
SHIMBLAS_DRIVER=$stand_in SHIMBLAS_MODE=gpu
export SHIMBLAS_DRIVER SHIMBLAS_MODE

cat >"$scratch/read.py" <<'EOS'
import json, sys
text = open(sys.argv[1]).read()
closed = text.endswith("\n]\n")
assert closed == (sys.argv[2] == "whole") or sys.argv[2] == "either", text[-40:]
if not closed:  # a process that died leaves the bracket out, and nothing else
    text += "]"
events = json.loads(text)
processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
spans = [e for e in events if e["ph"] == "X"]
assert len(spans) + 2 * len(processes) + 2 * len(tracks) == len(events), events
calls = [e for e in spans if e["cat"] == "call"]
for e in spans:
    call = calls[e["args"]["call"] - 1]
    assert e["pid"] in processes and (e["pid"], e["tid"]) in tracks, e
    assert e["dur"] >= 0 and e["ts"] >= call["ts"], (e, call)
    assert e["ts"] < call["ts"] + call["dur"], (e, call)
    if e["name"].startswith("gemm C["):
        assert e["args"]["kernel"].startswith("sgemm_") and e["args"]["TFLOP/s"] >= 0, e
    if e["name"].startswith(("up ", "down ")) and e["cat"] == "copy":
        assert e["args"]["bytes"] > 0, e
if len(sys.argv) > 3:
    assert len(calls) == int(sys.argv[3]), len(calls)
named = {(e["args"]["call"], e["name"].split("[")[0]) for e in spans}
on_device = [call for call in range(1, len(calls) + 1) if (call, "backend") not in named]
for call in on_device:
    for name in "up A", "up B", "gemm C", "down C":
        assert (call, name) in named, (call, name)
callers = {e["tid"] for e in calls}
assert all(tracks[(e["pid"], e["tid"])] == "calling thread" for e in calls)
assert not on_device or {tracks[(p, t)] for (p, t) in tracks if p != calls[0]["pid"]} >= {
    "up", "compute", "down"}
# What is on one track of a device does not overlap.
ends = {}
for e in sorted(spans, key=lambda e: e["ts"]):
    track = e["pid"], e["tid"]
    if e["pid"] != calls[0]["pid"]:
        assert e["ts"] >= ends.get(track, 0) - 0.002, (e, ends[track])
        ends[track] = e["ts"] + e["dur"]
print(len(callers))
EOS
# reads NAME FILE whole|cut|either [CALLS]: the file is a trace; the number of its calling threads is kept.
# A child of fork may have calls on the CPU alone.
reads() {
    reads_name=$1
    shift
    callers=$(python3 "$scratch/read.py" "$@" 2>"$scratch/read.err") || {
        fail "$reads_name: $1"
        tail -n 2 "$scratch/read.err" | cut -c 1-300
    }
}

# traced FILE COMMAND...: by the command; where a sanitizer wants to be first, by hand as it does it.
traced() {
    traced_file=$1
    shift
    if [ -n "$sanitizer" ]; then
        rm -f "$traced_file"
        with_shim SHIMBLAS_TRACE="$traced_file" "$@"
    else
        "$command" run --trace "$traced_file" "$@"
    fi
}

# One process, several calls.
run_as plain traced "$scratch/plain.json" "$cases/plain" 3
[ ! -s "$scratch/plain.err" ] || fail "run --trace says: $(head -n 1 "$scratch/plain.err")"
reads 'three calls' "$scratch/plain.json" whole 3
run_as plain traced "$scratch/plain.json" "$cases/plain" 2
reads 'in place of the last' "$scratch/plain.json" whole 2
run_as plain traced "$scratch/fork.json" env SHIMBLAS_PANELS=3 SHIMBLAS_PINNED_MEMORY=128K \
    SHIMBLAS_THREADS=2 SB_STAND_IN=seed=3 "$cases/fork_again" 600
reads 'pieces' "$scratch/fork.json" whole 2

# A picture of it, where there is something to draw with.
if command -v gnuplot >/dev/null; then
    sh "$srcdir/doc/draw_timeline.sh" "$scratch/fork.json" "$scratch/picture.svg" 1 &&
        grep -q '>calling thread<' "$scratch/picture.svg" &&
        grep -q '>sgemm nn 600x600x600: ' "$scratch/picture.svg" || fail 'no picture'
    sh "$srcdir/doc/draw_timeline.sh" "$scratch/fork.json" "$scratch/no.svg" 9 2>/dev/null &&
        fail 'a picture of a call that is not there'
fi

# What the CPU answers is in it too, unless it is small.
cat >"$scratch/sides.c" <<'EOS'
#include <stdlib.h>
extern void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int,
			float, float *, int);
int main(void)
{
	static const int sizes[] = {200, 20, 150};
	float *a = calloc(3 * 200 * 200, sizeof *a);
	for (int i = 0; a && i < 3; i++)
		cblas_sgemm(102, 111, 111, sizes[i], sizes[i], sizes[i], 1, a, 200, a + 40000, 200, 0,
			    a + 80000, 200);
	return !a;
}
EOS
cat >"$scratch/cpu.py" <<'EOS'
import json, sys
events = json.load(open(sys.argv[1]))
assert sorted(e["name"] for e in events if e.get("cat") == "call") == [
    "sgemm nn 150x150x150", "sgemm nn 200x200x200"], events
backend = [e for e in events if e.get("cat") == "backend"]
calls = [e for e in events if e.get("cat") == "call"]
assert len(backend) == 2, backend
for call, part in zip(calls, backend):
    assert call["args"]["side"] == "cpu", call
    assert call["ts"] <= part["ts"] and part["args"]["call"] == call["args"]["call"]
    assert part["ts"] + part["dur"] <= call["ts"] + call["dur"] and part["dur"] > 50, (call, part)
EOS
if "$CC" -o "$scratch/sides" "$scratch/sides.c" -lopenblas 2>"$scratch/cc.err"; then
    for mode in cpu auto; do
        run_as sides with_shim SHIMBLAS_MODE=$mode SHIMBLAS_VERBOSE=2 SHIMBLAS_DRIVER=/nowhere \
            SHIMBLAS_TRACE="$scratch/$mode.json" "$scratch/sides"
        python3 "$scratch/cpu.py" "$scratch/$mode.json" 2>"$scratch/read.err" || {
            fail "calls on the CPU: $mode"
            tail -n 2 "$scratch/read.err" | cut -c 1-300
        }
        ! grep -q timeline "$scratch/sides.err" || fail 'the CPU has a timeline in text'
    done
    # What the device has failed, the CPU does.
    run_as sides with_shim SHIMBLAS_TRACE="$scratch/failed.json" SB_STAND_IN=lose=launch:2 \
        "$scratch/sides"
    grep -c '"cat":"backend"' "$scratch/failed.json" >"$scratch/count"
    [ "$(cat "$scratch/count")" -ge 1 ] || fail 'no part of the CPU where the device failed'
fi

# Several calling threads in one file.
run_as threads with_shim SHIMBLAS_TRACE="$scratch/threads.json" "$cases/many_threads"
reads 'many threads' "$scratch/threads.json" whole
[ "$callers" -ge 20 ] || fail "many threads: $callers callers"

# Several processes: a file each, whether the name says so or not.
run_as late with_shim SHIMBLAS_TRACE="$scratch/late.json" "$cases/fork_again" late 100
[ "$(find "$scratch" -name 'late.json*' | wc -l)" -ge 2 ] || fail 'processes share a file'
for each in "$scratch"/late.json*; do
    reads 'each process' "$each" either
done
cat >"$scratch/two" <<EOS
"$cases/plain" & "$cases/plain" & wait
EOS
run_as two with_shim SHIMBLAS_TRACE="$scratch/two.%p.json" sh "$scratch/two"
[ "$(find "$scratch" -name 'two.*.json' | wc -l)" = 2 ] || fail 'no file a process by %p'
for each in "$scratch"/two.*.json; do
    reads 'each process by %p' "$each" whole 1
done

# Only the bracket is missing where the process dies; what is no file of ours is left alone.
cat >"$scratch/dies.c" <<'EOS'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
extern void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int,
			float, float *, int);
int main(int argc, char **argv)
{
	float a[6] = {1}, b[6] = {1}, c[4];
	(void)argv;
	cblas_sgemm(101, 111, 111, 2, 2, 3, 1, a, 3, b, 2, 0, c, 2);
	if (argc == 1)
		_exit(0);
	if (fork() == 0) {
		cblas_sgemm(101, 111, 111, 2, 2, 3, 1, a, 3, b, 2, 0, c, 2);
		exit(0);
	}
	wait(NULL);
	cblas_sgemm(101, 111, 111, 2, 2, 3, 1, a, 3, b, 2, 0, c, 2);
	return 0;
}
EOS
if "$CC" -o "$scratch/dies" "$scratch/dies.c" -lopenblas 2>"$scratch/cc.err"; then
    run_as dies with_shim SHIMBLAS_TRACE="$scratch/dies.json" "$scratch/dies"
    reads 'a process that died' "$scratch/dies.json" cut 1
    run_as dies with_shim SHIMBLAS_TRACE="$scratch/parent.json" "$scratch/dies" fork
    reads 'a child that ended' "$scratch/parent.json" whole 2
fi
ln -s "$scratch/elsewhere" "$scratch/link.json"
run_as link with_shim SHIMBLAS_TRACE="$scratch/link.json" "$cases/plain"
[ ! -e "$scratch/elsewhere" ] || fail 'a symbolic link was followed'
run_as nowhere with_shim SHIMBLAS_TRACE=/nowhere/trace.json "$cases/plain" 3
one_line 'a file that cannot be' "$scratch/nowhere.err"

# The text: every step of the plan once with its times, and the summary.
run_as text with_shim SHIMBLAS_VERBOSE=2 SHIMBLAS_PANELS=3 "$cases/fork_again" late 600
sed -n 's/^shimblas: step [0-9]*: //p' "$scratch/text.err" | sort >"$scratch/planned"
sed -n 's/^shimblas:   [a-z]* *2* *[0-9.]*  *[0-9.]*  \([a-z]* [ABC]\[[^]]*\]\).*/\1/p' \
    "$scratch/text.err" | sort >"$scratch/told"
[ -s "$scratch/planned" ] && diff "$scratch/planned" "$scratch/told" ||
    fail 'text: steps (< planned, > told)'
grep -q '^shimblas: timeline: upload busy [0-9.]*, compute busy .* first panel in [0-9.]*, last block out [0-9.]*, total [0-9.]*, [0-9.]* of the bound' \
    "$scratch/text.err" || fail 'text: no summary'
grep -q '^shimblas:   caller    .*prepare' "$scratch/text.err" || fail 'text: no caller'

# A profiler: loaded by the first call and not before; a call with its steps, all in our domain.
grep -q 'define HAVE_NVTX3_NVTOOLSEXT_H 1' "$builddir/config.h" || finish
NVTX_INJECTION64_PATH=$builddir/tests/cases/nvtx_listener.so NVTX_LISTENER_LOG=$scratch/ranges
export NVTX_INJECTION64_PATH NVTX_LISTENER_LOG
run_as silent with_shim SHIMBLAS_TRACE="$scratch/silent.json" /bin/true
[ ! -e "$scratch/ranges" ] && [ ! -e "$scratch/silent.json" ] || fail 'something happens on load'
run_as ranges with_shim "$cases/plain" 2
[ "$(cat "$scratch/ranges.out")" = '58 64 139 154' ] || fail 'another result'
grep -q ' 0 none: listening$' "$scratch/ranges" || fail 'the profiler was not loaded'
for range in '0 ShimBLAS: sgemm nn 2x2x3' '1 ShimBLAS: up A\[0+2\]' '1 ShimBLAS: gemm C\[0+2, 0+2\]' \
    '[01] ShimBLAS: fill' '[01] ShimBLAS: commit'; do
    [ "$(grep -c " $range\$" "$scratch/ranges")" -ge 2 ] || fail "no range $range"
done
finish
