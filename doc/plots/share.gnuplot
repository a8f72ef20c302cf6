# SPDX-License-Identifier: BSD-3-Clause
# Which share of its bound each call reaches, from `shimblas bench --only host --csv`:
#
#     shimblas bench --only host --sizes 512,1024,2048,4096,8192,16384 --csv >host.csv
#     gnuplot -e "data='host.csv'; picture='share.svg'" doc/plots/share.gnuplot
#
# A picture whose name ends in .png is one.
set datafile separator ','
if (picture[strlen(picture) - 3:*] eq '.png') {
	set terminal pngcairo size 900,500 noenhanced
} else {
	set terminal svg size 900,500 noenhanced dynamic background 'white'
}
set output picture
set ylabel 'least time a call can take, of the time it took'
set yrange [0:1.05]
set ytics 0.2
set key off
set grid y
set style fill solid 0.8
set boxwidth 0.6
# Rows of the first table: m n k trans pad memory side reason kernel difference ms TFLOP/s bound share.
rows = "<awk -F, '/^# /{t=$0} t==\"# host\" && $1+0 && $15+0 {print $1\" x \"$2\" x \"$3\" \"$4\",\"$6\",\"$15\",\"$12}' '" . data . "'"
plot rows using 0:3:xtic(stringcolumn(1) . "\n" . stringcolumn(2)) with boxes lc rgb '#0f7b4f', \
	rows using 0:($3 + 0.03):(sprintf('%.2f of %.3g ms', $3, $4)) with labels
