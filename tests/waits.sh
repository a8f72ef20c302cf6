#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every wait of the data path, and of the kernels on the tensor cores, is needed: taken away, a suite
# fails. One row a wait: what waits, the file, the sed command that takes the wait away, the suite
# that notices. Each is taken away in a copy of the source tree, built, and seen to fail there;
# minutes, so it is run by hand:
#     IMAGES=BUILD-WITH-IMAGES tests/waits.sh [PATTERN]
# What is a wait: a dependency of a step of the plan (await_needs() in carry_steps.c makes a stream
# wait for it), sb_carry_await_program(), the waits for slots in ring.c, the drain at the end.
# Dependencies within one stream are kept by the stream itself, and no row is here for them. In a
# kernel: barriers, fences, waits for copies and for products, and the hold after the latter.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

rows() {
    cat <<'ROWS'
no wait at all is taken away|src/carry.c|/^#include "carry.h"/s/$//|-test_plan test_plan_split test_carry test_transfer test_offload test_offload_runs test_operands test_team test_team_faults
a stream waits for a step of another|src/carry_steps.c|/^static enum sb_status await_needs/,/^}/{s/status = await_step(c, step, c, .*/status = SB_OK;/}|test_offload
a device waits for the one whose panel it fetches|src/carry_steps.c|s/status = await_step(c, step, owner.*/status = SB_OK;/|test_team
a panel is fetched after its owner's step is queued|src/carry_steps.c|s/return step->kind != SB_STEP_PEER .*/return true;/|test_team
what comes from another device after the clearing|src/plan_among.c|/need(step, s->cleared)/d|test_plan_split
GEMM after its panel of A of another device|src/plan_lay.c|/need(step, a->newest_peer)/d|test_plan_split
GEMM after its panel of B of another device|src/plan_lay.c|/need(step, b->newest_peer)/d|test_plan_split
the GEMM of the first own panel after all common panels of before|src/plan_among.c|s/if (step > \*newest)/if (!peer \&\& step > *newest)/|test_plan_split
clear after the GEMM that reads the slot|src/plan_lay.c|/^void sb_plan_land/,/SB_STEP_CLEAR/s/need_readers(l,$/(void)(l,/|test_plan
up after the GEMM that reads the slot|src/plan_lay.c|/SB_STEP_CLEAR, SB_STREAM_UP/,/SB_STEP_UP, SB_STREAM_UP/s/need_readers(l,$/(void)(l,/|test_plan
pack after the GEMM that reads the slot|src/plan_lay.c|/need_readers(l, step, operand, slot)/d|test_plan
raw up after the pack that reads the buffer|src/plan.c|/need(step, l->raw_packed/d|test_plan
pack after its raw up|src/plan.c|/need(step, sb_plan_last(l) - 1)/d|test_plan
pack after its raw up, operands whole on the device|src/plan_whole.c|/need(step, up)/d|test_plan
a panel is split after it has arrived|src/plan_lay.c|/need(step, arrived)/d|test_plan
a panel from another device is split after it has arrived|src/plan_lay.c|/need(step, arrived)/d|test_plan_split
down after its GEMM|src/plan_lay.c|/need(step, sb_plan_last(l) - 1)/d|test_plan
GEMM after its panel of A|src/plan_lay.c|/need(step, a->newest)/d|test_plan
GEMM after its panel of B|src/plan_lay.c|/need(step, b->newest)/d|test_plan
GEMM after the down of its buffer|src/plan_lay.c|/need(step, l->downed/d|test_plan
a run after the run that lay in its slot was read|src/plan_lay.c|/SB_STEP_CLEAR, SB_STREAM_UP/,/SB_STEP_UP, SB_STREAM_UP/s/need_readers(l,$/(void)(l,/|test_offload_runs
a run is packed after the run before it in its slot was read|src/plan_lay.c|/need_readers(l, step, operand, slot)/d|test_offload_runs
the first run of a block after the down of its buffer|src/plan_lay.c|/need(step, l->downed/d|test_offload_runs
a run of B is there before its GEMM|src/plan_lay.c|/need(step, b->newest)/d|test_offload_runs
blocks go down after their last run|src/plan_lay.c|/need(step, sb_plan_last(l) - 1)/d|test_offload_runs
products after the program's own streams|src/carry.c|s/status = sb_carry_await_program(all->device, (enum sb_stream)i)/status = SB_OK/|test_operands
packing after the program's own streams|src/carry.c|s/int i = SB_STREAM_PACK; status/int i = SB_STREAM_COMPUTE; status/|test_operands
staged down after the program's own streams|src/staged.c|s/= sb_carry_await_program(s->device, SB_STREAM_DOWN)/= SB_OK/|test_operands
staged down after streams of another device|src/staged.c|s/status = await_owner(.*;/status = SB_OK;/|test_operands
a copy up after its slot is full|src/ring.c|/^static enum sb_status turn_up/,/^}/s/if (!sb_copy_threads_done(&slot->job))/if (0)/|test_offload
a slot refilled after its copy up|src/ring.c|/^static enum sb_status turn_up/,/^}/s/status = sb_device_poll(.*;/status = SB_OK;/|test_offload
a commit after its copy down|src/ring.c|/^static enum sb_status turn_down/,/^}/s/status = sb_device_poll(.*;/status = SB_OK;/|test_offload
a slot fetched into after its commit|src/ring.c|/^static enum sb_status turn_down/,/^}/s/if (!slot->forgotten \&\& !sb_copy_threads_done(&slot->job))/if (0)/|test_offload
the return of a product in place after its end|src/carry.c|s/drained = drain_all(all, count)/drained = SB_OK/|test_operands
the return of a staged product after its end|src/staged.c|s/return status == SB_OK ? sb_carry_drain(.*;/return status;/|test_operands
fp16x3: a step of k after its copy|kernels/sgemm_fp16x3.cu|/if (step > slab)$/,+1{s/sb_copy_barrier_wait(tiles.full\[at.stage\], at.parity);/;/}|test_emulated_kernels
fp16x3: a slab after its copy|kernels/sgemm_fp16x3.cu|/^\t\t\tsb_copy_barrier_wait(tiles.full\[at.stage\], at.parity);/d|test_emulated_kernels
fp16x3: a stage filled again after it was read|kernels/sgemm_fp16x3.cu|/sb_copy_barrier_wait(tiles.empty/{:a;/;/!{N;ba};s/.*/;/}|test_emulated_kernels
fp16x3: a stage left after its products|kernels/sgemm_fp16x3.cu|/SB_DEVICE static void begin(/,/^\t}/{/sb_mma_wait<1>();/d}|test_emulated_kernels
fp16x3: high parts' sums after their products|kernels/sgemm_fp16x3.cu|/SB_DEVICE static void go_on(/,/^\t}/{/sb_mma_wait<1>();/d}|test_emulated_kernels
fp16x3: cross sums after their products|kernels/sgemm_fp16x3.cu|/sb_mma_wait<0>();/d|test_emulated_kernels
fp16x3: high parts' sums held|kernels/sgemm_fp16x3.cu|/sb_mma_hold(temp);/d|test_emulated_kernels
fp16x3: cross sums held|kernels/sgemm_fp16x3.cu|/sb_mma_hold(cross);/d|test_emulated_kernels
fp16x3: products after a fence|kernels/sgemm_fp16x3.cu|/sb_mma_fence();/d|test_emulated_kernels
fp16x3: scales read by all before a stage is left|kernels/sgemm_fp16x3.cu|/All lanes have read/{n;d}|test_emulated_kernels
fp16x3: barriers made before the other block uses them|kernels/sgemm_fp16x3.cu|0,/sb_cluster_barrier();/s/sb_cluster_barrier();/;/|test_emulated_kernels
fp16x3: nobody leaves before the other|kernels/sgemm_fp16x3.cu|/Nobody leaves/{n;d}|test_emulated_kernels
fp16x3: barriers published|kernels/sgemm_fp16x3.cu|/sb_copy_barrier_publish();/d|test_emulated_kernels
bf16x6: floats of A after their copy|kernels/sgemm_bf16x6.cu|/sb_copy_barrier_wait(tiles.come_a/{:a;/;/!{N;ba};s/.*/;/}|test_emulated_kernels
bf16x6: floats of B after their copy|kernels/sgemm_bf16x6.cu|/sb_copy_barrier_wait(tiles.come_b/{:a;/;/!{N;ba};s/.*/;/}|test_emulated_kernels
bf16x6: floats overwritten after all have read them|kernels/sgemm_bf16x6.cu|/sb_copy_barrier_wait(tiles.gone_a/{:a;/;/!{N;ba};s/.*/;/}|test_emulated_kernels
bf16x6: a stage filled again after it was read|kernels/sgemm_bf16x6.cu|/sb_copy_barrier_wait(tiles.empty/{:a;/;/!{N;ba};s/.*/;/}|test_emulated_kernels
bf16x6: products after the split|kernels/sgemm_bf16x6.cu|/sb_copy_barrier_wait(tiles.full/{:a;/;/!{N;ba};s/.*/;/}|test_emulated_kernels
bf16x6: what the other warpgroup has found, after it said so|kernels/sgemm_bf16x6.cu|/sb_copy_barrier_wait(tiles.told/{:a;/;/!{N;ba};s/.*/;/}|test_emulated_kernels
bf16x6: the tensor core sees what was stored|kernels/sgemm_bf16x6.cu|/sb_tensor_fence();/d|test_emulated_kernels
bf16x6: a warp has read and stored before a lane says so|kernels/sgemm_bf16x6.cu|/sb_tensor_fence();/{n;d}|test_emulated_kernels
bf16x6: products after a fence|kernels/sgemm_bf16x6.cu|/sb_mma_fence();/d|test_emulated_kernels
bf16x6: sums after their products|kernels/sgemm_bf16x6.cu|/sb_mma_wait<0>();/d|test_emulated_kernels
bf16x6: sums held|kernels/sgemm_bf16x6.cu|/sb_mma_hold(temp);/d|test_emulated_kernels
bf16x6: a warp has looked before a lane says so|kernels/sgemm_bf16x6.cu|/SB_DEVICE static void release(/,/^\t}/{/sb_warp_barrier();/d}|test_emulated_kernels
split: the largest after all warps' own|kernels/split_fp16.cu|0,/^\t\tsb_barrier();/{/^\t\tsb_barrier();/d}|test_emulated_kernels
split: elements after their scale|kernels/split_fp16.cu|/sb_store_int(args.exponents/,/float scale\[4\]/{/sb_barrier();/d}|test_emulated_kernels
ROWS
}

mkdir "$scratch/build"
cp -r "$root" "$scratch/tree"
cd "$scratch/build" || exit 1
../tree/configure -q ${IMAGES:+--with-images="$IMAGES"} >configure.log 2>&1 || {
    tail -n 5 configure.log
    exit 1
}
unneeded=0
rows | grep -e "${1:-.}" >"$scratch/rows"
while IFS='|' read -r wait file command suites; do
    wanted=fails
    case $suites in -*) wanted=passes suites=${suites#-} ;; esac
    cp "$scratch/tree/$file" "$scratch/kept"
    sed -i "$command" "$scratch/tree/$file"
    # shellcheck disable=SC2086
    make -s libshimblas.so.0 tests/stand_in/libcuda.so.1 $suites >make.log 2>&1 </dev/null || {
        echo "does not build: $wait"
        tail -n 3 make.log
        unneeded=1
    }
    [ $wanted = passes ] || cmp -s "$scratch/tree/$file" "$scratch/kept" && [ $wanted = fails ] && {
        echo "not found: $wait"
        unneeded=1
    }
    for suite in $suites; do
        found=passes
        builddir=. SB_LIBRARY=./libshimblas.so.0 timeout 300 "./$suite" >run.log 2>&1 </dev/null ||
            found=fails
        echo "$suite $found: $wait"
        [ $found = $wanted ] || unneeded=1
    done
    cp "$scratch/kept" "$scratch/tree/$file"
done <"$scratch/rows"
exit $unneeded
