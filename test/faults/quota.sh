#!/bin/bash
# A CPU quota (a container's limit) that stops a JVM is told from a busy machine.
# timeout: 100
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

# The group may use 5 % of a CPU.
limit() {
    if [ $version = 1 ]; then
        echo 100000 > "$group/cpu.cfs_period_us" && echo 5000 > "$group/cpu.cfs_quota_us"
    else
        echo "5000 100000" > "$group/cpu.max"
    fi
}

jdk=$(fault_jdks | tail -n 1)
start "$SCRATCH/jvm.out" "$jdk/bin/java" -Xmx64m -XX:+UseSerialGC -Dbusy.rest=false -cp "$classes" target.Busy \
    "$SCRATCH/stop"
jvm=$pid
limit 2> "$SCRATCH/ignored" || skip_all "this kernel has no CPU quota"
wait_for 30 grep -q ROUND "$SCRATCH/jvm.out"

"$mmprof" record -q -d 1 -o "$SCRATCH/free.dat" -p "$jvm"
is "a JVM without a quota: the trace has none" "$(trace_info "$SCRATCH/free.dat" quota.cpus)" ""
is "nor has doctor" "$("$mmprof" doctor "$jvm" | grep -c '^[a-z]* *quota')" 0

echo "$jvm" > "$group/cgroup.procs"
"$mmprof" record -q -d 3 -o "$SCRATCH/quota.dat" -p "$jvm"
is "one with a quota: the trace has it" "$(trace_info "$SCRATCH/quota.dat" quota.cpus)" "0.0500"
stopped=$(trace_info "$SCRATCH/quota.dat" quota.throttled)
holds "and how often it stopped the JVM ($stopped times)" [ "${stopped:-0}" -gt 5 ]
matches "the report says so" "$("$mmprof" report "$SCRATCH/quota.dat")" \
    "^\\* the container's CPU quota \\(0.05 CPUs\\) stopped the program $stopped times for "
matches "the view of waits says so" "$("$mmprof" report --view waits "$SCRATCH/quota.dat")" \
    "^note: the container's CPU quota \\(0.05 CPUs\\) stopped"
matches "doctor says so" "$("$mmprof" doctor "$jvm")" \
    "^limit quota +the container's quota is 0.05 CPUs, and stopped it [0-9]+ times for"

done_testing
