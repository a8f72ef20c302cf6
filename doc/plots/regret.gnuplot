# SPDX-License-Identifier: BSD-3-Clause
# Where choices are wrong, and what that costs: each product of `shimblas bench --crossover --csv` at
# the time of the CPU over that of the GPU, as measured and as predicted. Right of and above 1 both say
# GPU, left of and below it both say CPU; the other two quarters hold the wrong choices.
#
#     gnuplot -e "data='crossover.csv'; picture='regret.svg'" doc/plots/regret.gnuplot
set datafile separator ','
set datafile commentschars '#'
if (picture[strlen(picture) - 3:*] eq '.png') {
	set terminal pngcairo size 700,700
} else {
	set terminal svg size 700,700 dynamic background 'white'
}
set output picture
set logscale xy
set xlabel 'times faster on the GPU, measured'
set ylabel 'times faster on the GPU, predicted'
set key off
set grid
set arrow from graph 0, first 1 to graph 1, first 1 nohead lc rgb '#888888'
set arrow from first 1, graph 0 to first 1, graph 1 nohead lc rgb '#888888'
plot data using ($6 / $8):($7 / $9) with points pt 7 ps 0.6 lc rgb '#1f77b4', x with lines lc rgb '#bbbbbb'
