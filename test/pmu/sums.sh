#!/bin/bash
# timeout: 600
# takes: 45
# What mmprof counts in phases, threads and the VM's parts adds up to what perf counts in the process.
. "$(dirname "$0")/figures.bash"
in_machine -smp 1 -icount shift=0

# by_perf EVENT: what perf stat has counted.
by_perf() {
    awk -F, -v event="$1" '$3 == event { print $1 }' "$SCRATCH/stat"
}

# counted NAME: the events of all rows that overlap no other one: the outermost phase, other code, the VM's parts.
counted() {
    csv "$trace" | awk -F, -v name="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $1 == "phase" && $2 != "MixedWork.rounds" || $1 == "total" || $1 == "mmprof" { next }
        { sum += $at[name] }
        END { printf "%.0f", sum }'
}

# of_probes N: what the probes took, whose calls are part of nobody's figures.
of_probes() {
    "$mmprof" dump "$trace" | awk -v records="$(grep -cE ' (enter|exit)  ' "$SCRATCH/dump")" '
        /^info +probe\.(inside|outside)_counters/ { sum += $4 }
        END { printf "%.0f", sum * records / 2 }'
}

# difference A B, in per cent
difference() {
    awk "BEGIN { printf \"%.3f\", 100 * ($1 - $2) / $2 }"
}

# A program that waits, mmprof, and perf, which counts all that it does from then on.
go=$SCRATCH/go trace=$SCRATCH/sums.dat
: > "$SCRATCH/java.out"
start "$SCRATCH/java.out" java -Xmx256m -cp "$classes" pmu.MixedWork 1500 "$go" 3
wait_for 60 grep -q READY "$SCRATCH/java.out"
"$mmprof" record -q -p "$pid" -e cycles,instructions --include 'pmu/*' --min-bytecodes 0 -o "$trace" \
    > "$SCRATCH/out" 2>&1 &
recording=$!
wait_for 60 sh -c "'$mmprof' dump '$trace' 2> '$SCRATCH/dump.err' | grep -q instrument.ms"
perf stat -x, -e cycles:u,instructions:u -p "$pid" -o "$SCRATCH/stat" &
perf=$!
wait_for 30 sh -c "ls -l /proc/$perf/fd | grep -q perf_event"
sleep 0.2
touch "$go"
wait $perf
wait $recording # not in holds: a subshell has no children
is "the recording ends with the program" $? 0
is "the program is as it was" "$(grep -c '^ROUNDS 1500 ' "$SCRATCH/java.out")" 3
"$mmprof" dump "$trace" > "$SCRATCH/dump"

for event in cycles instructions; do
    probes=$(of_probes) all=$(counted $event) perf=$(by_perf $event:u)
    echo "# $event: $all in phases and parts, $probes in probes; perf stat: $perf"
    between "the parts' $event are the process': per cent more" "$(difference "$((all + probes))" "$perf")" -1 1
done
threads=$(grep -cE '^[^ ]* *thread ' "$SCRATCH/dump")
holds "all threads are counted, the VM's, too" [ "$threads" -gt 10 ]
is "none was left out" "$(grep -c 'readings.threads_without' "$SCRATCH/dump")" 0
matches "compilers have counts" "$(column "$trace" 'C2 compiler' cpi)" '^1(\.0*[0-9]*)?$'
echo "# as printed:"
"$mmprof" report "$trace" | sed 's/^/# /'

done_testing
