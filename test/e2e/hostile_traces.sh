#!/bin/bash
# A trace costs its reader CPU time that grows no faster than its content, whatever its shape: test/tools/make_hostile.c
# makes each shape with N and with 8 N of it.
# timeout: 600
# beside: yes
. "$(dirname "$0")/../lib.sh"

# cpu_ms COMMAND...: its CPU time, in $ms; its status is the command's.
cpu_ms() {
    local status=0 TIMEFORMAT='%U %S'
    { time timeout 60 "$mmprof" "$@" > "$SCRATCH/out" 2> "$SCRATCH/err" || status=$?; } 2> "$SCRATCH/time" || status=$?
    ms=$(awk '{ printf "%d", ($1 + $2) * 1000 }' "$SCRATCH/time")
    [ "$status" != 124 ]
}

# linear SHAPE N COMMAND...: 8 times as much takes less than 24 times as long; FILE stands for the trace.
linear() {
    local shape=$1 n=$2 few=$SCRATCH/few.dat many=$SCRATCH/many.dat few_ms
    shift 2
    "$build/test/tools/make_hostile" "$shape" "$n" "$few"
    "$build/test/tools/make_hostile" "$shape" $((8 * n)) "$many"
    cpu_ms "${@/FILE/$few}"
    few_ms=$((ms < 20 ? 20 : ms))
    cpu_ms "${@/FILE/$many}"
    holds "$shape: '$*' takes $few_ms ms of $n, and $ms ms of 8 times as many" test "$ms" -lt $((24 * few_ms))
}

linear chains 2000 report FILE
linear turns 2000 report FILE
linear fan 5000 report FILE
linear wide 5000 report --view callees=B0.run FILE
linear threads 3000 export -f folded --per-thread FILE
linear threads 1000 export -f folded --value wall --per-thread FILE
linear nested 3000 export -f folded FILE
linear nested 3000 export -f pprof FILE
linear waits 500 report FILE
linear counts 1000 report FILE

if [ -n "${FAULTS_LONG-}" ]; then
    for shape in chains turns fan threads nested wide mixed waits objects switches counts; do
        for command in 'report --all' 'report --view findings' 'report --view groups=thread' 'report --view timeline' \
            'report --html out.html' 'phases' 'annotate B0.run' 'dump' 'advise' 'diff FILE' 'compare FILE' \
            'export -f speedscope' 'export -f otlp' 'export -f chrome' 'export -f jfr' 'export -f flamegraph'; do
            read -ra words <<< "${command//out.html/$SCRATCH/out.html}"
            linear "$shape" 1000 "${words[@]}" FILE
        done
    done
fi

"$build/test/tools/make_hostile" chain 5000 "$SCRATCH/chain.dat"
for command in report phases dump advise 'export -f folded' 'annotate B0.run'; do
    # shellcheck disable=SC2086
    cpu_ms $command "$SCRATCH/chain.dat"
    matches "'$command' says that contexts are too deep" "$(cat "$SCRATCH/err")" 'deeper than 4,096 calls'
done
"$build/test/tools/make_hostile" nested 6000 "$SCRATCH/nested.dat"
cpu_ms export -f folded "$SCRATCH/nested.dat"
matches 'stacks that are cut are said to be' "$(cat "$SCRATCH/err")" \
    '^mmprof: stacks are cut at 4096 calls; 1904 deeper contexts are added to their callers$'
cpu_ms export -f jfr -o "$SCRATCH/out.jfr" "$SCRATCH/many.dat"
matches 'no file of 2^63 samples is begun' "$(cat "$SCRATCH/err")" 'a JFR recording cannot hold it'

"$build/test/tools/make_hostile" names 45 "$SCRATCH/names.dat"
is "names that break formats break none" \
    "$("$root/test/tools/read_hostile.py" "$mmprof" "$SCRATCH/names.dat" "$SCRATCH" 2>&1)" ''
done_testing
