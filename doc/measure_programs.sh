#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Whole-process times of the programs in doc/examples, as they are and under the shim: the least of
# some rounds in which both take turns, and how many of their products went where. They need NumPy,
# scikit-learn and PyTorch; the data come with those.
#
#     doc/measure_programs.sh COMMAND PYTHON [ROUNDS [PROGRAM...]]
#
# COMMAND is the `shimblas` to run them with. The rows are those of doc/measurements.md.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
command=$1 python=$2 rounds=${3:-3}
[ $# -lt 3 ] || shift
shift 2
[ $# -gt 0 ] || set -- patch_neighbours patch_factors patch_autoencoder photo_models digits_network
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# seconds FILE COMMAND...: how long it took is added to FILE.
seconds() {
    into=$1 began=$(date +%s.%N)
    shift
    "$@" >"$scratch/out" 2>"$scratch/err" || { cat "$scratch/err" >&2; exit 1; }
    echo "$began $(date +%s.%N)" | awk '{ printf "%.3f\n", $2 - $1 }' >>"$into"
}

echo '| program | as it is, s | under the shim, s | times as fast | products | on the GPU |'
echo '|---|---|---|---|---|---|'
for program; do
    # The first run reads files that the others find in memory.
    seconds "$scratch/first" "$python" "$here/examples/$program.py"
    for round in $(seq "$rounds"); do
        seconds "$scratch/$program.bare" "$python" "$here/examples/$program.py"
        rm -f "$scratch/report.json"
        seconds "$scratch/$program.shim" "$command" run --report "$scratch/report.json" -- \
            "$python" "$here/examples/$program.py"
    done
    [ -z "${KEEP:-}" ] || cp "$scratch/report.json" "$KEEP/$program.json"
    bare=$(sort -n "$scratch/$program.bare" | head -n 1)
    shim=$(sort -n "$scratch/$program.shim" | head -n 1)
    "$python" - "$scratch/report.json" "$program" "$bare" "$shim" <<'EOP'
import json, sys
calls = gpu = 0
for line in open(sys.argv[1]):
    report = json.loads(line)
    calls += report["total"]["calls"]
    gpu += sum(cell["calls"] for cell in report["by"] if cell["side"] == "gpu")
bare, shim = float(sys.argv[3]), float(sys.argv[4])
print(f"| `{sys.argv[2]}` | {bare:.2f} | {shim:.2f} | {bare / shim:.2f} | {calls} | {gpu} |")
EOP
done
