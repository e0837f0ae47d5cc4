#!/bin/bash
# Are the phases that programs announce in live recordings of them?   make bench-truth [WORKLOADS=DIR]
#
# A program prints 'PHASE NUMBER NAME' on its standard error when its main thread enters a phase.  Without WORKLOADS the
# programs are those of test/java/bench/Announced.java, on each JDK of MMPROF_JDKS.  DIR/commands is as for overhead.sh;
# '@MODE@' in a command becomes 'start' or 'warm', for two JVMs of a program that run at once. DIR/announced has what
# the phases are, one a line: workload, phase, Class.method, or several of them with '+' between them; with '-', the
# time of that method is no part of the phase: code that stands in a method beside others of its phases is what that
# method has and these have not.  One of those added has to be a row of the report.
#
# In each of BENCH_RUNS (10) rounds each program is recorded for BENCH_SECONDS (20) from its start, and then another JVM
# of it that runs since then, BENCH_WARM (20) seconds or more, live within 1 %; meanwhile phase_times reads the CPU time
# of its own threads.  Where BENCH_END is set, no round is begun after so many seconds. BENCH_HOW=sample: all recordings
# are of one JVM, warm, by 'mmprof sample'.
#
# The table: of each phase with 5 % or more of that CPU time, in how many of the recordings in which it had so much it
# has a row of the report (recorded or sampled), and in how many of them the row's share of the application's CPU time
# is within 3 points, or within the row's 95 % interval; of the rows with an interval, in how many the truth is within
# it; and the largest difference. Below it, of all of them: the intervals that hold the truth (a row with probes has
# that of what samples add to it only), their width, differences, and what the recordings cost by their own account.
# BENCH_KEEP=DIR keeps the traces that are not so, and each phase of each recording in DIR/judged: workload, mode,
# phase, share, row found, near, difference, row's interval, how the row is known, CPU seconds of the program, threads
# that were ready to run (load average of the last minute).
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/workloads.sh"
cd "$root" || exit 1

seconds=${BENCH_SECONDS:-20}
runs=${BENCH_RUNS:-10}
warm=${BENCH_WARM:-20}
how=${BENCH_HOW:-live}
directory=${WORKLOADS:-$SCRATCH}

own_programs() {
    local jdk name
    while read -r jdk; do
        for name in turns text objects recursion pool; do
            echo "$name-$(jdk_version "$jdk") $jdk/bin/java -Xmx512m -Xss8m -cp $classes bench.Announced $name"
        done
    done < <(jdks) > "$SCRATCH/commands"
    while read -r name _; do
        sed -n 's/^ *phase("\([a-z]*\)".*/\1/p' test/java/bench/Announced.java |
            awk -v name="$name" '{ print name, $1, "Announced." ($1 == "copy" ? "copied" : $1) }'
    done < "$SCRATCH/commands" > "$SCRATCH/announced"
}

[ -n "${WORKLOADS-}" ] || own_programs

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

# window TRACE: when its first and last stack samples are, in seconds of CLOCK_MONOTONIC_RAW.
window() {
    "$mmprof" dump "$1" 2>> "$SCRATCH/errors" | awk '
        $1 == "clock" && $5 == "ns" { ticks[n_clocks > 0] = $2; ns[n_clocks++ > 0] = $4 }
        $1 == "sample" { at = $5 + 0; if (!begin || at < begin) begin = at; if (at > end) end = at }
        function seconds(at) { return (ns[0] + (at - ticks[0]) * (ns[1] - ns[0]) / (ticks[1] - ticks[0])) / 1e9 }
        END { printf "%.6f %.6f\n", seconds(begin), seconds(end) }'
}

# judge NAME MODE: lines 'name mode phase truth found near difference interval known-by seconds load' of one recording.
judge() {
    rows "$trace" > "$SCRATCH/rows"
    awk -v name="$1" -v mode="$2" -v window="$(window "$trace")" -v load="$(cut -d ' ' -f 1 /proc/loadavg)" '
        # What of the CPU time from one line to the next is in the window.
        function inside(from, to, seconds,    a, b) {
            a = from > w[1] ? from : w[1]; b = to < w[2] ? to : w[2]
            return to > from && b > a ? seconds * (b - a) / (to - from) : 0
        }
        BEGIN { split(window, w, " ") }
        FILENAME == ARGV[1] { if ($1 == name) method[$2] = $3; next }
        FILENAME == ARGV[2] { share[$1] = $2; error[$1] = $3; known[$1] = $4; next }
        {
            used = $2 < last_used ? 0 : inside(last, $1, $2 - last_used)
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
                text = method[p]
                gsub(/[+-]/, " &", text)
                n = split(text, terms, " ")
                for (i = 1; i <= n; i++) {
                    m = terms[i]
                    sign = sub(/^-/, "", m) ? -1 : 1
                    sub(/^[+]/, "", m)
                    if (m in share && sign > 0) {
                        found = 1
                        how = known[m]
                    }
                    if (m in share) {
                        sum += sign * share[m]
                        squares += error[m] == "-" ? 0 : error[m] * error[m]
                    }
                }
                off = found ? sum - truth : 0
                far = off < 0 ? -off : off
                near = found && (far <= 0.03 || far <= sqrt(squares))
                print name, mode, p, truth, found, near, off, (squares > 0 ? sqrt(squares) : "-"), how, all, load
            }
        }' "$directory/announced" "$SCRATCH/rows" "$SCRATCH/$2.marks" | tee "$SCRATCH/latest" >> "$SCRATCH/judged"
    [ -z "${BENCH_KEEP-}" ] || keep "$1" "$2"
}

# keep NAME MODE: the trace that has just been judged, if a phase is not near.
keep() {
    local n
    cat "$SCRATCH/latest" >> "$BENCH_KEEP/judged"
    awk '!$6 { bad = 1 } END { exit !bad }' "$SCRATCH/latest" || return
    n=$(wc -l < "$BENCH_KEEP/judged")
    cp "$trace" "$BENCH_KEEP/$1.$2.$n.dat"
    cp "$SCRATCH/$2.marks" "$BENCH_KEEP/$1.$2.$n.marks"
}

declare -A jvm reader # by mode: PIDs, of the JVM and of who reads its phases into MODE.marks

# start_jvm MODE COMMAND
start_jvm() {
    local pipe=$SCRATCH/$1.pipe
    rm -f "$pipe"
    mkfifo "$pipe"
    (cd "$directory" && exec ${2//@MODE@/$1} 2> "$pipe" > "$SCRATCH/$1.out" < /dev/null) &
    jvm[$1]=$!
    test_pids+=("$!")
    "$build/test/tools/phase_times" "${jvm[$1]}" < "$pipe" > "$SCRATCH/$1.marks" &
    reader[$1]=$!
}

end_jvm() {
    kill -KILL "${jvm[$1]}"
    wait "${jvm[$1]}" "${reader[$1]}" 2> /dev/null
}

# is_past MODE END: the last line of MODE.marks is behind it.
is_past() {
    tail -n 1 "$SCRATCH/$1.marks" | awk -v end="$2" '{ exit !($1 > end) }'
}

# record NAME MODE: one recording, judged.
record() {
    trace=$SCRATCH/trace.dat
    rm -f "$trace"
    wait_for 20 attachable "${jvm[$2]}"
    if [ "$how" = live ]; then
        "$mmprof" record --live -q -p "${jvm[$2]}" -d "$seconds" -o "$trace" 2>> "$SCRATCH/errors"
    else
        "$mmprof" sample -p "${jvm[$2]}" -d "$seconds" -o "$trace" > "$SCRATCH/said" 2>> "$SCRATCH/errors"
    fi
    wait_for 20 is_past "$2" "$(window "$trace" | cut -d ' ' -f 2)"
    judge "$1" "$2"
    "$mmprof" report "$trace" 2>> "$SCRATCH/errors" |
        sed -n 's/^complete.* cost \([0-9.]*\) %.*/\1/p' >> "$SCRATCH/costs"
}

# Samples change nothing in the JVM: one is enough for all.
sample_workload() {
    local i
    start_jvm warm "$2"
    sleep "$warm"
    for ((i = 0; i < runs; i++)); do
        record "$1" warm
    done
    end_jvm warm
}

# Two recordings of a program, from its start and warm.
record_workload() {
    local begun=$SECONDS
    start_jvm warm "$2"
    start_jvm start "$2"
    record "$1" start
    end_jvm start
    while [ $((SECONDS - begun)) -lt "$warm" ]; do
        sleep 0.1
    done
    record "$1" warm
    end_jvm warm
}

: > "$SCRATCH/judged"
if [ "$how" = live ]; then
    for ((round = 0; round < runs && SECONDS < ${BENCH_END:-1000000}; round++)); do
        each_workload "$directory" record_workload
    done
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
# median FILE: and the 95th part of 100 of its lines, numbers.
median() {
    sort -g "$1" | awk '{ v[NR] = $1 }
        END { printf "%.2f (95 %%: %.2f)", v[int((NR + 1) / 2)], v[int((NR * 19 + 19) / 20)] }'
}

awk '{ print ($7 < 0 ? -$7 : $7) * 100 }' "$SCRATCH/judged" > "$SCRATCH/differences"
awk '$8 != "-" && $4 >= 0.1 && $4 <= 0.5 { print $8 * 200 }' "$SCRATCH/judged" > "$SCRATCH/widths"
awk '$8 != "-" && $9 == "samples" { n++; far = $7 < 0 ? -$7 : $7; in_it += far <= $8 }
    END { printf "\nintervals from samples alone that hold the truth: %d of %d (%.1f %%)\n", in_it, n,
        n ? 100 * in_it / n : 0 }' "$SCRATCH/judged"
awk '$9 ~ /^probes/ { n++; far = $7 < 0 ? -$7 : $7; near += far <= 0.005; if (far > most) most = far }
    END { printf "rows with probes within half a point: %d of %d, farthest %.2f\n", near, n, 100 * most }' \
    "$SCRATCH/judged"
echo "points of difference: $(median "$SCRATCH/differences")"
echo "points of an interval's width, shares of 10 to 50 %: $(median "$SCRATCH/widths")"
[ ! -s "$SCRATCH/costs" ] || echo "cost, % of the CPU time: $(median "$SCRATCH/costs")"
