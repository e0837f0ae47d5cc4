# Runs that are compared by their CPU time, to be sourced behind lib.sh and workloads.sh, with 'directory' set.
# shellcheck shell=bash
# shellcheck disable=SC2154 # build, directory

timed=$build/test/tools/timed
threads=$build/test/tools/thread_times
read -r -a cpus < <(allowed_cpus 2)

# on_each_cpu N FUNCTION ARGUMENT...: calls it N times as 'FUNCTION CPU ARGUMENT...', at the same time on each CPU that
# there is; no more of them when one failed.
on_each_cpu() {
    local n=$1 i k sides status=0
    shift
    for ((i = 0; i < n && status == 0; i += ${#cpus[@]})); do
        sides=()
        for ((k = 0; k < ${#cpus[@]} && i + k < n; k++)); do
            "$1" "${cpus[k]}" "${@:2}" &
            sides+=($!)
        done
        for k in "${sides[@]}"; do
            wait "$k" || status=1
        done
    done
    return $status
}

# once RUN CPU COMMAND...: runs it in DIR; leaves its output in RUN.out and RUN.errors, in RUN.took what it took, and in
# RUN.times the CPU time of its threads and at the ends of its iterations, as thread_times has it.
once() {
    local -x BENCH_RUN=$1
    local run=$SCRATCH/$1 cpu=$2 status=0
    shift 2
    rm -f "$run.took" "$run.times"
    (cd "$directory" && exec taskset -c "$cpu" "$timed" "$run.took" "$threads" "$run.times" "$@") \
        > "$run.out" 2> "$run.errors" < /dev/null || status=$?
    [ $status = 0 ] || echo "  $(basename "$run"): status $status: $(tail -n 2 "$run.errors")" >&2
    return $status
}

# figures RUN RUN: of each of the two the CPU seconds: of all, of an iteration of those that began after two seconds in
# both, of one of the last third ('-': there is none); then those of the threads.
figures() {
    cat "$SCRATCH/$1.took" "$SCRATCH/$1.times" "$SCRATCH/$2.took" "$SCRATCH/$2.times" | awk '
        $1 == "SECONDS" { r++; all[r] = $5 + $7; line = 0; next }
        ++line == 1 { threads[r] = $0 }
        line == 2 {
            n[r] = NF
            for (i = 1; i <= NF; i++) at[r, i] = $i
            for (i = 1; i <= NF && $i < 2; i++) continue
            if (i > late) late = i
        }
        END {
            is_same = n[1] == n[2]
            k = is_same ? int(n[1] / 3) : 0
            for (r = 1; r <= 2; r++)
                printf "%s %s %s ", all[r],
                    (is_same && n[r] > late ? (at[r, n[r]] - at[r, late]) / (n[r] - late) : "-"),
                    (k > 0 ? (at[r, n[r]] - at[r, n[r] - k]) / k : "-")
            print threads[1], threads[2]
        }'
}

# means_heading WHAT: of the table that 'means' has lines of.
means_heading() {
    printf '%-12s %6s %13s %13s %13s %13s %13s %13s %13s %13s %13s\n' "" "$1" CPU application C1 C2 collector agent \
        recorder "after 2 s" "last third"
}

# means MODE: of the figures in *.MODE 'mean (standard error)' of what the second run takes more, in per cent of the CPU
# time of the first: of all, of the application's threads, C1, C2, the collector, the agent and the recorder; then of
# later iterations.
means() {
    awk -v mode="$1" '
        function add(column, value) { n[column]++; sum[column] += value; squares[column] += value * value }
        NF == 18 && $1 > 0 {
            add(1, 100 * ($4 / $1 - 1))
            add(2, 100 * ($18 - $12) / $1)
            for (i = 1; i <= 5; i++) add(2 + i, 100 * ($(12 + i) - $(6 + i)) / $1)
            for (i = 2; i <= 3; i++) if ($i != "-" && $(i + 3) != "-") add(6 + i, 100 * ($(i + 3) / $i - 1))
        }
        END {
            if (n[1] < 2) exit
            printf "%-12s %6d", mode, n[1]
            for (c = 1; c <= 9; c++) {
                v = "-"
                if (n[c] > 1) {
                    mean = sum[c] / n[c]
                    v = sprintf("%.1f (%.1f)", mean, sqrt((squares[c] - n[c] * mean * mean) / (n[c] - 1) / n[c]))
                }
                printf " %13s", v
            }
            printf "\n"
        }' "$SCRATCH"/*."$1" 2> "$SCRATCH/none"
}
