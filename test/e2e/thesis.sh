#!/bin/bash
# Thesis Figure 3.3 as a real program: with a weight of 10 % and a grain of 5 % its phases are exactly main, readData
# and sortData; recorded from its start, and attached to while it repeats itself.
# timeout: 600
# long: yes
. "$(dirname "$0")/../lib.sh"

# selected TRACE GRAIN: the program's methods of its phases with a weight of 10 %, sorted.  On a slow machine, what the
# JVM does to begin may be a phase, too.
selected() {
    "$mmprof" phases --weight 10% --grain "$2" -o "$SCRATCH/phases.json" "$1" > "$SCRATCH/table" 2>&1
    grep -oE '"(class|method)":[[:space:]]*"[^"]*"' "$SCRATCH/phases.json" 2> "$SCRATCH/ignored" |
        awk -F '"' '$2 == "class" { is_own = $4 == "micro/Thesis" } $2 == "method" && is_own { print $4 }' |
        sort | xargs
}

# Of a program with few calls, those that are most of all calls are within the budget: what they cost in time counts.
within_budget() {
    local table
    table=$("$mmprof" phases -o "$SCRATCH/phases.json" "$SCRATCH/late.dat")
    matches "JDK $version: with a budget alone, most of the few calls are in phases" "$table" \
        '^overhead time 0\.[0-9e-]+ % .*, calls [1-9][0-9.]* %'
    matches "JDK $version: among them compare's" "$table" '^Thesis\.compare '
    table=$("$mmprof" phases --read-cost 1000000000 -o "$SCRATCH/phases.json" "$SCRATCH/late.dat")
    matches "JDK $version: counters that are read for a second a call are over the budget" "$table" \
        '^note: no thresholds keep the budget'
}

# The attached program repeats itself for minutes: its main is never entered or left while it is recorded, and one call
# is a small part of the whole, so the grain is finer.
check_jdk() {
    local jdk=$1 version n_out
    version=$(jdk_version "$jdk")
    "$mmprof" record -q --include 'micro/Thesis' --min-bytecodes 0 -o "$SCRATCH/whole.dat" -- \
        "$jdk/bin/java" -cp "$classes" micro.Thesis $((500 * slow)) 1 > "$SCRATCH/out" 2>&1
    is "JDK $version: the program's own check holds" "$(grep -c '^SELF-CHECK micro/Thesis ok$' "$SCRATCH/out")" 1
    is "JDK $version: main, readData and sortData are its phases" "$(selected "$SCRATCH/whole.dat" 5%)" \
        "main readData sortData"
    if [ "$jdk" = "$(jdks | tail -n 1)" ]; then
        "$mmprof" record --all-methods -q -o "$SCRATCH/rule.dat" -- \
            "$jdk/bin/java" -cp "$classes" micro.Thesis $((500 * slow)) 1 > "$SCRATCH/out" 2>&1
        is "JDK $version: with the rule for the first pass too" "$(selected "$SCRATCH/rule.dat" 5%)" \
            "main readData sortData"
    fi

    start "$SCRATCH/running" "$jdk/bin/java" -cp "$classes" micro.Thesis 100 10000
    wait_for 10 attachable $pid
    "$mmprof" record -q --include 'micro/Thesis' --min-bytecodes 0 -d $((4 * slow)) -o "$SCRATCH/late.dat" -p $pid \
        > "$SCRATCH/out" 2>&1
    is "JDK $version: attaching to the running program succeeds" "$?$(cat "$SCRATCH/out")" 0
    n_out=$(selected "$SCRATCH/late.dat" 0.1%)
    # main was called before: its call is under way.
    is "JDK $version: attached late, it has the same phases" "$n_out" "main readData sortData"
    within_budget
    stop $pid
}

while read -r jdk; do
    check_jdk "$jdk"
done < <(jdks)

done_testing
