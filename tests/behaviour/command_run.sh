#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shimblas run: what it sets, what it keeps, and that it becomes the program.
. "${srcdir:-.}/tests/behaviour/harness.sh"

# What run preloads stands before a sanitizer's run-time, which dislikes that.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
first=${sanitizer:-/lib/x86_64-linux-gnu/libm.so.6}
[ -e "$first" ] || first=$(ldconfig -p | awk '$1 == "libm.so.6" { print $NF; exit }')
run() {
    "$command" run "$@"
}

# ends NAME STATUS COMMAND...: the command ends with this status; its streams are kept.
ends() {
    ends_name=$1 ends_status=$2
    shift 2
    run_as ends "$@"
    [ "$(cat "$scratch/ends.rc")" = "$ends_status" ] || {
        fail "$ends_name: status $(cat "$scratch/ends.rc") instead of $ends_status"
        head -n 5 "$scratch/ends.err"
    }
}

says() {
    grep -qF -- "$2" "$scratch/ends.err" || {
        fail "$1: stderr does not say: $2"
        head -n 5 "$scratch/ends.err"
    }
}

# The environment of the program: the library in front, the old value kept, nothing else changed.
variable() {
    sed -n "s/^$1=//p" "$scratch/ends.out"
}
ends 'plain' 0 run env
[ "$(variable LD_PRELOAD)" = "$SB_LIBRARY" ] || fail "LD_PRELOAD is $(variable LD_PRELOAD)"
[ -n "$(variable SHIMBLAS_RUN_ID)" ] || fail 'no SHIMBLAS_RUN_ID'
[ -z "$(variable SHIMBLAS_VERBOSE)$(variable SHIMBLAS_REPORT)" ] || fail 'settings nobody asked for'
ends 'old value' 0 env LD_PRELOAD="$first" "$command" run env
[ "$(variable LD_PRELOAD)" = "$SB_LIBRARY:$first" ] || fail "old LD_PRELOAD: $(variable LD_PRELOAD)"
ends 'empty old value' 0 env LD_PRELOAD= "$command" run env
[ "$(variable LD_PRELOAD)" = "$SB_LIBRARY" ] || fail "empty LD_PRELOAD: $(variable LD_PRELOAD)"
for given in -v:1 --verbose:1 -vv:2 '-v -v:2'; do
    # shellcheck disable=SC2086
    ends "$given" 0 run ${given%:*} env
    [ "$(variable SHIMBLAS_VERBOSE)" = "${given##*:}" ] || fail "$given: $(variable SHIMBLAS_VERBOSE)"
done
ends 'settings pass' 0 env SHIMBLAS_MODE=cpu SHIMBLAS_VERBOSE=1 "$command" run env
[ "$(variable SHIMBLAS_MODE)$(variable SHIMBLAS_VERBOSE)" = cpu1 ] || fail 'a setting was lost'

# The program has the process of the command.
echo "echo \$\$ \$SHIMBLAS_RUN_ID" >"$scratch/ids"
ends 'process id' 0 run sh "$scratch/ids"
read -r own known <"$scratch/ends.out"
[ "$own" = "$known" ] || fail "process $own was announced as $known"

# Reports: from a folder the program leaves, with a percent sign in it, by both spellings. (The
# shell ends by _exit, and then nobody can report.)
need perl
odd=$scratch/100%p
mkdir "$odd"
cd "$odd" || exit 1
ends 'report' 0 run --report none.json perl -e 'chdir "/"'
[ "$(calls_in none.json)" = 0 ] && grep -q '"format":2' none.json || fail 'no report of no calls'
ends 'report=' 0 run --report=table.%p perl -e 'chdir "/"'
set -- table.[0-9]*
[ -s "$1" ] || fail 'no report under a name with %p'
ends 'report to stderr' 0 run --report - true
says 'report to stderr' 'shimblas 0'
[ ! -s "$scratch/ends.out" ] || fail 'a report wrote to stdout'
cd / || exit 1
cat >"$scratch/children" <<'EOS'
/bin/true
exec /bin/true
EOS
ends 'report of children' 0 run --report "$scratch/children.json" sh "$scratch/children"
[ "$(wc -l <"$scratch/children.json")" = 1 ] || fail 'children that made no call reported'

# A program that calls: counted, and its output its own.
if "$CC" -o "$scratch/calls" "$srcdir/tests/cases/linked.c" -lopenblas 2>"$scratch/cc.err"; then
    run_as bare "$scratch/calls"
    run_as shim run --report "$scratch/calls.json" "$scratch/calls"
    same_run 'a program that calls' bare shim
    [ "$(calls_in "$scratch/calls.json")" = 1 ] || fail 'its call was not counted'
    run_as shim run -v "$scratch/calls"
    one_line 'run -v' "$scratch/shim.err"
else
    fail "linked.c with -lopenblas: $(head -n 1 "$scratch/cc.err")"
fi

# Where options end.
ends 'after --' 0 run -- echo -v --report x
[ "$(cat "$scratch/ends.out")" = '-v --report x' ] || fail "after --: $(cat "$scratch/ends.out")"
ends 'the program has options' 0 run -v echo -v -- x
[ "$(cat "$scratch/ends.out")" = '-v -- x' ] || fail "its options: $(cat "$scratch/ends.out")"
ends '-- and a program like an option' 127 run -- -v
says '-- and a program like an option' '-v: No such file'

# Exit statuses.
ends 'the status of the program' 3 run sh -c 'exit 3'
ends 'a signal' 143 sh -c "\"$command\" run sh -c 'kill -TERM \$\$'"
ends 'no such program' 127 run "$scratch/absent"
says 'no such program' 'absent: No such file'
ends 'not on the path' 127 run no-such-program-of-ours
: >"$scratch/data"
ends 'no program' 126 run "$scratch/data"
ends 'a folder' 126 run "$scratch"
ends 'no words' 125 run
says 'no words' 'usage: shimblas run'
ends 'unknown option' 125 run --wrong true
says 'unknown option' 'no such option: --wrong'
ends 'unknown letter' 125 run -x true
ends 'a value missing' 125 run --report
says 'a value missing' 'wants a value'
ends 'a value too many' 125 run --verbose=1 true

# Paths that LD_PRELOAD cannot hold.
for name in 'a b' 'a:b'; do
    mkdir "$scratch/$name"
    cp "$command" "$SB_LIBRARY" "$scratch/$name"
    ends "$name" 125 "$scratch/$name/shimblas" run true
    says "$name" 'cannot hold a path with a space or a colon'
done

# Installed below a staging root, and in a tree that was moved as a whole.
unset MAKEFLAGS MFLAGS MAKELEVEL
make -s -C "$builddir" install DESTDIR="$scratch/stage" >"$scratch/install.log" 2>&1 ||
    { fail 'make install'; tail -n 5 "$scratch/install.log"; }
for installed in $(find "$scratch/stage" -type f -name shimblas -perm -100); do
    tree=$(dirname "$(dirname "$installed")")
    wanted=$(find "$scratch/stage" -name libshimblas.so.0)
    ends 'staged' 0 "$installed" run env
    [ "$(variable LD_PRELOAD)" = "$wanted" ] || fail "staged: $(variable LD_PRELOAD)"
    mv "$tree" "$scratch/moved"
    wanted=$(find "$scratch/moved" -name libshimblas.so.0)
    ends 'moved' 0 "$scratch/moved/bin/shimblas" run env
    [ "$(variable LD_PRELOAD)" = "$wanted" ] || fail "moved: $(variable LD_PRELOAD)"
done
[ -d "$scratch/moved" ] || fail 'the command is not installed'
mkdir "$scratch/alone"
cp "$command" "$scratch/alone"
if ! grep -aq libshimblas /usr/local/lib/libshimblas.so.0 2>/dev/null; then
    ends 'no library' 125 "$scratch/alone/shimblas" run true
    says 'no library' 'no libshimblas.so.0 here'
fi
finish
