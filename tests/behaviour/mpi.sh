#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ScaLAPACK's own testers of the level-3 PBLAS under MPI, with 2 and 4 ranks: every local product goes
# to the GPU, by the stand-in driver with a device for each second rank, and by a real one where
# there is one.
. "${srcdir:-.}/tests/behaviour/harness.sh"
. "$srcdir/tests/behaviour/blas_dirs.sh"

[ -e "$stand_in" ] || skip 'the stand-in driver is not built'
need mpirun
testers=$multiarch/scalapack/openmpi-tests/PBLAS
[ -x "$testers/spb3tst" ] || skip 'the testers are not installed (scalapack-mpi-test)'

OPENBLAS_NUM_THREADS=1
# More ranks than processors, in whatever container.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_plm=isolated
export OPENBLAS_NUM_THREADS OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM \
    OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_mpi_yield_when_idle OMPI_MCA_btl \
    OMPI_MCA_btl_vader_single_copy_mechanism OMPI_MCA_plm

# All eight problems, once as they come and once with every extent four times as large.
sed 's/^4\(.*number of tests problems\)/8\1/' "$testers/PSBLAS3TST.dat" >"$scratch/small.dat"
awk '/values of ([MNK]|[MN]_[ABC])$/ { for (i = 1; i <= 8; i++) $i *= 4 } { print }' \
    "$scratch/small.dat" >"$scratch/large.dat"

# tester RANKS INPUT
tester() {
    folder=$scratch/$1.$2
    rm -rf "$folder"
    mkdir "$folder"
    cp "$scratch/$2.dat" "$folder/PSBLAS3TST.dat"
    (cd "$folder" && timeout "$limit" mpirun -n "$1" env LD_PRELOAD="$preload" SHIMBLAS_MODE=gpu \
        SHIMBLAS_DRIVER="$driver" SB_STAND_IN=devices=2 SHIMBLAS_REPORT="$folder/report.%p.json" \
        "$testers/spb3tst" >out 2>err) || {
        fail "$1 ranks, $2: exit status $?"
        tail -n 5 "$folder/err"
    }
    grep -q 'Error-exit tests completed' "$folder/out" || fail "$1 ranks, $2: error exits"
    grep -q 'End of Tests' "$folder/out" || fail "$1 ranks, $2: no end"
    [ "$(grep -c 'Computational check: PSGEMM  *PASSED' "$folder/out")" -ge 8 ] ||
        fail "$1 ranks, $2: PSGEMM"
    grep 'FAILED  *\*' "$folder/out" && fail "$1 ranks, $2: the tester found a fault"
    ranks=$(find "$folder" -name 'report.*' | wc -l)
    [ "$ranks" = "$1" ] || fail "$1 ranks, $2: $ranks of them multiplied"
    on_gpu=$(cat "$folder"/report.* | tr '{' '\n' |
        sed -n 's/^"side":"gpu".*"calls":\([0-9]*\).*/\1/p' | awk '{ n += $1 } END { print n + 0 }')
    [ "$on_gpu" -ge 500 ] || fail "$1 ranks, $2: only $on_gpu products on the GPU"
    echo "$driver: $1 ranks, $2: $on_gpu products on the GPU"
}

drivers=$stand_in
nvidia-smi -L 2>/dev/null | grep -q GPU && drivers="$drivers libcuda.so.1"
for driver in $drivers; do
    for ranks in 2 4; do
        tester $ranks small
        tester $ranks large
    done
done
finish
