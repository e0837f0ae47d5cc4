#!/bin/bash
# A program that uses much of the language and the library computes the same checksums with probes in each method, the
# JDK's own included: in each mode of the JVM, under each collector; and -Xcheck:jni has nothing to say.
# timeout: 3000
# beside: yes
# long: yes
. "$(dirname "$0")/faults.bash"

n=$(either 100 300) # of target.Checks

# run COMMAND...: what it says, on both outputs, and its status.
run() {
    timeout $((300 * slow)) "$@" 2>&1
    echo "status $?"
}

has_collector() {
    "$jdk/bin/java" "-XX:+Use$1" -version > "$SCRATCH/version" 2>&1
}

# same COLLECTOR OPTION...
same() {
    local gc=$1 name plain probed
    name="JDK $(jdk_version "$jdk"), $*"
    shift
    if ! has_collector "$gc"; then
        skip "$name" "this JVM has no such collector"
        return
    fi
    local java=("$jdk/bin/java" -Xmx256m "-XX:+Use$gc" "$@" -cp "$classes" target.Checks "$n")
    plain=$(run "${java[@]}")
    probed=$(run "$mmprof" record --all-methods -q --min-bytecodes 0 -o "$SCRATCH/m.dat" -- "${java[@]}")
    is "$name: the same output and status with all methods instrumented" "$probed" "$plain"
    is "$name: the checksums are those of each JVM" "$(grep '^CHECK' <<< "$plain" | cksum)" "$expected"
    matches "$name: the trace is whole and well nested" "$(trace_counts "$SCRATCH/m.dat")" \
        '^RECORDS [1-9][0-9]{5,} LOST [0-9]+ CUT 0 UNNESTED 0$'
}

jdk=$(first_jdk)
[ -n "$jdk" ] || skip_all "there is no JDK 17 or 25; 'make deps' installs one"
expected=$("$jdk/bin/java" -cp "$classes" target.Checks "$n" | grep '^CHECK' | cksum)
while read -r jdk; do
    if [ -z "${FAULTS_LONG-}" ]; then
        same G1GC -Xint
        same ParallelGC -XX:TieredStopAtLevel=1
        same ShenandoahGC
        same ZGC -Xcheck:jni
        same SerialGC -Xcomp -XX:TieredStopAtLevel=1
        continue
    fi
    for gc in SerialGC ParallelGC G1GC ZGC ShenandoahGC; do
        for mode in -Xint -XX:TieredStopAtLevel=1 -XX:+TieredCompilation -XX:-TieredCompilation -Xcheck:jni; do
            same $gc $mode
        done
    done
    same SerialGC -Xcomp -XX:TieredStopAtLevel=1
    same G1GC -Xcomp
done < <(fault_jdks)

done_testing
