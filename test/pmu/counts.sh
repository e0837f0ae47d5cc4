#!/bin/bash
# timeout: 900
# takes: 80
# With counters: records carry them, one instruction takes one cycle, and equal calls take equally many instructions.
. "$(dirname "$0")/figures.bash"
in_machine -smp 1 -icount shift=0

known=(java -Xmx256m -cp "$classes" pmu.KnownWork)

# ---- a program from its start ----

trace=$SCRATCH/all.dat
"$mmprof" record -q -e cycles,instructions --include 'pmu/*' --min-bytecodes 0 -o "$trace" -- "${known[@]}" 300 \
    > "$SCRATCH/out" 2> "$SCRATCH/err"
is "a program is recorded with counters" "$(tail -n 1 "$SCRATCH/out" | cut -d' ' -f1-4)" "ROUNDS 300 steps1 375"
"$mmprof" dump "$trace" > "$SCRATCH/dump"
is "every record has values" "$(grep -cE '  (enter|exit)  .*cycles=[0-9]+  instructions=[0-9]+$' "$SCRATCH/dump")" \
    "$(grep -cE ' (enter|exit)  ' "$SCRATCH/dump")"

methods="steps1 steps3 fill round main"
is "calls are right" "$(for m in $methods; do column "$trace" KnownWork.$m calls; done | paste -sd " ")" \
    "375 300 1600 300 1"
for m in $methods; do
    known_cpi "$m takes a cycle per instruction" "$(column "$trace" KnownWork.$m cpi)" 1
    holds "all its time was counted" calculate "$(column "$trace" KnownWork.$m counted_share) >= 0.999"
done
# The machine runs an instruction per ns; the rest is the kernel's.
instructions=$(column "$trace" KnownWork.main instructions) ns=$(column "$trace" KnownWork.main total_ns)
holds "its instructions are its time: $instructions in $ns ns" \
    calculate "$instructions <= $ns && $instructions > 0.98 * $ns"

per_call "$trace" pmu/KnownWork.fill 1000 > "$SCRATCH/fill"
is "there are 1,000 calls to compare" "$(wc -l < "$SCRATCH/fill")" 1000
between "equal calls take equally many instructions: coefficient of variation" "$(variation "$SCRATCH/fill")" 0 0.001

# Of loop(n) = fixed + n * step, the fixed part is what the program itself does: the probes are not in it.
per_call "$trace" pmu/KnownWork.loop 100 | sort -n > "$SCRATCH/loop"
short=$(sed -n 25p "$SCRATCH/loop") long=$(sed -n 75p "$SCRATCH/loop")
inside=$(sed -n 's/^info    probe.inside_counters = .* \(.*\)  # .*/\1/p' "$SCRATCH/dump")
fixed=$(awk "BEGIN { print $short - ($long - $short) / 2 - $inside }")
holds "the probes' own instructions are calibrated: of $short and $long in loop, $fixed are left besides the loop" \
    calculate "$inside > 100 && $fixed >= 0 && $fixed < 60"

# ---- three steps, and a program that runs already ----

"$mmprof" profile --two-runs -e cycles,instructions -o "$SCRATCH/profile" -- "${known[@]}" 300 > "$SCRATCH/out" 2>&1
matches "a profile prints CPI" "$(cat "$SCRATCH/out")" '^KnownWork\.main .* 1\.000 '
matches "the VM's own threads have it, too" "$(cat "$SCRATCH/out")" '^C2 compiler .* 1\.000 '

: > "$SCRATCH/java.out"
start "$SCRATCH/java.out" "${known[@]}" 0 "$SCRATCH/stop"
wait_for 60 grep -q READY "$SCRATCH/java.out"
holds "a running program is profiled" "$mmprof" profile -q --two-runs -p "$pid" -d 2 -e cycles,instructions \
    -o "$SCRATCH/late"
known_cpi "it takes a cycle per instruction" "$(column "$SCRATCH/late/phases.dat" "KnownWork.loop +" cpi)$(
    column "$SCRATCH/late/phases.dat" KnownWork.loop cpi)" 1
touch "$SCRATCH/stop"
wait_gone 60 "$pid"
matches "and ends well" "$(cat "$SCRATCH/java.out")" '^ROUNDS '

# ---- what cannot be counted ----

sysctl -q -w kernel.perf_event_paranoid=3
: > "$SCRATCH/java2.out"
setpriv --reuid=65534 --regid=65534 --clear-groups "${known[@]}" 0 "$SCRATCH/stop2" > "$SCRATCH/java2.out" 2>&1 &
pid=$!
test_pids+=("$pid")
wait_for 60 grep -q READY "$SCRATCH/java2.out"
"$mmprof" record -p "$pid" -d 4 -e cycles,instructions --include 'pmu/*' -o "$SCRATCH/refused.dat" > "$SCRATCH/out" 2>&1
touch "$SCRATCH/stop2"
matches "a JVM that may not open its counters is told of" "$(cat "$SCRATCH/out")" \
    "not counted: the JVM may not open 'cycles': .*perf_event_paranoid is 3"
matches "with the next step" "$(cat "$SCRATCH/out")" "^  next: run 'sysctl kernel.perf_event_paranoid=2'"
"$mmprof" dump "$SCRATCH/refused.dat" > "$SCRATCH/refused"
is "its records have no values" "$(grep -E ' (enter|exit)  ' "$SCRATCH/refused" | grep -c 'instructions=[0-9]')" 0
matches "but mmprof, which may, counts its threads from outside" "$(cat "$SCRATCH/refused")" \
    'counts  series [02]  cycles=[0-9]+  instructions=[1-9]'
report=$("$mmprof" report "$SCRATCH/refused.dat")
# That a call of a millisecond has two readings within it is chance; the thread has them all.
matches "its report has CPI from there" "$report" '^whole process .* 1\.000 '
matches "and says why" "$report" "^note: hardware events: the JVM may not open 'cycles'"
sysctl -q -w kernel.perf_event_paranoid=-1

sysctl -q -w kernel.perf_user_access=0
"$mmprof" record -e cycles,instructions --include 'pmu/*' -o "$SCRATCH/closed.dat" -- "${known[@]}" 30 \
    > "$SCRATCH/out" 2>&1
is "counters that user space may not read are told of once" \
    "$(grep -c 'user space may not read the counters' "$SCRATCH/out")" 1
matches "with the next step, too" "$(cat "$SCRATCH/out")" "^  next: run 'sysctl kernel.perf_user_access=1'"
report=$("$mmprof" report "$SCRATCH/closed.dat")
matches "long calls are counted from outside" "$report" '^KnownWork\.main .* 1\.000 '
matches "a note says so, and why" "$report" '^note: probes cannot read the counters \(.*perf_user_access'

done_testing
