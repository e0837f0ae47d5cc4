#!/bin/bash
# The JVM's user attacks the memory that it shares with mmprof: truncates it, and writes what it likes into it.  mmprof
# ends by itself, with a message where it fails, and what it has written is readable.
# timeout: 300
. "$(dirname "$0")/faults.bash"

# recording: in the background, of $jvm; $memory is the JVM's descriptor of the shared memory.
recording() {
    rm -f "$SCRATCH/hostile.dat"
    start "$SCRATCH/said" "$mmprof" record --include 'target/*' --min-bytecodes 0 -q -o "$SCRATCH/hostile.dat" \
        -p "$jvm"
    recorder=$pid
    wait_for 30 test -s "$SCRATCH/hostile.dat"
    memory=$(find "/proc/$jvm/fd" -lname '*memfd:mmprof-records *' | head -n 1)
}

# ended CLAIM: by itself or when it is asked to, not by the attack, and well or with a message; its trace has an end.
ended() {
    kill -INT "$recorder" 2> "$SCRATCH/ignored"
    wait_gone 60 "$recorder" || kill -KILL "$recorder"
    wait "$recorder"
    status=$?
    { [ $status = 0 ] || { [ $status = 1 ] && grep -q '^mmprof' "$SCRATCH/said"; }; } &&
        ok "$1: mmprof ends ($status)" ||
        not_ok "$1: mmprof ends by itself" "status $status: $(cat "$SCRATCH/said")"
    matches "$1: its trace is readable" "$(trace_counts "$SCRATCH/hostile.dat")" '^RECORDS [0-9].* CUT 0 '
    rm -f "$SCRATCH/hostile.dat" # with garbage in it, its reports need not agree
}

truncates() {
    recording
    [ -n "$memory" ] && ok "$v: the JVM's user reaches the shared memory" || not_ok "$v: the JVM has the shared memory"
    is "$v: it cannot truncate it" "$(truncate -s 0 "$memory" 2>&1 | grep -c 'not permitted')" 1
    for name in methods code; do
        is "$v: nor the log of $name" "$(truncate -s 0 "$(find "/proc/$jvm/fd" -lname "*memfd:mmprof-$name *" |
            head -n 1)" 2>&1 | grep -c 'not permitted')" 1
    done
    ended "$v: truncated"
}

# Any bytes, all over the headers of the segment and of the rings, again and again; the program may die of that.
garbage() {
    recording
    python3 - "$memory" "$recorder" << 'END'
import os, random, sys
random.seed(1)
memory = os.open(sys.argv[1], os.O_RDWR)
for turn in range(300):
    if not os.path.exists('/proc/' + sys.argv[2] + '/fd/0'):
        break
    for i in range(200):
        os.pwrite(memory, random.randbytes(8), random.randrange(0, 100000) // 8 * 8)
    os.pwrite(memory, random.randbytes(4096), random.randrange(0, 80) * 4096)
END
    ended "$v: garbage in it"
}

while read -r jdk; do
    v="JDK $(jdk_version "$jdk")"
    start_busy "$jdk"
    jvm=$pid
    truncates
    stop_busy "$jvm" "$v: its results and output are those without mmprof"
    start_busy "$jdk" -XX:ErrorFile="$SCRATCH/hs_err"
    jvm=$pid
    garbage
    stop "$jvm"
done < <(fault_jdks)

done_testing
