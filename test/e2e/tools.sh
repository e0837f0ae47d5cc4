#!/bin/bash
# The three tools of thesis §2.4, as short as there, on programs whose numbers are known.
# timeout: 300
# beside: yes
# long: yes
. "$(dirname "$0")/../lib.sh"

jdk=$(first_jdk)
[ -n "$jdk" ] || skip_all "there is no JDK 17 or 25"
command -v "qemu-$(uname -m)" > "$SCRATCH/which" || skip_all "qemu-user is not installed; 'make deps' installs it"

# lines_of TOOL: those of code, without comments and empty ones.
lines_of() {
    "${CC:-cc}" -fpreprocessed -dD -E -P "$root/core/emu/tool/examples/example_$1.c" | grep -c '[^[:space:]]'
}

is "the address trace is a function of few lines" "$(($(lines_of addresses) <= 8))" 1
is "lifetimes take at most 50" "$(($(wc -l < "$root/core/emu/tool/examples/example_lifetimes.c") <= 50))" 1
is "caches at most 200" "$(($(wc -l < "$root/core/emu/tool/examples/example_misses.c") <= 200))" 1

# run TOOL FILE OPTION...: with the program behind.
run() {
    local tool=$1 file=$2
    shift 2
    "$mmprof" memtrace --tool="$build/example_$tool.so" -o "$file" -- \
        "$jdk/bin/java" -Xint -XX:+UseSerialGC -cp "$classes" "$@" > "$SCRATCH/said" 2>&1
    is "$tool: the program ends as it should" "$?, $(grep -vc '^[0-9]*$' "$SCRATCH/said")" "0, 0"
}

# What it writes is too much for a file.
mkfifo "$SCRATCH/pipe"
awk '!/^access by insn @ 0x[0-9a-f]+ to memory location 0x[0-9a-f]+ of size [1248]$/ { odd++ }
    END { print (NR > 500000), odd + 0 }' < "$SCRATCH/pipe" > "$SCRATCH/addresses" &
run addresses "$SCRATCH/pipe" target.Misses 1 1024
wait $!
is "addresses: a line for each access" "$(cat "$SCRATCH/addresses")" "1 0"

run lifetimes "$SCRATCH/lifetimes" -Xmn8m -Xmx64m target.Follow
is "lifetimes: of objects whose number is known within what the JVM needs itself" \
    "$(awk 'NR == 1 { print ($1 >= 1500 && $1 <= 10000) }' "$SCRATCH/lifetimes")" 1
is "they grow to all of them" "$(awk 'NR > 1 { ok = $2 >= last; last = $2; bad += !ok } END { print bad + 0, last }' \
    "$SCRATCH/lifetimes")" "0 100.00"

run misses "$SCRATCH/misses" -Xmx128m target.Misses 1

# row LABEL: misses of L1 and L2 in the first row whose label begins so.
row() {
    awk -v label="$1" '
        index($0, "  " label) > 0 { gsub(/\([ 0-9.]*%\)/, ""); print $2, $3; exit }' "$SCRATCH/misses"
}

# near CLAIM "L1 L2" EXPECTED_L1 EXPECTED_L2: within 1 %.
near() {
    local l1=${2% *} l2=${2#* }
    if [ -n "$2" ] && [ "$l1" -ge "$3" ] && [ "$((l1 * 100))" -le "$(($3 * 101))" ] &&
        [ "$l2" -ge "$4" ] && [ "$((l2 * 100))" -le "$(($4 * 101))" ]; then
        ok "$1: $2"
    else
        not_ok "$1" "is: $2" "expected: $3 and $4, and at most 1 % more"
    fi
}

# An array of 8 MB, of which one long in 64 bytes is read, once: each is in another line of L1, and each second one in
# another line of L2.
near "misses: of the array, each line's first read" "$(row '[J')" 131072 65536
near "misses: and of that one object" "$(row '[J of 8388624 bytes')" 131072 65536
if [ "$(uname -m)" = x86_64 ]; then
    near "misses: and the line of Java that does it" "$(row 'target/Misses.add([J)J Misses.java:')" 131072 65536
else
    skip "misses: and the line of Java that does it" "which bytecode is interpreted is known on x86-64 only"
fi

# uses CLASS: what the tool says of the objects of a class that begins so; without a file, on the standard output.
uses() {
    "$mmprof" memtrace --tool="$build/example_native_uses.so,target/NativeUses\$$1" -- \
        "$jdk/bin/java" -Xint -XX:+UseSerialGC -cp "$classes" target.NativeUses > "$SCRATCH/uses" 2> "$SCRATCH/said"
    grep 'last used' "$SCRATCH/uses"
}
is "objects that the JVM used last are found" "$(uses Hashed)" "500 objects, 500 (100.00 %) last used by native code"
is "from those that Java used last" "$(uses Read)" "500 objects, 0 (0.00 %) last used by native code"

run_events() {
    "$mmprof" memtrace --tool="$build/example_events.so" -o "$SCRATCH/events" -- "$jdk/bin/java" -Xmx64m \
        -XX:+UseSerialGC -Xcomp -XX:CompileCommand=quiet -XX:CompileCommand=compileonly,micro.Plugin::run \
        -cp "$classes" micro.Loaders 30 1 > "$SCRATCH/said" 2>&1
    grep -q 'SELF-CHECK micro/Loaders ok' "$SCRATCH/said"
}

# n_of WHAT NAME: the lines of it.
n_of() {
    awk -v what="$1" -v name="$2" '$2 == what && $3 == name' "$SCRATCH/events" | wc -l
}

holds "events: the program ends as it should" run_events
is "a class is told once for each of the loaders that define it" "$(n_of load micro/Plugin)" 30
is "each of three collections begins and ends" "$(n_of collection began), $(n_of collection ended)" "3, 3"
matches "what is compiled is discarded with its class, later" \
    "$(awk '$3 == "micro/Plugin.run" { what[n++] = $2 } END { for (i = 0; i < n; i++) printf "%s ", what[i] }' \
        "$SCRATCH/events")" '^compile-c1 .*discard-c1'
is "and no code is discarded that was not compiled" \
    "$(awk '$2 == "compile-c1" { n[$3]++ } $2 == "discard-c1" && n[$3]-- <= 0' "$SCRATCH/events")" ""

done_testing
