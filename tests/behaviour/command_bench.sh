#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shimblas bench, over the stand-in driver and without any: the shapes it was asked for, results that
# are whole, the same in each way of writing, and reasons where something is missing.
. "${srcdir:-.}/tests/behaviour/harness.sh"
need python3

SHIMBLAS_DRIVER=$builddir/tests/stand_in/libcuda.so.1
[ -e "$SHIMBLAS_DRIVER" ] || fail "no stand-in driver at $SHIMBLAS_DRIVER"
export SHIMBLAS_DRIVER
openblas=$(ldconfig -p | awk '$1 == "libopenblas.so.0" { print $NF; exit }')
bench() {
    "$command" bench "$@"
}

cat >"$scratch/read.py" <<'EOS'
import csv, json, sys
page = json.load(open(sys.argv[1]))
check = sys.argv[2]
host, device = page.get("host", []), page.get("device", [])
key = lambda row: (row["m"], row["n"], row["k"], row["trans"], row["pad"])
for row in host:
    assert row["difference"] is not None and row["difference"] < 1e-5, row
    assert row["ms"] > 0 and row["backend_ms"] > 0 and row["x_backend"] is not None, row
bounds = {key(row) + (row["memory"], row["kernel"]): row for row in page.get("bound", [])}
for row in host:
    if row["side"] != "gpu":
        assert row["bound_ms"] is None and row["share"] is None, row
        continue
    bound = bounds[key(row) + (row["memory"], row["kernel"])]
    assert row["bound_ms"] == bound["bound_ms"], (row, bound)
    assert abs(row["share"] - row["bound_ms"] / row["ms"]) < .02 * (1 + row["share"]), row
    parts = [bound[name + "_ms"] for name in ("wire", "arithmetic", "in", "out")]
    assert min(parts) >= 0 and parts[1] > 0, bound
    assert abs(bound["bound_ms"] - max(parts[:2]) - parts[2] - parts[3]) < 3e-4 + .01 * parts[1], bound
tensor = ("sgemm_fp16x3", "sgemm_bf16x6")
for row in device:
    assert row["bits"] == ("emulated" if row["kernel"].startswith(tensor) else "same"), row
    assert (row["split_ms"] is not None) == row["kernel"].startswith(tensor), row
if check == "combinations":
    wanted = [(m, n, k, trans, pad) for m, n, k in ((40, 40, 40), (70, 30, 50))
              for trans in ("nn", "tt") for pad in (0, 3)]
    assert [key(row) for row in host] == 2 * wanted, host
    assert [row["memory"] for row in host] == 8 * ["pageable"] + 8 * ["pinned"], host
    assert {row["side"] for row in host} == {"gpu"} and all(row["kernel"] for row in host), host
    assert [key(row) for row in device] == wanted, device
    assert "peers" not in page
elif check == "listed":
    assert [key(row) for row in host] == [(m, n, k, trans, pad) for m, n, k, trans in
        ((40, 30, 20, "nn"), (9, 9, 9, "tn"), (5, 6, 7, "tt")) for pad in (0, 3)], host
elif check == "ladder":
    kernels = sys.argv[3].split()
    assert [row["kernel"] for row in device] == kernels, [row["kernel"] for row in device]
    assert all(row["ms"] >= 0 for row in device), device
    panels = ("sgemm_bulk", "sgemm_multistage", "sgemm_persistent", "sgemm_slab") + tensor
    assert all((row["pack_ms"] is not None) == row["kernel"].startswith(panels) for row in device), device
    assert not host
elif check == "both":
    assert [row["math"] for row in host] == ["strict", "fp16x3"], host
    assert host[0]["kernel"] != host[1]["kernel"] == "sgemm_fp16x3_128x128x64", host
    assert host[0]["backend_ms"] == host[1]["backend_ms"], host
    assert host[0]["difference"] != host[1]["difference"], host
    assert [row["bits"] for row in device] == ["same", "emulated"], device
elif check == "named":
    names = [row["kernel"] for row in device]
    assert len(names) > 2, names
    assert all(name.startswith("sgemm_rank") or "_gather_64x" in name for name in names), names
elif check == "peers":
    assert "SHIMBLAS_DRIVER" in page["peers"], page["peers"]
    assert all(row["nvblas_ms"] is None and row["cublasxt_ms"] is None for row in host), host
elif check == "all peers":
    for name in "cublasxt", "nvblas", "cublas":
        assert page[name].startswith(sys.argv[3] + "/lib" + name[:6]), page[name]
    for row in host:
        for name in "cublasxt", "nvblas", "nvblas_pinning":
            assert row[name + "_ms"] > 0 and row["x_" + name] is not None, row
    assert [row["memory"] for row in host] == 4 * ["pageable"] + 4 * ["pinned"], host
    assert len(device) == 4 and all(row["cublas_ms"] > 0 and row["x_cublas"] for row in device)
elif check == "nothing":
    assert "bound" not in page, page["bound"]
    assert page["gpu"].startswith("none: ") and page["pinned"].startswith("none: "), page
    assert {row["side"] for row in host} == {"cpu"}, host
    assert {row["reason"] for row in host} == {"no-gpu"}, host
    assert not device
elif check == "crossover":
    rows = page["crossover"]
    assert [row["m"] for row in rows if row["m"] == row["n"] == row["k"]][:6] == [16, 32, 48, 64, 96, 128]
    assert len(rows) == 6 + 12, len(rows)
    ms = ("cpu_predicted_ms", "gpu_ms", "gpu_predicted_ms")
    on_device = page["gpu"].startswith("Stand-in")
    for row in rows:
        assert all(row[name] > 0 for name in ms if on_device or name != "gpu_ms"), row
        m, n, k = row["m"], row["n"], row["k"]
        small = m * n * k < 128 ** 3 and m * n * k + 16 * (m * k + k * n + m * n) < 1.375 * 128 ** 3
        if small or abs(row["gpu_predicted_ms"] / row["cpu_predicted_ms"] - 1) > 0.01:
            faster = row["gpu_predicted_ms"] < row["cpu_predicted_ms"]
            assert row["side"] == ("gpu" if faster and not small else "cpu"), row
        # Times are written with fewer digits than the regret is made of.
        if on_device and row["cpu_ms"] > 0.01:
            better = min(row["cpu_ms"], row["gpu_ms"])
            assert abs(row["regret_%"] - 100 * (row[row["side"] + "_ms"] / better - 1)) < 3, row
            assert 0 <= row["beyond_noise_%"] <= row["regret_%"] + 0.1, row
    assert ("over 18 products" in page["regret"]) if on_device else "regret" not in page, page
    print(sorted(key(row) for row in rows))
elif check == "picks":
    rows, want = page["picks"], {"64x1x64nn", "33x40x300tn"}
    assert {"%dx%dx%d%s" % (row["m"], row["n"], row["k"], row["trans"]) for row in rows} == want, rows
    assert [row["pick"] for row in rows].count("picked") == 2, rows
    for row in rows:
        assert row["predicted_us"] > 0, row
        if row["us"] is not None:
            packs = [row[name] or 0 for name in ("pack_a_us", "pack_b_us")]
            assert abs(row["us"] + sum(packs) - row["all_us"]) < 0.05, row
            assert row["x_best"] >= 1, row
    bulk = [row for row in rows if "_bulk_" in row["kernel"] and row["us"] is not None]
    assert bulk and all(row["pack_b_us"] is not None for row in bulk), bulk
    # A, whose k is slow, is read where it lies.
    assert all((row["pack_a_us"] is None) == (row["trans"] == "nn") for row in bulk), bulk
    assert all(row["pack_a_us"] is None for row in rows if "_gather_" in row["kernel"]), rows
    assert page["regret"].startswith("2 products: "), page["regret"]
elif check == "shapes":
    print(sorted(key(row) for row in host))
EOS
# reads NAME CHECK ARGUMENT... -- COMMAND...: the command's page passes the check.
reads() {
    reads_name=$1 reads_check=$2 reads_words=
    shift 2
    while [ "$1" != -- ]; do
        reads_words=$1
        shift
    done
    shift
    run_as page "$@"
    [ "$(cat "$scratch/page.rc")" = 0 ] && [ "$(wc -l <"$scratch/page.err")" = "${lines:-0}" ] ||
        fail "$reads_name: status $(cat "$scratch/page.rc"), $(head -n 1 "$scratch/page.err")"
    python3 "$scratch/read.py" "$scratch/page.out" "$reads_check" "$reads_words" ||
        { fail "$reads_name"; head -c 600 "$scratch/page.out"; }
}

reads 'combinations' combinations -- bench --json --repeat 1 --sizes 40,70x30x50 \
    --transposes nn,tt --pads 0,3 --pinned
kernels=$("$command" info --kernels | sed -n 's/^  \(sgemm_[a-z0-9_]*x[0-9]*\) .*/\1/p')
[ -n "$kernels" ] || fail 'info --kernels lists none'
reads 'ladder' ladder "$kernels" -- bench --json --repeat 1 --sustained 2 --sizes 70x30x50 --ladder --only device
lines=1
reads 'both kinds of arithmetic' both -- env SHIMBLAS_KERNEL=sgemm_fp16x3_128x128x64 "$command" \
    bench --json --repeat 1 --sizes 40x30x1030 --math both
one_line 'both kinds of arithmetic' "$scratch/page.err"
lines=0
reads 'named kernels' named '' -- bench --json --repeat 1 --sizes 70x30x50 --ladder --kernels rank,gather_64x --only device --offset 1
reads 'peers with another driver' peers -- bench --json --repeat 1 --sizes 40 --peers
lines=1
reads 'no driver' nothing -- env SHIMBLAS_DRIVER=/nowhere.so "$command" bench --json --repeat 1 \
    --sizes 40 --pinned
one_line 'no driver' "$scratch/page.err"
lines=0

# NVIDIA's libraries, as far as they can be had without a GPU: the stand-in under the driver's own name
# and two that multiply on the CPU. A row each, whole results, the configuration as it was meant.
peers=$scratch/peers
mkdir "$peers"
ln -s "$SHIMBLAS_DRIVER" "$peers/libcuda.so.1"
if [ -n "$openblas" ] && [ -z "$sanitizer" ]; then
    "$CC" -shared -fPIC -o "$peers/libcublas.so.13" "$srcdir/tests/cases/fake_cublas.c" \
        "$peers/libcuda.so.1" || fail 'fake_cublas.c'
    "$CC" -shared -fPIC -o "$peers/libnvblas.so.13" "$srcdir/tests/cases/fake_nvblas.c" -ldl ||
        fail 'fake_nvblas.c'
    reads 'all peers' 'all peers' "$peers" -- env -u SHIMBLAS_DRIVER LD_LIBRARY_PATH="$peers" \
        FAKE_NVBLAS_LOG="$scratch/told" "$command" bench --json --repeat 1 --peers --pinned \
        --sizes 40,70x30x50 --transposes nt,tn --pads 3
    for line in "NVBLAS_CPU_BLAS_LIB $openblas" 'NVBLAS_GPU_LIST 0'; do
        [ "$(grep -cxF "$line" "$scratch/told")" = 2 ] || { fail "$line"; cat "$scratch/told"; }
    done
    [ "$(grep -c NVBLAS_AUTOPIN_MEM_ENABLED "$scratch/told")" = 1 ] || fail 'NVBLAS_AUTOPIN_MEM_ENABLED'
fi

# A seed is a list of shapes: the same again for the same, another for another.
for seed in 7 7 8; do
    reads "seed $seed" shapes -- bench --json --repeat 1 --shapes 5 --seed $seed --largest 60 \
        --only host >>"$scratch/lists"
done
[ "$(sort -u "$scratch/lists" | wc -l)" = 2 ] || { fail 'seeds'; cat "$scratch/lists"; }

# Products listed in a file, each with every pad; a bad line is named. Those that are shipped are read.
printf '# a list\n40x30x20\n\n  9 tn # a square\n5x6x7\ttt\n' >"$scratch/list"
reads 'a list of products' listed -- bench --json --repeat 1 --shapes-from "$scratch/list" --pads 0,3 \
    --only host
for line in 4x5 '4x5x0' '4x5x6 nx' '4x5x6 nn tt' '4x5x6 nnn' 'x' '4x5x6x7 nn'; do
    printf '# one\n1x2x3 nn\n%s\n7x7x7\n' "$line" >"$scratch/list"
    run_as wrong bench --repeat 1 --shapes-from "$scratch/list"
    [ "$(cat "$scratch/wrong.rc")" = 2 ] && grep -qF "$scratch/list:3: " "$scratch/wrong.err" &&
        [ ! -s "$scratch/wrong.out" ] || fail "a list with $line: $(head -n 1 "$scratch/wrong.err")"
done
echo '# nothing' >"$scratch/list"
for name in "$scratch/list" "$scratch/nowhere" "$scratch"; do
    run_as wrong bench --repeat 1 --shapes-from "$name"
    [ "$(cat "$scratch/wrong.rc")" = 2 ] && grep -qF "$name: " "$scratch/wrong.err" ||
        fail "a list in $name: status $(cat "$scratch/wrong.rc")"
done
for name in "$srcdir"/doc/shapes/*; do
    # What it ends with is wrong, so that it is read to its end and nothing is multiplied.
    { cat "$name"; echo end; } >"$scratch/list"
    run_as wrong bench --repeat 1 --shapes-from "$scratch/list"
    grep -qF "$scratch/list:$(wc -l <"$scratch/list"): " "$scratch/wrong.err" ||
        fail "$name: $(head -n 1 "$scratch/wrong.err")"
done

# Both sides of the judge, over squares and as many shapes as were asked for.
for seed in 7 7 8; do
    reads "crossover of seed $seed" crossover -- bench --crossover --json --repeat 1 --shapes 12 \
        --seed $seed --largest 70 >>"$scratch/crossover"
done
[ "$(sort -u "$scratch/crossover" | wc -l)" = 2 ] || fail 'crossover: seeds'
lines=1
reads 'crossover without a device' crossover -- env SHIMBLAS_DRIVER=/nowhere.so "$command" bench \
    --crossover --json --repeat 1 --shapes 12 --largest 70 >/dev/null
lines=0

# Every kernel that may be picked, and what is lost by the one that is.
printf '64x1x64 nn\n33x40x300 tn\n' >"$scratch/list"
reads 'picks' picks -- bench --picks --json --repeat 1 --shapes-from "$scratch/list"

# The pictures of it and of the ladder, where they can be drawn.
if command -v gnuplot >/dev/null; then
    run_as crossover bench --crossover --csv --repeat 1 --shapes 12 --largest 70
    run_as regret cat "$scratch/crossover.out"
    run_as ladder bench --ladder --only device --csv --repeat 1 --sizes 64
    run_as share bench --only host --csv --repeat 1 --sizes 64,40x50x60
    cp "$scratch/share.out" "$scratch/parts.out"
    for plot in crossover ladder regret share parts; do
        for kind in svg png; do
            gnuplot -e "data='$scratch/$plot.out'; picture='$scratch/$plot.$kind'" \
                "$srcdir/doc/plots/$plot.gnuplot" >"$scratch/plot" 2>&1
            [ -s "$scratch/$plot.$kind" ] && [ ! -s "$scratch/plot" ] ||
                { fail "$plot.$kind"; head -n 5 "$scratch/plot"; }
        done
    done
    grep -q 'GPU, predicted' "$scratch/crossover.svg" || fail 'crossover.svg has no key'
    for plot in share parts; do
        tr '\n' ' ' <"$scratch/$plot.svg" | grep -q '40 x 50 x 60' || fail "$plot.svg: no product"
    done
    for kernel in $kernels; do
        tr '\n' ' ' <"$scratch/ladder.svg" | grep -q "${kernel#sgemm_} 64" || fail "ladder.svg: no $kernel"
    done
fi

# CSV has the same rows; text has them in lines.
run_as csv bench --csv --repeat 1 --sizes 40,50 --only device
[ "$(grep -c '^[45]0,[45]0,[45]0,nn,0,sgemm_' "$scratch/csv.out")" = 2 ] || fail 'csv'
run_as text bench --repeat 1 --sizes 40,50 --only device
[ "$(grep -c '^  [45]0  [45]0  [45]0  nn .* same ' "$scratch/text.out")" = 2 ] || fail 'text'

# Errors of short sums: no kind of numbers is far out but where terms cancel, and integers are exact.
run_as errors env SHIMBLAS_MODE=cpu "$command" bench --accuracy --longest 128 --csv
awk -F, '/^#/ || $2 == "extent" { next }
    { gsub(/"/, ""); rows++; exact += $1 == "integers" && $8 == 0; wrong += !($9 >= 0 && $9 < 2e-6) }
    $8 != $5 || ($1 != "integers" && $14 != "1.00") { wrong++ }
    END { exit !(rows == 23 && exact == 1 && wrong == 0) }' "$scratch/errors.out" ||
    fail "errors: $(cat "$scratch/errors.out")"

# What is in the loader's scope, and nothing there.
run_as scope bench --scope --sizes 40
[ "$(cat "$scratch/scope.rc")" = 1 ] || fail "scope without a BLAS: status $(cat "$scratch/scope.rc")"
if [ -n "$openblas" ]; then
    run_as scope env LD_PRELOAD="${sanitizer:+$sanitizer }$openblas" "$command" bench --scope \
        --csv --sizes 40 --repeat 1
    grep -q '^40,40,40,nn,0,pageable,[^,]*openblas[^,]*,[0-9.]*,[0-9.]*$' "$scratch/scope.out" ||
        fail "scope: $(tail -n 1 "$scratch/scope.out")"
fi

for words in '--sizes 0' '--sizes 4x5' '--sizes ,' '--transposes nx' '--pads -1' '--repeat 0' '--sustained 0' \
    '--only moon' '--math tf32' '--seed x' '--shapes 0' 'word'; do
    # shellcheck disable=SC2086
    run_as wrong bench $words
    [ "$(cat "$scratch/wrong.rc")" = 2 ] && [ -s "$scratch/wrong.err" ] ||
        fail "bench $words: status $(cat "$scratch/wrong.rc")"
done
finish
