# SPDX-License-Identifier: BSD-3-Clause
# TFLOP/s of every rung at each size, from `shimblas bench --ladder --only device --csv`:
#
#     shimblas bench --ladder --only device --sizes 4096 --csv >ladder.csv
#     gnuplot -e "data='ladder.csv'; picture='ladder.svg'" doc/plots/ladder.gnuplot
#
# A picture whose name ends in .png is one. Several sizes follow one another.
set datafile separator ','
set datafile commentschars '#'
if (picture[strlen(picture) - 3:*] eq '.png') {
	set terminal pngcairo size 1200,600 noenhanced
} else {
	set terminal svg size 1200,600 noenhanced dynamic background 'white'
}
set output picture
set ylabel 'TFLOP/s'
set yrange [0:*]
set key off
set grid y
set style fill solid 0.8
set boxwidth 0.7
set rmargin 14
set xtics rotate by -60 left nomirror
# Columns: m n k trans pad kernel bits ms TFLOP/s. The line above them has no number there.
rung(name) = (strstrt(name, 'sgemm_') == 1 ? name[7:*] : name)
plot data using 0:9:xtic(rung(strcol(6)) . ' ' . strcol(1)) every ::1 with boxes lc rgb '#1f77b4'
