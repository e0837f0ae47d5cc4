#!/bin/bash
# Are the phases that programs announce in live recordings of them?   make bench-announced WORKLOADS=DIR
#
# A program prints 'PHASE NUMBER NAME' on its standard error when its main thread enters a phase.  DIR/commands is as
# for overhead.sh; DIR/announced has what the phases are, one a line: workload, phase, Class.method, or several of them
# with '+' between them.  Each program is recorded for BENCH_SECONDS (20), BENCH_RUNS (10) times from its start and as
# often after BENCH_WARM (20) seconds, live within 1 %; meanwhile phase_times reads the CPU time of its own threads.
# BENCH_HOW=sample: all recordings are of one JVM, warm, by 'mmprof sample'.
#
# The table: of each phase with 5 % or more of that CPU time, in how many of the recordings in which it had so much it
# has a row of the report (recorded or sampled), and in how many of them the row's share of the application's CPU time
# is within 3 points, or within the row's 95 % interval; of the rows with an interval, in how many the truth is within
# it; and the largest difference.  BENCH_KEEP=DIR keeps the traces that are not so, and each phase of each recording in
# DIR/judged: workload, mode, phase, share, row found, near, difference, row's interval, how the row is known.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/workloads.sh"
cd "$root" || exit 1

seconds=${BENCH_SECONDS:-20}
runs=${BENCH_RUNS:-10}
warm=${BENCH_WARM:-20}
how=${BENCH_HOW:-live}
directory=${WORKLOADS:?give a directory with the files 'commands' and 'announced'}

# rows TRACE: 'Class.method share interval known-by' of each method in its report, shares of the application's CPU time.
rows() {
    "$mmprof" report --csv --all --top 0 "$1" 2>> "$SCRATCH/errors" | tr -d '\r' | awk -F , '
        # Overloads are one method, and so that with most time; a comma in quotes is none.
        {
            while (match($0, /"[^"]*"/)) {
                text = substr($0, RSTART + 1, RLENGTH - 2)
                gsub(/,/, ";", text)
                $0 = substr($0, 1, RSTART - 1) text substr($0, RSTART + RLENGTH)
            }
        }
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $1 ~ /^(gc|c1|c2|vm_thread|other_vm|mmprof|kernel)$/ { others += $(at["time_share"]) }
        $1 == "phase" || $1 == "sampled" || $1 == "method" {
            name = $(at["class"]) "." $(at["name" in at ? "name" : "method"])
            sub(/.*\//, "", name)
            if (!(name in share) || $(at["time_share"]) > share[name]) {
                share[name] = $(at["time_share"])
                error[name] = $(at["time_share_error"])
                known[name] = "known_by" in at ? $(at["known_by"]) : "samples"
            }
        }
        END {
            for (name in share) {
                sub(/^[0-9]+ /, "", known[name])
                print name, share[name] / (1 - others), error[name] == "" ? "-" : error[name] / (1 - others),
                    known[name]
            }
        }'
}

# window TRACE: when it begins and ends, in seconds of the monotonic clock.
window() {
    "$mmprof" dump "$1" 2>> "$SCRATCH/errors" | awk '
        $1 == "clock" && $5 == "ns" { end = $4 / 1e9; if (!begin) begin = end }
        END { printf "%.6f %.6f\n", begin, end }'
}

# judge NAME MODE: lines 'name mode phase truth found near difference interval known-by seconds' of one recording.
judge() {
    rows "$trace" > "$SCRATCH/rows"
    awk -v name="$1" -v mode="$2" -v window="$(window "$trace")" '
        # What of the CPU time from one line to the next is in the window.
        function inside(from, to, seconds,    a, b) {
            a = from > w[1] ? from : w[1]; b = to < w[2] ? to : w[2]
            return to > from && b > a ? seconds * (b - a) / (to - from) : 0
        }
        BEGIN { split(window, w, " ") }
        FILENAME == ARGV[1] { if ($1 == name) method[$2] = $3; next }
        FILENAME == ARGV[2] { share[$1] = $2; error[$1] = $3; known[$1] = $4; next }
        {
            used = inside(last, $1, $2 - last_used)
            ticks[phase] += used; all += used
            last = $1; last_used = $2
            if ($3 != "-") phase = $3
        }
        END {
            for (p in method) {
                truth = all > 0 ? ticks[p] / all : 0
                if (truth < 0.05)
                    continue
                found = sum = squares = 0
                how = "-"
                n = split(method[p], parts, "+")
                for (i = 1; i <= n; i++) {
                    m = parts[i]
                    if (!(m in share))
                        continue
                    found = 1
                    how = known[m]
                    sum += share[m]; squares += error[m] == "-" ? 0 : error[m] * error[m]
                }
                off = found ? sum - truth : 0
                far = off < 0 ? -off : off
                near = found && (far <= 0.03 || far <= sqrt(squares))
                print name, mode, p, truth, found, near, off, (squares > 0 ? sqrt(squares) : "-"), how, all
            }
        }' "$directory/announced" "$SCRATCH/rows" "$marks" | tee "$SCRATCH/latest" >> "$SCRATCH/judged"
    [ -z "${BENCH_KEEP-}" ] || keep "$1.$2"
}

# keep NAME: the trace that has just been judged, if a phase is not near.
keep() {
    cat "$SCRATCH/latest" >> "$BENCH_KEEP/judged"
    awk '!$6 { bad = 1 } END { exit !bad }' "$SCRATCH/latest" || return
    cp "$trace" "$BENCH_KEEP/$1.$(wc -l < "$BENCH_KEEP/judged").dat"
    cp "$marks" "$BENCH_KEEP/$1.$(wc -l < "$BENCH_KEEP/judged").marks"
}

# start_jvm COMMAND: its PID is in $jvm, and its phases go to $marks.
start_jvm() {
    marks=$SCRATCH/marks
    rm -f "$SCRATCH/pipe" "$marks"
    mkfifo "$SCRATCH/pipe"
    (cd "$directory" && exec $1 2> "$SCRATCH/pipe" > "$SCRATCH/out" < /dev/null) &
    jvm=$!
    test_pids+=("$jvm")
    "$build/test/tools/phase_times" "$jvm" < "$SCRATCH/pipe" > "$marks" &
    reader=$!
}

end_jvm() {
    kill -KILL "$jvm"
    wait "$jvm" "$reader" 2> /dev/null
}

# record NAME MODE: one recording, judged.
record() {
    trace=$SCRATCH/trace.dat
    rm -f "$trace"
    wait_for 20 attachable "$jvm"
    if [ "$how" = live ]; then
        "$mmprof" record --live -q -p "$jvm" -d "$seconds" -o "$trace" 2>> "$SCRATCH/errors"
    else
        "$mmprof" sample -p "$jvm" -d "$seconds" -o "$trace" > "$SCRATCH/said" 2>> "$SCRATCH/errors"
    fi
    sleep 0.3 # until the last line of $marks is behind its end
    judge "$1" "$2"
}

# Samples change nothing in the JVM: one is enough for all.
sample_workload() {
    local i
    start_jvm "$2"
    sleep "$warm"
    for ((i = 0; i < runs; i++)); do
        record "$1" warm
    done
    end_jvm
}

run_workload() {
    local mode i
    for mode in start warm; do
        for ((i = 0; i < runs; i++)); do
            start_jvm "$2"
            [ "$mode" = start ] || sleep "$warm"
            record "$1" "$mode"
            end_jvm
        done
    done
}

: > "$SCRATCH/judged"
if [ "$how" = live ]; then
    each_workload "$directory" run_workload
else
    each_workload "$directory" sample_workload
fi
awk '
    {
        k = $1 " " $2 " " $3
        n[k]++; truth[k] += $4; found[k] += $5; near[k] += $6
        far = $7 < 0 ? -$7 : $7
        if (far > most[k]) most[k] = far
        if ($8 != "-") { with[k]++; within[k] += far <= $8 }
    }
    END {
        printf "%-12s %-6s %-14s %6s %8s %6s %6s %10s %9s\n", "workload", "from", "phase", "share", "runs", "found",
            "near", "interval", "farthest"
        for (k in n) {
            split(k, part, " ")
            printf "%-12s %-6s %-14s %5.1f%% %8d %6d %6d %4d of %2d %9.1f\n", part[1], part[2], part[3],
                truth[k] / n[k] * 100, n[k], found[k], near[k], within[k], with[k], most[k] * 100 | "sort"
        }
    }' "$SCRATCH/judged"
