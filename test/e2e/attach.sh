#!/bin/bash
# Attaching to a running JVM and leaving it as it was, whichever way the recording ends.
# timeout: 600
. "$(dirname "$0")/../lib.sh"

record() {
    "$mmprof" record -q --include 'target/*' --min-bytecodes 0 "$@"
}

# How many calls of the probe the JVM's own copy of target.Busy has; -1 if that cannot be seen.
probes() {
    local jdk=$1 jvm=$2 dump=$SCRATCH/dump jcore=sun.jvm.hotspot.tools.jcore
    rm -rf "$dump"
    # clhsdb's dumpclass does not find a class by its name once it was retransformed; this does.
    "$jdk/bin/java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -D$jcore.filter=$jcore.PackageNameFilter \
        -D$jcore.PackageNameFilter.pkgList=target -D$jcore.outputDir="$dump" \
        -m jdk.hotspot.agent/$jcore.ClassDump "$jvm" > "$SCRATCH/sa" 2>&1
    if [ -f "$dump/target/Busy.class" ]; then
        "$jdk/bin/javap" -J-XX:TieredStopAtLevel=1 -c -p "$dump/target/Busy.class" | grep -c 'MmprofProbe'
    else
        echo -1
    fi
}

# no_probe JDK PID CLAIM
no_probe() {
    local n
    n=$(probes "$1" "$2")
    if [ "$n" = -1 ]; then
        skip "$3" "the serviceability agent cannot look into the JVM here: $(tail -n 1 "$SCRATCH/sa")"
    else
        is "$3" "$n" 0
    fi
}

records_of() {
    "$build/test/tools/method_counts" "$1" 2>&1 | sed -n 's/^RECORDS \([0-9]*\) .*/\1/p'
}

# has_records CLAIM TRACE
has_records() {
    local n
    n=$(records_of "$2")
    [ "${n:-0}" -gt 1000 ] && ok "$1" || not_ok "$1" "$("$build/test/tools/method_counts" "$2" 2>&1 | tail -n 3)"
}

# in_background FILE ARGUMENT...: mmprof record; it is recording when the trace grows.  Its PID is in $recorder.
in_background() {
    local trace=$1 jvm=$pid
    shift
    rm -f "$trace"
    start "$SCRATCH/recorder" "$mmprof" record -q --include 'target/*' --min-bytecodes 0 -o "$trace" "$@"
    recorder=$pid pid=$jvm
    wait_for 30 larger_than "$trace" 20000
}

larger_than() {
    [ "$(stat -c %s "$1" 2> /dev/null || echo 0)" -gt "$2" ]
}

# ends CLAIM: the recorder in the background ends by itself with status 0 and says nothing.
ends() {
    wait_gone 30 "$recorder" || kill -KILL "$recorder"
    wait "$recorder"
    is "$1" "$?$(cat "$SCRATCH/recorder")" 0
}

check_jdk() {
    local jdk=$1 v jvm n
    v="JDK $(jdk_version "$jdk")"
    start_busy "$jdk"
    jvm=$pid
    rm -f "$SCRATCH"/*.dat
    record -d 1 -o "$SCRATCH/a.dat" -p "$jvm" > "$SCRATCH/said" 2>&1
    is "$v: -d 1 ends by itself" "$?$(cat "$SCRATCH/said")" 0
    has_records "$v: the trace has records" "$SCRATCH/a.dat"
    goes_on "$v: the JVM goes on"

    in_background "$SCRATCH/b.dat" -p "$jvm"
    n=$(probes "$jdk" "$jvm")
    if [ "$n" = -1 ]; then
        skip "$v: while recording there are probes" "the serviceability agent cannot look into the JVM here"
    else
        [ "$n" -gt 5 ] && ok "$v: while recording there are probes" ||
            not_ok "$v: while recording there are probes" "$n"
    fi
    kill -INT "$recorder"
    ends "$v: a second recording ends with Ctrl-C"
    has_records "$v: and has records" "$SCRATCH/b.dat"
    no_probe "$jdk" "$jvm" "$v: after Ctrl-C no probe is left"

    in_background "$SCRATCH/c.dat" -p "$jvm"
    kill -KILL "$recorder"
    wait "$recorder" 2> /dev/null
    goes_on "$v: mmprof is killed with SIGKILL: the JVM goes on"
    has_records "$v: what was written so far is readable" "$SCRATCH/c.dat"
    wait_for 20 record -d 1 -o "$SCRATCH/d.dat" -p "$jvm" > "$SCRATCH/said" 2>&1
    has_records "$v: and a new recording works" "$SCRATCH/d.dat"
    no_probe "$jdk" "$jvm" "$v: after it no probe is left"
    stop_busy "$jvm" "$v: the program's results and output are those without mmprof"

    start_busy "$jdk"
    jvm=$pid
    in_background "$SCRATCH/e.dat" -p "$jvm"
    stop_busy "$jvm" "$v: a program that ends while recorded ends as without mmprof"
    ends "$v: and the recording ends with it"
    has_records "$v: with its records" "$SCRATCH/e.dat"

    start_busy "$jdk"
    jvm=$pid
    in_background "$SCRATCH/f.dat" -p "$jvm"
    kill -KILL "$jvm"
    ends "$v: the JVM is killed with SIGKILL: the recording ends cleanly"
    has_records "$v: with the records so far" "$SCRATCH/f.dat"
}

while read -r jdk; do
    check_jdk "$jdk"
done < <(jdks)

# Two agents in one JVM would each change the other's classes.
start_busy "$(first_jdk)" "-agentpath:$build/libmmprof-lab-agent.so"
jvm=$pid
said=$(record -d 1 -o "$SCRATCH/g.dat" -p "$jvm" 2>&1)
is "a JVM with the laboratory's agent is refused" "$?, $(head -n 1 <<< "$said")" \
    "1, mmprof record: JVM $jvm was started by 'mmprof record --simulate', memtrace, placement or jit"
stop_busy "$jvm" "and goes on"

done_testing
