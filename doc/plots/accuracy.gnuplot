# SPDX-License-Identifier: BSD-3-Clause
# Errors of each kind of numbers by each arithmetic, from the table that tests/cases/errors_emulated
# prints, or from the one that doc/accuracy.sh makes on a card:
#
#     tests/cases/errors_emulated 128 4096 >errors.csv
#     gnuplot -e "data='errors.csv'; picture='accuracy.svg'; sums=4096" doc/plots/accuracy.gnuplot
#
# A picture whose name ends in .png is one. `sums` is the length of the sums that are shown.
set datafile separator ','
if (picture[strlen(picture) - 3:*] eq '.png') {
	set terminal pngcairo size 1200,640 noenhanced
} else {
	set terminal svg size 1200,640 noenhanced dynamic background 'white'
}
set output picture
set title sprintf('Frobenius norm of the error over that of the product, sums of %d', sums)
set logscale y
set format y '%.0e'
set grid y
set key outside top center horizontal
set xtics rotate by -40 left nomirror
set rmargin 16
set style data points
# Columns: data k, and of each way the error: OpenBLAS, one chain or cuBLAS, strict, emulated, bf16x6.
rows = sprintf("<awk -F, 'NR == 1 || ($2 == %d && $3 > 0)' %s", sums, data)
plot rows using 0:3:xtic(1) title columnheader(3) pt 7 ps 1.2 lc rgb '#7f7f7f', \
	rows using 0:4 title columnheader(4) pt 9 ps 1.4 lc rgb '#d62728', \
	rows using 0:5 title columnheader(5) pt 5 ps 1.1 lc rgb '#1f77b4', \
	rows using 0:6 title columnheader(6) pt 13 ps 1.6 lc rgb '#2ca02c', \
	rows using 0:7 title columnheader(7) pt 2 ps 1.2 lc rgb '#9467bd'
