#!/bin/bash
# How accurate and how stable are the ways to sample?   make bench-design [WORKLOADS=DIR]
#
# The design space of thesis section 4.2: what takes samples, how often, and whether at once or at the next safepoint.
# Each workload (as for overhead.sh; BENCH_ONLY="NAME ..." takes only these) runs for BENCH_WARM (20) seconds; then all
# ways sample the same BENCH_SECONDS (15) at once, BENCH_RUNS (10, no more) times, next to a detailed profile at ten
# times the rate (990 samples a second of CPU time).
#
# The table, means of all workloads (a line 'workload way ...' of each before it):
#
#     samples   in Java methods, of a recording; with --wall and polling, microseconds or nanoseconds of them
#     top 20 %  of the detailed profile's hottest methods, those that have any sample: all runs together, as in the
#               thesis (Figure 4.8)
#     all       the weighted overlap of own times by method with the detailed profile, all runs together (Figure 4.9)
#     own       the same of each run with the detailed profile of the same seconds, mean of the runs
#     total     of times with callees
#     50 paths  of the first 50 contexts of either by time with callees
#     stable    the mean overlap of own times of all pairs of runs (Figure 4.10)
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/workloads.sh"
. "$(dirname "$0")/folded.sh"
cd "$root" || exit 1

seconds=${BENCH_SECONDS:-15}
warm=${BENCH_WARM:-20}
runs=${BENCH_RUNS:-10}
directory=${WORKLOADS:?give a directory with a file 'commands'}

# Name, and how to sample.
ways='detailed -F 990
timer-25 -F 25
timer-99 -F 99
timer-499 -F 499
task-clock -e task-clock -c 10000000
wall-99 --wall -F 99
faults -e page-faults -c 20
switches -e context-switches -c 2
polling-99 --mechanism polling -F 99'

# sample WAY OPTION...: the folded stacks are WAY.RUN.
sample() {
    local file=$SCRATCH/$1.$run
    shift
    "$mmprof" sample -p "$jvm" -d "$seconds" --folded "$file" "$@" > "$file.said" 2>&1
}

record_once() {
    local way how pids=()
    while read -r way how; do
        # shellcheck disable=SC2086  # options
        sample "$way" $how &
        pids+=($!)
    done <<< "$ways"
    wait "${pids[@]}"
}

# overlaps WAY OPTION...: mean overlap of its runs with the detailed profiles of the same seconds, of all its pairs of
# runs, and its samples, mean.
overlaps() {
    local way=$1 file files=()
    shift
    for file in detailed.[0-9] "$way".[0-9]; do
        [ ! -s "$file" ] || [[ " ${files[*]} " == *" $file "* ]] || files+=("$file")
    done
    "$mmprof" diff "$@" --profiles "${files[@]}" 2>> errors | awk -v way="$way" '
        function run(file) { sub(/.*\./, "", file); return file }
        $1 == "profile" && index($2, way ".") == 1 { n_samples += $6; n_files++ }
        way == "detailed" { own = 100; n = 1 }
        way != "detailed" && $1 == "detailed." run($2) && index($2, way ".") == 1 { own += $3; n++ }
        index($1, way ".") == 1 && index($2, way ".") == 1 { stable += $3; n_pairs++ }
        function mean(sum, n) { return n > 0 ? sum / n : 0 }
        END { print mean(own, n), mean(stable, n_pairs), mean(n_samples, n_files) }'
}

# judge NAME WAY: 'workload way samples top all own total paths stable'; in the scratch folder.
judge() {
    local i own total stable n all top paths
    cat detailed.[0-9] > all.detailed
    cat "$2".[0-9] > all.way
    read -r all top <<< "$("$mmprof" diff --profiles all.detailed all.way 2>> errors | awk 'END { print $3, $4 }')"
    read -r own stable n <<< "$(overlaps "$2")"
    read -r total _ <<< "$(overlaps "$2" --total)"
    paths=$(for ((i = 0; i < runs; i++)); do
        agree 50 contexts "detailed.$i" "$2.$i"
    done | awk '{ sum += $3 } END { print (NR > 0 ? sum / NR : 0) }')
    echo "$1 $2 $n $top $all $own $total $paths $stable"
}

measure() {
    local way
    # shellcheck disable=SC2086  # a command's words
    (cd "$directory" && exec $2 > "$SCRATCH/out" 2>&1 < /dev/null) &
    jvm=$!
    test_pids+=("$jvm")
    sleep "$warm"
    for ((run = 0; run < runs; run++)); do
        record_once
    done
    stop "$jvm"
    while read -r way _; do
        (cd "$SCRATCH" && judge "$1" "$way")
    done <<< "$ways"
    rm -f "$SCRATCH"/*.[0-9]*
}

each_workload "$directory" measure | tee "$SCRATCH/figures"
awk '
    { way[$2]; n[$2]++; for (i = 3; i <= 9; i++) sum[$2, i] += $i }
    END {
        printf "%-12s %9s %9s %9s %9s %9s %9s %9s\n", "", "samples", "top 20 %", "all", "own", "total", "50 paths",
            "stable"
        for (w in way) {
            printf "%-12s %9.0f", w, sum[w, 3] / n[w] | "sort"
            for (i = 4; i <= 9; i++)
                printf " %9.1f%s", sum[w, i] / n[w], i == 9 ? "\n" : "" | "sort"
        }
    }' "$SCRATCH/figures"
