#!/bin/bash
# Recording the same JVM again and again leaves nothing behind: no thread, descriptor, mapping or memory that grows,
# also when recordings are interrupted while classes are being instrumented.
# timeout: 3000
. "$(dirname "$0")/faults.bash"

n_cycles=$(either 7 200)
n_warm_up=3 # what the first ones leave is kept for the next: the agent, its classes, code that is compiled

# constants_grown: by how many entries the constant pool of a class grew at most, of all that were retransformed.
constants_grown() {
    awk '/loading name=/ { sub(/.*loading name=/, ""); name = $1 }
        /info.*merge_cp_len=/ { sub(/.*merge_cp_len=/, ""); n = $0 + 0; if (!(name in first)) first[name] = n
            if (n - first[name] > most) most = n - first[name] }
        END { print most + 0 }' "$SCRATCH/redefined"
}

cycle() {
    "$mmprof" record -q -d 0.3 -o "$SCRATCH/c.dat" -p "$jvm" >> "$SCRATCH/said" 2>&1 && n_done=$((n_done + 1))
}

# interrupted SECONDS: Ctrl-C so long after the start; it has to end soon, with status 0.
interrupted() {
    start "$SCRATCH/recorder" "$mmprof" record -q -o "$SCRATCH/c.dat" -p "$jvm"
    sleep "$(awk "BEGIN { print $1 * $slow }")"
    kill -INT "$pid"
    wait_gone 30 "$pid" && wait "$pid" && n_interrupted=$((n_interrupted + 1))
}

check_jdk() {
    local v n_done=0 n_interrupted=0 threads files size rss
    v="JDK $(jdk_version "$1")"
    rm -f "$SCRATCH/redefined"
    start_busy "$1" -Xms256m -XX:+AlwaysPreTouch -XX:MaxMetaspaceSize=64m -XX:ReservedCodeCacheSize=64m \
        "-Xlog:redefine+class+load=debug,redefine+class+constantpool=info:file=$SCRATCH/redefined:level,tags:filesize=0"
    jvm=$pid
    for _ in $(seq $n_warm_up); do
        cycle
    done
    threads=$(of_status "$jvm" Threads) files=$(n_files "$jvm")
    size=$(of_status "$jvm" VmSize) rss=$(of_status "$jvm" VmRSS)
    for _ in $(seq $((n_cycles - n_warm_up))); do
        cycle
    done
    is "$v: $n_cycles recordings work" "$n_done$(cat "$SCRATCH/said" 2> /dev/null)" $n_cycles
    for seconds in 0.02 0.1 0.2 0.3 0.5; do
        interrupted $seconds
    done
    is "$v: five are interrupted" $n_interrupted 5
    # Compiler threads come and go; each thread has a stack and may have an arena of 64 MB of address space.
    at_most "$v: threads" "$(of_status "$jvm" Threads)" $((threads + 3))
    at_most "$v: descriptors" "$(n_files "$jvm")" "$files"
    is "$v: no memory is shared with mmprof any more" "$(shared_maps "$jvm")" 0
    at_most "$v: address space in kB" "$(of_status "$jvm" VmSize)" $((size + 200000))
    # Metaspace and code cache settle in HotSpot's own time.
    at_most "$v: resident memory in kB" "$(of_status "$jvm" VmRSS)" $((rss + 80000))
    # HotSpot takes each NaN for a new one: two in a class' constants are two more in each of the steps.
    at_most "$v: constants of a class" "$(constants_grown)" $((4 * (n_cycles + 5)))
    holds "$v: classes were looked at" grep -q 'merge_cp_len' "$SCRATCH/redefined"
    goes_on "$v: the JVM goes on"
    stop_busy "$jvm" "$v: its results and output are those without mmprof"
}

while read -r jdk; do
    check_jdk "$jdk"
done < <(jdks)

done_testing
