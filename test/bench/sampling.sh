#!/bin/bash
# What stack samples cost a program:   make bench-sampling [ASPROF=FILE] [WORKLOADS=DIR]
#
# Two JVMs with the same program share one CPU, so that whatever slows this machine slows both.  In each of BENCH_TURNS
# (20) turns each of them is sampled for BENCH_SECONDS (4) by each of: nothing, 'mmprof sample' as often a second as
# BENCH_HZ (1000; several: "99 1000") says, and, with ASPROF (async-profiler's asprof), that by perf events as often.
# A figure is the CPU time that a round takes the one that is sampled, against the other's, and the mean of both of a
# turn.
#
# The program is bench.Nested, which computes on one thread, with BENCH_WAITING (0) threads besides that wait: where
# there are any, those are sampled, too (--wall, -e wall).  With WORKLOADS it is each one that DIR/commands names (as
# for overhead.sh), BENCH_WARM (60) seconds old; a round is what it does between two lines of output with 'iteration'.
#
# The table: in per cent, the median of the turns, and its 95 % interval (of 1,000 resamples of the turns); then the CPU
# time of the tool's own process, in per cent of that of the JVM, median and range of all samplings.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/workloads.sh"
cd "$root" || exit 1

turns=${BENCH_TURNS:-20}
seconds=${BENCH_SECONDS:-4}
waiting=${BENCH_WAITING:-0}
jdk=${JDK:-$(first_jdk)}
cpu=$(taskset -cp $$ | sed 's/.*: *//; s/[,-].*//')
tick_us=$((1000000 / $(getconf CLK_TCK)))
TIMEFORMAT='%U %S'

# cpu_us PID
cpu_us() {
    awk -v tick="$tick_us" '{ print ($14 + $15) * tick }' "/proc/$1/stat"
}

# sampled_by TOOL HZ PID: the tool's own CPU time, user and system.
sampled_by() {
    local how=(-e cpu) wall=()
    [ "$waiting" = 0 ] || how=(-e wall) wall=(--wall)
    case $1 in
        nothing) sleep "$seconds" ;;
        mmprof) "$mmprof" sample "${wall[@]}" -F "$2" -d "$seconds" -p "$3" ;;
        async-profiler)
            "$ASPROF" -d "$seconds" "${how[@]}" -i $((1000000000 / $2)) -o collapsed -f "$SCRATCH/asprof" "$3"
            ;;
    esac > "$SCRATCH/said" 2>&1
}

# round_us FILE LINES: the CPU time of a round, of those that were told since there were so many lines.
round_us() {
    tail -n "+$(($2 + 1))" "$1" | awk '
        NR == 1 { cpu = $1; rounds = $2 }
        END { if ($2 > rounds) print ($1 - cpu) / ($2 - rounds) }'
}

# watch PID FILE: the CPU time in us at each iteration of which FILE tells, and their number.
watch() {
    local line n=0
    tail -n +1 --pid="$1" -f "$2" 2>> "$SCRATCH/errors" | while read -r line; do
        [[ $line != *iteration* ]] || echo "$(cpu_us "$1") $((++n))"
    done
}

# begin COMMAND...: two JVMs; jvm-0 and jvm-1 have a line with its CPU time and rounds so far now and then.
begin() {
    local jvm
    for jvm in 0 1; do
        (cd "$directory" && exec taskset -c "$cpu" "$@") > "$SCRATCH/out-$jvm" 2>&1 < /dev/null &
        pids[jvm]=$!
        test_pids+=("${pids[jvm]}")
        if [ "$directory" = . ]; then
            ln -sf "out-$jvm" "$SCRATCH/jvm-$jvm"
        else
            watch "${pids[jvm]}" "$SCRATCH/out-$jvm" > "$SCRATCH/jvm-$jvm" &
        fi
    done
}

# sample_once TURN TOOL HZ JVM: 'turn tool round other own' as said above; nothing where no round was whole.
sample_once() {
    local it="$SCRATCH/jvm-$4" other="$SCRATCH/jvm-$((1 - $4))" n_it n_other own before rounds
    n_it=$(wc -l < "$it") n_other=$(wc -l < "$other") before=$(cpu_us "${pids[$4]}")
    own=$({ time sampled_by "$2" "$3" "${pids[$4]}"; } 2>&1)
    own=$(awk -v us=$(($(cpu_us "${pids[$4]}") - before)) '{ print (us > 0 ? ($1 + $2) * 1e8 / us : 0) }' <<< "$own")
    rounds="$(round_us "$it" "$n_it") $(round_us "$other" "$n_other")"
    [[ $rounds != *' ' && $rounds != ' '* ]] && echo "$1 $2-$3 $rounds $own"
    sleep 0.5
}

print_table() {
    awk '
    { sum[$2, $1] += 50 * ($3 / $4 - 1); n[$2, $1]++; own[$2, ++n_own[$2]] = $5 }
    !($2 in seen) { seen[$2]; names[++n_names] = $2 }
    function insert(v, i, x) {
        for (; i > 1 && v[i - 1] > x; i--)
            v[i] = v[i - 1]
        v[i] = x
    }
    function median(tool, drawn,    i, v) {
        for (i = 1; i <= n_of; i++)
            insert(v, i, whole[drawn ? 1 + int(rand() * n_of) : i])
        return (v[int((n_of + 1) / 2)] + v[int(n_of / 2) + 1]) / 2
    }
    END {
        for (k = 1; k <= n_names; k++) {
            tool = names[k]
            n_of = 0
            for (key in n) {
                split(key, part, SUBSEP)
                if (part[1] == tool && n[key] == 2) whole[++n_of] = sum[key]
            }
            if (n_of == 0) continue
            for (i = 1; i <= 1000; i++) insert(m, i, median(tool, 1))
            for (i = 1; i <= n_own[tool]; i++) insert(o, i, own[tool, i])
            printf "%-20s %6.2f (%.2f to %.2f), %d turns; own process %.2f (%.2f to %.2f)\n", tool,
                median(tool, 0), m[25], m[975], n_of, o[int(i / 2)], o[1], o[i - 1]
        }
    }' "$SCRATCH/figures"
}

measure() {
    local turn tool hz jvm tools=(nothing)
    # shellcheck disable=SC2086  # a command's words
    begin $2
    sleep "$3"
    for hz in ${BENCH_HZ:-1000}; do
        tools+=("mmprof $hz" ${ASPROF:+"async-profiler $hz"})
    done
    for turn in $(seq "$turns"); do
        for tool in "${tools[@]}"; do
            for jvm in 0 1; do
                # shellcheck disable=SC2086  # two words
                sample_once "$turn" ${tool/nothing/nothing 0} "$jvm"
            done
        done
    done > "$SCRATCH/figures"
    stop "${pids[0]}"
    stop "${pids[1]}"
    echo "$1, load $(cut -d ' ' -f 1 /proc/loadavg)"
    print_table
}

pids=()
if [ -n "${WORKLOADS-}" ]; then
    directory=$WORKLOADS
    measure_workload() {
        measure "$1" "$2" "${BENCH_WARM:-60}"
    }
    each_workload "$directory" measure_workload
else
    directory=.
    measure bench.Nested "$jdk/bin/java -Xmx64m -XX:MaxInlineLevel=2 -cp $classes bench.Nested 100000 $waiting" 10
fi
