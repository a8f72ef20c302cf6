# SPDX-License-Identifier: BSD-3-Clause
# Both sides over square sizes, measured and predicted, from `shimblas bench --crossover --csv`:
#
#     shimblas bench --crossover --csv >crossover.csv
#     gnuplot -e "data='crossover.csv'; picture='crossover.svg'" doc/plots/crossover.gnuplot
#
# A picture whose name ends in .png is one.
set datafile separator ','
set datafile commentschars '#'
if (picture[strlen(picture) - 3:*] eq '.png') {
	set terminal pngcairo size 900,600
} else {
	set terminal svg size 900,600 dynamic background 'white'
}
set output picture
set logscale xy
set xlabel 'm = n = k'
set ylabel 'milliseconds from call to return'
set key left top
set grid
set xrange [12:11000]
set xtics (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
# Columns: m n k trans pad, CPU measured and predicted, GPU measured and predicted.
square(y) = (column(1) == column(2) && column(2) == column(3) ? y : NaN)
plot data using 1:(square($6)) with points pt 7 lc rgb '#1f77b4' title 'CPU, measured', \
	data using 1:(square($7)) with points pt 6 lc rgb '#1f77b4' title 'CPU, predicted', \
	data using 1:(square($8)) with points pt 5 lc rgb '#d62728' title 'GPU, measured', \
	data using 1:(square($9)) with points pt 4 lc rgb '#d62728' title 'GPU, predicted'
