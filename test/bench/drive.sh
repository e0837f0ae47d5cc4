#!/bin/bash
# Do samples drive the JIT compilers better than the JVM does?   make bench-drive [WORKLOADS=DIR]
#
# Each workload (as for overhead.sh, started by a java; BENCH_ONLY="NAME ..." takes only these) runs BENCH_RUNS (11)
# times in turns, from its JVM's start, which thesis §4.4.1 calls one-run performance: alone, and with 'mmprof drive'
# that compiles nothing (the same samples), random methods (as many), and what its model chooses.  The first turn is
# dropped.  CPU time is of the JVM and mmprof together.
#
# The tables: each variant over 'nothing' in the same turn, with Student's 95 % interval of the logarithms' mean; and of
# the model what Table 4.3 and Figure 4.5 of the thesis have: samples, methods weighed by the model, methods compiled
# because of it, by tier.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/workloads.sh"
cd "$root" || exit 1

runs=${BENCH_RUNS:-11}
directory=${WORKLOADS:?give a directory with a file 'commands'}
timed=$build/test/tools/timed
variants="alone nothing random model"

# once NAME VARIANT TURN COMMAND: appends what it took.
once() {
    local took=$SCRATCH/took drive=()
    [ "$2" = alone ] || drive=("$mmprof" drive --compile "$2" --seed "$3" --json --)
    rm -f "$took"
    # shellcheck disable=SC2086  # a command's words
    (cd "$directory" && "$timed" "$took" "${drive[@]}" $4) > "$SCRATCH/out" 2>> "$SCRATCH/errors" < /dev/null ||
        echo "$1 $2: status $?" >&2
    awk -v name="$1" -v variant="$2" -v turn="$3" '{ print name, variant, turn, $3, $5 + $7 }' "$took" \
        >> "$SCRATCH/turns"
    [ "$2" != model ] || cat "$SCRATCH/out" >> "$SCRATCH/counts.$1"
}

measure() {
    local turn variant
    for ((turn = 0; turn < runs; turn++)); do
        for variant in $variants; do
            once "$1" "$variant" "$turn" "$2"
        done
    done
}

# ratios COLUMN: of wall (4) or CPU time (5).
ratios() {
    awk -v column="$1" '
        $3 > 0 { at[$1, $3, $2] = $column; names[$1] = 1; turns[$3] = 1 }
        # Two-sided 95 %, by degrees of freedom.
        function limit(df) {
            split("12.71 4.30 3.18 2.78 2.57 2.45 2.36 2.31 2.26 2.23 2.20 2.18 2.16 2.14 2.13", t, " ")
            return df < 1 ? 0 : df > 15 ? 2.1 : t[df]
        }
        END {
            split("alone random model", variants, " ")
            for (name in names)
                for (v = 1; v <= 3; v++) {
                    n = sum = squares = 0
                    for (turn in turns)
                        if (at[name, turn, variants[v]] > 0 && at[name, turn, "nothing"] > 0) {
                            x = log(at[name, turn, variants[v]] / at[name, turn, "nothing"])
                            n++; sum += x; squares += x * x
                        }
                    if (n < 2)
                        continue
                    half = limit(n - 1) * sqrt((squares - sum * sum / n) / (n - 1) / n)
                    printf "%-12s %-8s %5d %8.3f   %.3f to %.3f\n", name, variants[v], n, exp(sum / n),
                        exp(sum / n - half), exp(sum / n + half)
                }
        }' "$SCRATCH/turns" | sort
}

# The mean of a number of the JSON texts in a file.
mean() {
    grep -o "\"$2\":[[:space:]]*[0-9.]*" "$1" |
        awk -F : '{ sum += $2 } END { printf "%8.1f ", (NR > 0 ? sum / NR : 0) }'
}

each_workload "$directory" measure
for column in 4 5; do
    kind=$([ "$column" = 4 ] && echo "Wall time" || echo "CPU time")
    echo "$kind over that with the same samples and nothing compiled:"
    printf '%-12s %-8s %5s %8s   %s\n' "" "" turns ratio interval
    ratios $column
    echo
done
printf '%-12s %8s %8s %8s %8s %8s\n' "" samples sampled weighed chosen taken
for counts in "$SCRATCH"/counts.*; do
    [ -s "$counts" ] || continue
    printf '%-12s ' "${counts##*.}"
    for key in samples methods_sampled methods_proposed methods_chosen methods_taken; do
        mean "$counts" $key
    done
    echo
done
