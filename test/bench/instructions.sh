#!/bin/bash
# What recording makes a JVM execute:   make bench-instructions [WORKLOADS=DIR]
#
# Times differ by some per cent from run to run; the instructions that a JVM executes do not, where its compilers work
# in the foreground (-Xbatch) and the serial collector collects: here they are counted, in QEMU, for the program alone,
# twice; with the selected phases; and where compilers keep lines (record --lines).  Of each but the first: how many per
# cent more than alone, and of which threads; 'mmprof' is what the agent's own threads execute.  Only the JVM's process
# is in it: not the kernel, the recorder, nor looking where threads are, which the kernel does not see in an emulator.
# With 'live' among BENCH_MODES also with record --live from the program's start on.  Its budget is a share of CPU time,
# and that is the emulator's: some ten times the program's, so that much is changed in what is a short program.
#
# DIR/commands is as for overhead.sh: a name, blanks, and a command 'exec java ...' with the program's path.
# BENCH_ONLY="NAME ..." takes only these programs; BENCH_MODES="again phases lines" compares only these.
#
# The table goes to standard output, what is run to standard error.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/workloads.sh"
cd "$root" || exit 1

modes=${BENCH_MODES:-again phases lines}
jdk=${JDK:-$(first_jdk)}
directory=${WORKLOADS:-$SCRATCH}
qemu=$(command -v "qemu-$(uname -m)")
plugin=$build/test/bench/executed.so
lines="-XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints"

fail() {
    echo "bench-instructions: $1" >&2
    exit 1
}

[ -n "$qemu" ] || fail "qemu-$(uname -m) is not installed; 'make deps' installs it"

# Without WORKLOADS.
own_commands() {
    local java="exec $jdk/bin/java -Xmx512m -cp $classes"
    cat << END
sort        $java micro.Locality 150000 150000
thesis      $java micro.Thesis 1000 1
osr         $java micro.Osr
exceptions  $java micro.Exceptions 300000
javac       $java -Xmx1g demo.JavacDemo $jdk/lib/src.zip 1 java.net.http
END
}

[ -n "${WORKLOADS-}" ] || own_commands > "$SCRATCH/commands"
[ -r "$directory/commands" ] || fail "there is no '$directory/commands'"

# select_phases NAME COMMAND: natively.
select_phases() {
    (cd "$directory" && BENCH_RUN=first "$mmprof" record --all-methods -q -o "$SCRATCH/all.dat" -- sh -c "$2") \
        > "$SCRATCH/out" 2>&1 < /dev/null || fail "the first pass of $1 failed: $(tail -n 2 "$SCRATCH/out")"
    "$mmprof" phases -o "$SCRATCH/$1.json" "$SCRATCH/all.dat" > "$SCRATCH/table" || fail "no phases of $1"
    rm -f "$SCRATCH/all.dat"
}

# count NAME MODE COMMAND: into NAME.MODE.
count() {
    local name=$1 mode=$2 to=$SCRATCH/$1.$2 recorder=() options="-Xbatch -XX:+UseSerialGC"
    case $mode in
        phases) recorder=("$mmprof" record -q --frequency 0 --phases "$SCRATCH/$name.json" -o "$to.dat" --) ;;
        live) recorder=("$mmprof" record --live --frequency 0 -o "$to.dat" --) ;;
        lines) options="$options $lines" ;;
    esac
    echo "  $name, $mode" >&2
    (cd "$directory" && BENCH_RUN=$mode JDK_JAVA_OPTIONS=$options exec "${recorder[@]}" \
        sh -c "exec $qemu -plugin $plugin,out=$to ${3#exec }") > "$SCRATCH/out" 2>&1 < /dev/null
    [ -s "$to" ] || fail "$name, $mode: $(tail -n 2 "$SCRATCH/out")"
    grep -E '^mmprof: (.* batches|cost)' "$SCRATCH/out" >&2
    rm -f "$to.dat"
}

# row NAME MODE: per cent more than alone.
row() {
    awk '
        NR == FNR { alone[$1] = $2; all += $2; next }
        { with[$1] = $2; sum += $2 }
        function more(kind) { return alone[kind] > 0 ? sprintf("%+.2f", (with[kind] / alone[kind] - 1) * 100) : "-" }
        END {
            printf "%8.2f %8s %12s %8s %8s %8.2f\n", sum / 1e9, sprintf("%+.2f", (sum / all - 1) * 100),
                more("application"), more("c1"), more("c2"), with["mmprof"] / all * 100
        }' "$SCRATCH/$1.alone" "$SCRATCH/$1.$2"
}

# compare NAME COMMAND: a row for each mode.
compare() {
    local name=$1 command=$2 mode
    [[ $command == 'exec '* ]] || fail "the command of $name does not begin with 'exec '"
    [[ " $modes " != *' phases '* ]] || select_phases "$name" "$command"
    for mode in alone $modes; do
        count "$name" "$mode" "$command"
        printf '%-12s %-8s %s\n' "$name" "$mode" "$(row "$name" "$mode")"
    done
}

printf '%-12s %-8s %8s %8s %12s %8s %8s %8s\n' Program Mode "10^9" "All (%)" "Application" C1 C2 mmprof
each_workload "$directory" compare
