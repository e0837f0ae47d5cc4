#!/bin/bash
# The sources' form: clang-format, cppcheck, shellcheck, calls that nobody makes.
# timeout: 600
# long: yes
# beside: yes
. "$(dirname "$0")/../lib.sh"
cd "$root" || exit 1

sources() {
    find . \( -path ./build -o -path ./.git \) -prune -o -name '*.[ch]' -print | sort
}

scripts() {
    grep -rlE --exclude-dir=build --exclude-dir=.git '^#!/bin/(ba)?sh|^# shellcheck shell=' . | sort
}

mapfile -t c_files < <(sources)
mapfile -t sh_files < <(scripts)
[ ${#c_files[@]} -gt 10 ] && [ ${#sh_files[@]} -gt 4 ] && ok "sources and scripts are found" ||
    not_ok "sources and scripts are found" "${#c_files[@]} sources, ${#sh_files[@]} scripts"

forbidden='(^|[^A-Za-z0-9_])(strcpy|strcat|stpcpy|strncpy|sprintf|vsprintf|gets|alloca|strtok)[[:space:]]*\('
is "nobody calls strcpy, strcat, sprintf, gets, alloca or their like" \
    "$(grep -nE "$forbidden" "${c_files[@]}")" ""
is "such a call is found" "$(printf 'a = my_gets(b);\nstrcpy (a, b);\n' | grep -cE "$forbidden")" 1
hostile='/proc/%[ds]/root[/%]|ELF_C_READ_MMAP|elf_begin\('
is "files of a JVM are opened by core/jvm/jvm_root, and ELF files read, not mapped, by core/jvm/elf_file" \
    "$(grep -nE "$hostile" "${c_files[@]}" | grep -v '^./core/jvm/elf_file.c:')" ""
is "another way is found" "$(printf 'open("/proc/%%d/root/tmp")\nelf_begin(fd)\n' | grep -cE "$hostile")" 2
is "no line is longer than 120 columns, no line ends in a blank" \
    "$(grep -nE '.{121}|[[:space:]]$' "${c_files[@]}" "${sh_files[@]}")" ""
# The words below are what the check looks for.
is "nothing is left to do" "$(grep -nE '(^|[^A-Za-z])(TODO|FIXME|XXX)([^A-Za-z]|$)' "${c_files[@]}")" ""

jdk=$(first_jdk)
alone() {
    local header
    for header; do
        "${CC:-cc}" -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only -I. -I"$SCRATCH" \
            -isystem "$jdk/include" -isystem "$jdk/include/linux" -include "$header" -x c /dev/null \
            > "$SCRATCH/said" 2>&1 || echo "$header"
    done
}
# A header that a source includes before all others is compiled by that.
mapfile -t headers < <(grep -rhm 1 --include='*.c' '^# *include ' core symbolize phases report cmd |
    sed -n 's/.*"\(.*\)"/\1/p' | sort -u | comm -13 - <(find core symbolize phases report cmd -name '*.h' | sort))
is "each header includes what it needs" "$(alone "${headers[@]}")" ""
echo 'bool lonely(void);' > "$SCRATCH/lonely.h"
is "a header that does not is found" "$(alone lonely.h)" "lonely.h"

if command -v clang-format > "$SCRATCH/which"; then
    holds "clang-format would change nothing" clang-format --dry-run -Werror "${c_files[@]}"
else
    skip "clang-format would change nothing" "clang-format is not installed; 'make deps' installs it"
fi

if command -v cppcheck > "$SCRATCH/which"; then
    # One configuration: all of them take twice as long, and the compilers see what is left, also for aarch64.
    check=(cppcheck -D__x86_64__=1 -D__linux__=1 --quiet --error-exitcode=1 --std=c11 --library=posix -j 2
        -I . -I core/emu/tool "--enable=warning,performance,portability" --inline-suppr
        --suppressions-list=.ci/cppcheck-suppressions)
    # Each with its headers; tests run with sanitizers instead.
    mapfile -t units < <(printf '%s\n' "${c_files[@]}" | grep '\.c$' | grep -v '^\./test/')
    holds "cppcheck finds nothing" "${check[@]}" "${units[@]}"
    printf 'int f(void);\nint f(void)\n{\n    int a[2] = { 0, 1 };\n    return a[2];\n}\n' > "$SCRATCH/bad.c"
    "${check[@]}" "$SCRATCH/bad.c" > "$SCRATCH/said" 2>&1 && not_ok "cppcheck finds a bad index" ||
        ok "cppcheck finds a bad index"
else
    skip "cppcheck finds nothing" "cppcheck is not installed; 'make deps' installs it"
fi

if command -v shellcheck > "$SCRATCH/which"; then
    printf '%s\0' "${sh_files[@]}" > "$SCRATCH/scripts"
    holds "shellcheck finds nothing" xargs -0 -n 20 -P 2 -a "$SCRATCH/scripts" \
        shellcheck -x -P SCRIPTDIR -s bash -S warning
else
    skip "shellcheck finds nothing" "shellcheck is not installed; 'make deps' installs it"
fi

done_testing
