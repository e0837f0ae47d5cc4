#!/bin/bash
# report --view pauses: collections, safepoints and class loading as the JVM counted them, held against its own log.
# timeout: 240
. "$(dirname "$0")/../lib.sh"
needs_command report

# The field of a row, by its column: 3 is the number, 4 the time in ns.
cell() {
    tr -d '\r' < "$SCRATCH/pauses" | awk -F, -v kind="$1" -v at="$2" '$1 == kind { print $at }'
}

# between CLAIM VALUE LOW HIGH
between() {
    if awk -v v="$2" -v low="$3" -v high="$4" 'BEGIN { exit !(v != "" && v >= low && v <= high) }'; then
        ok "$1"
    else
        not_ok "$1" "is $2, not within $3 and $4" "$(cat "$SCRATCH/pauses")"
    fi
}

# The pauses of a log, counted, and added up in ms.
of_log() {
    awk '/Pause/ { n++; sub(/ms$/, "", $NF); sum += $NF } END { print n, sum }' "$SCRATCH/gc.log"
}

# one_by_one NAME NUMBER NS: the collections seen, and those that were not, are no more than all, and take no longer.
one_by_one() {
    local seen ns starts
    "$mmprof" report --view collections --csv "$SCRATCH/a.dat" > "$SCRATCH/pauses" 2>&1
    is "$1: collections are listed" $? 0
    seen=$(tr -d '\r' < "$SCRATCH/pauses" | awk -F, 'NR > 1 { n += 1 + $6 } END { print n }')
    ns=$(tr -d '\r' < "$SCRATCH/pauses" | awk -F, 'NR > 1 { ns += $3 } END { print ns }')
    between "$1: no more than there were" "$seen" 1 "$2"
    between "$1: nor longer" "$ns" 1 "$3"
    matches "$1: with their causes" "$(cut -d , -f 1,5 "$SCRATCH/pauses")" '^gc_full,System\.gc\(\)'
    starts=$(tr -d '\r' < "$SCRATCH/pauses" | awk -F, 'NR > 1 && $2 > 0' | wc -l)
    between "$1: each at its time" "$starts" 1 "$2"
    between "$1: and the heap after a full one, in bytes" \
        "$(tr -d '\r' < "$SCRATCH/pauses" | awk -F, '$1 == "gc_full" { print $8 }' | tail -n 1)" 1 20000000
}

check() {
    local jdk=$1 gc=$2 name=$3 n ms
    rm -f "$SCRATCH/gc.log"
    "$mmprof" record -q --include target/Parts.main -o "$SCRATCH/a.dat" -- "$jdk/bin/java" -Xmx128m "-XX:+Use$gc" \
        "-Xlog:gc:file=$SCRATCH/gc.log" -cp "$classes" target.Parts 400 > "$SCRATCH/said" 2>&1
    is "$name: recorded" $? 0
    "$mmprof" report --view pauses --csv "$SCRATCH/a.dat" > "$SCRATCH/pauses" 2>&1
    read -r n ms <<< "$(of_log)"
    is "$name: as many pauses as the JVM's log has" "$(cell gc_all 3)" "$n"
    between "$name: as long as there, within 5 % and 0.1 ms a pause" \
        "$(awk -v ns="$(cell gc_all 4)" 'BEGIN { print ns / 1e6 }')" \
        "$(awk -v ms="$ms" -v n="$n" 'BEGIN { print ms * 0.95 - 0.1 * n }')" \
        "$(awk -v ms="$ms" -v n="$n" 'BEGIN { print ms * 1.05 + 0.1 * n }')"
    between "$name: System.gc() was a full one" "$(cell gc_full 3)" 1 100
    between "$name: each collection is a safepoint" "$(cell safepoints 3)" "$n" 100000
    between "$name: classes were loaded" "$(cell classes 3)" 100 100000
    one_by_one "$name" "$n" "$(cell gc_all 4)"
}

while read -r jdk; do
    for gc in $(collectors_of "$jdk" | grep -v ZGC); do
        check "$jdk" $gc "JDK $(jdk_version "$jdk"), $gc"
    done
done < <(jdks)

# Attached late: what was before does not count.
jdk=$(first_jdk)
[ -n "$jdk" ] || done_testing
start_busy "$jdk" -Xmx64m -XX:+UseSerialGC "-agentpath:$agent=prepare" \
    "-Xlog:redefine+class+nmethod=debug:file=$SCRATCH/redefine.log"
jvm=$pid
"$mmprof" record -q --include target/Busy.round -d 1 -o "$SCRATCH/a.dat" -p "$jvm"
"$mmprof" report --view pauses --csv "$SCRATCH/a.dat" > "$SCRATCH/pauses" 2>&1
between "attached: the JVM's start is not counted: hardly a class was loaded" "$(cell classes 3)" 0 300
is "a JVM that was prepared discards only compiled code that depends on the changed class" \
    "$(grep -o 'Marked [a-z0-9 ]* nmethods' "$SCRATCH/redefine.log" | tr -d 0-9 | tr -s ' ' | sort -u)" \
    "Marked dependent nmethods"
stop "$jvm"

"$mmprof" record -q --include target/Parts.main -o "$SCRATCH/a.dat" -- "$jdk/bin/java" -XX:-UsePerfData -cp "$classes" \
    target.Parts 1 > "$SCRATCH/said" 2>&1
"$mmprof" report --view pauses "$SCRATCH/a.dat" > "$SCRATCH/pauses" 2>&1
is "a JVM that does not count by itself: the report says so" $? 1
matches "and what to do" "$(cat "$SCRATCH/pauses")" 'next: record it again, without -XX:-UsePerfData'

done_testing
