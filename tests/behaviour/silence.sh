#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs that know no BLAS must not notice us, and neither must what reads their output.
. "${srcdir:-.}/tests/behaviour/harness.sh"

tree=$scratch/tree
mkdir -p "$tree/a/b"
printf 'pear 3\napple 10\nfig 7\n' >"$tree/list"
printf 'plain words\n' >"$tree/a/b/words"
touch -d '2001-02-03 04:05:06' "$tree" "$tree/a" "$tree/a/b" "$tree/list" "$tree/a/b/words"

# One command a line; the last two end badly on purpose, and have to end as badly with us.
cat >"$scratch/commands" <<EOF
ls -la $tree
sh -c 'for i in 1 2 3; do echo \$((i * i)); done'
awk '{ s += \$2 } END { print s }' $tree/list
sed -n 's/fig/date/p' $tree/list
grep -rc words $tree
sort -k2 -n $tree/list
perl -e 'print join(",", sort { \$a <=> \$b } 10, 9, 8), qq(\n); print STDERR qq(aside\n); exit 3'
$python -c 'import json, sys; print(json.dumps({"a": [1, 2.5]})); sys.exit(4)'
tar -C $tree -cf - --sort=name .
find $tree -type f -printf '%f %s\n'
od -An -tx1 $tree/list
env printf '%s\n' word
ls $tree/absent
sh -c 'kill -TERM \$\$'
EOF

while read -r line; do
    unchanged "$line" sh -c "exec $line"
done <"$scratch/commands"

# The preload reaches every child of a shell: chatter on load would end up in its data.
run_as echo with_shim sh -c 'echo x'
[ "$(cat "$scratch/echo.out")" = x ] || fail "sh -c 'echo x' wrote something else to stdout"
[ ! -s "$scratch/echo.err" ] || fail "sh -c 'echo x' wrote to stderr"

# Asking for everything changes nothing in a program that never calls us.
run_as bare sh -c 'echo x; ls /'
run_as shim with_shim SHIMBLAS_VERBOSE=2 SHIMBLAS_LOGFILE="$scratch/log.%p" sh -c 'echo x; ls /'
same_run 'settings in a program without BLAS' bare shim

# Closed standard streams: nothing of ours may open in their place.
cat >"$scratch/fds.py" <<'EOF'
import os
print(sorted(int(name) for name in os.listdir("/proc/self/fd")))
EOF
unchanged 'open file descriptors' "$python" "$scratch/fds.py"
finish
