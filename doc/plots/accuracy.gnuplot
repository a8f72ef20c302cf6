# SPDX-License-Identifier: BSD-3-Clause
# Errors of each kind of numbers by each library and arithmetic, from the table that doc/accuracy.sh
# makes:
#
#     doc/accuracy.sh DIR
#     gnuplot -e "data='DIR/errors.csv'; picture='accuracy.svg'; sums=4096" doc/plots/accuracy.gnuplot
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
# Columns: data extent k, and of each way the error: backend cublas strict emulated bf16x6.
kinds = sprintf("awk -F, -v k=%d 'NR > 1 && $3 == k' %s", sums, data)
plot '<' . kinds using 0:4:xtic(1) title 'OpenBLAS' pt 7 ps 1.2 lc rgb '#7f7f7f', \
	'' using 0:5 title 'cuBLAS' pt 9 ps 1.4 lc rgb '#d62728', \
	'' using 0:6 title 'strict' pt 5 ps 1.1 lc rgb '#1f77b4', \
	'' using 0:7 title 'emulated' pt 13 ps 1.6 lc rgb '#2ca02c', \
	'' using 0:8 title 'bf16x6 alone' pt 2 ps 1.2 lc rgb '#9467bd'
