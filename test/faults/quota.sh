#!/bin/bash
# A CPU quota (a container's limit) that stops a JVM is told from a busy machine.
# timeout: 200
. "$(dirname "$0")/faults.bash"

[ "$(id -u)" = 0 ] || skip_all "making a group needs root"
base=$(awk '$3 == "cgroup" && $4 ~ /(^|,)cpu(,|$)/ { print $2; exit }' /proc/mounts)
version=1
if [ -z "$base" ]; then
    version=2
    base=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
    { [ -n "$base" ] && grep -qw cpu "$base/cgroup.controllers" && echo +cpu > "$base/cgroup.subtree_control"; } \
        2> "$SCRATCH/ignored"
fi
group=$base/mmprof-quota-$$
{ [ -n "$base" ] && mkdir "$group"; } 2> "$SCRATCH/ignored" || skip_all "no group with a CPU quota can be made here"

jvm=
leave() {
    local status=$?
    [ -z "$jvm" ] || stop "$jvm"
    wait_for 10 rmdir "$group" 2> "$SCRATCH/ignored"
    (exit $status)
    at_exit
}
trap leave EXIT

# The group may use a tenth of a CPU; or what it likes.
limit() {
    if [ $version = 1 ]; then
        echo 100000 > "$group/cpu.cfs_period_us" && echo 10000 > "$group/cpu.cfs_quota_us"
    else
        echo "10000 100000" > "$group/cpu.max"
    fi
}

unlimit() {
    if [ $version = 1 ]; then
        echo -1 > "$group/cpu.cfs_quota_us"
    else
        echo max > "$group/cpu.max"
    fi
}

# told QUESTION: of a trace's views in JSON, as python sees them.
told() {
    "$mmprof" report --json --view "$1" "$2" | python3 -c '
import json, sys
rows = json.load(sys.stdin)["rows"]
of = {row.get("method"): row for row in rows if row.get("class") == "target/Stopped"}
print(eval(sys.argv[1]))' "$3"
}

# trace NAME: records for some seconds; both methods have probes from the start.
trace() {
    "$mmprof" record -q --live --budget 90% --argument 'Stopped.burn(1)' --argument 'Stopped.nap(1)' -d "$2" \
        -o "$SCRATCH/$1.dat" -p "$jvm"
}

# free NAME CLAIM: no quota stopped the program in this trace.
free() {
    local trace=$SCRATCH/$1.dat
    is "$2: no table has a column of it" "$("$mmprof" report --csv "$trace" | grep -c throttled)" 0
    is "$2: no finding" "$("$mmprof" report --view findings --csv "$trace" | grep -c quota)" 0
    is "$2: no step of the time line has a stop" \
        "$(told timeline "$trace" 'sum(r.get("throttled") or 0 for r in rows)')" 0
    is "$2: nor has a slow call" "$(told slow "$trace" 'sum(r["throttled_ns"] for r in rows)')" 0
}

jdk=$(fault_jdks | tail -n 1)
start "$SCRATCH/jvm.out" "$jdk/bin/java" -Xmx64m -XX:+UseSerialGC -cp "$classes" target.Stopped "$SCRATCH/stop"
jvm=$pid
limit 2> "$SCRATCH/ignored" || skip_all "this kernel has no CPU quota"
wait_for 30 grep -q ROUND "$SCRATCH/jvm.out"

trace never 2
is "a JVM without a quota: the trace has none" "$(trace_info "$SCRATCH/never.dat" quota.cpus)" ""
is "nor has doctor" "$("$mmprof" doctor "$jvm" | grep -c '^[a-z]* *quota')" 0
free never "a program that never had one"

echo "$jvm" > "$group/cgroup.procs"
trace quota 10
trace=$SCRATCH/quota.dat
is "one with a quota: the trace has it" "$(trace_info "$trace" quota.cpus)" "0.1000"
stopped=$(trace_info "$trace" quota.throttled)
kernel_ns=$(trace_info "$trace" quota.throttled_ns)
holds "and how often it stopped the JVM ($stopped times)" [ "${stopped:-0}" -gt 5 ]
"$mmprof" report "$trace" > "$SCRATCH/report"
matches "the report says so, and which method bears it" "$(cat "$SCRATCH/report")" \
    "^\\* the container's CPU quota \\(0.10 CPUs\\) stopped the program $stopped times for .*it: Stopped.burn [0-9]+ %"
matches "its table has a column" "$(cat "$SCRATCH/report")" '^Phase .*Throttled \(%\)'
# What the kernel says that the group was stopped for is the thread's that computes: all, but for the JVM's own threads.
is "the time line has the kernel's figure, to a hundredth" \
    "$(told timeline "$trace" "abs(sum(r['throttled_ns'] or 0 for r in rows) / $kernel_ns - 1) < 0.01")" True
is "so has the method that computes, to a quarter" \
    "$(told phases "$trace" "abs(of['burn']['throttled_ns'] / $kernel_ns - 1) < 0.25 or (of['burn'], $kernel_ns)")" True
is "the one that sleeps has less than a tenth" \
    "$(told phases "$trace" "of['nap']['throttled_ns'] < 0.1 * $kernel_ns if 'nap' in of else True")" True
is "the slowest calls are slow by it: half of the difference, or more" \
    "$(told slow "$trace" "of['burn']['throttled_ns'] > 0.5 * of['burn']['above_ns'] or of['burn']")" True
"$mmprof" report --html "$SCRATCH/page.html" "$trace"
holds "the page says it, too" grep -q "stopped by the CPU quota" "$SCRATCH/page.html"
matches "the view of waits says so" "$("$mmprof" report --view waits "$trace")" \
    "^note: the container's CPU quota \\(0.10 CPUs\\) stopped"
"$mmprof" sample -d $((3 * slow)) -o "$SCRATCH/sample.dat" "$jvm" > "$SCRATCH/report" 2>&1
sampled_ns=$(trace_info "$SCRATCH/sample.dat" quota.throttled_ns)
holds "so has a trace of samples (${sampled_ns} ns)" [ "${sampled_ns:-0}" -gt 100000000 ]
is "and its time line, to a hundredth" \
    "$(told timeline "$SCRATCH/sample.dat" \
        "abs(sum(r['throttled_ns'] or 0 for r in rows) / $sampled_ns - 1) < 0.01")" True
matches "doctor says so" "$("$mmprof" doctor "$jvm")" \
    "^limit quota +the container's quota is 0.10 CPUs, and stopped it [0-9]+ times for"

unlimit
trace mended 2
free mended "the same program without its quota"

done_testing
