#!/bin/bash
# How accurate and how stable are the ways to sample?   make bench-design [WORKLOADS=DIR]
#
# The design space of thesis section 4.2: what takes samples, how often, and whether at once or at the next safepoint.
# Each workload (as for overhead.sh; BENCH_ONLY="NAME ..." takes only these) runs for BENCH_WARM (20) seconds; then all
# ways sample the same BENCH_SECONDS (20) at once, BENCH_RUNS (5) times, next to a detailed profile at ten times the
# rate (990 samples a second of CPU time).
#
# The table, means of all workloads and runs (a line 'workload way ...' of each workload before it):
#
#     samples   in Java methods, of a recording
#     top 20 %  of the detailed profile's hottest methods, those that have any sample (thesis, Figure 4.8)
#     own       the weighted overlap of own times by method with the detailed profile (Figure 4.9)
#     total     of times with callees
#     50 paths  of the first 50 contexts of either by time with callees
#     stable    the mean overlap of own times of all pairs of runs (Figure 4.10)
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/workloads.sh"
. "$(dirname "$0")/folded.sh"
cd "$root" || exit 1

seconds=${BENCH_SECONDS:-20}
warm=${BENCH_WARM:-20}
runs=${BENCH_RUNS:-5}
directory=${WORKLOADS:?give a directory with a file 'commands'}

# Name, and how to sample; 'polling' is a live recording's, in the JVM.
ways='detailed -F 990
timer-25 -F 25
timer-99 -F 99
timer-499 -F 499
task-clock -e task-clock -c 10000000
wall-99 --wall -F 99
faults -e page-faults -c 20
switches -e context-switches -c 2
polling polling'

# sample WAY OPTION...: the trace is WAY.RUN.dat.
sample() {
    local way=$1 file=$SCRATCH/$1.$run
    shift
    if [ "$1" = polling ]; then
        "$mmprof" record --live --mechanism polling -q -p "$jvm" -d "$seconds" -o "$file.dat"
    else
        "$mmprof" sample -p "$jvm" -d "$seconds" -o "$file.dat" --folded "$file" "$@"
    fi > "$SCRATCH/said.$way" 2>&1
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

# from_csv COLUMN: of the first row.
from_csv() {
    tr -d '\r' | awk -F , -v name="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR == 2 { print $(at[name]) * 100 }'
}

# alike OPTION... A B: the overlap.
alike() {
    "$mmprof" compare --csv --from samples "$@" 2>> "$SCRATCH/errors" | from_csv overlap
}

stability() {
    "$mmprof" compare --from samples "$@" 2>> "$SCRATCH/errors" | sed -n 's/^stability *\([0-9.]*\) %.*/\1/p'
}

# exported FILE: folded stacks of FILE.dat, as 'mmprof sample --folded' has them.
exported() {
    "$mmprof" export -f folded -o "$1" "$1.dat" 2>> "$SCRATCH/errors"
    sed -i -n 's/ \[sampled\]//g; s/([^;]*)//g; s/^application;//p' "$1"
}

# n_samples TRACE: in Java methods.
n_samples() {
    "$mmprof" compare --from samples "$1" "$1" 2>> "$SCRATCH/errors" | sed -n '1s/.* in \([0-9]*\) samples.*/\1/p'
}

# judge NAME WAY: 'workload way samples top own total paths stable'.
judge() {
    local i file detailed figures
    for ((i = 0; i < runs; i++)); do
        file=$SCRATCH/$2.$i detailed=$SCRATCH/detailed.$i
        [ -s "$file" ] || exported "$file"
        figures=$(agree 50 contexts "$detailed" "$file")
        echo "$(n_samples "$file.dat") $("$mmprof" compare --csv --from samples "$detailed.dat" "$file.dat" \
            2>> "$SCRATCH/errors" | from_csv top_found) $(alike "$detailed.dat" "$file.dat") $(alike --total \
            "$detailed.dat" "$file.dat") $(cut -d ' ' -f 3 <<< "$figures")"
    done | awk -v stable="$(stability "$SCRATCH/$2".*.dat)" -v name="$1 $2" '
        NF == 5 { n++; for (i = 1; i <= 5; i++) sum[i] += $i }
        END {
            if (n > 0)
                print name, sum[1] / n, sum[2] / n, sum[3] / n, sum[4] / n, sum[5] / n, stable == "" ? "-" : stable
        }'
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
        [ "$way" = detailed ] || judge "$1" "$way"
    done <<< "$ways"
    judge "$1" detailed
    rm -f "$SCRATCH"/*.[0-9]*
}

each_workload "$directory" measure | tee "$SCRATCH/figures"
awk '
    { way[$2]; n[$2]++; for (i = 3; i <= 7; i++) sum[$2, i] += $i; if ($8 != "-") { stable[$2] += $8; n_stable[$2]++ } }
    END {
        printf "%-12s %9s %9s %9s %9s %9s %9s\n", "", "samples", "top 20 %", "own", "total", "50 paths", "stable"
        for (w in way) {
            printf "%-12s %9.0f", w, sum[w, 3] / n[w] | "sort"
            for (i = 4; i <= 7; i++) printf " %9.1f", sum[w, i] / n[w] | "sort"
            printf " %9.1f\n", n_stable[w] > 0 ? stable[w] / n_stable[w] : 0 | "sort"
        }
    }' "$SCRATCH/figures"
