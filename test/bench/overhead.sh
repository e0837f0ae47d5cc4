#!/bin/bash
# What recording costs a program:   make bench-overhead [WORKLOADS=DIR]
#
# Each workload runs with its selected phases only, with --live --budget 1%, and with all methods that are large or have
# a loop, BENCH_PAIRS (6) times, and at the same time without mmprof: each on a CPU of its own, which they swap from
# pair to pair, so that what else the machine does slows both down.  (With one CPU they run one after the other.)  A
# JVM that has one CPU chooses other collectors, unless it is told '-XX:ActiveProcessorCount=2'.  A slowdown is the
# median over the pairs of a run with mmprof against the one without; the interval beside it is the 95 % one of the
# median (sign test; it needs 6 pairs).
#
# DIR/commands names the workloads, one a line: a name, blanks, and a command for 'sh -c' that starts one JVM by exec,
# in DIR.  Lines that begin with '#' are left out.  A workload may print lines 'iteration K of N: S s': then the ones
# that began after its first two seconds are compared, too, and those of its last third: when the JIT compilers have
# settled, if the program runs for long enough.  One that writes files needs other ones in each of two that run at the
# same time: it finds its run's name in $BENCH_RUN.  Without WORKLOADS the programs of test/java are taken.
# BENCH_ONLY="NAME ..." takes only these, BENCH_MODES="phases live" (of phases, live, full, none) compares only these;
# none is without mmprof, too: what two runs differ by that are the same.  BENCH_OPTIONS="--sample-ip 0" gives phases
# and live these options, too.
#
# The tables go to standard output, what is run to standard error.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/workloads.sh"
cd "$root" || exit 1

pairs=${BENCH_PAIRS:-6}
modes=${BENCH_MODES:-phases live full}
read -r -a options <<< "${BENCH_OPTIONS-}"
jdk=${JDK:-$(first_jdk)}
directory=${WORKLOADS:-$SCRATCH}
timed=$build/test/tools/timed
threads=$build/test/tools/thread_times
counts=$build/test/tools/method_counts

fail() {
    echo "bench-overhead: $1" >&2
    exit 1
}

# Without WORKLOADS.
own_commands() {
    local java="exec $jdk/bin/java -Xmx512m -cp $classes"
    cat << END
sort        $java micro.Locality
thesis      $java micro.Thesis 4000 1
osr         $java micro.Osr
exceptions  $java micro.Exceptions
recursion   $java micro.Recursion
virtual     $java micro.Virtual
threads     $java micro.Threads
lambdas     $java micro.Lambdas
javac       $java -Xmx1g demo.JavacDemo $jdk/lib/src.zip 4 java.net.http
accessors   $java bench.Accessors 8 1
END
}

if [ -z "${WORKLOADS-}" ]; then
    own_commands > "$SCRATCH/commands"
fi
[ -r "$directory/commands" ] || fail "there is no '$directory/commands'"

# ---- one run ----

read -r -a cpus < <(allowed_cpus 2)

# once RUN CPU COMMAND...: runs it in DIR; leaves its output in RUN.out and RUN.errors, in RUN.figures
# 'wall cpu late last'; late, last: seconds of later iterations, and of the last third of them; and in RUN.threads the
# CPU time of its threads, as thread_times has it.
once() {
    local -x BENCH_RUN=$1
    local run=$SCRATCH/$1 cpu=$2 status=0
    shift 2
    rm -f "$run.took" "$run.figures" "$run.threads"
    (cd "$directory" && exec taskset -c "$cpu" "$timed" "$run.took" "$threads" "$run.threads" "$@") \
        > "$run.out" 2> "$run.errors" < /dev/null || status=$?
    if [ $status != 0 ]; then
        echo "  $(basename "$run"): status $status: $(tail -n 2 "$run.errors")" >&2
        return 1
    fi
    awk -v late="$(late_seconds < "$run.out")" '{ print $3, $5 + $7, late }' "$run.took" > "$run.figures"
}

# The mean time of the iterations that began two seconds after the first one, or '-'; and of the last third.
late_seconds() {
    sed -n 's/^.*iteration [0-9]* of [0-9]*: \([0-9.]*\) s.*/\1/p' | awk '
        { if (passed >= 2) { sum += $1; n++ }; passed += $1; took[NR] = $1 }
        END {
            for (i = NR - int(NR / 3) + 1; i <= NR; i++) last += took[i]
            printf "%s %s", (n > 0 ? sum / n : "-"), (NR >= 3 ? last / int(NR / 3) : "-")
        }'
}

# ---- statistics ----

# slowdown NAME MODE COLUMN [WHAT]: 'median % [low .. high]' of (with - without) / without over the pairs; WHAT seconds:
# of with - without.
slowdown() {
    [ -e "$SCRATCH/$1.$2" ] || { echo - && return; }
    awk -v c="$3" -v what="${4-}" '
        $c != "-" && $(c + 4) != "-" && $c > 0 && NF == 20 {
            print what == "seconds" ? $(c + 4) - $c : ($(c + 4) / $c - 1) * 100
        }' "$SCRATCH/$1.$2" | sort -g | awk '
        { v[NR] = $1 }
        # The k-th smallest and largest enclose the median with 1 - 2 P(X < k), X binomial (n, 1/2).
        function reach(n,   k, p, sum) {
            p = 0.5 ^ n; sum = p; k = 0
            while (sum <= 0.025) { k++; p = p * (n - k + 1) / k; sum += p }
            return k
        }
        END {
            if (NR == 0) { printf "-"; exit }
            m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
            k = reach(NR)
            if (k > 0) printf "%+.1f [%+.1f .. %+.1f]", m, v[k], v[NR + 1 - k]
            else printf "%+.1f", m
        }'
}

# means MODE: over all workloads, 'mean (standard error)' in per cent of the CPU time without mmprof: of all, of the
# application's threads, C1, C2, the collector, the agent and the recorder; then of later iterations.  Two pairs one
# after the other, in which the CPUs are swapped, are one figure, their mean: one CPU may be faster than the other.
means() {
    awk -v mode="$1" '
        function add(column, value) { n[column]++; sum[column] += value; squares[column] += value * value }
        function take(column, value) {
            if (column in half) { add(column, (half[column] + value) / 2); delete half[column] }
            else half[column] = value
        }
        function take_rest(  column) { for (column in half) add(column, half[column]); split("", half) }
        FNR == 1 { take_rest() }
        NF == 20 && $2 > 0 {
            n_pairs++
            take(1, 100 * ($6 / $2 - 1))
            take(2, 100 * ($20 - $14) / $2)
            for (i = 1; i <= 5; i++) take(2 + i, 100 * ($(14 + i) - $(8 + i)) / $2)
            for (i = 3; i <= 4; i++) if ($i != "-" && $(i + 4) != "-") take(5 + i, 100 * ($(i + 4) / $i - 1))
        }
        END {
            take_rest()
            if (n[1] < 2) exit
            printf "%-12s %6d", mode, n_pairs
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

# ---- a workload ----

# first_pass NAME COMMAND: all methods once, and what is selected from it.
first_pass() {
    local -x BENCH_RUN=first
    local name=$1 trace=$SCRATCH/$1.all.dat
    (cd "$directory" && "$mmprof" record -q -o "$trace" -- sh -c "$2") > "$SCRATCH/out" 2>&1 < /dev/null ||
        fail "the first pass of $name failed: $(tail -n 2 "$SCRATCH/out")"
    "$mmprof" phases -o "$SCRATCH/$name.json" "$trace" > "$SCRATCH/$name.table" || fail "no phases of $name"
    "$counts" "$trace" | awk '$1 == "METHOD" { m++; n += $3 } END { print "METHODS", m; print "CALLS", n }' \
        > "$SCRATCH/$name.all"
    stat -c %s "$trace" > "$SCRATCH/$name.all.bytes"
    rm -f "$trace"
}

# run_mode NAME MODE CPU COMMAND
run_mode() {
    local name=$1 mode=$2 cpu=$3 command=$4
    case $mode in
        plain) once plain "$cpu" sh -c "$command" ;;
        phases) once phases "$cpu" "$mmprof" record -q "${options[@]}" --phases "$SCRATCH/$name.json" \
            -o "$SCRATCH/$name.phases.dat" -- sh -c "$command" ;;
        live) once live "$cpu" "$mmprof" record "${options[@]}" --live --budget 1% -o "$SCRATCH/$name.live.dat" \
            -- sh -c "$command" &&
            grep '^mmprof: ' "$SCRATCH/live.errors" > "$SCRATCH/$name.live.said" ;;
        none) once none "$cpu" sh -c "$command" ;;
        full) once full "$cpu" "$mmprof" record -q -o "$SCRATCH/$name.full.dat" -- sh -c "$command" &&
            rm -f "$SCRATCH/$name.full.dat" ;;
    esac
}

# run_side NAME MODE CPU COMMAND OTHER: and keeps its CPU busy until the OTHER is done, which would be quicker else.
run_side() {
    local status=0
    run_mode "$1" "$2" "$3" "$4" || status=1
    : > "$SCRATCH/$2.done"
    # shellcheck disable=SC2016 # its own argument
    taskset -c "$3" bash -c 'until [ -e "$1" ]; do :; done' bash "$SCRATCH/$5.done"
    return $status
}

# pair NAME MODE PLAINS_CPU MODES_CPU COMMAND: appends the figures of both to NAME.MODE.
pair() {
    local name=$1 mode=$2 status=0
    rm -f "$SCRATCH/plain.done" "$SCRATCH/$mode.done"
    if [ "$3" = "$4" ]; then
        run_mode "$name" plain "$3" "$5" && run_mode "$name" "$mode" "$4" "$5" || return
    else
        run_side "$name" plain "$3" "$5" "$mode" &
        run_side "$name" "$mode" "$4" "$5" plain || status=1
        wait $! && [ $status = 0 ] || return
    fi
    paste -d ' ' "$SCRATCH/plain.figures" "$SCRATCH/$mode.figures" "$SCRATCH/plain.threads" "$SCRATCH/$mode.threads" \
        >> "$SCRATCH/$name.$mode"
    echo "  $name, plain and $mode: $(tail -n 1 "$SCRATCH/$name.$mode")" >&2
}

# measure NAME COMMAND
measure() {
    local name=$1 command=$2 i mode
    [[ " $modes " != *" phases "* ]] || first_pass "$name" "$command"
    for mode in $modes; do
        for ((i = 0; i < pairs; i++)); do
            pair "$name" "$mode" "${cpus[i % ${#cpus[@]}]}" "${cpus[(i + 1) % ${#cpus[@]}]}" "$command" || return
        done
    done
}

# number NAME FIELD: of its phases.json.
number() {
    [ ! -e "$SCRATCH/$1.json" ] || sed -n "s/^.*\"$2\":[[:space:]]*\([-0-9.e]*\).*/\1/p" "$SCRATCH/$1.json" | head -n 1
}

percent() {
    awk -v x="$1" 'BEGIN { if (x == "" || x < 0) print "-"; else printf "%.3g", x * 100 }'
}

# megabytes BYTES: '-' without a number.
megabytes() {
    awk -v b="$1" 'BEGIN { if (b == "") print "-"; else printf "%.1f", b / 1e6 }'
}

# size_of FILE: nothing when it is not there.
size_of() {
    [ ! -e "$1" ] || stat -c %s "$1"
}

# calls FILE: the calls in a trace, from method_counts' lines.
calls_of() {
    [ -e "$1" ] || { echo - && return; }
    "$counts" "$1" | awk '$1 == "METHOD" { n += $3 } END { print n + 0 }'
}

tables() {
    local name=$1
    printf '%-12s %8s %8s %8s %8s  %-22s %-22s %-22s %-22s %-22s %-22s %-22s %-22s %-22s %s\n' "$name" \
        "$(percent "$(number "$name" weight)")" "$(percent "$(number "$name" grain)")" \
        "$(percent "$(number "$name" invocations)")" "$(percent "$(number "$name" time)")" \
        "$(slowdown "$name" phases 1)" "$(slowdown "$name" phases 2)" "$(slowdown "$name" phases 3)" \
        "$(slowdown "$name" phases 4)" "$(slowdown "$name" live 1)" "$(slowdown "$name" live 2)" \
        "$(slowdown "$name" live 2 seconds)" "$(slowdown "$name" live 3)" "$(slowdown "$name" live 4)" \
        "$(slowdown "$name" full 1)" >> "$SCRATCH/table2"
    [ ! -e "$SCRATCH/$name.json" ] || printf '%-12s %16s %26s %9s %9s %9s\n' "$name" \
        "$(grep -c '"descriptor"' "$SCRATCH/$name.json") ($(sed -n 's/^METHODS //p' "$SCRATCH/$name.all"))" \
        "$(calls_of "$SCRATCH/$name.phases.dat") ($(sed -n 's/^CALLS //p' "$SCRATCH/$name.all"))" \
        "$(megabytes "$(size_of "$SCRATCH/$name.phases.dat")")" \
        "$(megabytes "$(size_of "$SCRATCH/$name.live.dat")")" \
        "$(megabytes "$(cat "$SCRATCH/$name.all.bytes")")" >> "$SCRATCH/table3"
    [ ! -e "$SCRATCH/$name.live.said" ] || { echo "$name:" && sed 's/^mmprof: /    /' "$SCRATCH/$name.live.said"; } \
        >> "$SCRATCH/said"
}

# compare NAME COMMAND
compare() {
    measure "$1" "$2"
    tables "$1"
}

: > "$SCRATCH/table2"
: > "$SCRATCH/table3"
each_workload "$directory" compare
[ -s "$SCRATCH/table2" ] || fail "nothing was run"

echo "$(nproc) CPUs, $(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1), Linux $(uname -r)," \
    "$pairs pairs; slowdowns in %: median [95 % interval]"
echo
printf '%-12s %8s %8s %8s %8s  %-22s %-22s %-22s %-22s %-22s %-22s %-22s %-22s %-22s %s\n' "" weight grain estimate \
    predict "phases: wall" "phases: CPU" "phases: after 2 s" "phases: last third" "live: wall" "live: CPU" \
    "live: CPU, s" "live: after 2 s" "live: last third" "all: wall"
cat "$SCRATCH/table2"
echo
echo "CPU time more, in % of that without mmprof: mean (standard error), and in whose threads; iterations:"
printf '%-12s %6s %13s %13s %13s %13s %13s %13s %13s %13s %13s\n' "" pairs CPU application C1 C2 collector agent \
    recorder "after 2 s" "last third"
for mode in $modes; do
    means "$mode"
done
echo
if [ -s "$SCRATCH/table3" ]; then
    echo "Phases selected (methods called), their calls (all recorded calls), MB of trace:"
    printf '%-12s %16s %26s %9s %9s %9s\n' "" static dynamic phases live all
    cat "$SCRATCH/table3"
    echo
fi
if [ -e "$SCRATCH/said" ]; then
    echo "What --live said of its last run:"
    cat "$SCRATCH/said"
fi
