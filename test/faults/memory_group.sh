#!/bin/bash
# A JVM in a memory group (version 1 or 2) that uses 90 % of its limit survives every command, from outside and from
# inside of its group; nearer to the limit mmprof refuses to record, or ends, and says why.
# timeout: 3600
. "$(dirname "$0")/faults.bash"

n_runs=$(either 1 20)

# The directory of a hierarchy in which groups with a memory limit can be made, and the names of its files.
version_1() {
    base=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ { print $2; exit }' /proc/mounts)
    limit=memory.limit_in_bytes used=memory.usage_in_bytes kills=memory.oom_control all=total_
    [ -n "$base" ]
}

version_2() {
    base=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
    limit=memory.max used=memory.current kills=memory.events all=
    [ -n "$base" ] && grep -qw memory "$base/cgroup.controllers" && echo +memory > "$base/cgroup.subtree_control"
}

make_group() {
    group=$base/mmprof-test-$$
    mkdir "$group" && [ -w "$group/$limit" ]
}

# in_group COMMAND...: becomes the command, in the group.
in_group() {
    echo "$BASHPID" > "$group/cgroup.procs" && exec "$@"
}

n_kills() {
    sed -n 's/^oom_kill //p' "$group/$kills"
}

start_jvm() {
    busy_out=$SCRATCH/group.out busy_stop=$SCRATCH/group.stop
    rm -f "$busy_stop"
    start "$busy_out" in_group "$jdk/bin/java" -Xms100m -Xmx100m -XX:+AlwaysPreTouch -XX:+UseSerialGC \
        -XX:+EnableDynamicAgentLoading -Dbusy.others=$((slow > 1 ? 3 : 20)) -cp "$classes" target.Busy "$busy_stop"
    jvm=$pid
    wait_for 30 more_rounds_than 5
}

# Without page cache that the kernel can drop.
in_use() {
    awk -v used="$(cat "$group/$used")" -v all=$all '$1 == all "inactive_file" { used -= $2 }
        $1 == all "active_file" { used -= $2 / 2 } END { printf "%d", used }' "$group/memory.stat"
}

# The JVM has compiled its changed code again: until then it grows by more than a hundredth by itself.
has_settled() {
    local before
    before=$(in_use)
    sleep 2
    [ $(($(in_use) - before)) -lt 200000 ]
}

# limit_to PERCENT: what is in use is so much of the limit.
limit_to() {
    echo $(($(in_use) * 100 / $1)) > "$group/$limit"
}

unlimit() {
    local none=max
    [ "$limit" = memory.max ] || none=-1
    echo $none > "$group/$limit"
}

# survives WHERE COMMAND...: it works, or says why not; the JVM goes on.
survives() {
    local where=$1 status begin=() bad="" i killed
    shift
    [ "$where" != inside ] || begin=(in_group)
    for ((i = 0; i < n_runs; i++)); do
        unlimit
        limit_to 90
        killed=$(n_kills)
        (${begin[@]+"${begin[@]}"} timeout $((60 * slow)) "$mmprof" "$@" -p "$jvm") > "$SCRATCH/said" 2>&1
        status=$?
        kill -0 "$jvm" 2> "$SCRATCH/ignored" && [ "$(n_kills)" = "$killed" ] &&
            { [ $status = 0 ] || { [ $status = 1 ] && grep -q '^  next: ' "$SCRATCH/said"; }; } ||
            bad="$bad run $i: status $status, $(n_kills) kills: $(tail -n 3 "$SCRATCH/said")"
    done
    is "$v: at 90 % of the limit, from $where: $1 $2, $n_runs times" "$bad" ""
}

# shellcheck disable=SC2086  # options
all_commands() {
    local trace="-o $SCRATCH/group.dat"
    survives outside record --all-methods -d 0.3 $trace
    survives outside record -d 0.5 $trace
    survives inside record --include 'target/*' --min-bytecodes 0 -d 0.3 $trace
    [ $n_runs -gt 1 ] || return
    survives outside record --include 'target/*' --min-bytecodes 0 -d 1 $trace
    survives inside record --all-methods -d 1 $trace
    survives inside record -d 1 $trace
    for where in outside inside; do
        survives $where sample -d 1
        survives $where profile -d 1 -o "$SCRATCH/kept"
        survives $where top -n 1
    done
}

# The buffers of busy threads are not the JVM's, whose group has too little room for them.
is_charged_to_mmprof() {
    local before now grown=0 recorder
    unlimit
    limit_to 90
    before=$(cat "$group/$used")
    start "$SCRATCH/said" "$mmprof" record -q --include 'target/*' --min-bytecodes 0 -d 1 -o "$SCRATCH/group.dat" \
        -p "$jvm"
    recorder=$pid
    while ! is_gone "$recorder"; do
        now=$(cat "$group/$used")
        [ $((now - before)) -le $grown ] || grown=$((now - before))
        sleep 0.05
    done
    wait "$recorder"
    is "$v: buffers are charged to mmprof: a recording" "$? $(cat "$SCRATCH/said")" "0 "
    [ $grown -lt 6000000 ] && ok "$v: the JVM's group grows by $grown bytes, less than its threads' buffers" ||
        not_ok "$v: the JVM's group grows by less than 6 MB" "$grown bytes"
}

near_the_limit() {
    local said recorder
    unlimit
    limit_to 99
    said=$("$mmprof" record -q -d 1 -o "$SCRATCH/group.dat" -p "$jvm" 2>&1)
    is "$v: at 99 % of the limit a recording is refused" "$? $(grep -c 'left of the memory limit' <<< "$said")" "1 1"
    unlimit
    rm -f "$SCRATCH/group.dat"
    start "$SCRATCH/said" "$mmprof" record --include 'target/*' -o "$SCRATCH/group.dat" -p "$jvm"
    recorder=$pid
    wait_for 30 test -s "$SCRATCH/group.dat"
    wait_for 60 has_settled
    limit_to 99
    wait_gone 60 "$recorder" || kill -KILL "$recorder"
    wait "$recorder"
    is "$v: the limit comes near: the recording ends, and says why" \
        "$? $(grep -c 'ended early, before the kernel kills a process' "$SCRATCH/said")" "0 1"
    matches "$v: its trace is readable" "$(trace_counts "$SCRATCH/group.dat")" '^RECORDS [1-9].* CUT 0 UNNESTED 0$'
    matches "$v: it changes no class back there" "$(kept_for_memory)" '^[1-9]'
    unlimit
    "$mmprof" record -d 0.5 --include 'target/*' -o "$SCRATCH/group.dat" -p "$jvm" > "$SCRATCH/said" 2>&1
    is "$v: the next recording does" "$? $(kept_for_memory)" "0 "
}

# How many classes keep their probes, as a recording says.
kept_for_memory() {
    sed -nE 's/^mmprof: ([0-9]+) class(es)? kept disabled probes: .*memory.*/\1/p' "$SCRATCH/said"
}

# The JVM's user appends methods for ever: mmprof, in a group of its own, ends and says why, with a trace.
flood() {
    command -v python3 > "$SCRATCH/which" || { skip "$v: a hostile JVM" "python3 is not installed"; return; }
    local own=$base/mmprof-test-$$-own log recorder
    mkdir "$own" && echo 100000000 > "$own/$limit"
    rm -f "$SCRATCH/group.dat"
    start "$SCRATCH/said" bash -c 'echo $$ > "$1"; shift; exec "$@"' - "$own/cgroup.procs" \
        "$mmprof" record --include 'target/*' -o "$SCRATCH/group.dat" -p "$jvm"
    recorder=$pid
    wait_for 30 test -s "$SCRATCH/group.dat"
    log=$(find "/proc/$jvm/fd" -lname '*memfd:mmprof-methods *' | head -n 1)
    python3 - "$log" << 'END' &
import sys
def number(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + number(n >> 7)
def method(i):
    name = number(100000) + b'x' * 100000
    entry = b'\0' + number(i) + b'\0\0\0' + name + b'\1m\3()V\0'
    return len(entry).to_bytes(4, 'little') + entry
with open(sys.argv[1], 'ab', buffering=0) as log:
    for i in range(3000):
        log.write(method(100000 + i))
END
    wait $!
    wait_gone 60 "$recorder" || kill -TERM "$recorder"
    wait "$recorder"
    is "$v: what a hostile JVM tells for ever: mmprof ends, and says why" \
        "$? $(grep -cE 'out of memory|left of the memory limit' "$SCRATCH/said")" "1 1"
    is "$v: the kernel did not have to kill it" "$(sed -n 's/^oom_kill //p' "$own/$kills")" 0
    # Where an allocation fails before the limit is seen, as when it is told much at once, the trace has no end.
    matches "$v: what was recorded is readable" "$(trace_counts "$SCRATCH/group.dat")" \
        '^RECORDS [1-9].* CUT [01] UNNESTED 0$'
    wait_for 30 rmdir "$own" 2> "$SCRATCH/ignored"
    goes_on "$v: the JVM goes on"
}

[ "$(id -u)" = 0 ] || skip_all "it takes root to make control groups"
for version in version_1 version_2; do
    if ! { $version && make_group; } 2> "$SCRATCH/ignored"; then
        skip "memory groups of ${version/_/ }" "the memory controller is not there"
        continue
    fi
    while read -r jdk; do
        v="JDK $(jdk_version "$jdk"), ${version/_/ }"
        start_jvm
        all_commands
        is_charged_to_mmprof
        near_the_limit
        flood
        stop_busy "$jvm" "$v: its results and output are those without mmprof"
    done < <(fault_jdks)
    wait_for 30 rmdir "$group" 2> "$SCRATCH/ignored"
done

done_testing
