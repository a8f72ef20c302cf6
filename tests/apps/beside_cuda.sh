# SPDX-License-Identifier: BSD-3-Clause
# How a program that uses CUDA itself is held against itself on a machine with a card: the same
# output with and without the shim, which sends each product of host memory to the GPU, with either
# arithmetic; the program's values are whole numbers, so that both sides give the same bits.
. "${srcdir:-.}/tests/apps/programs.sh"

need_card() {
    nvidia-smi -L 2>/dev/null | grep -q GPU || skip 'there is no card here'
}

# beside_cuda NAME LEAST COMMAND...: at least so many products are the GPU's; the shim says nothing
# but that the device is lost, once the program has reset it.
beside_cuda() {
    beside_name=$1
    beside_least=$2
    shift 2
    run_as bare timeout "$limit" "$@"
    [ "$(cat "$scratch/bare.rc")" = 0 ] || {
        fail "$beside_name does not run"
        tail -n 5 "$scratch/bare.err"
        return
    }
    grep -q wrong "$scratch/bare.out" && fail "$beside_name: $(grep wrong "$scratch/bare.out" | head -n 1)"
    for math in strict emulated; do
        beside_math=$([ $math = strict ] && echo strict || echo '[a-z0-9]*x')
        rm -f "$scratch/beside.log"
        run_as shim with_shim SHIMBLAS_MODE=gpu SHIMBLAS_MATH=$math \
            SHIMBLAS_KERNEL="$([ $math = strict ] || echo sgemm_fp16x3_128x128x64)" \
            SHIMBLAS_VERBOSE=1 SHIMBLAS_LOGFILE="$scratch/beside.log" "$@"
        same_run "$beside_name, $math" bare shim
        on_gpu=$(grep -c "side=gpu .*math=$beside_math" "$scratch/beside.log")
        echo "$beside_name, $math: $on_gpu products on the GPU"
        [ "$on_gpu" -ge "$beside_least" ] || fail "$beside_name, $math: fewer than $beside_least"
        grep -v -e 'side=' -e ' is lost (' "$scratch/beside.log" &&
            fail "$beside_name, $math: it has more to say"
    done
}
