#!/bin/bash
# Recording the same JVM again and again leaves nothing behind: no thread, descriptor, mapping or memory that grows,
# metaspace and code cache included; also when recordings are interrupted while classes are being instrumented.
# FAULTS_SECONDS=3600 goes on for an hour on each JDK.
# timeout: 9000
# long: yes
. "$(dirname "$0")/faults.bash"

n_cycles=$(either 6 200)
n_short=$(either 20 500)
n_warm_up=3 # what the first ones leave is kept for the next: the agent, its classes, code that is compiled

# sum_kb: the sum of sizes as jcmd prints them, "1.50 MB" or "17 KB" or "3 bytes", one a line.
sum_kb() {
    awk '{ sum += $1 * ($2 == "GB" ? 1048576 : $2 == "MB" ? 1024 : $2 == "KB" ? 1 : 0) } END { print int(sum) }'
}

# What is in use of the metaspace: not what was given back, which later classes get.  Old versions of classes are given
# back when the second collection after finds no compiled code of them.
metaspace_kb() {
    "$jdk/bin/jcmd" "$jvm" GC.run > "$SCRATCH/jcmd" 2>&1
    "$jdk/bin/jcmd" "$jvm" GC.run > "$SCRATCH/jcmd" 2>&1
    "$jdk/bin/jcmd" "$jvm" VM.metaspace > "$SCRATCH/jcmd" 2>&1
    local used back
    used=$(sed -n 's/^ *Both:.* \([0-9.]* [A-Za-z]*\) *([^)]*) used,.*/\1/p' "$SCRATCH/jcmd" | head -n 1 | sum_kb)
    back=$(sed -n 's/^ *Both:.* deallocated: [0-9]* blocks with \([0-9.]* [A-Za-z]*\).*/\1/p' "$SCRATCH/jcmd" |
        head -n 1 | sum_kb)
    echo $((used - back))
}

code_cache_kb() {
    "$jdk/bin/jcmd" "$jvm" Compiler.codecache 2>&1 | sed -n 's/.*[^_]used=\([0-9]*\)Kb.*/\1 KB/p' | sum_kb
}

# What code cache and metaspace have taken, HotSpot keeps up to their limits, 64 MB each; the rest of what is resident.
rest_kb() {
    local resident committed touched
    resident=$(of_status "$jvm" VmRSS)
    "$jdk/bin/jcmd" "$jvm" VM.metaspace > "$SCRATCH/jcmd" 2>&1
    committed=$(sed -n 's/^ *Both:.* \([0-9.]* [A-Za-z]*\) *([^)]*) committed,.*/\1/p' "$SCRATCH/jcmd" |
        head -n 1 | sum_kb)
    touched=$("$jdk/bin/jcmd" "$jvm" Compiler.codecache 2>&1 | sed -n 's/.* max_used=\([0-9]*\)Kb.*/\1 KB/p' |
        sum_kb)
    echo $((resident - committed - touched))
}

# constants_grown: by how many entries the constant pool of a class grew at most, of all that were retransformed.
constants_grown() {
    awk '/loading name=/ { sub(/.*loading name=/, ""); name = $1 }
        /info.*merge_cp_len=/ { sub(/.*merge_cp_len=/, ""); n = $0 + 0; if (!(name in first)) first[name] = n
            if (n - first[name] > most) most = n - first[name] }
        END { print most + 0 }' "$SCRATCH/redefined"
}

# A JVM without garbage collections gets short of metaspace, and mmprof then leaves it alone; these help.  After
# hundreds of recordings they may not.
cycle() {
    n_tried=$((n_tried + 1))
    "$mmprof" record --all-methods -q -d 0.3 -o "$SCRATCH/c.dat" -p "$jvm" > "$SCRATCH/cycle" 2>&1 &&
        n_done=$((n_done + 1)) && return
    if grep -q 'MB of metaspace (-XX:MaxMetaspaceSize)' "$SCRATCH/cycle"; then
        n_refused=$((n_refused + 1))
        metaspace_kb > "$SCRATCH/ignored"
        "$mmprof" record --all-methods -q -d 0.3 -o "$SCRATCH/c.dat" -p "$jvm" > "$SCRATCH/cycle" 2>&1 &&
            n_done=$((n_done + 1)) && return
        [ -n "${FAULTS_SECONDS-}" ] && grep -q 'MB of metaspace' "$SCRATCH/cycle" && n_left=$((n_left + 1)) && return
    fi
    cat "$SCRATCH/cycle" >> "$SCRATCH/said"
}

waits_for_signals() {
    (($(sed -n 's/^SigBlk:[[:space:]]*/0x/p' "/proc/$pid/status") & 2))
}

# interrupted SECONDS: Ctrl-C so long after it takes signals; it has to end soon, with status 0, or saying that it had
# not begun.
interrupted() {
    start "$SCRATCH/recorder" "$mmprof" record --all-methods -q -o "$SCRATCH/c.dat" -p "$jvm"
    wait_for 30 waits_for_signals
    sleep "$(awk "BEGIN { print $1 * $slow }")"
    kill -INT "$pid"
    wait_gone 30 "$pid" || return
    if wait "$pid" || grep -q ': stopped before the recording began: ' "$SCRATCH/recorder"; then
        n_interrupted=$((n_interrupted + 1))
    fi
}

n_maps() {
    wc -l < "/proc/$1/maps"
}

# Recordings of one class, one right after the other.
short_ones() {
    local i threads files maps n_done=0
    for ((i = -5; i < n_short; i++)); do # the first ones leave what all use
        [ $i != 0 ] || { threads=$(of_status "$jvm" Threads) files=$(n_files "$jvm") maps=$(n_maps "$jvm"); }
        "$mmprof" record -q -d 0.01 --include target/Busy --min-bytecodes 0 -o "$SCRATCH/short.trace" -p "$jvm" \
            >> "$SCRATCH/short" 2>&1 && n_done=$((n_done + (i >= 0)))
    done
    is "$v: $n_short short recordings work" "$n_done" "$n_short"
    at_most "$v: after these: threads" "$(of_status "$jvm" Threads)" $((threads + 3))
    at_most "$v: after these: descriptors" "$(n_files "$jvm")" "$files"
    at_most "$v: after these: mappings" "$(n_maps "$jvm")" $((maps + 10))
}

check_jdk() {
    local jdk=$1 v n_tried=0 n_done=0 n_left=0 n_interrupted=0 n_refused=0 threads files size rest metaspace code
    v="JDK $(jdk_version "$jdk")"
    local begin=$SECONDS end=$((SECONDS + ${FAULTS_SECONDS:-0}))
    rm -f "$SCRATCH/redefined"
    start_busy "$1" -Xms256m -XX:+AlwaysPreTouch -XX:MaxMetaspaceSize=64m -XX:ReservedCodeCacheSize=64m \
        "-Xlog:redefine+class+load=debug,redefine+class+constantpool=info:file=$SCRATCH/redefined:level,tags:filesize=0"
    jvm=$pid
    for _ in $(seq $n_warm_up); do
        cycle
    done
    threads=$(of_status "$jvm" Threads) files=$(n_files "$jvm")
    metaspace=$(metaspace_kb) code=$(code_cache_kb)
    size=$(of_status "$jvm" VmSize) rest=$(rest_kb)
    while [ $n_tried -lt $n_cycles ] || [ $SECONDS -lt $end ]; do
        cycle
    done
    is "$v: $n_tried recordings in $((SECONDS - begin)) s work, $n_refused after collections that they asked for" \
        "$((n_done + n_left))$(cat "$SCRATCH/said" 2> /dev/null)" $n_tried
    echo "# $n_left times it was left alone, for want of metaspace"
    for seconds in 0.02 0.1 0.2 0.3 0.5; do
        interrupted $seconds
    done
    at_most "$v: metaspace in use in kB" "$(metaspace_kb)" $((metaspace + 6000))
    at_most "$v: code cache in use in kB" "$(code_cache_kb)" $((code + 6000))
    is "$v: five are interrupted" $n_interrupted 5
    # Compiler threads come and go; each thread has a stack and may have an arena of 64 MB of address space.
    at_most "$v: threads" "$(of_status "$jvm" Threads)" $((threads + 3))
    at_most "$v: descriptors" "$(n_files "$jvm")" "$files"
    is "$v: no memory is shared with mmprof any more" "$(shared_maps "$jvm")" 0
    at_most "$v: address space in kB" "$(of_status "$jvm" VmSize)" $((size + 200000))
    at_most "$v: resident memory in kB, without code cache and metaspace" "$(rest_kb)" $((rest + 80000))
    short_ones
    # HotSpot takes each NaN for a new one: two in a class' constants are two more in each of the steps.
    at_most "$v: constants of a class" "$(constants_grown)" $((4 * (n_tried + n_short + 10)))
    holds "$v: classes were examined" grep -q 'merge_cp_len' "$SCRATCH/redefined"
    goes_on "$v: the JVM goes on"
    stop_busy "$jvm" "$v: its results and output are those without mmprof"
}

while read -r jdk; do
    check_jdk "$jdk"
done < <(fault_jdks)

done_testing
