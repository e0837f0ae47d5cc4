#!/bin/bash
# How costs grow with the size of a trace:   make bench-growth
#
# A row is a cost at each of the sizes, and the exponent e of the fit cost = c * size^e (least squares of logarithms):
# 1 is linear.  At small sizes most of it is fixed, so the exponent between the last two sizes stands beside it.
# Costs are CPU time, so that a busy machine matters little; those of traces are medians of BENCH_RUNS (1).
#
#     GROWTH_RECORDS="1 4 16 64"              millions, of 4 threads and 2,048 methods (synthetic: calltree_bench)
#     GROWTH_METHODS="1000 4000 16000 64000"  in 4 million records
#     GROWTH_THREADS="1 10 100 500 2000"      in 8 million records
#     GROWTH_CONTEXTS="3 6 9 12 18"           calls deep, in 8 million records: the size is the number of contexts
#     GROWTH_CLASSES="1000 5000 20000 50000"  loaded in a JVM that is profiled for 5 s (bench.Classes)
#     GROWTH_LIVE="1 10 100 500 2000"         threads of a JVM that is (bench.Crowd)
#     GROWTH_JVMS="1 4 16"                    that run here: of 'mmprof ps'
#
# An empty list leaves its rows out.
. "$(dirname "$0")/../lib.sh"
cd "$root" || exit 1

runs=${BENCH_RUNS:-1}
cd "$SCRATCH" || exit 1

# fail WHAT
fail() {
    printf 'bench-growth: %s\n  next: run it by itself\n' "$1" >&2
    exit 1
}

median() {
    sort -g "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# cpu FILE COMMAND...: seconds of CPU time, appended to FILE; peak memory in MB to FILE.mb.
cpu() {
    local file=$1
    shift
    rm -f took
    "$build/test/tools/timed" took "$@" > out 2> errors < /dev/null || fail "'$*' failed: $(tail -n 1 errors)"
    awk '{ print $5 + $7 }' took >> "$file"
    awk '{ print $9 / 1024 }' took >> "$file.mb"
}

# fit NAME FILE: FILE has lines of a size and a cost.
fit() {
    awk -v name="$1" '
        $2 > 0 { n++; x[n] = log($1); y[n] = log($2); sx += x[n]; sy += y[n]; sxx += x[n] * x[n]; sxy += x[n] * y[n] }
        { costs = costs sprintf(" %9.3g", $2) }
        END {
            fitted = n > 1 ? sprintf("%.2f", (n * sxy - sx * sy) / (n * sxx - sx * sx)) : "-"
            last = n > 1 ? sprintf("%.2f", (y[n] - y[n - 1]) / (x[n] - x[n - 1])) : "-"
            printf "%-36s%s  %6s %6s\n", name, costs, fitted, last
        }' "$2"
}

# heading NAME SIZE...
heading() {
    local name=$1
    shift
    printf '\n%-36s' "$name"
    printf ' %9s' "$@"
    printf '  %6s %6s\n' fitted last
}

# rows: of all NAME.FIGURE files of lines 'SIZE COST'.
rows() {
    local file
    for file in "$1".*; do
        fit "  ${file#"$1".}" "$file"
    done
}

# synthetic NAME SIZE OPTION...: one trace, its costs to NAME.*
synthetic() {
    local name=$1 size=$2 i
    shift 2
    "$build/test/bench/calltree_bench" -n 0 -o t.dat "$@" > made || fail "'calltree_bench $*' failed"
    rm -f phases report phases.mb report.mb
    for ((i = 0; i < runs; i++)); do
        cpu phases "$mmprof" phases -o phases.json t.dat
        cpu report "$mmprof" report --csv t.dat
    done
    echo "$size $(awk -v b="$(stat -c %s t.dat)" 'BEGIN { print b / 1e6 }')" >> "$name.trace, MB"
    echo "$size $(awk '/^records/ { n = $2 } /^write/ { print $2 * n / 1e9 }' made)" >> "$name.writing its records, s"
    echo "$size $(median phases)" >> "$name.phases, s"
    echo "$size $(median phases.mb)" >> "$name.phases, MB of memory"
    echo "$size $(median report)" >> "$name.report, s"
    rm -f t.dat
}

# part NAME HEADING SIZES COMMAND: runs it with each size, and prints the rows.
part() {
    local size
    [ -n "$3" ] || return 0
    for size in $3; do
        echo "$1: $size" >&2
        "$4" "$size"
    done
    # shellcheck disable=SC2086  # a list
    heading "$2" $3
    rows "$1"
}

# in_jvm NAME SIZE CLASS ARGUMENT...: the costs to NAME.* of profiling a JVM that runs the class, from when it has
# printed a line.
in_jvm() {
    local name=$1 size=$2 pid i
    shift 2
    rm -f printed profile profile.mb
    "${JDK:-$(first_jdk)}/bin/java" -Xmx600m -XX:+UseSerialGC -cp "$classes" "$@" > printed 2> errors < /dev/null &
    pid=$!
    for ((i = 0; i < 1200; i++)); do
        if [ -s printed ] || ! kill -0 $pid 2> gone; then
            break
        fi
        sleep 0.1
    done
    cpu profile "$mmprof" profile -q -p $pid -d 5 -o profiled
    echo "$size $(cat profile)" >> "$name.mmprof profile, s"
    echo "$size $(cat profile.mb)" >> "$name.mmprof profile, MB of memory"
    echo "$size $("$mmprof" report --view cost --csv profiled/phases.dat |
        awk -F , '$1 == "agent_cpu" { print $3 / 1e9 }')" >> "$name.the agent, s"
    kill $pid
    wait $pid || true
    rm -rf profiled
}

of_records() { synthetic records "$1" -r "${1}000000"; }
of_methods() { synthetic methods "$1" -r 4000000 -m "$1"; }
of_threads() { synthetic threads "$1" -r 8000000 -t "$1"; }
of_classes() { in_jvm classes "$1" bench.Classes "$1" never; }

# The size is what it has, not the depth that it is asked for.
of_contexts() {
    local n
    "$build/test/bench/calltree_bench" -n 1 -o t.dat -r 8000000 -d "$1" > made || fail "'calltree_bench -d $1' failed"
    n=$(sed -n 's/.* nodes \([0-9]*\)$/\1/p' made)
    echo "$n $n" >> contexts.contexts
    synthetic contexts "$n" -r 8000000 -d "$1"
}

# JVMs that sleep: as many as asked for, beside those that ran before.
of_jvms() {
    local pids=() i
    for ((i = 0; i < $1; i++)); do
        "${JDK:-$(first_jdk)}/bin/java" -Xmx64m -XX:+UseSerialGC -cp "$classes" \
            bench.Crowd 1 0.01 600 > "jvm.$i" 2>&1 < /dev/null &
        pids+=($!)
    done
    for ((i = 0; i < $1; i++)); do
        wait_for 60 test -s "jvm.$i"
    done
    for ((i = 0; i < 10; i++)); do
        cpu ps "$mmprof" ps
    done
    echo "$1 $(median ps)" >> "jvms.mmprof ps, s"
    echo "$1 $(median ps.mb)" >> "jvms.mmprof ps, MB of memory"
    rm -f ps ps.mb
    kill "${pids[@]}"
    wait "${pids[@]}" 2> gone || true
}

of_live() { in_jvm live "$1" bench.Crowd "$1" 0.3 600; }

part records 'millions of records' "${GROWTH_RECORDS-1 4 16 64}" of_records
part methods 'methods, 4 M records' "${GROWTH_METHODS-1000 4000 16000 64000}" of_methods
part threads 'threads, 8 M records' "${GROWTH_THREADS-1 10 100 500 2000}" of_threads
part contexts 'calls deep, 8 M records' "${GROWTH_CONTEXTS-3 6 9 12 18}" of_contexts
part classes 'classes of a JVM' "${GROWTH_CLASSES-1000 5000 20000 50000}" of_classes
part live 'threads of a JVM' "${GROWTH_LIVE-1 10 100 500 2000}" of_live
part jvms 'JVMs' "${GROWTH_JVMS-1 4 16}" of_jvms
