#!/bin/bash
# Are the phases that programs announce in live recordings of them?   test/bench/announced.sh   [WORKLOADS=DIR]
#
# A program prints 'PHASE <ns> <name>' on its standard error when its main thread enters a phase.  DIR/commands is as
# for overhead.sh; DIR/announced has the methods that the phases are, one a line: workload, phase, Class.method.  Each
# program is recorded for BENCH_SECONDS (20), BENCH_RUNS (10) times from its start and as often after BENCH_WARM (20)
# seconds, live within 1 %; meanwhile the CPU time of its own threads is read from /proc at each announcement.
#
# The table: of each phase with 5 % or more of that CPU time, in how many of the recordings in which it had so much it
# has a row of the report (recorded or sampled), and in how many of them the row's share of the application's CPU time
# is within 3 points, or within twice the standard error of the samples that it is from; and the largest difference.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/workloads.sh"
cd "$root" || exit 1

seconds=${BENCH_SECONDS:-20}
runs=${BENCH_RUNS:-10}
warm=${BENCH_WARM:-20}
directory=${WORKLOADS:?give a directory with the files 'commands' and 'announced'}

# app_ticks PID: CPU time of its threads that are neither the JVM's nor mmprof's, in ticks.
app_ticks() {
    cat /proc/"$1"/task/*/stat 2> /dev/null | awk '
        {
            name = $0; sub(/^[^(]*\(/, "", name); sub(/\)[^)]*$/, "", name)
            rest = $0; sub(/^.*\) /, "", rest); split(rest, field, " ")
            if (name !~ /^(C1 |C2 |GC |G1 |VM |ZGC|XWorker|ZWorker|Shenandoah|Sweeper|mmprof)/ &&
                name !~ /^(Signal |Service |Monitor |Notification |Attach )/)
                n += field[12] + field[13]
        }
        END { print n + 0 }'
}

# mark WHAT: a line of $marks.
mark() {
    echo "$(app_ticks "$jvm") $1" >> "$marks"
}

# follow PIPE: marks each phase that is announced there.
follow() {
    local word _ name
    while read -r word _ name; do
        [ "$word" != PHASE ] || mark "phase $name"
    done < "$1"
}

# rows TRACE: 'Class.method share error' of each method in its report, shares of the application's CPU time.
rows() {
    "$mmprof" report --csv --all --top 0 "$1" 2> /dev/null | tr -d '\r' > "$SCRATCH/report.csv"
    "$mmprof" report --csv --sampled --all --top 0 "$1" 2> /dev/null | tr -d '\r' > "$SCRATCH/sampled.csv"
    awk -F , '
        # Overloads are one method, and so that with most time; a comma in quotes is none.
        {
            while (match($0, /"[^"]*"/)) {
                text = substr($0, RSTART + 1, RLENGTH - 2)
                gsub(/,/, ";", text)
                $0 = substr($0, 1, RSTART - 1) text substr($0, RSTART + RLENGTH)
            }
        }
        function name_of(label) { sub(/[ (].*/, "", label); return label }
        FNR == 1 { file++; split("", at); for (i = 1; i <= NF; i++) at[$i] = i; next }
        file == 1 && $1 ~ /^(gc|c1|c2|vm_thread|other_vm|mmprof|kernel)$/ { others += $(at["time_share"]) }
        file == 1 && $1 == "phase" {
            name = name_of($(at["label"]))
            if ($(at["time_share"]) > share[name])
                share[name] = $(at["time_share"])
        }
        file == 2 && $1 == "sampled" {
            name = name_of($(at["method"]))
            if ($(at["cpu_share"]) > share[name]) {
                share[name] = $(at["cpu_share"])
                n[name] = $(at["samples"])
            }
        }
        END {
            for (name in share) {
                p = share[name] / (1 - others)
                error = 0
                if (name in n && p < 1)
                    error = p * sqrt((1 - p) / n[name])
                print name, p, error
            }
        }' "$SCRATCH/report.csv" "$SCRATCH/sampled.csv"
}

# judge NAME MODE: lines 'name mode phase truth found near difference' of one recording.
judge() {
    rows "$trace" > "$SCRATCH/rows"
    awk -v name="$1" -v mode="$2" '
        FILENAME == ARGV[1] { if ($1 == name) method[$2] = $3; next }
        FILENAME == ARGV[2] { share[$1] = $2; error[$1] = $3; next }
        { if (inside) ticks[phase] += $1 - last; if (inside) all += $1 - last }
        $2 == "start" { inside = 1 }
        $2 == "end" { inside = 0 }
        $2 == "phase" { phase = $3 }
        { last = $1 }
        END {
            for (p in method) {
                truth = all > 0 ? ticks[p] / all : 0
                if (truth < 0.05)
                    continue
                found = method[p] in share
                off = found ? share[method[p]] - truth : 0
                off = off < 0 ? -off : off
                near = found && (off <= 0.03 || off <= 2 * error[method[p]])
                print name, mode, p, truth, found, near, off
            }
        }' "$directory/announced" "$SCRATCH/rows" "$marks" >> "$SCRATCH/judged"
}

# run_once NAME COMMAND MODE
run_once() {
    local follower
    marks=$SCRATCH/marks trace=$SCRATCH/trace.dat
    rm -f "$SCRATCH/pipe" "$marks" "$trace"
    mkfifo "$SCRATCH/pipe"
    (cd "$directory" && exec $2 2> "$SCRATCH/pipe" > "$SCRATCH/out" < /dev/null) &
    jvm=$!
    test_pids+=("$jvm")
    follow "$SCRATCH/pipe" &
    follower=$!
    [ "$3" = start ] || sleep "$warm"
    wait_for 20 attachable "$jvm"
    mark start
    "$mmprof" record --live -q -p "$jvm" -d "$seconds" -o "$trace" 2>> "$SCRATCH/errors"
    mark end
    kill -KILL "$jvm"
    wait "$jvm" "$follower" 2> /dev/null
    judge "$1" "$3"
}

run_workload() {
    local mode i
    for mode in start warm; do
        for ((i = 0; i < runs; i++)); do
            run_once "$1" "$2" "$mode"
        done
    done
}

: > "$SCRATCH/judged"
each_workload "$directory" run_workload
awk '
    { k = $1 " " $2 " " $3; n[k]++; truth[k] += $4; found[k] += $5; near[k] += $6; if ($7 > most[k]) most[k] = $7 }
    END {
        printf "%-12s %-6s %-14s %6s %8s %6s %6s %9s\n", "workload", "from", "phase", "share", "runs", "found", "near",
            "farthest"
        for (k in n) {
            split(k, part, " ")
            printf "%-12s %-6s %-14s %5.1f%% %8d %6d %6d %9.1f\n", part[1], part[2], part[3], truth[k] / n[k] * 100,
                n[k], found[k], near[k], most[k] * 100 | "sort"
        }
    }' "$SCRATCH/judged"
