#!/bin/bash
# A code cache that is full is said to be: target.Compiles in 2.5 MB of it, in enough, and a program
# that compiles little.
# timeout: 300
# long: yes
. "$(dirname "$0")/../lib.sh"

# recorded WORD OPTION... CLASS ARGUMENT...: the notes and metadata of a recording, begun when the program
# has said WORD.
recorded() {
    local word=$1
    shift
    start "$SCRATCH/out" "$jdk/bin/java" -Xmx256m -XX:+EnableDynamicAgentLoading -cp "$classes" "$@"
    wait_for 120 grep -q "$word" "$SCRATCH/out"
    "$mmprof" record -q -d 1 -o "$SCRATCH/a.dat" --include 'target.*' -p "$pid" > "$SCRATCH/said" 2>&1
    stop "$pid"
    notes=$("$mmprof" report --notes "$SCRATCH/a.dat" 2>&1)
    info=$("$mmprof" dump "$SCRATCH/a.dat" | grep -a 'code.cache')
}

for jdk in $(jdks); do
    v=$(jdk_version "$jdk")
    recorded READY -XX:ReservedCodeCacheSize=2496k target.Compiles "$SCRATCH"
    matches "$v: 2.4 MB that are full are said to be, with what to do" "$notes" \
        'the code cache is full \(2\.[0-9] of 2\.4 MB\): .*; raise -XX:ReservedCodeCacheSize'
    [ "$jdk" = "$(first_jdk)" ] || continue
    recorded READY -XX:ReservedCodeCacheSize=200m target.Compiles "$SCRATCH"
    matches "$v: 200 MB have room" "$info" 'room [0-9]+ [0-9]+ 0'
    is "$v: nothing is said of them" "$(grep 'code cache' <<< "$notes")" ''
    recorded ROUND target.Busy "$SCRATCH/never"
    matches "$v: a program that compiles little has room" "$info" 'room [0-9]+ [0-9]+ 0'
    is "$v: and nothing is said of it" "$(grep 'code cache' <<< "$notes")" ''
done
done_testing
