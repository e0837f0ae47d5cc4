#!/bin/bash
# Lines of Kotlin's inline functions, by target.Inlined, whose truth is in its own SMAP: a file of 17 lines, of which
# line 12 calls an inline function, lines 19 to 24.
# timeout: 120
# beside: yes
. "$(dirname "$0")/../lib.sh"
needs_command annotate
head -n 17 "$root/test/java/target/InlinedCode.java" > "$SCRATCH/InlinedCode.kt"

# annotated TRACE: its lines, in a.json and a.txt.
annotated() {
    "$mmprof" annotate --json --source "$SCRATCH" InlinedCode.applyAsDouble "$1" > "$SCRATCH/a.json" 2>&1
    "$mmprof" annotate --source "$SCRATCH" InlinedCode.applyAsDouble "$1" > "$SCRATCH/a.txt" 2>&1
}

# samples_in FIRST LAST: the samples in these lines.
samples_in() {
    python3 -c 'import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
print(sum(r["self_samples"] or 0 for r in rows if r["line"] and int(sys.argv[2]) <= r["line"] <= int(sys.argv[3])))' \
        "$SCRATCH/a.json" "$1" "$2"
}

for jdk in $(jdks); do
    v=$(jdk_version "$jdk")
    java=("$jdk/bin/java" -XX:+EnableDynamicAgentLoading -cp "$classes" target.Inlined)
    "$mmprof" profile -q -d 3 --budget 10% -o "$SCRATCH/started-$v" -- "${java[@]}" 4 > "$SCRATCH/said" 2>&1
    annotated "$SCRATCH/started-$v/phases.dat"
    holds "$v: of a program that is started, they count for the line that calls them" test "$(samples_in 12 12)" -gt 20
    is "$v: no line is behind the end of the file" "$(samples_in 18 99999)" 0
    [ "$jdk" = "$(first_jdk)" ] || continue
    start "$SCRATCH/out" "${java[@]}" 60
    wait_for 20 grep -q READY "$SCRATCH/out"
    "$mmprof" sample -d 2 -F 99 -o "$SCRATCH/s.dat" -p "$pid" > "$SCRATCH/said" 2>&1
    stop "$pid"
    annotated "$SCRATCH/s.dat"
    holds "$v: of one that runs, whose JVM has forgotten that, they are behind the end" \
        test "$(samples_in 18 99999)" -gt 20
    matches "$v: which is said" "$(cat "$SCRATCH/a.txt")" '^note: lines above 17 belong to inline functions \(Kotlin\)'
    is "$v: and the lines of other methods are not this one's" "$(grep -cE '^ *(16|17) ' "$SCRATCH/a.txt")" 0
done
done_testing
