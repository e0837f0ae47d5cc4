#!/bin/bash
# record --perf-map: the JVM's code has names in /tmp/perf-PID.map, where perf finds them; the file is private, and
# nothing that is in its place is followed or overwritten.
# timeout: 400
# long: yes
. "$(dirname "$0")/../lib.sh"

maps=()
trap 'status=$?; rm -f ${maps[@]+"${maps[@]}"}; (exit $status); at_exit' EXIT

record() {
    "$mmprof" record -q --perf-map --include target/Busy.round --include target/Cpu.computes "$@"
}

has_name() {
    grep -qE "^[0-9a-f]+ [0-9a-f]+ $2\$" "$1" 2> /dev/null
}

# Is a line with this name about code in an executable mapping of the process?
in_code() {
    local map=$1 name=$2 jvm=$3 start bytes range flags rest
    while read -r start bytes rest; do
        [ "$rest" = "$name" ] || continue
        while read -r range flags rest; do
            [[ $flags == ??x* ]] && [ $((0x$start)) -ge $((0x${range%-*})) ] &&
                [ $((0x$start + 0x$bytes)) -le $((0x${range#*-})) ] && return 0
        done < "/proc/$jvm/maps"
    done < "$map"
    return 1
}

# What is in its place is left alone, and the recording goes on.
check_refused() {
    local v=$1 jvm=$2 map=$3
    echo precious > "$SCRATCH/victim"
    ln -s "$SCRATCH/victim" "$map"
    record -d 1 -o "$SCRATCH/link.dat" -p "$jvm" > "$SCRATCH/said" 2>&1
    is "$v: a symbolic link is in its place: the recording succeeds" $? 0
    matches "$v: it is said why there are no names" "$(cat "$SCRATCH/said")" "'$map' is there .* a symbolic link"
    matches "$v: and in the trace" "$(trace_info "$SCRATCH/link.dat" perf_map.failed)" 'symbolic link'
    is "$v: the link is there, and what it names is as it was" "$(readlink "$map") $(cat "$SCRATCH/victim")" \
        "$SCRATCH/victim precious"
    rm "$map"
}

# perf_says CLAIM JVM NAME: perf, sampling the JVM's time, tells of a name.
perf_says() {
    local data=$SCRATCH/perf.data
    if ! command -v perf > "$SCRATCH/which"; then
        skip "$1" "perf is not installed"
    elif ! perf record -q -e cpu-clock -F 500 -p "$2" -o "$data" sleep 1 > "$SCRATCH/said" 2>&1; then
        skip "$1" "perf cannot sample here: $(head -n 1 "$SCRATCH/said")"
    else
        matches "$1" "$(perf report -i "$data" --stdio --sort symbol 2> "$SCRATCH/errors")" "$3"
    fi
}

check_attached() {
    local jdk=$1 v=$2 jvm map recorder
    start_busy "$jdk"
    jvm=$pid map=/tmp/perf-$jvm.map
    maps+=("$map")
    rm -f "$map"
    check_refused "$v" "$jvm" "$map"
    rm -f "$SCRATCH/a.dat"
    start "$SCRATCH/recorder" "$mmprof" record -q --perf-map --include target/Busy.round -o "$SCRATCH/a.dat" -p "$jvm"
    recorder=$pid
    wait_for 30 has_name "$map" 'Ltarget/Busy;::depth'
    is "$v: the file is private, and the JVM's user's" "$(stat -c '%a %u %h' "$map")" "600 $(id -u) 1"
    holds "$v: a method of the program is in it" has_name "$map" 'Ltarget/Busy;::depth'
    holds "$v: with addresses of code" in_code "$map" 'Ltarget/Busy;::depth' "$jvm"
    holds "$v: methods of the JDK have their names too" has_name "$map" 'Ljava/lang/String;::hashCode'
    holds "$v: so has the interpreter, with addresses of code" in_code "$map" Interpreter "$jvm"
    holds "$v: and stubs" has_name "$map" '.*[vi]table.*'
    is "$v: each line is one of perf's format" "$(grep -vcE '^[0-9a-f]+ [1-9a-f][0-9a-f]* [^[:cntrl:]]+$' "$map")" 0
    wait_for 30 has_name "$map" 'Ltarget/Busy;::round'
    holds "$v: what is compiled while the recording runs comes to it" has_name "$map" 'Ltarget/Busy;::round'
    perf_says "$v: perf shows the program's methods by their names" "$jvm" '\[\.\] Ltarget/Busy;::[a-z]+'
    kill -INT "$recorder"
    wait "$recorder"
    is "$v: the recording ends with Ctrl-C" "$?$(cat "$SCRATCH/recorder")" 0
    matches "$v: the trace says where the names are, and how long those took that were there" \
        "$(trace_info "$SCRATCH/a.dat" perf_map)" "^$map, with [1-9][0-9]* lines after [0-9.]+ ms\$"
    holds "$v: the file stays" has_name "$map" Interpreter
    "$mmprof" record -q --live --perf-map -d 2 -o "$SCRATCH/live.dat" -p "$jvm" > "$SCRATCH/said" 2>&1
    is "$v: a live recording with it succeeds" "$?$(cat "$SCRATCH/said")" 0
    matches "$v: it wrote the file again" "$(trace_info "$SCRATCH/live.dat" perf_map)" "^$map, with [1-9][0-9]* lines"
    rm "$map"
    "$mmprof" record -q -d 1 --include target/Busy.round -o "$SCRATCH/none.dat" -p "$jvm" > "$SCRATCH/said" 2>&1
    is "$v: without the option there is none" "$?$(cat "$SCRATCH/said")$(ls "$map" 2> /dev/null)" 0
    is "$v: and no other file of it" "$(ls -d "$map"* 2> /dev/null)" ""
    stop_busy "$jvm" "$v: the program's results and output are those without mmprof"
}

check_started() {
    local jdk=$1 v=$2 map
    record -o "$SCRATCH/s.dat" -- "$jdk/bin/java" -cp "$classes" target.Cpu 1 > "$SCRATCH/said" 2>&1
    is "$v: a started program is recorded" "$?" 0
    map=/tmp/perf-$(trace_info "$SCRATCH/s.dat" jvm.pid).map
    maps+=("$map")
    holds "$v: and its methods have names from the start" has_name "$map" 'Ltarget/Cpu;::computes'
}

# A limit on the size of files is as a full disk.
check_full() {
    local jdk=$1 v=$2 map
    record -o "$SCRATCH/full.dat" -- bash -c 'ulimit -f 8; exec "$@"' limited "$jdk/bin/java" -XX:-UsePerfData \
        -XX:+UseSerialGC -cp "$classes" target.Cpu 1 > "$SCRATCH/said" 2>&1
    is "$v: the disk is full: the program and the recording go on" "$?" 0
    map=/tmp/perf-$(trace_info "$SCRATCH/full.dat" jvm.pid).map
    maps+=("$map")
    matches "$v: it is said why names are missing" "$(cat "$SCRATCH/said")" "cannot write '$map' beyond [0-9]+ bytes"
    matches "$v: and in the trace" "$(trace_info "$SCRATCH/full.dat" perf_map.failed)" "cannot write '$map'"
    is "$v: the file ends with a whole line" "$(tail -c 1 "$map" | od -An -tx1 | tr -d ' ')" 0a
}

# Root records another user's JVM: the file is that user's.
check_other_user() {
    local jdk=$1 v=$2 claim="$2: the file of another user's JVM is that user's" jvm map
    if [ "$(id -u)" != 0 ] || ! command -v setpriv > "$SCRATCH/which"; then
        skip "$claim" "it takes root and setpriv to be two users"
        return
    fi
    start "$SCRATCH/other" setpriv --reuid=65534 --regid=65534 --clear-groups "$jdk/bin/java" \
        -XX:+EnableDynamicAgentLoading -cp "$classes" target.Cpu 60
    jvm=$pid map=/tmp/perf-$jvm.map
    maps+=("$map")
    wait_for 20 attachable "$jvm"
    if ! kill -0 "$jvm" 2> /dev/null; then
        skip "$claim" "user 65534 cannot run this JDK: $(head -n 1 "$SCRATCH/other")"
        return
    fi
    sleep 1
    record -d 1 -o "$SCRATCH/other.dat" -p "$jvm" > "$SCRATCH/said" 2>&1
    is "$claim" "$?$(cat "$SCRATCH/said") $(stat -c '%a %u' "$map")" "0 600 65534"
    stop "$jvm"
}

while read -r jdk; do
    version="JDK $(jdk_version "$jdk")"
    check_attached "$jdk" "$version"
    check_started "$jdk" "$version"
done < <(jdks)
# What the file is like, whatever the JVM.
jdk=$(first_jdk)
check_full "$jdk" "JDK $(jdk_version "$jdk")"
check_other_user "$jdk" "JDK $(jdk_version "$jdk")"

done_testing
