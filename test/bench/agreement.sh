#!/bin/bash
# Does one live recording find the phases that two runs find?   make bench-agreement [WORKLOADS=DIR]
#
# Each workload (as for overhead.sh; BENCH_ONLY="NAME ..." takes only these) is recorded once with all methods that are
# large or have a loop, and BENCH_LIVE (1) times with --live --budget 1%.  'mmprof phases --weight 1%' searches the
# grain in the first trace; with this weight and grain phases are selected from it and from each live one, and the two
# sets of methods compared:
#
#     both       methods in both sets
#     precision  of those that live selects, the share that two runs select, too
#     recall     of those that two runs select, the share that live selects, too
#     missed     the own time, callees' not included, of those that only two runs select, as a share of all time
#     extra      likewise of those that only live selects
#     most       the largest share of the time, callees included, of one that only two runs select
#
# The table goes to standard output, what is run to standard error.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/workloads.sh"
cd "$root" || exit 1

directory=${WORKLOADS:?give a directory with a file 'commands'}
n_live=${BENCH_LIVE:-1}

fail() {
    echo "bench-agreement: $1" >&2
    exit 1
}

[ -r "$directory/commands" ] || fail "there is no '$directory/commands'"

# record NAME COMMAND OPTION...: the trace becomes NAME.dat.
record() {
    local name=$1 command=$2
    shift 2
    echo "  $name" >&2
    (cd "$directory" && "$mmprof" record -q "$@" -o "$SCRATCH/$name.dat" -- sh -c "$command") \
        > "$SCRATCH/out" 2>&1 < /dev/null || fail "$name: $(tail -n 2 "$SCRATCH/out")"
}

# selected TRACE GRAIN: its phases, 'class.method descriptor share own-share' a line.
selected() {
    "$mmprof" phases --csv --weight 1% --grain "$2" -o "$SCRATCH/ignored.json" "$1" | tr -d '\r' | awk -F , '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $(at["kind"]) == "method" && $(at["phase"]) == "yes" {
            own = $(at["total_ns"]) > 0 ? $(at["self_ns"]) / $(at["total_ns"]) * $(at["share"]) : 0
            print $(at["class"]) "." $(at["method"]), $(at["descriptor"]), $(at["share"]), own
        }'
}

# compare NAME GRAIN: a line of the table.
compare() {
    awk -v name="$1" -v grain="$2" '
        FNR == 1 { file++ }
        file == 1 { two[$1 $2] = 1; share[$1 $2] = $3; own[$1 $2] = $4; n_two++ }
        file == 2 { n_live++; if ($1 $2 in two) { both++; delete two[$1 $2] } else extra += $4 }
        END {
            for (m in two) { missed += own[m]; if (share[m] > most) most = share[m] }
            precision = n_live > 0 ? sprintf("%.2f", both / n_live) : "-"
            printf "%-12s %10.2g %8d %8d %8d %10s %8.2f %8.1f %8.1f %8.1f\n", name, grain * 100, n_two, n_live, both,
                precision, both / n_two, missed * 100, extra * 100, most * 100
        }' "$SCRATCH/two" "$SCRATCH/live"
}

# measure NAME COMMAND
measure() {
    local name=$1 command=$2 grain k
    record "$name.all" "$command" --all-methods
    "$mmprof" phases -q --weight 1% -o "$SCRATCH/phases.json" "$SCRATCH/$name.all.dat" || fail "no phases of $name"
    grain=$(sed -n 's/^.*"grain":[[:space:]]*\([-0-9.e]*\).*/\1/p' "$SCRATCH/phases.json" | head -n 1)
    selected "$SCRATCH/$name.all.dat" "$grain" > "$SCRATCH/two"
    [ -s "$SCRATCH/two" ] || fail "no phases of $name"
    rm -f "$SCRATCH/$name.all.dat"
    for ((k = 0; k < n_live; k++)); do
        record "$name.live" "$command" --live --budget 1%
        selected "$SCRATCH/$name.live.dat" "$grain" > "$SCRATCH/live"
        compare "$name" "$grain"
    done
    cp "$SCRATCH/two" "${BENCH_KEEP:-$SCRATCH}/$name.two" 2> /dev/null
    cp "$SCRATCH/live" "${BENCH_KEEP:-$SCRATCH}/$name.found" 2> /dev/null
    rm -f "$SCRATCH/$name.live.dat"
}

printf '%-12s %10s %8s %8s %8s %10s %8s %8s %8s %8s\n' "" "grain, %" "two runs" live both precision recall \
    "missed %" "extra %" "most %"
each_workload "$directory" measure
