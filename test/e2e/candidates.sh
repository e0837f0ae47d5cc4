#!/bin/bash
# Stack samples of running programs: the methods that they find worth probes hold the phases that a recording of all
# methods finds; the program is left as it was.
# timeout: 600
# long: yes
. "$(dirname "$0")/../lib.sh"

candidates=$build/test/tools/stack_candidates

# value KEY FILE: of the line SAMPLES.
value() {
    sed -n "s/^SAMPLES.* $1=\([0-9]*\).*/\1/p" "$2"
}

# at_least CLAIM NUMBER LEAST FILE
at_least() {
    [ "${2:-0}" -ge "$3" ] && ok "$1" || not_ok "$1" "is $2, expected at least $3" "$(tail -n 12 "$4")"
}

at_most() {
    [ "${2:-1000000000}" -le "$3" ] && ok "$1" || not_ok "$1" "is $2, expected at most $3" "$(tail -n 12 "$4")"
}

# recall FILE SHARE: percent of the phases with this share that are candidates; and how many there are in $n_phases.
recall() {
    local line
    line=$(grep "^RECALL share=$2" "$1")
    n_phases=$(sed 's/.* phases=\([0-9]*\).*/\1/' <<< "$line")
    n_found=$(sed 's/.* found=\([0-9]*\).*/\1/' <<< "$line")
    percent=$((n_phases == 0 ? 0 : 100 * n_found / n_phases))
}

check_attached() {
    local jdk=$1 v jvm missing=
    v="JDK $(jdk_version "$jdk")"
    start "$SCRATCH/running" "$jdk/bin/java" -cp "$classes" micro.Thesis 100 10000
    jvm=$pid
    wait_for 20 attachable "$jvm"
    "$candidates" "$agent" "$SCRATCH/late.dat" polling 2 "$jvm" > "$SCRATCH/late" 2>&1
    is "$v: a running program is sampled" "$?" 0
    for method in main readData sortData compare swap; do
        grep -q "^OVER.* micro/Thesis\.$method(" "$SCRATCH/late" || missing="$missing $method"
    done
    is "$v: the methods that take its time are candidates" "$missing" "" || cat "$SCRATCH/late"
    at_least "$v: samples come" "$(value samples "$SCRATCH/late")" 20 "$SCRATCH/late"
    holds "$v: it goes on" kill -0 "$jvm"
    stop "$jvm"
}

check_busy() {
    local jdk=$1 v jvm
    v="JDK $(jdk_version "$jdk")"
    start_busy "$jdk"
    jvm=$pid
    "$candidates" "$agent" "$SCRATCH/busy.dat" polling 1 "$jvm" > "$SCRATCH/busy" 2>&1
    is "$v: a program with several threads is sampled" "$?" 0
    goes_on "$v: and goes on"
    stop_busy "$jvm" "$v: its results and output are those without mmprof"
}

# The program that the demo profiles, from its start to its end: recorded, and in another run sampled.
check_whole() {
    local jdk=$1 v program
    v="JDK $(jdk_version "$jdk")"
    program=("$jdk/bin/java" -Xmx1g -cp "$classes" demo.JavacDemo "$jdk/lib/src.zip" 1 java.net.http)
    if [ ! -f "$jdk/lib/src.zip" ]; then
        skip "$v: javac's phases are among its candidates" "there is no $jdk/lib/src.zip; 'make deps' installs it"
        return
    fi
    "$mmprof" record --all-methods -q -o "$SCRATCH/whole.dat" -- "${program[@]}" > "$SCRATCH/said" 2>&1
    "$mmprof" phases -q --weight 5% --grain 0.1% -o "$SCRATCH/phases.json" "$SCRATCH/whole.dat" >> "$SCRATCH/said" 2>&1
    is "$v: javac is recorded" "$?" 0
    "$candidates" -a -p "$SCRATCH/phases.json" "$agent" "$SCRATCH/whole.dat" polling 0 -- "${program[@]}" \
        > "$SCRATCH/whole" 2>&1
    is "$v: and sampled" "$?" 0
    recall "$SCRATCH/whole" 0.050
    at_least "$v: it has phases" "$n_phases" 5 "$SCRATCH/whole"
    at_least "$v: of them $n_found of $n_phases are candidates" "$percent" 85 "$SCRATCH/whole"
    at_most "$v: the candidates are dozens" "$(value candidates "$SCRATCH/whole")" 150 "$SCRATCH/whole"
}

while read -r jdk; do
    check_attached "$jdk"
    check_busy "$jdk"
done < <(jdks)
check_whole "$(first_jdk)"

done_testing
