#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What the device compiler said of each kernel, for each architecture that this build is for: nothing
# spilled, registers for as many blocks as the row asks for, no more shared memory than there is;
# and, where there is a disassembler, the share of FMAs in the loops that matter.
. "${srcdir:-.}/tests/behaviour/harness.sh"
need awk

cd "$builddir" || exit 1
cat kernels/*.report >"$scratch/reports" 2>/dev/null
grep -q 'Compiling entry function' "$scratch/reports" || skip 'the images were not compiled here'

# kernel, threads, blocks, dynamic shared memory, least architecture
sed -n 's/^SB_KERNEL(\([a-z0-9]*\), \([0-9]*\), \([0-9]*\), \([0-9]*\), /sgemm_\1_\2x\3x\4, /p' \
    "$srcdir/kernels/kernels.def" | tr -d ' ' |
    awk -F, '{ print $1, $2, $3, $7, $9 }' >"$scratch/rows"
sed -n 's/^SB_TENSOR(\([a-z0-9]*\), \([0-9]*\), \([0-9]*\), \([0-9]*\), /sgemm_\1_\2x\3x\4, /p' \
    "$srcdir/kernels/kernels.def" | tr -d ' ' |
    awk -F, '{ print $1, $2, 1, $5, $7 }' >>"$scratch/rows"
[ "$(wc -l <"$scratch/rows")" -eq "$(grep -cE '^SB_(KERNEL|TENSOR)\(' "$srcdir/kernels/kernels.def")" ] ||
    fail 'the rows of kernels.def are not understood any more'

awk '
    # Threads that a multiprocessor holds, by architecture; see device.cuh.
    function resident(arch) {
        return arch == 75 ? 1024 : arch == 80 || arch == 90 || arch == 100 ? 2048 : 1536
    }
    function number_before(line, word) {
        return match(line, "[0-9]+ " word) ? substr(line, RSTART, RLENGTH) + 0 : 0
    }
    FILENAME ~ /rows$/ { threads[$1] = $2; blocks[$1] = $3; dynamic[$1] = $4; least[$1] = $5; next }
    /Compiling entry function/ {
        split($0, quoted, "\047")
        kernel = quoted[2]; arch = quoted[4]; sub(/^sm_/, "", arch); sub(/[a-z]$/, "", arch)
        seen[kernel] = 1
    }
    /bytes spill stores/ {
        spilt = number_before($0, "bytes spill stores")
        if (spilt)
            print kernel " for sm_" arch ": " spilt " bytes spilt"
    }
    /Used [0-9]+ registers/ && kernel in threads {
        registers = int((number_before($0, "registers") + 7) / 8) * 8
        wanted = blocks[kernel]
        if (wanted * threads[kernel] > resident(arch))
            wanted = int(resident(arch) / threads[kernel])
        if (wanted < 1)
            wanted = 1
        if (registers * threads[kernel] * wanted > 65536)
            print kernel " for sm_" arch ": " registers " registers leave no room for " wanted " blocks"
        fixed = number_before($0, "bytes smem")
        if (fixed > 49152 || dynamic[kernel] > 232448)
            print kernel " for sm_" arch ": " fixed + dynamic[kernel] " bytes of shared memory"
    }
    END {
        for (kernel in threads)
            if (!(kernel in seen))
                print kernel ": not in any report"
    }
' "$scratch/rows" "$scratch/reports" >"$scratch/wrong"
while read -r line; do
    fail "$line"
done <"$scratch/wrong"

# share ARCH KERNEL LEAST [singly]: per cent of FMAs in the innermost loop that has any number of them;
# an instruction that does two counts as two, and where there is one the loop has no other, but for a
# kernel whose registers do not suffice for pairs.
share() {
    cuobjdump -arch "sm_$1" -sass -fun "sgemm_$2" "kernels/sgemm_${2%%_*}.fatbin" 2>/dev/null | awk -v arch="$1" -v least="$3" -v singly="${4:-}" '
        match($0, /\/\*[0-9a-f]+\*\//) && /;/ {
            at[++n] = substr($0, RSTART + 2, RLENGTH - 4)
            index_of[at[n]] = n
            text = substr($0, RSTART + RLENGTH)
            sub(/^ *(@!?U?P[0-9T]+ +)?/, "", text)
            pairs[n] = pairs[n - 1] + (text ~ /^FFMA2/)
            fmas[n] = fmas[n - 1] + (text ~ /^FFMA/) + (text ~ /^FFMA2/)
            if (text ~ /^BRA/ && match(text, /0x[0-9a-f]+/)) {
                to = substr(text, RSTART + 2, RLENGTH - 2)
                while (length(to) < length(at[n]))
                    to = "0" to
                begin = index_of[to]
                if (begin && fmas[n] - fmas[begin - 1] >= 256) {
                    length_of = n - begin + 1 + pairs[n] - pairs[begin - 1]
                    part = 100 * (fmas[n] - fmas[begin - 1]) / length_of
                    if (part > best) {
                        best = part
                        single = fmas[n] - fmas[begin - 1] - 2 * (pairs[n] - pairs[begin - 1])
                    }
                }
            }
        }
        END {
            printf "%.1f\n", best
            exit best < least || ((arch == 100 || arch == 103) && single > 0 && singly == "")
        }' >"$scratch/share" ||
        fail "sgemm_$2 for sm_$1: $(cat "$scratch/share") % of the main loop are FMAs, less than $3, or not in pairs"
    echo "sgemm_$2 for sm_$1: $(cat "$scratch/share") % of the main loop are FMAs"
}

# waits ARCH: what may be brought to the device before the launch ahead of it has ended waits for that.
waits() {
    for image in kernels/pack_*.fatbin kernels/split_*.fatbin kernels/sum_*.fatbin; do
        cuobjdump -arch "sm_$1" -sass "$image" 2>/dev/null |
            awk '/Function :/ { kernels++ } / ACQBULK/ { waiting++ } END { exit !kernels || kernels != waiting }' ||
            fail "$image for sm_$1: not every kernel waits for the launch before"
    done
}

# The loops that large products spend their time in, on every architecture that has them.
archs=$(sed -n "s/.*entry function 'sgemm_bulk_.* for 'sm_\([0-9]*\)'.*/\1/p" "$scratch/reports" | sort -un)
command -v cuobjdump >/dev/null || archs=
[ -n "$archs" ] || echo 'no cuobjdump: the share of FMAs is not looked at'
for arch in $archs; do
    [ "$arch" -lt 80 ] && continue
    share "$arch" multistage_128x128x32 92
    share "$arch" gather_128x128x32 92 singly
    share "$arch" gather_128x64x16 92 singly
    [ "$arch" -lt 90 ] && continue
    waits "$arch"
    share "$arch" bulk_128x128x32 92
    share "$arch" persistent_128x128x32 92
    # Where there is shared memory enough; elsewhere these are empty.
    case $arch in 90 | 100 | 103)
        share "$arch" bulk_256x128x32 92
        share "$arch" persistent_256x128x32 92
        ;;
    esac
done
finish
