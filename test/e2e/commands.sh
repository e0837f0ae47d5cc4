#!/bin/bash
# The recorder's commands to the agent: flags under constant switching, methods that come and go, and what goes wrong.
# timeout: 600
# long: yes
. "$(dirname "$0")/../lib.sh"

script() {
    printf '%s\n' "$@" > "$SCRATCH/script"
}

# session MODE TARGET...: runs the script; what it says is in $said.
session() {
    said=$(timeout 120 "$build/test/tools/session_script" "$agent" "$SCRATCH/t.dat" "$SCRATCH/script" "$@" \
        2> "$SCRATCH/errors")
    status=$?
}

# nested CLAIM [LOST]: of the trace just recorded; LOST is a pattern of how many records may be lost: 0.
nested() {
    matches "$1" "$("$build/test/tools/method_counts" "$SCRATCH/t.dat" 2>&1 | tail -n 1)" \
        "^RECORDS [1-9][0-9]* LOST ${2-0} CUT 0 UNNESTED 0\$"
}

# entries PATTERN: the methods in the trace that match, without counts.
entries() {
    "$build/test/tools/method_counts" "$SCRATCH/t.dat" | awk -v part="$1" \
        '$1 == "METHOD" && $3 > 0 && index($2, part) { print $2 }' | sort -u
}

# has_calls: the trace that is being written has some.
has_calls() {
    "$build/test/tools/method_counts" "$SCRATCH/t.dat" 2> "$SCRATCH/ignored" | grep -q '^METHOD'
}

# Entries, returns and exceptions of each method add up, and no method was seen more often than it ran.
consistent() {
    "$build/test/tools/method_counts" "$SCRATCH/t.dat" > "$SCRATCH/seen"
    awk 'NR == FNR { if ($1 == "METHOD") ran[$2] += $3; next }
        $1 == "METHOD" && $3 != $4 + $5 + $6 { print "does not add up: " $0 }
        $1 == "METHOD" && ($2 in ran) { seen[$2] += $3 }
        END { for (m in seen) if (seen[m] > ran[m]) print m " ran " ran[m] " times, seen " seen[m] }' \
        "$SCRATCH/said" "$SCRATCH/seen"
}

# ---- flags ----

# The micro programs check themselves: the first line of defence.
check_stress() {
    local jdk=$1 options=$2 name
    name="JDK $(jdk_version "$jdk")${options:+ $options}"
    script 'stress 4000' 'run'
    # shellcheck disable=SC2086  # several options
    session all --include 'micro/*' -- "$jdk/bin/java" $options -Xmx512m "-Djava.library.path=$classes" \
        -cp "$classes" micro.All
    printf '%s\n' "$said" > "$SCRATCH/said"
    is "$name: with flags switched all the time, programs end as they do" \
        "$status, $(grep -c '^SELF-CHECK .* ok$' <<< "$said") ok, $(grep -c -e WRONG -e FAILED <<< "$said") wrong" \
        "0, 14 ok, 0 wrong"
    matches "$name: and they were switched indeed" "$said" '^END .* switched=[1-9][0-9]{4,}'
    # Millions of records a second: a busy machine's recorder may lose some, and says how many.
    nested "$name: what remains is well nested" '[0-9]+'
    is "$name: and its counts are possible" "$(consistent)" ""
}

# ---- methods that come and go ----

check_live() {
    local jdk=$1 name
    name="JDK $(jdk_version "$jdk")"
    start_busy "$jdk"
    script 'wait 100' \
        'instrument target/Busy round (J)J target/Busy depth (I)I target/Busy nothing ()V no/Such method ()V' \
        'wait 200' \
        'disable depth' 'wait 100' 'enable depth' 'wait 100' \
        'instrument target/Busy corners (I)I' 'wait 200' 'remove depth' 'wait 100' 'remove all' \
        'instrument target/Busy depth (I)I' 'wait 200'
    session live "$pid"
    is "$name: only the class in which methods are named is changed, once" \
        "$(sed -n '1s/ pause_ms.*//p' <<< "$said")" 'instrumented ids=2 unknown=0 classes=1 methods=2 batches=1'
    is "$name: then once more for another method, and for each removal" \
        "$(grep -oE '^(instrumented|removed).* batches=[0-9]+' <<< "$said" | tail -n +2)" \
        "$(printf '%s\n' 'instrumented ids=1 unknown=0 classes=1 methods=1 batches=1' \
            'removed ids=1 unknown=0 classes=1 methods=1 batches=1' \
            'removed ids=3 unknown=0 classes=1 methods=3 batches=1' \
            'instrumented ids=1 unknown=0 classes=1 methods=1 batches=1')"
    is "$name: their calls are recorded, and no others" "$(entries /)" \
        "$(printf '%s\n' 'target/Busy.corners(I)I' 'target/Busy.depth(I)I' 'target/Busy.round(J)J')"
    nested "$name: well nested"
    "$mmprof" dump "$SCRATCH/t.dat" | awk '$3 == "(mmprof)"' > "$SCRATCH/control"
    is "$name: the trace says what was enabled and disabled" \
        "$(grep abled "$SCRATCH/control" | sort -s -k1,1g -k5,5 |
            awk '{ sub(/.*\./, "", $5); sub(/[(].*/, "", $5); printf "%s %s, ", $4, $5 }')" \
        "enabled depth, enabled round, disabled depth, enabled depth, enabled corners, disabled depth, $(
        )disabled corners, disabled depth, disabled round, enabled depth, "
    is "$name: and when the program stood still" "$(grep -c ' pause ' "$SCRATCH/control")" 5
    goes_on "$name: the program goes on"

    script 'wait 300'
    session live "$pid"
    is "$name: in live mode nothing has probes at the start" "$(entries /)" ""
    script 'wait 100'
    session all --include 'target/Busy' "$pid"
    is "$name: a later session is as ever" "$status, $(entries depth)" "0, target/Busy.depth(I)I"

    # Not loaded yet: the names of classes that come are looked at.
    script 'instrument micro/Recursion even (I)Z micro/Recursion catches (I)I' 'run'
    session live -- "$jdk/bin/java" -cp "$classes" micro.Recursion 2000
    matches "$name: a class that is loaded later gets probes where it was named" "$(entries / | tr '\n' ' ')" \
        '^micro/Recursion.catches\(I\)I micro/Recursion.even\(I\)Z $'
    check_wrong "$jdk" "$name"
    stop_busy "$pid" "$name: it ends with the right results"
}

# ---- what goes wrong ----

check_wrong() {
    local jdk=$1 name=$2 other=$pid other_out=$busy_out other_stop=$busy_stop
    script 'disable 1000000' 'enable 0' 'remove 4242' 'instrument target/Busy round (J)J' 'remove 77777'
    session live "$pid"
    is "$name: ids that no method has are counted, and nothing happens" \
        "$status $(grep -oE '^[a-z]+ ids=[0-9]+ unknown=1 classes=0' <<< "$said" | tr '\n' ';')" \
        "0 disabled ids=1 unknown=1 classes=0;enabled ids=1 unknown=1 classes=0;removed ids=1 unknown=1 classes=0;$(
        )removed ids=1 unknown=1 classes=0;"

    # The end of the script is a stop, while the last command is still under way.
    script 'begin instrument target/Busy round (J)J target/Busy depth (I)I' 'begin disable all' 'begin remove all'
    session live "$pid"
    is "$name: a stop ends what is under way" "$status" 0
    script 'instrument target/Busy round (J)J' 'begin instrument target/Busy depth (I)I' 'die'
    session live "$pid"
    is "$name: a recorder is killed in the middle of a command" "$status" 137
    goes_on "$name: the program goes on"
    script 'instrument target/Busy depth (I)I' 'wait 100'
    wait_for 20 session_works
    is "$name: and can be recorded again" "$status, $(entries /)" "0, target/Busy.depth(I)I"

    start_busy "$jdk"
    script 'instrument target/Busy round (J)J' 'stress 300' 'begin instrument target/Busy depth (I)I' 'stress 60000'
    rm -f "$SCRATCH/t.dat"
    (wait_for 60 has_calls; kill -KILL "$pid") &
    session live "$pid"
    matches "$name: the JVM is killed meanwhile: the trace is whole" "$status, $said" '^0, '
    nested "$name: and well nested"
    pid=$other busy_out=$other_out busy_stop=$other_stop
}

session_works() {
    session live "$pid"
    [ $status = 0 ]
}

while read -r jdk; do
    check_stress "$jdk" ''
    check_live "$jdk"
done < <(jdks)
check_stress "$(first_jdk)" '-Xint'
check_stress "$(first_jdk)" '-XX:TieredStopAtLevel=1'

done_testing
