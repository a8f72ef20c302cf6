#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What holds for every file of the tree, and the few things that only one file may do.
. "${srcdir:-.}/tests/behaviour/harness.sh"
need awk find

cd "$srcdir" || exit 1
find src kernels include compat tools tests doc -type f \
    ! -name '*.o' ! -name '*.a' ! -name '*.pyc' ! -name '.dirstamp' ! -path '*/.deps/*' |
    sort >"$scratch/all"
grep -E '\.(c|h|cc|cu|cuh|def|S|sh|py|cpp)$' "$scratch/all" >"$scratch/sources"
[ "$(wc -l <"$scratch/sources")" -ge 60 ] || fail 'the sources are not found any more'

# In a build below the source tree generated files may lie about; they have no line either.
while read -r file; do
    head -n 3 "$file" | grep -q 'SPDX-License-Identifier: BSD-3-Clause' ||
        fail "$file: no SPDX line"
    lines=$(wc -l <"$file")
    [ "$lines" -le 400 ] || fail "$file: $lines lines, more than 400"
done <"$scratch/sources"
for file in configure.ac Makefile.am; do
    head -n 3 "$file" | grep -q 'SPDX-License-Identifier' || fail "$file: no SPDX line"
done

# The library carries an image of each source of kernels; one that it lacks, only a device would miss.
sed -n 's|^SB_IMAGE(\(.*\))$|kernels/\1.cu|p' src/images.def | sort >"$scratch/images"
grep '^kernels/.*\.cu$' "$scratch/all" | diff "$scratch/images" - >"$scratch/apart" ||
    fail "images.def and kernels/: $(cat "$scratch/apart")"

sed 's|.*/||' "$scratch/all" | sort | uniq -d >"$scratch/twice"
while read -r name; do
    fail "there are two files $name: $(grep "/$name\$" "$scratch/all" | tr '\n' ' ')"
done <"$scratch/twice"

# only WHAT PATTERN FILE...: in the code of src/, comments and texts aside, PATTERN is in these only.
only() {
    only_what=$1
    only_pattern=$2
    shift 2
    for only_file in src/*.[ch] src/*.def; do
        case " $* " in
        *" $(basename "$only_file") "*) continue ;;
        esac
        "$CC" -fpreprocessed -dD -E -P -x c "$only_file" 2>/dev/null |
            sed 's/"\([^"\\]\|\\.\)*"/""/g' >"$scratch/code"
        if grep -nE "$only_pattern" "$scratch/code" >"$scratch/found"; then
            fail "$only_file: $only_what: $(head -n 1 "$scratch/found")"
        fi
    done
}

word='(^|[^[:alnum:]_])'
only 'reads the environment' "$word((secure_|__secure_)?getenv|environ|setenv|putenv|unsetenv|clearenv)[^[:alnum:]_]" settings.c
only 'writes' "$word(printf|vprintf|dprintf|vdprintf|puts|putchar|perror|fwrite|writev|pwrite|syslog|psignal)[[:space:]]*\(" trace.c
only 'writes' "$word((write|err|warn|error)[[:space:]]*\(|stderr|stdout|STDERR_FILENO|STDOUT_FILENO)" trace.c report.c
# The report is written into memory, and appended by trace. threads reads the quota of the group,
# profile_file measured speeds.
only 'opens a file' "$word(open|openat|creat|fdopen|popen|freopen)[[:space:]]*\(" trace.c threads.c profile_file.c
only 'ends or signals the process' "$word(abort|exit|_exit|_Exit|quick_exit|raise|kill|tgkill|pthread_kill|assert|longjmp|siglongjmp|system|__builtin_trap)[[:space:]]*\("
only 'has a constructor' "${word}constructor[^[:alnum:]_]|init_array"
only 'interposes by scope' "${word}RTLD_DEEPBIND"
finish
