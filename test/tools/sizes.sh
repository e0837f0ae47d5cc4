#!/bin/bash
# How large the product is: test/tools/sizes.sh [BUILD]
#
# Of each program and library: the C files and headers that it is linked of and their lines, by the linker's map and the
# compiler's list of includes (both are made by 'make'), and its bytes of code and data.  Then the whole product's
# lines, headers, options and manual.
set -eu
build=${1:-${BUILD:-build}}
cd "$(dirname "$0")/../.."

rooms='core symbolize phases report cmd'

# linked NAME OBJECTS: the product's files that NAME is linked of; OBJECTS is where those are.
linked() {
    grep -oE "(core|symbolize|phases|report|cmd)/[a-z0-9_/]+\.o" "$build/$1.map" | sort -u | sed 's/o$/d/' |
        while read -r list; do
            [ ! -f "$2/$list" ] || tr ' ' '\n' < "$2/$list"
        done | sed 's/:$//' | grep -E '^(core|symbolize|phases|report|cmd)/.*\.[ch]$' | sort -u
}

# row NAME FILE: of the files on the standard input.
row() {
    local files lines bytes=-
    files=$(cat)
    lines=$(xargs cat <<< "$files" | wc -l)
    [ -z "$2" ] || bytes=$(size "$2" | awk 'NR == 2 { print $1 + $2 }')
    printf '%-36s %8d %8d %8d %12s\n' "$1" "$(grep -c '\.c$' <<< "$files")" "$(grep -c '\.h$' <<< "$files")" "$lines" \
        "$bytes"
}

printf '%-36s %8s %8s %8s %12s\n' 'program' '.c' '.h' 'lines' 'bytes'
linked mmprof "$build" | row mmprof "$build/mmprof"
linked libmmprof-agent.so "$build/pic" | row libmmprof-agent.so "$build/libmmprof-agent.so"
{ linked mmprof "$build"; linked libmmprof-agent.so "$build/pic"; } | sort -u | row '  both' ''
for program in lab fleet mcp; do
    linked mmprof-$program "$build" | row "mmprof-$program" "$build/libexec/mmprof/mmprof-$program"
done
linked libmmprof-lab-agent.so "$build/pic" | row libmmprof-lab-agent.so "$build/libmmprof-lab-agent.so"
# shellcheck disable=SC2086  # several folders
find $rooms -name '*.[ch]' | row 'the whole product' ''

# options WHERE: of all commands, in --help or --help-all.
options() {
    for command in $("$build/mmprof" help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'); do
        printf '%s %d\n' "$command" "$("$build/mmprof" "$command" "$1" | grep -cE '^  (-., |    )--')"
    done | awk '{ n += $2; all = all ", " $1 " " $2 } END { printf "%d: %s\n", n, substr(all, 3) }' | fold -s -w 120
}
echo
echo "options in --help, $(options --help)"
echo "options in --help-all, $(options --help-all)"
echo "words of the manual $(cat man/*.[1-8] | wc -w), of README and CONTRIBUTING \
$(cat README.md CONTRIBUTING.md | wc -w)"
