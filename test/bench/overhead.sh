#!/bin/bash
# What recording costs a program:   make bench-overhead [WORKLOADS=DIR]
#
# Each workload runs with its selected phases only, with --live --budget 1%, and with all methods that are large or have
# a loop, BENCH_PAIRS (6) times, and at the same time without mmprof: both on one CPU, so that what else the machine
# does slows both down; with two CPUs there are two such pairs at the same time.  A JVM that has one CPU chooses other
# collectors, unless it is told '-XX:ActiveProcessorCount=2'.  All is CPU time, of both compilers, the collector and
# mmprof's own process, too.  A slowdown is the median over the pairs of a run with mmprof against the one without, of a
# workload and of all; the interval beside it is the 95 % one of the median (sign test; it needs 6 pairs).
#
# DIR/commands names the workloads, one a line: a name, blanks, and a command for 'sh -c' that starts one JVM by exec,
# in DIR.  Lines that begin with '#' are left out.  A workload may print lines 'iteration K of N: S s': then the ones
# that began after its first two seconds of CPU time are compared, too, and those of its last third: when the JIT
# compilers have settled, if the program runs for long enough.  One that writes files needs other ones in each of the
# runs at the same time: it finds its run's name in $BENCH_RUN.  Without WORKLOADS the programs of test/java are taken.
# BENCH_ONLY="NAME ..." takes only these, BENCH_MODES="phases live" (of phases, live, full, none) compares only these;
# none is without mmprof, too: what two runs differ by that are the same.  BENCH_OPTIONS="--frequency 0" gives phases
# and live these options, too.
#
# The tables go to standard output, what is run to standard error.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/workloads.sh"
. "$(dirname "$0")/runs.sh"
cd "$root" || exit 1

n_pairs=${BENCH_PAIRS:-6}
modes=${BENCH_MODES:-phases live full}
read -r -a options <<< "${BENCH_OPTIONS-}"
jdk=${JDK:-$(first_jdk)}
directory=${WORKLOADS:-$SCRATCH}
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

# ---- statistics ----

# slowdown NAME MODE COLUMN [WHAT]: 'median % [low .. high]' of (with - without) / without over the pairs; WHAT seconds:
# of with - without.
slowdown() {
    [ -e "$SCRATCH/$1.$2" ] || { echo - && return; }
    awk -v c="$3" -v what="${4-}" '
        $c != "-" && $(c + 3) != "-" && $c > 0 && NF == 18 {
            print what == "seconds" ? $(c + 3) - $c : ($(c + 3) / $c - 1) * 100
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

# ---- a workload ----

# first_pass NAME COMMAND: all methods once, and what is selected from it.
first_pass() {
    local -x BENCH_RUN=first
    local name=$1 trace=$SCRATCH/$1.all.dat
    (cd "$directory" && "$mmprof" record --all-methods -q -o "$trace" -- sh -c "$2") \
        > "$SCRATCH/out" 2>&1 < /dev/null ||
        fail "the first pass of $name failed: $(tail -n 2 "$SCRATCH/out")"
    "$mmprof" phases -o "$SCRATCH/$name.json" "$trace" > "$SCRATCH/$name.table" || fail "no phases of $name"
    "$counts" "$trace" | awk '$1 == "METHOD" { m++; n += $3 } END { print "METHODS", m; print "CALLS", n }' \
        > "$SCRATCH/$name.all"
    stat -c %s "$trace" > "$SCRATCH/$name.all.bytes"
    rm -f "$trace"
}

# run_mode NAME MODE CPU COMMAND: a run that is called CPU.MODE.
run_mode() {
    local name=$1 run=$3.$2 cpu=$3 command=$4
    case $2 in
        plain | none) once "$run" "$cpu" sh -c "$command" ;;
        phases) once "$run" "$cpu" "$mmprof" record -q "${options[@]}" --phases "$SCRATCH/$name.json" \
            -o "$SCRATCH/$run.dat" -- sh -c "$command" ;;
        live) once "$run" "$cpu" "$mmprof" record "${options[@]}" --live --budget 1% -o "$SCRATCH/$run.dat" \
            -- sh -c "$command" ;;
        full) once "$run" "$cpu" "$mmprof" record --all-methods -q -o "$SCRATCH/$run.dat" -- sh -c "$command" &&
            rm -f "$SCRATCH/$run.dat" ;;
    esac
}

# run_side NAME MODE CPU COMMAND OTHER: and keeps the CPU as busy until the OTHER is done, which would be quicker else.
run_side() {
    local status=0
    run_mode "$1" "$2" "$3" "$4" || status=1
    : > "$SCRATCH/$3.$2.done"
    # shellcheck disable=SC2016 # its own argument
    taskset -c "$3" bash -c 'until [ -e "$1" ]; do :; done' bash "$SCRATCH/$3.$5.done"
    return $status
}

# pair CPU NAME MODE COMMAND: appends the figures of both to NAME.MODE.
pair() {
    local cpu=$1 name=$2 mode=$3 status=0 plain
    rm -f "$SCRATCH/$cpu.plain.done" "$SCRATCH/$cpu.$mode.done"
    run_side "$name" plain "$cpu" "$4" "$mode" &
    plain=$!
    run_side "$name" "$mode" "$cpu" "$4" plain || status=1
    wait $plain && [ $status = 0 ] || return
    figures "$cpu.plain" "$cpu.$mode" > "$SCRATCH/$cpu.figures"
    echo "  $name, plain and $mode: $(cat "$SCRATCH/$cpu.figures")" >&2
    cat "$SCRATCH/$cpu.figures" >> "$SCRATCH/$name.$mode"
}

# pairs NAME MODE N COMMAND: N of them, one on each CPU at a time; keeps what the last run on the first CPU left.
pairs() {
    local run=${cpus[0]}.$2
    on_each_cpu "$3" pair "$1" "$2" "$4" || return
    [ ! -e "$SCRATCH/$run.dat" ] || mv "$SCRATCH/$run.dat" "$SCRATCH/$1.$2.dat"
    [ "$2" != live ] || grep '^mmprof: ' "$SCRATCH/$run.errors" > "$SCRATCH/$1.live.said"
}

# measure NAME COMMAND
measure() {
    local name=$1 command=$2 mode
    [[ " $modes " != *" phases "* ]] || first_pass "$name" "$command"
    for mode in $modes; do
        pairs "$name" "$mode" "$n_pairs" "$command" || return
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
    printf '%-12s %8s %8s %8s %8s  %-22s %-22s %-22s %-22s %-22s %-22s %-22s %s\n' "$name" \
        "$(percent "$(number "$name" weight)")" "$(percent "$(number "$name" grain)")" \
        "$(percent "$(number "$name" invocations)")" "$(percent "$(number "$name" time)")" \
        "$(slowdown "$name" phases 1)" "$(slowdown "$name" phases 2)" "$(slowdown "$name" phases 3)" \
        "$(slowdown "$name" live 1)" "$(slowdown "$name" live 1 seconds)" "$(slowdown "$name" live 2)" \
        "$(slowdown "$name" live 3)" "$(slowdown "$name" full 1)" >> "$SCRATCH/table2"
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
mkdir "$SCRATCH/all"
for mode in $modes; do
    cat "$SCRATCH"/*."$mode" > "$SCRATCH/all/pairs.$mode" 2> "$SCRATCH/none"
done
tables all/pairs

echo "$(nproc) CPUs, $(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1), Linux $(uname -r)," \
    "$n_pairs pairs; slowdowns in %: median [95 % interval]"
echo
printf '%-12s %8s %8s %8s %8s  %-22s %-22s %-22s %-22s %-22s %-22s %-22s %s\n' "" weight grain estimate predict \
    "phases: CPU" "phases: after 2 s" "phases: last third" "live: CPU" "live: CPU, s" "live: after 2 s" \
    "live: last third" "all: CPU"
sed 's|^all/pairs|all pairs|' "$SCRATCH/table2"
echo
echo "CPU time more, in % of that without mmprof: mean (standard error), and in whose threads; iterations:"
means_heading pairs
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
