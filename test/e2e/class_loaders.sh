#!/bin/bash
# Class loaders that know only what they were told: their classes are recorded, and no loader hears of it.
# long: yes
# beside: yes
. "$(dirname "$0")/../lib.sh"

# recorded: the program's methods, while loaders come and go.
recorded() {
    said=$("$mmprof" record -d 2 --include 'target/Sandboxes$*' --exclude 'target/Sandboxes$*Sandbox.*' \
        --min-bytecodes 0 -o "$SCRATCH/t.dat" -p "$jvm" 2>&1)
    "$build/test/tools/method_counts" "$SCRATCH/t.dat" > "$SCRATCH/seen"
}

# calls METHOD: of it, in the trace.
calls() {
    awk -v name="target/Sandboxes\$$1(I)I" '$1 == "METHOD" && $2 == name { n += $3 } END { print n + 0 }' \
        "$SCRATCH/seen"
}

# Two classes of one name have rows of their own, which the class loader tells apart: 1 to 3.
told_apart() {
    local v few many
    v="JDK $(jdk_version "$1")"
    rm -f "$SCRATCH/again.csv"
    start "$SCRATCH/two" "$1/bin/java" -Xmx128m -cp "$classes" target.TwoLoaders 60
    wait_for 20 grep -q READY "$SCRATCH/two"
    "$mmprof" sample -d 3 -F 199 --csv -o "$SCRATCH/two.dat" -p "$pid" > "$SCRATCH/two.csv" 2>&1
    stop "$pid"
    for table in two.csv again.csv; do
        [ -s "$SCRATCH/$table" ] || "$mmprof" report --csv "$SCRATCH/two.dat" > "$SCRATCH/$table" 2>&1
        few=$(samples_of "$SCRATCH/$table" 'InlinedCode.applyAsDouble' 'InlinedCode[2].applyAsDouble' | sort -n |
            head -n 1)
        many=$(samples_of "$SCRATCH/$table" 'InlinedCode.applyAsDouble' 'InlinedCode[2].applyAsDouble' | sort -n |
            tail -n 1)
        holds "$v, $table: two classes of one name have a row each ($few and $many samples)" \
            test "$few" -gt 4 -a "$many" -gt $((few * 3 / 2)) -a "$many" -lt $((few * 8))
    done
    is "$v: so they have in exports" \
        "$("$mmprof" export -f folded "$SCRATCH/two.dat" | grep -o 'InlinedCode\(\[2\]\)\?\.applyAsDouble' |
            sort -u | wc -l)" 2
    matches "$v: and can be asked for" "$("$mmprof" annotate 'InlinedCode[2].applyAsDouble' "$SCRATCH/two.dat" 2>&1)" \
        '^method +target\.InlinedCode\[2\]\.applyAsDouble'
}

# A recording with probes counts them together, and says so.
counted_together() {
    "$mmprof" profile -q -d 2 --budget 20% -o "$SCRATCH/profile" -- "$1/bin/java" -cp "$classes" target.TwoLoaders 4 \
        > "$SCRATCH/said" 2>&1
    matches "JDK $(jdk_version "$1"): with probes they share a row, which is said" \
        "$("$mmprof" report --notes "$SCRATCH/profile/phases.dat" 2>&1)" \
        '^note: classes of one name .* share rows, such as target\.InlinedCode; '
    for program in TwoLoaders Misses; do
        "$mmprof" record -q --include 'target/InlinedCode.*' --include 'target/Misses.*' -o "$SCRATCH/$program.dat" \
            -- "$1/bin/java" -cp "$classes" target.$program 1 > "$SCRATCH/said" 2>&1
        "$mmprof" report --notes "$SCRATCH/$program.dat" > "$SCRATCH/$program.txt" 2>&1
    done
    matches "so it is where there are no samples" "$(cat "$SCRATCH/TwoLoaders.txt")" \
        '^note: 1 class name from several class loaders shares rows; '
    is "not of a program without such classes" \
        "$(grep -c '^Misses.link' "$SCRATCH/Misses.txt"), $(grep -c 'class name' "$SCRATCH/Misses.txt")" "1, 0"
}

# samples_of CSV METHOD...: a line for each.
samples_of() {
    python3 -c 'import csv, sys
rows = {row["method"]: row["samples"] for row in csv.DictReader(open(sys.argv[1]))}
print(*(rows.get(name, 0) for name in sys.argv[2:]), sep="\n")' "$@"
}

check() {
    local v
    v="JDK $(jdk_version "$1")"
    rm -f "$SCRATCH/stop"
    start "$SCRATCH/out" "$1/bin/java" -Xmx128m -XX:+EnableDynamicAgentLoading -Xcheck:jni -cp "$classes" \
        target.Sandboxes "$SCRATCH/stop"
    jvm=$pid
    wait_for 20 grep -q '^READY' "$SCRATCH/out"
    for n in first second; do
        recorded
        [ "$(calls Work.run)" -gt 50 ] && [ "$(calls Script.run)" -gt 20 ] &&
            ok "$v, $n recording: their methods are in the trace" ||
            not_ok "$v, $n recording: their methods are in the trace" "$said" "$(cat "$SCRATCH/seen")"
        matches "$v, $n recording: a class whose loader is locked for good is left alone, and that is said" "$said" \
            '^mmprof: [1-9][0-9]* class(es)? not instrumented: .*class loaders'
    done
    touch "$SCRATCH/stop"
    wait_gone 20 "$jvm" || kill -KILL "$jvm"
    is "$v: no call failed, no loader was asked for more than without mmprof, all of them were unloaded" \
        "$(grep -v '^READY' "$SCRATCH/out")" "END ok"
}

while read -r jdk; do
    check "$jdk"
    told_apart "$jdk"
done < <(jdks)
counted_together "$(first_jdk)"

done_testing
