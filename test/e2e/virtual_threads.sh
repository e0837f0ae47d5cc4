#!/bin/bash
# Virtual threads that wait inside methods with probes and go on on other carriers: the program is not disturbed, and
# the trace is readable.  A call that waits ends, for now, where its carrier goes on to something else: entries are
# counted exactly, exits are not.
# timeout: 300
. "$(dirname "$0")/../lib.sh"

newest=$(jdks | tail -n 1)
[ "$(jdk_version "$newest")" -ge 21 ] || skip_all "virtual threads need JDK 21 or later"
"$newest/bin/javac" -d "$SCRATCH/classes" "$root/test/java/virtual/VirtualThreads.java" 2> "$SCRATCH/errors"
is "the program is compiled" "$?$(cat "$SCRATCH/errors")" 0

# entered METHOD: how often a method of the program was entered.
entered() {
    sed -n "s/^METHOD virtual\/VirtualThreads\.$1(.*)[^ ]* \([0-9]*\) .*/\1/p" "$SCRATCH/counts"
}

# check_trace CLAIM THREADS ROUNDS
check_trace() {
    "$build/test/tools/method_counts" "$SCRATCH/t.dat" > "$SCRATCH/counts" 2> "$SCRATCH/errors"
    matches "$1: the trace is whole and well nested, nothing is lost" "$(tail -n 1 "$SCRATCH/counts")" \
        '^RECORDS [1-9][0-9]* LOST 0 CUT 0 UNNESTED 0$'
    is "$1: each entry is there" "$(entered works) $(entered locks) $(entered synchronizes)" \
        "$2 $(($2 * $3)) $(($2 * $3))"
    holds "$1: report" "$mmprof" report "$SCRATCH/t.dat"
    holds "$1: phases" "$mmprof" phases --weight 1% --grain 0.01% -o "$SCRATCH/phases.json" "$SCRATCH/t.dat"
}

run() {
    timeout 100 "$newest/bin/java" -Xmx512m -cp "$SCRATCH/classes" virtual.VirtualThreads "$@"
}

recorded() {
    local claim=$1 said
    shift
    said=$(timeout 100 "$mmprof" record -q --buffer 16M -o "$SCRATCH/t.dat" "$@" 2>&1; echo "status $?")
    is "$claim: the results are right" "$said" "$expected"
}

expected=$(run 10000 3; echo "status $?")
matches "without mmprof" "$expected" '^TOTAL ok, LOCKED ok, SUM [0-9]+$'
command=("$newest/bin/java" -Xmx512m -cp "$SCRATCH/classes" virtual.VirtualThreads 10000 3)
recorded "every method" --min-bytecodes 0 -- "${command[@]}"
check_trace "every method" 10000 3
recorded "the program's own" --min-bytecodes 0 --include 'virtual/*' -- "${command[@]}"
check_trace "the program's own" 10000 3

done_testing
