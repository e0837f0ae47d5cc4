#!/bin/bash
# Do stack samples say what JFR's say of the same seconds?   make bench-jfr [WORKLOADS=DIR]
#
# Each workload (as for overhead.sh, started by a java; BENCH_ONLY="NAME ..." takes only these) runs for BENCH_WARM (20)
# seconds, then 'mmprof sample' (BENCH_HZ, 99) and JFR (jdk.ExecutionSample every 10 ms, and jdk.CPUTimeSample where the
# JDK has it) sample it for BENCH_SECONDS (20), BENCH_RUNS (1) times.
#
# The table: how many samples with Java methods each took, and for the methods with their callees how far they agree:
#
#     top 20   the weighted overlap of the shares of those methods that are among the first 20 of either
#     both     how many of the first 20 both have there
#     own      the overlap of all methods' own times
#     CPU      with jdk.CPUTimeSample in place of jdk.ExecutionSample
#     twice    of two profiles by mmprof at once, the other one with 7 samples for each 8: what chance leaves
#
# JFR's jdk.ExecutionSample takes threads that are in Java code, not in native or the JVM's, and want a CPU, whether
# they have it or not.  It leaves hidden frames out (lambdas' classes, methods with @Hidden), so they are left out here.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/workloads.sh"
. "$(dirname "$0")/folded.sh"
cd "$root" || exit 1

seconds=${BENCH_SECONDS:-20}
warm=${BENCH_WARM:-20}
runs=${BENCH_RUNS:-1}
hz=${BENCH_HZ:-99}
directory=${WORKLOADS:?give a directory with a file 'commands'}

cat > "$SCRATCH/settings.jfc" << 'END'
<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0">
<event name="jdk.ExecutionSample"><setting name="enabled">true</setting><setting name="period">10 ms</setting></event>
<event name="jdk.CPUTimeSample"><setting name="enabled">true</setting><setting name="throttle">10 ms</setting></event>
</configuration>
END

# folded JFR EVENT: its stacks, outermost first, as 'mmprof sample --folded' has them.
folded() {
    "$bin/jfr" print --events "$2" --stack-depth 1024 "$1" 2>> "$SCRATCH/errors" | awk '
        /stackTrace = \[/ { inside = 1; stack = ""; next }
        inside && /^ *\]/ { inside = 0; if (stack != "") n[stack]++; next }
        inside && /\(/ {
            sub(/^ */, ""); sub(/\(.*/, "")
            stack = stack == "" ? $0 : $0 ";" stack
        }
        END { for (s in n) print s, n[s] }'
}

# sample FILE HZ
sample() {
    "$mmprof" sample -F "$2" -p "$jvm" -d "$seconds" --folded "$SCRATCH/$1.all" \
        > "$SCRATCH/said.$1" 2>> "$SCRATCH/errors"
    sed -E 's/[^; ]*(\$\$Lambda|LambdaForm|AccessController\.executePrivileged)[^; ]*;//g' \
        "$SCRATCH/$1.all" > "$SCRATCH/$1"
}

# One recording: a line of the table.
compare_once() {
    local second n_a n_b top in_both own cpu=- cpu_own=- twice
    "$bin/jcmd" "$jvm" JFR.start name=bench settings="$SCRATCH/settings.jfc" > "$SCRATCH/said" 2>&1
    sample again $((hz * 7 / 8)) &
    second=$!
    sample ours "$hz"
    wait "$second"
    "$bin/jcmd" "$jvm" JFR.dump name=bench filename="$SCRATCH/bench.jfr" > "$SCRATCH/said" 2>&1
    "$bin/jcmd" "$jvm" JFR.stop name=bench > "$SCRATCH/said" 2>&1
    folded "$SCRATCH/bench.jfr" jdk.ExecutionSample > "$SCRATCH/theirs"
    folded "$SCRATCH/bench.jfr" jdk.CPUTimeSample > "$SCRATCH/cpu"
    read -r n_a n_b top in_both own < <(agree 20 methods "$SCRATCH/ours" "$SCRATCH/theirs")
    [ ! -s "$SCRATCH/cpu" ] || read -r _ _ cpu _ cpu_own < <(agree 20 methods "$SCRATCH/ours" "$SCRATCH/cpu")
    read -r _ _ twice _ _ < <(agree 20 methods "$SCRATCH/ours" "$SCRATCH/again")
    printf '%-12s %8d %8d %8s %6d %8s %8s %8s %8s\n' \
        "$1" "$n_a" "$n_b" "$top" "$in_both" "$own" "$cpu" "$cpu_own" "$twice"
}

measure() {
    local i
    bin=$(dirname "${2%% *}")
    (
        cd "$directory" || exit
        # shellcheck disable=SC2086  # a command's words
        exec ${2%% *} -XX:FlightRecorderOptions=stackdepth=1024 ${2#* } > "$SCRATCH/out" 2>&1 < /dev/null
    ) &
    jvm=$!
    test_pids+=("$jvm")
    sleep "$warm"
    for ((i = 0; i < runs; i++)); do
        compare_once "$1"
    done
    stop "$jvm"
}

printf '%-12s %8s %8s %8s %6s %8s %8s %8s %8s\n' "" mmprof JFR "top 20" both own "CPU" "CPU own" twice
each_workload "$directory" measure
