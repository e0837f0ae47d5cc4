#!/bin/bash
# Have stack samples the shares that probes measure?   make bench-exact [WORKLOADS=DIR]
#
# Each workload (as for overhead.sh; BENCH_ONLY="NAME ..." takes only these) is run from its start to its end: recorded
# with all methods that are large or have a loop, from which phases are selected ('mmprof phases --weight 1%'); recorded
# once more, BENCH_RUNS (1) times, with probes in the phases alone, which change the shares less; and sampled, in runs
# without probes, 99 and 499 times a second.
#
# A line for each recording of the phases.  Only their methods count: the time of others is their callers'.  Overlaps
# of the calls with the samples, in per cent:
#
#     phases    that were recorded
#     samples   of the profile with 99 a second, in Java methods
#     methods   weighted overlap of times with callees, by method
#     contexts  the same by calling context
#     50        of the 50 contexts with the most time in the calls
#     own       of own times by calling context
#     499       methods, contexts, 50, own with 499 samples a second
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/workloads.sh"
cd "$root" || exit 1

row='%-12s %7s %8s %8s %8s %6s %6s %8s %8s %6s %6s\n'
runs=${BENCH_RUNS:-1}
directory=${WORKLOADS:?give a directory with a file 'commands'}

# run_with NAME COMMAND MMPROF-COMMAND OPTION...: the trace becomes NAME.dat.
run_with() {
    local name=$1 command=$2
    shift 2
    (cd "$directory" && "$mmprof" "$@" -o "$SCRATCH/$name.dat" -- sh -c "exec $command") \
        > "$SCRATCH/out" 2>&1 < /dev/null && return
    echo "bench-exact: $name: $(tail -n 2 "$SCRATCH/out")" >&2
    return 1
}

# overlap OPTION... FILE FILE
overlap() {
    "$mmprof" diff --csv --probed --profiles "$@" 2>> "$SCRATCH/errors" | tr -d '\r' | awk -F , '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR == 2 { printf "%.1f\n", $(at["overlap"]) * 100 }'
}

# figures EXACT SAMPLED: the overlaps by method, by context, of the first 50 contexts, and of own times by context.
figures() {
    echo "$(overlap --total "$@") $(overlap --total --contexts "$@")" \
        "$(overlap --total --contexts --top 50 "$@") $(overlap --contexts "$@")"
}

measure() {
    local i n hz line
    run_with all "$2" record -q --all-methods || return
    "$mmprof" phases -q --weight 1% -o "$SCRATCH/phases.json" "$SCRATCH/all.dat" || return
    rm -f "$SCRATCH/all.dat"
    for hz in 99 499; do
        run_with "$hz" "$2" sample -F "$hz" || return
    done
    n=$("$mmprof" diff --from samples --profiles "$SCRATCH/99.dat" "$SCRATCH/99.dat" |
        sed -n '1s/.* in \([0-9]*\) samples.*/\1/p')
    for ((i = 0; i < runs; i++)); do
        run_with exact "$2" record -q --phases "$SCRATCH/phases.json" || return
        line=$(grep -c '"method":' "$SCRATCH/phases.json")" $n"
        for hz in 99 499; do
            line+=" $(figures "$SCRATCH/exact.dat" "$SCRATCH/$hz.dat")"
        done
        # shellcheck disable=SC2059,SC2086  # columns
        printf "$row" "$1" $line
    done
}

# shellcheck disable=SC2059  # one row for heading and figures
printf "$row" "" phases samples methods contexts 50 own "499" contexts 50 own
each_workload "$directory" measure
