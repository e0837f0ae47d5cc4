#!/bin/bash
# mmprof runs out of disk, address space, descriptors or time: it ends, or goes on, and says what was lost; the JVM goes
# on in any case.
# timeout: 1800
# long: yes
. "$(dirname "$0")/faults.bash"

stopped_s=$(either 10 60)

# ended CLAIM STATUS REGEX: the recorder in the background ended by itself with that status, and says so.
ended() {
    local status
    wait_gone 60 "$recorder" || kill -KILL "$recorder"
    wait "$recorder" 2> "$SCRATCH/ignored"
    status=$?
    if [ $status = "$2" ] && grep -qE -- "$3" "$SCRATCH/recorder" &&
        { [ "$2" = 0 ] || [ "$(grep -c '^  next: ' "$SCRATCH/recorder")" = 1 ]; }; then
        ok "$1"
    else
        not_ok "$1" "status $status: $(cat "$SCRATCH/recorder")"
    fi
}

# cleaned CLAIM: the JVM goes on, and has nothing of mmprof.
cleaned() {
    wait_for 30 lets_go_of_memory "$jvm"
    is "$1: the JVM lets go of the memory" "$(shared_maps "$jvm")" 0
    goes_on "$1: it goes on"
}

# recorder COMMAND...: in the background.
recorder() {
    local busy=$pid
    start "$SCRATCH/recorder" "$@"
    recorder=$pid pid=$busy
}

readable() {
    [ "$(trace_field "$2" RECORDS)" -gt 1000 ] && ok "$1" || not_ok "$1" "$(trace_counts "$2")"
}

disk_full() {
    mkdir -p "$SCRATCH/full"
    if mount -t tmpfs -o size=1m none "$SCRATCH/full" 2> "$SCRATCH/ignored"; then
        recorder "$mmprof" record -q --max-size 1G -o "$SCRATCH/full/t.dat" --include 'target/*' --min-bytecodes 0 \
            -p "$jvm"
        ended "$v: the disk is full: mmprof ends and says so" 1 "cannot write '.*t.dat': No space left on device"
        readable "$v: the disk is full: what was written is readable" "$SCRATCH/full/t.dat"
        umount "$SCRATCH/full"
    else
        skip "$v: the disk is full" "it takes root to make a small one"
    fi
    recorder bash -c 'ulimit -f 16000; exec "$@"' - \
        "$mmprof" record -q --buffer 8K -o "$SCRATCH/limit.dat" --include 'target/*' --min-bytecodes 0 -p "$jvm"
    ended "$v: the file may not grow: mmprof ends and says so" 1 "cannot write '.*limit.dat': File too large"
    readable "$v: the file may not grow: what was written is readable" "$SCRATCH/limit.dat"
    cleaned "$v: no room for the trace"
}

pipes() {
    mkfifo "$SCRATCH/pipe"
    head -c 300000 "$SCRATCH/pipe" > "$SCRATCH/head.dat" &
    recorder "$mmprof" record -q -o "$SCRATCH/pipe" --include 'target/*' --min-bytecodes 0 -p "$jvm"
    ended "$v: who reads the pipe goes away: mmprof ends and says so" 1 "cannot write '.*pipe': Broken pipe"
    readable "$v: who reads the pipe goes away: what was read is readable" "$SCRATCH/head.dat"
    [ -n "${FAULTS_LONG-}" ] || return # what follows waits for what does not come
    (exec 9< "$SCRATCH/pipe" && exec sleep 300) &
    local sleeper=$!
    recorder "$mmprof" record -q -o "$SCRATCH/pipe" --include 'target/*' --min-bytecodes 0 -p "$jvm"
    ended "$v: nobody reads the pipe on: mmprof ends and says so" 1 "cannot write '.*pipe': Connection timed out"
    stop "$sleeper"
    recorder "$mmprof" record -q -o "$SCRATCH/pipe" --include 'target/*' --min-bytecodes 0 -p "$jvm"
    ended "$v: nobody opens the pipe: mmprof ends and says so" 1 "cannot create '.*pipe': nobody reads this pipe"
}

# sweep NAME OPTION LIMITS...: whatever the limit is, mmprof works or names it, and does not hang or crash.
sweep() {
    local name=$1 option=$2 limit status n=0 n_worked=0 bad=""
    shift 2
    for limit; do
        timeout 60 bash -c 'ulimit '"$option $limit"'; exec "$@"' - "$mmprof" record -q -d 0.1 --buffer 64K \
            --include 'target/*' -o "$SCRATCH/sweep.dat" -p "$jvm" > "$SCRATCH/swept" 2>&1
        status=$?
        n=$((n + 1))
        case $status in
            0) n_worked=$((n_worked + 1)) ;;
            1 | 127)
                grep -qE "ulimit $option|loading|memory" "$SCRATCH/swept" ||
                    bad="$bad $limit: $(cat "$SCRATCH/swept");"
                ;;
            *) bad="$bad $limit: status $status $(head -n 3 "$SCRATCH/swept");" ;;
        esac
    done
    is "$v: $n limits on $name: mmprof works ($n_worked) or says why not" "$bad" ""
    cleaned "$v: limits on $name"
    holds "$v: limits on $name: a recording without any works" "$mmprof" record -q -d 0.1 -o "$SCRATCH/sweep.dat" \
        --include 'target/*' -p "$jvm"
}

jvm_without_room() {
    local said
    start "$SCRATCH/small" bash -c 'ulimit -v 6000000; exec "$@"' - "$jdk/bin/java" -Xmx64m -XX:+UseSerialGC \
        -XX:ReservedCodeCacheSize=32m -XX:CompressedClassSpaceSize=64m -XX:+EnableDynamicAgentLoading -cp "$classes" \
        target.Busy "$SCRATCH/small-stop"
    local small=$pid
    busy_out=$SCRATCH/small
    wait_for 20 grep -q '^ROUND' "$SCRATCH/small"
    said=$("$mmprof" record --all-methods -q -d 0.1 -o "$SCRATCH/small.dat" -p "$small" 2>&1)
    is "$v: the JVM has no address space left: mmprof says so" \
        "$?$(grep -c 'cannot be mapped in the target' <<< "$said")" 11
    goes_on "$v: the JVM has no address space left: it goes on"
    holds "$v: the JVM has no address space left: smaller buffers fit" \
        "$mmprof" record --all-methods -q -d 0.1 --buffer 64K -o "$SCRATCH/small.dat" -p "$small"
    stop "$small"
}

# accounted_mb PID: of its mappings.
accounted_mb() {
    awk '$1 == "Size:" { kb = $2 } $1 == "VmFlags:" && / ac( |$)/ { sum += kb } END { print int(sum / 1024) }' \
        "/proc/$1/smaps"
}

# All memory is accounted (vm.overcommit_memory is 2): nothing gets SIGBUS, and next to nothing is taken for ever.
accounted() {
    local mode=/proc/sys/vm/overcommit_memory ratio=/proc/sys/vm/overcommit_ratio before after i
    [ "$(cat $mode)" != 2 ] && [ -w $mode ] || {
        skip "$v: all memory is accounted" "it takes root to make it so"
        return
    }
    accounted_before="echo $(cat $ratio) > $ratio; echo $(cat $mode) > $mode"
    trap 'eval "$accounted_before"; at_exit' EXIT
    echo 90 > $ratio
    echo 2 > $mode
    before=$(accounted_mb "$jvm")
    for i in 1 2; do
        holds "$v: all memory is accounted: recording $i works" "$mmprof" record -q -d 0.2 --include 'target/*' \
            --min-bytecodes 0 -o "$SCRATCH/accounted.dat" -p "$jvm"
        goes_on "$v: all memory is accounted: the JVM goes on after recording $i"
    done
    after=$(accounted_mb "$jvm")
    eval "$accounted_before"
    at_most "$v: all memory is accounted: MB that stay accounted" $((after - before)) 1000
}

steps_said() {
    [ -f "$SCRATCH/steps" ] && [ "$(od -An -t u8 --endian=big "$SCRATCH/steps" | tr -d ' ')" -gt "$1" ]
}

is_recording() {
    "$build/test/tools/method_counts" "$1" 2>&1 | grep -q 'target/Steps.rest('
}

# mmprof is stopped for a while: what found no room meanwhile is counted, call by call.
stopped() {
    local said recorded lost steps
    rm -f "$SCRATCH"/steps* "$SCRATCH/go" "$SCRATCH/stopped.dat"
    start "$SCRATCH/steps.out" "$jdk/bin/java" -Xmx64m -XX:+EnableDynamicAgentLoading -cp "$classes" target.Steps \
        "$SCRATCH/steps" "$SCRATCH/go"
    steps=$pid
    wait_for 20 grep -q READY "$SCRATCH/steps.out"
    recorder "$mmprof" record -o "$SCRATCH/stopped.dat" --buffer 64K --include 'target/*' -p "$steps"
    wait_for 30 is_recording "$SCRATCH/stopped.dat"
    kill -STOP "$recorder"
    touch "$SCRATCH/go"
    sleep "$stopped_s" # that long, and not longer: this is what is tried
    wait_for 60 steps_said 50000 && ok "$v: mmprof is stopped for $stopped_s s: the program goes on" ||
        not_ok "$v: mmprof is stopped for $stopped_s s: the program goes on" "$(cat "$SCRATCH/steps.out")"
    kill -CONT "$recorder"
    said=$(od -An -t u8 --endian=big "$SCRATCH/steps" | tr -d ' ')
    wait_for 60 steps_said $((said + 20000))
    kill -KILL "$steps"
    ended "$v: mmprof is stopped for $stopped_s s: it goes on, and reports what was lost" 0 \
        '^mmprof: [0-9]+ calls were lost'
    said=$(od -An -t u8 --endian=big "$SCRATCH/steps" | tr -d ' ')
    recorded=$("$build/test/tools/method_counts" "$SCRATCH/stopped.dat" | awk '/target\/Steps.step\(/ { print $3 }')
    lost=$(trace_field "$SCRATCH/stopped.dat" LOST)
    if [ "$lost" -gt 0 ] && [ $((recorded + lost)) -ge "$said" ] && [ $((recorded + lost)) -le $((said + 2)) ]; then
        ok "$v: of $said calls $recorded are in the trace, $lost are counted as lost, no other is missing"
    else
        not_ok "$v: each call is in the trace or counted as lost" "calls $said, recorded $recorded, lost $lost"
    fi
}

remember_files
while read -r jdk; do
    v="JDK $(jdk_version "$jdk")"
    rm -f "$SCRATCH/pipe"
    start_busy "$jdk"
    jvm=$pid
    disk_full
    pipes
    cleaned "$v: pipes"
    # shellcheck disable=SC2046  # numbers
    sweep "address space" -v $(either "20000 60000 250000" "$(seq 10000 15000 400000)")
    # shellcheck disable=SC2046
    sweep "descriptors" -n $(either "8 15 40" "$(seq 4 40)")
    accounted
    stop_busy "$jvm" "$v: its results and output are those without mmprof"
    jvm_without_room
    stopped
done < <(fault_jdks)
leaves_no_file "no file is left in /tmp"

done_testing
