#!/bin/bash
# What attaching to a warm JVM costs it:   make bench-attached [WORKLOADS=DIR]
#
# Of each workload two JVMs share one CPU, so that whatever slows this machine slows both; with two CPUs there are two
# such pairs at the same time.  After BENCH_WARM (60) seconds they are recorded in turns of BENCH_TURN (40) seconds,
# one of them at a time, BENCH_TURNS (4, an even number) turns: live, within 1 % (BENCH_MODE=live), or the phases that a
# live recording has found just before (BENCH_MODE=phases).  In each turn, from two seconds after mmprof began: the CPU
# time of an iteration of the one that is recorded, against the other's.  Two turns one after the other, in which they
# swap, are one figure, the mean of both: what else is different between two JVMs, such as what their JIT compilers did,
# is gone from it.
#
# DIR/commands is as for overhead.sh; its programs print 'iteration K of N: S s', several in a turn, and do not end
# before the last turn has.  (They are killed then.)  Without WORKLOADS: javac.  BENCH_ONLY="NAME ..." takes only these.
#
# The table, in per cent of the CPU time of the JVM that is not recorded: the mean over the figures, and its standard
# error, of all; and where it is: in the JIT compilers' threads, the collector's, the agent's, all others, and mmprof's
# own process.  What is run goes to standard error.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/workloads.sh"
cd "$root" || exit 1

warm=${BENCH_WARM:-60}
turn=${BENCH_TURN:-40}
turns=${BENCH_TURNS:-4}
mode=${BENCH_MODE:-live}
jdk=${JDK:-$(first_jdk)}
directory=${WORKLOADS:-$SCRATCH}
tools=$build/test/tools

fail() {
    echo "bench-attached: $1" >&2
    exit 1
}

if [ -z "${WORKLOADS-}" ]; then
    echo "javac exec $jdk/bin/java -Xmx512m -cp $classes demo.JavacDemo $jdk/lib/src.zip 100000 java.net.http" \
        > "$SCRATCH/commands"
fi
[ -r "$directory/commands" ] || fail "there is no '$directory/commands'"

read -r -a cpus < <(allowed_cpus 2)

# Seconds, as iteration_times has them.
now() {
    awk '{ print $1 }' /proc/uptime
}

# start_side CPU SIDE COMMAND: a JVM, whose iterations are in SIDE.times; its process is in $pid.
start_side() {
    local -x BENCH_RUN=$2
    rm -f "$SCRATCH/$2.times"
    (cd "$directory" && exec taskset -c "$1" "$tools/iteration_times" "$SCRATCH/$2.times" sh -c "$3") \
        > /dev/null 2> "$SCRATCH/$2.errors" < /dev/null &
    local parent=$! i
    for ((i = 0; i < 100; i++)); do
        sleep 0.1
        pid=$(pgrep -P "$parent" -x java) && return
    done
    fail "$2: no java was started: $(tail -n 2 "$SCRATCH/$2.errors")"
}

# iterations SIDE FROM TO: of one, CPU seconds of all threads, compilers', collector's, agent's; or nothing.
iterations() {
    awk -v from="$2" -v to="$3" '
        $1 >= from && $1 <= to { n++; for (i = 2; i <= NF; i++) { if (n == 1) first[i] = $i; last[i] = $i } }
        END { for (i = 2; n > 2 && i <= 5; i++) printf "%.5f ", (last[i] - first[i]) / (n - 1) }' "$SCRATCH/$1.times"
}

# share SIDE FROM TO SECONDS: these in those of CPU time that the JVM used up meanwhile.
share() {
    awk -v from="$2" -v to="$3" -v s="$4" '
        $1 >= from && $1 <= to { n++; if (n == 1) { t = $1; c = $2 }; seconds = $1 - t; cpu = $2 - c }
        END { if (n > 2) printf "%.5f", s / (cpu / seconds * (to - from)) }' "$SCRATCH/$1.times"
}

# record_one CPU SIDE PID OPTION...: for a turn, into SIDE.dat; SIDE.took: what that took mmprof's process.
record_one() {
    local cpu=$1 side=$2 pid=$3
    shift 3
    rm -f "$SCRATCH/$side.took"
    taskset -c "$cpu" "$tools/timed" "$SCRATCH/$side.took" "$mmprof" record "$@" -p "$pid" -d "$turn" \
        -o "$SCRATCH/$side.dat" > "$SCRATCH/$side.said" 2>&1 ||
        fail "recording failed: $(tail -n 2 "$SCRATCH/$side.said")"
}

# select_phases CPU SIDE PID: into CPU.json; fails if there are none.
select_phases() {
    record_one "$1" "$2" "$3" --live --budget 1%
    "$mmprof" phases -o "$SCRATCH/$1.json" "$SCRATCH/$2.dat" > "$SCRATCH/$1.table" 2>&1 || {
        echo "  no phases: $(head -n 1 "$SCRATCH/$1.table")" >&2
        return 1
    }
}

# pair NAME CPU COMMAND: appends its turns to NAME.turns: CPU, turn, iterations of the recorded one and of the other,
# share of mmprof's process.  In a shell of its own: its JVMs end with that.
pair() {
    local name=$1 cpu=$2 i from begin to recorded other pid
    pids=() options=(--live --budget 1%)
    trap 'kill -KILL ${pids[@]+"${pids[@]}"} 2> /dev/null' EXIT
    for i in 0 1; do
        start_side "$cpu" "$cpu.$i" "$3"
        pids[i]=$pid
    done
    sleep "$warm"
    if [ "$mode" = phases ]; then
        select_phases "$cpu" "$cpu.0" "${pids[0]}" || return 0
        options=(--phases "$SCRATCH/$cpu.json")
    fi
    for ((i = 0; i < turns; i++)); do
        recorded=$cpu.$((i % 2)) other=$cpu.$((1 - i % 2))
        from=$(now)
        record_one "$cpu" "$recorded" "${pids[i % 2]}" "${options[@]}"
        to=$(now)
        begin=$(awk -v t="$from" 'BEGIN { print t + 2 }')
        echo "$cpu $i $(iterations "$recorded" "$begin" "$to") $(iterations "$other" "$begin" "$to")" \
            "$(share "$recorded" "$from" "$to" "$(awk '{ print $5 + $7 }' "$SCRATCH/$recorded.took")")" \
            > "$SCRATCH/$cpu.turn"
        echo "  $name: $(cat "$SCRATCH/$cpu.turn")" >&2
        cat "$SCRATCH/$cpu.turn" >> "$SCRATCH/$name.turns"
        sleep 1
    done
}

# row NAME: of the table; appends 'NAME all' of each figure to 'figures'.
row() {
    sort -n -k 1,1 -k 2,2 "$SCRATCH/$1.turns" | awk -v name="$1" -v figures="$SCRATCH/figures" '
        NF != 11 { bad++; before = ""; next }
        {
            all = $3 / $7 - 1 + $11
            part[1] = ($4 - $8) / $7; part[2] = ($5 - $9) / $7; part[3] = ($6 - $10) / $7; part[4] = $11
            if ($2 % 2 == 0) { before = $1; all0 = all; for (i in part) part0[i] = part[i]; seconds0 = $7; next }
            if (before != $1) next
            n++; v = 50 * (all + all0); sum += v; squares += v * v; seconds += ($7 + seconds0) / 2
            for (i in part) parts[i] += 50 * (part[i] + part0[i])
            print name, v >> figures
        }
        END {
            if (n == 0) { printf "%-12s too few iterations in a turn, or no phases\n", name; exit }
            mean = sum / n
            se = n > 1 ? sprintf("%.1f", sqrt((squares - n * mean * mean) / (n - 1) / n)) : "-"
            printf "%-12s %9.2f %6d %14s %12.2f %10.2f %10.2f %9.2f %8.2f", name, seconds / n, n, \
                sprintf("%.1f (%s)", mean, se), mean - (parts[1] + parts[2] + parts[3] + parts[4]) / n, \
                parts[1] / n, parts[2] / n, parts[3] / n, parts[4] / n
            if (bad > 0) printf "  (%d turns had too few iterations)", bad
            printf "\n"
        }'
}

# compare NAME COMMAND: a pair on each CPU.
compare() {
    local cpu side sides=()
    : > "$SCRATCH/$1.turns"
    for cpu in "${cpus[@]}"; do
        (pair "$1" "$cpu" "$2") &
        sides+=($!)
        test_pids+=($!)
    done
    for side in "${sides[@]}"; do
        wait "$side" || exit 1
    done
    row "$1" >> "$SCRATCH/table"
}

: > "$SCRATCH/table"
: > "$SCRATCH/figures"
each_workload "$directory" compare
[ -s "$SCRATCH/table" ] || fail "nothing was run"

echo "$(nproc) CPUs, $(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1), Linux $(uname -r);" \
    "$mode, $turns turns of $turn s after $warm s"
echo "CPU time more, in % of that of the JVM that is not recorded: mean (standard error), and where"
echo
printf '%-12s %9s %6s %14s %12s %10s %10s %9s %8s\n' "" iteration times all application compilers collector agent mmprof
cat "$SCRATCH/table"
awk '{ n[$1]++; s[$1] += $2; q[$1] += $2 * $2 }
    END {
        for (w in n) { m = s[w] / n[w]; k++; mean += m; if (n[w] > 1) v += (q[w] - n[w] * m * m) / (n[w] - 1) / n[w] }
        if (k > 0) printf "%-12s %9s %6s %14s\n", "all", "", "", sprintf("%.1f (%.1f)", mean / k, sqrt(v) / k)
    }' "$SCRATCH/figures"
