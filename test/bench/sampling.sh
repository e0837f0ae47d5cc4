#!/bin/bash
# What stack samples cost a program that computes:   make bench-sampling [ASPROF=FILE]
#
# Two JVMs with bench.Nested share one CPU, so that whatever slows this machine slows both.  In each of BENCH_TURNS
# (20) turns each of them is sampled for two seconds by each of: nothing, 'mmprof sample' BENCH_HZ (1000) times a
# second, and, with ASPROF (async-profiler's asprof), that as often.  A figure is the CPU time that a round takes the
# one that is sampled, against the other's, and the mean of both of a turn.
#
# The table, in per cent: the median of the turns, and its 95 % interval (of 2,000 resamples of the turns).
. "$(dirname "$0")/../lib.sh"
cd "$root" || exit 1

turns=${BENCH_TURNS:-20}
hz=${BENCH_HZ:-1000}
jdk=${JDK:-$(first_jdk)}
cpu=$(taskset -cp $$ | sed 's/.*: *//; s/[,-].*//')

# sampled_by TOOL PID
sampled_by() {
    case $1 in
        nothing) sleep 2.2 ;;
        mmprof) "$mmprof" sample -F "$hz" -d 2.1 -p "$2" ;;
        async-profiler) "$ASPROF" -d 2 -e cpu -i $((1000000000 / hz)) -o collapsed -f "$SCRATCH/asprof" "$2" ;;
    esac > "$SCRATCH/said" 2>&1
}

# The median of a JVM's last six quarters of a second.
round_us() {
    tail -n 6 "$SCRATCH/jvm-$1" | sort -n | sed -n 3p
}

pids=()
for jvm in 0 1; do
    start "$SCRATCH/jvm-$jvm" taskset -c "$cpu" "$jdk/bin/java" -Xmx64m -XX:MaxInlineLevel=2 -cp "$classes" \
        bench.Nested 100000
    pids[jvm]=$pid
done
sleep 10
tools="nothing mmprof${ASPROF:+ async-profiler}"
for turn in $(seq "$turns"); do
    for tool in $tools; do
        for jvm in 0 1; do
            sampled_by "$tool" "${pids[jvm]}"
            echo "$turn $tool $(round_us $jvm) $(round_us $((1 - jvm)))"
            sleep 0.5
        done
    done
done > "$SCRATCH/figures"
awk -v tools="$tools" '
    { sum[$2, $1] += 50 * ($3 / $4 - 1); turns = $1 }
    function median(tool, drawn,    i, j, v, x) {
        for (i = 1; i <= turns; i++) {
            x = sum[tool, drawn ? 1 + int(rand() * turns) : i]
            for (j = i - 1; j > 0 && v[j] > x; j--)
                v[j + 1] = v[j]
            v[j + 1] = x
        }
        return (v[int((turns + 1) / 2)] + v[int(turns / 2) + 1]) / 2
    }
    END {
        n = split(tools, names, " ")
        for (k = 1; k <= n; k++) {
            for (i = 1; i <= 2000; i++) {
                x = median(names[k], 1)
                for (j = i - 1; j > 0 && m[j] > x; j--)
                    m[j + 1] = m[j]
                m[j + 1] = x
            }
            printf "%-16s %6.2f (%.2f to %.2f)\n", names[k], median(names[k], 0), m[50], m[1950]
        }
    }' "$SCRATCH/figures"
