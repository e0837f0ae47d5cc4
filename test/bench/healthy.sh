#!/bin/bash
# False alarms: findings of programs that have no fault:   make bench-healthy
#
# Records bench.Healthy, a kind of program after the other, on each JDK in turn, and prints what was found.  JDKs are
# those of /usr/lib/jvm, and of a root that MMPROF_JDK_ROOT names (make jdks): these run in a chroot.
#
#     HEALTHY_RECORDINGS=50   how many
#     HEALTHY_SECONDS=10      of each
#     HEALTHY_BUSY=0          other processes that want a CPU all the time
#     HEALTHY_TO=DIR          where they are kept; else nowhere
#
# 'cpu' and 'allocation' tell where a program does most of its work, whether that can be mended or not, and so are
# counted apart; 'jit', 'preempted' and 'stolen' are conditions of the measurement.  All else is a false alarm.
. "$(dirname "$0")/../lib.sh"
needs_command profile

n=${HEALTHY_RECORDINGS:-50} seconds=${HEALTHY_SECONDS:-10} to=${HEALTHY_TO:-$SCRATCH}
kinds=(indexer server numbers cache pipeline documents timers sorter)
mkdir -p "$to" "$SCRATCH/classes"
"$(first_jdk)/bin/javac" -nowarn --release 8 -g -d "$SCRATCH/classes" "$root/test/java/bench/Healthy.java" \
    > "$SCRATCH/javac" 2>&1 || { cat "$SCRATCH/javac" && exit 1; }

# start_healthy FILE HOME ROOT ARGUMENT...: its PID is in $pid.
start_healthy() {
    local file=$1 home=$2 in=$3
    shift 3
    start_java "$file" "$home" "$in" "$SCRATCH/classes" -Xmx512m bench.Healthy "$@"
    [ -z "$in" ] || folders+=("$java_folder")
}

# record KIND HOME ROOT NAME: what was found, a line each: NAME RULE SUBJECT SIZE.
record() {
    local kind=$1 home=$2 in=$3 name=$4 program clients=''
    start_healthy "$SCRATCH/program" "$home" "$in" "$kind"
    program=$pid
    if [ "$kind" = server ]; then
        wait_for 20 grep -q '^PORT' "$SCRATCH/program" || return
        start_healthy "$SCRATCH/clients" "$home" "$in" clients "$(sed -n 's/^PORT //p' "$SCRATCH/program")"
        clients=$pid
    fi
    wait_for 20 grep -q '^UP' "$SCRATCH/program" && sleep 3 &&
        "$mmprof" profile -q -p "$program" -d "$seconds" -o "$to/$name" > "$SCRATCH/report" 2>&1 ||
        printf '%s failed %s\n' "$name" "$(tail -n 1 "$SCRATCH/report")"
    stop "$program"
    [ -z "$clients" ] || stop "$clients"
    found "$to/$name" "$name"
}

# found DIR NAME
found() {
    "$mmprof" report --view findings --csv "$1" | tr -d '\r' |
        awk -F , -v name="$2" '$1 == "finding" { printf "%-24s %-12s %-40s %s\n", name, $2, $3, $5 }'
}

mapfile -t homes < <(all_jdks)
echo "Recording                Rule         Subject                                  Size"
echo "--------------------------------------------------------------------------------------------------------"
for ((i = 0; i < ${HEALTHY_BUSY:-0}; i++)); do
    start "$SCRATCH/ignored" sh -c 'while :; do :; done'
done
for ((i = 0; i < n; i++)); do
    read -r version home in <<< "${homes[i % ${#homes[@]}]}"
    kind=${kinds[(i + i / ${#homes[@]}) % ${#kinds[@]}]}
    folders=()
    record "$kind" "$home" "$in" "$kind-$version-$i" < /dev/null
    [ ${#folders[@]} = 0 ] || rm -rf "${folders[@]}"
done | tee "$SCRATCH/all"
awk -v n="$n" '$2 ~ /^(cpu|allocation)$/ { work++; next }
    $2 ~ /^(jit|preempted|stolen)$/ { conditions++; next }
    { alarms++ }
    END { printf "\n%d recordings: %d false alarms, %d lines on where the work is, %d on conditions\n", n, alarms, work,
          conditions }' "$SCRATCH/all"
