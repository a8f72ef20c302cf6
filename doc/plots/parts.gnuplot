# SPDX-License-Identifier: BSD-3-Clause
# Where the time of each call goes, as far as the bound explains it: the first panels' way in, the
# slower of wire and arithmetic, the last block's way out, and what is beyond those, from the two tables
# of `shimblas bench --only host --csv`:
#
#     shimblas bench --only host --sizes 512,1024,2048,4096,8192,16384 --csv >host.csv
#     gnuplot -e "data='host.csv'; picture='parts.svg'" doc/plots/parts.gnuplot
#
# A picture whose name ends in .png is one. `shimblas run --trace` shows a single call in full.
set datafile separator ','
if (picture[strlen(picture) - 3:*] eq '.png') {
	set terminal pngcairo size 900,500 noenhanced
} else {
	set terminal svg size 900,500 noenhanced dynamic background 'white'
}
set output picture
set ylabel 'share of the time from call to return'
set yrange [0:1]
set grid y
set style data histograms
set style histogram rowstacked
set style fill solid 0.85 border -1
set boxwidth 0.6
set key outside below
# Of the second table the wire, the arithmetic and the two ends; of the first how long the call took.
rows = "<awk -F, '/^# /{t=$0;i=0} t==\"# host\" && $1+0 && $15+0 {ms[++n]=$12} t==\"# bound\" && $1+0 {s=ms[++i]; w=$8>$9?$8:$9; r=1-($10+w+$11)/s; print $1\" x \"$2\" x \"$3\",\"$10/s\",\"($8>$9?w/s:0)\",\"($8>$9?0:w/s)\",\"$11/s\",\"(r<0?0:r)}' '" . data . "'"
plot rows using 2:xtic(1) title 'first panels in' lc rgb '#6aa5ee', \
	rows using 3 title 'wire' lc rgb '#2a6fc4', \
	rows using 4 title 'arithmetic' lc rgb '#0f7b4f', \
	rows using 5 title 'last block out' lc rgb '#8fc9ae', \
	rows using 6 title 'host copies, launches, waiting' lc rgb '#c9c6bc'
