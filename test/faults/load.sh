#!/bin/bash
# Programs with very many threads that start and end, and with very many classes, compute the same while they are
# recorded, and each call of a method is in the trace or counted as lost.  (Stacks and heaps that overflow inside of
# methods with probes: test/e2e/overflow.sh; virtual threads: test/e2e/virtual_threads.sh.)
# timeout: 2400
# long: yes
. "$(dirname "$0")/faults.bash"

is_recording() {
    "$build/test/tools/method_counts" "$SCRATCH/load.dat" 2>&1 | grep -q 'target/Load.rest('
}

# sum_of FILE: what the program says at its end.
sum_of() {
    grep '^SUM' "$1"
}

# program ARGUMENT...: in the background, its PID in $jvm; it begins when 'begin' is called.  More options for the JVM
# are in $java_options.
program() {
    rm -f "$SCRATCH/go" "$SCRATCH/load.out"
    mkfifo "$SCRATCH/go"
    # shellcheck disable=SC2016,SC2086
    start "$SCRATCH/load.out" bash -c 'exec "$@" < "$0"' "$SCRATCH/go" "$jdk/bin/java" -Xmx512m -Xss256k \
        -XX:+EnableDynamicAgentLoading $java_options -cp "$classes" target.Load "$@"
    jvm=$pid
    exec 8<> "$SCRATCH/go"
    wait_for 120 grep -q READY "$SCRATCH/load.out" || not_ok "$v: the program starts" "$(cat "$SCRATCH/load.out")"
}

begin() {
    echo go >&8
    exec 8>&-
}

# loaded CLAIM METHOD INCLUDE ARGUMENT...: without mmprof and with, from a late attachment on; all calls are accounted
# for, and the memory that mmprof itself takes stays below a bound.
loaded() {
    local claim=$1 method=$2 include=$3 without recorder calls recorded lost
    shift 3
    program "$@"
    begin
    wait_gone 300 "$jvm"
    without=$(sum_of "$SCRATCH/load.out")
    rm -f "$SCRATCH/load.dat"
    program "$@"
    start "$SCRATCH/recorder" "$mmprof" record -o "$SCRATCH/load.dat" --include "$include" --include 'target/Load*' \
        --min-bytecodes 0 --buffer 64K -p "$jvm"
    recorder=$pid
    wait_for 300 is_recording
    begin
    wait_gone 300 "$jvm"
    is "$claim: the program computes the same" "$(sum_of "$SCRATCH/load.out")" "$without"
    wait_gone 60 "$recorder"
    wait "$recorder"
    is "$claim: mmprof ends with it" $? 0
    calls=$(sed 's/.* of \([0-9]*\) calls/\1/' <<< "$without")
    recorded=$("$build/test/tools/method_counts" "$SCRATCH/load.dat" |
        awk -v m="$method" 'index($2, m) { n += $3 } END { print n + 0 }')
    # Those of threads that found no buffer at all are not in any thread's own count.
    lost=$(sed -n 's/^mmprof: \([0-9]*\) calls were lost.*/\1/p' "$SCRATCH/recorder")
    lost=${lost:-0}
    # A lost call may be another method's: an upper bound, and exact where nothing was lost.
    if [ "$recorded" -le "$calls" ] && [ $((recorded + lost)) -ge "$calls" ]; then
        ok "$claim: of $calls calls $recorded are in the trace, $lost of all are counted as lost"
    else
        not_ok "$claim: each call is in the trace or counted" "calls $calls, recorded $recorded, lost $lost"
    fi
    matches "$claim: and well nested" "$(trace_counts "$SCRATCH/load.dat")" ' CUT 0 UNNESTED 0$'
}

# A JVM has little metaspace, or next to none, left: it keeps a quarter for itself.
little_metaspace() {
    local n=0 said
    java_options=-XX:MaxMetaspaceSize=24m program classes 5000 100
    for _ in 1 2 3; do
        "$mmprof" record --all-methods -d 0.1 -o "$SCRATCH/load.dat" -p "$jvm" > "$SCRATCH/recorder" 2>&1
        grep -q "classes not instrumented: the JVM is short of metaspace" "$SCRATCH/recorder" && n=$((n + 1))
        grep -q 'MB of metaspace (-XX:MaxMetaspaceSize)' "$SCRATCH/recorder" && n=$((n + 1))
    done
    is "$v: little metaspace: classes are left alone, which is said" "$n" 3
    begin
    wait_gone 60 "$jvm"
    said=$(sum_of "$SCRATCH/load.out")
    java_options=-XX:MaxMetaspaceSize=9m program classes 5000 100
    "$mmprof" record --all-methods -q -d 0.1 -o "$SCRATCH/load.dat" -p "$jvm" > "$SCRATCH/recorder" 2>&1
    is "$v: no metaspace: mmprof refuses to record" \
        "$? $(grep -c 'used [0-9]* of its 9 MB of metaspace' "$SCRATCH/recorder")" "1 1"
    begin
    wait_gone 60 "$jvm"
    is "$v: little or no metaspace: the program loads its classes" "$said" "$(sum_of "$SCRATCH/load.out")"
    matches "$v: and computes" "$said" '^SUM .* of 15300 calls$'
}

java_options=
while read -r jdk; do
    v="JDK $(jdk_version "$jdk")"
    # shellcheck disable=SC2046  # numbers
    loaded "$v: 1,000 threads at a time" target/Load.work 'target/*' threads 1000 $(either 5000 100000)
    # shellcheck disable=SC2046
    loaded "$v: $(either 3,000 50,000) classes, and a tenth more" .applyAsInt 'Made*' \
        classes $(either "3000 300" "50000 5000")
    little_metaspace
done < <(fault_jdks)

done_testing
