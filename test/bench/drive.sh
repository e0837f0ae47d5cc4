#!/bin/bash
# Do samples drive the JIT compilers better than the JVM does?   make bench-drive [WORKLOADS=DIR]
#
# Each workload (as for overhead.sh, started by a java; BENCH_ONLY="NAME ..." takes only these) runs BENCH_RUNS (11)
# times in turns, from its JVM's start: alone, and with 'mmprof drive' that compiles nothing (the same samples), random
# methods (as many), and what its model chooses (BENCH_VARIANTS="alone ..." takes only these).  The first turn is
# dropped.  A workload prints 'iteration K of N: S s'; thesis §4.4.1 has 50 iterations.
#
# drive_tables.py, which prints the tables, says what is in them.  BENCH_KEEP=DIR keeps what was measured, and adds to
# what is there.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/workloads.sh"
cd "$root" || exit 1

runs=${BENCH_RUNS:-11}
variants=${BENCH_VARIANTS:-alone nothing random model}
directory=${WORKLOADS:?give a directory with a file 'commands'}
kept=${BENCH_KEEP:-$SCRATCH/kept}
mkdir -p "$kept"

# once NAME VARIANT TURN COMMAND: what it took, its iterations, the log of its compilers and what mmprof says.
once() {
    local to=$kept/$1.$2.$3 drive=()
    [ "$2" = alone ] || drive=("$mmprof" drive --compile "$2" --seed "$3" --json --)
    # shellcheck disable=SC2086  # a command's words
    (
        cd "$directory" || exit 1
        export JAVA_TOOL_OPTIONS=-Xlog:jit+compilation=debug:file=$to.log:tn
        "$build/test/tools/iteration_times" "$to.part" "${drive[@]}" $4
    ) > "$to.json" 2> "$to.errors" < /dev/null && mv "$to.part" "$to.times" && return
    echo "$1 $2, turn $3 has failed: $(tail -n 1 "$to.errors")" >&2
}

measure() {
    local turn variant
    for ((turn = 0; turn < runs; turn++)); do
        for variant in $variants; do
            [ -e "$kept/$1.$variant.$turn.times" ] || once "$1" "$variant" "$turn" "$2"
        done
    done
}

each_workload "$directory" measure
python3 "$root/test/bench/drive_tables.py" "$kept"
