#!/bin/bash
# Every source compiles without a warning for the other machine, too: x86-64 and aarch64 are both supported.
# long: yes
# beside: yes
. "$(dirname "$0")/../lib.sh"
cd "$root" || exit 1

case $(uname -m) in
    x86_64) other=aarch64 ;;
    *) other=x86_64 ;;
esac
compiler=$other-linux-gnu-gcc
command -v "$compiler" > "$SCRATCH/which" ||
    skip_all "there is no $compiler; Debian's gcc-${other/_/-}-linux-gnu has it, 'make deps' installs it"

# As make compiles it, but for the machine; headers of libraries come from this machine.
flags=(-std=c11 -D_GNU_SOURCE '-DMMPROF_VERSION="0"' -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes
    -Wmissing-prototypes -Wvla -Wformat=2 -Werror -O1 -I. -Icore/emu/tool -idirafter /usr/include)
jdk=$(first_jdk)
n=0 bad=
while read -r source; do
    n=$((n + 1))
    "$compiler" "${flags[@]}" -isystem "$jdk/include" -isystem "$jdk/include/linux" -c -o "$SCRATCH/x.o" "$source" \
        2>> "$SCRATCH/errors" || bad="$bad $source"
done < <(find core symbolize phases report cmd -name '*.c' 2> "$SCRATCH/ignored" | sort)

[ $n -gt 10 ] && ok "the sources are found" || not_ok "the sources are found" "$n"
[ -z "$bad" ] && ok "all compile for $other" || not_ok "all compile for $other" "$bad" "$(cat "$SCRATCH/errors")"

done_testing
