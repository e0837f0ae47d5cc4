#!/bin/bash
# timeout: 600
# takes: 85
# More events than counters: groups take turns, and what is estimated from them has the truth within its intervals.
#
# The truth is in the same trace: cycles and instructions are in each group, so that they are counted all the time, and
# here an instruction takes a cycle.  r08 and r11 are instructions and cycles by their numbers.
. "$(dirname "$0")/figures.bash"
in_machine -smp 1 -icount shift=0

mixed=(java -Xmx256m -XX:+UseSerialGC -cp "$classes" pmu.MixedWork)
include=(--include 'pmu/*' --min-bytecodes 0)

# ---- in turns ----

# Kernel and user together in cycles, the user's in instructions: the kernel's alone is the difference.
events=cycles:uk,instructions:u,r08:uk,r11:uk,r08:k,r11:k,instructions:uk,instructions:k,cycles:k
"$mmprof" record -e $events "${include[@]}" -o "$SCRATCH/turns.dat" -- "${mixed[@]}" 1500 > "$SCRATCH/out" 2>&1
matches "nine events are more than one group" "$(cat "$SCRATCH/out")" '^mmprof: 2 groups in turn of counters, read by'

# Phase, event, truth, estimate, half of its interval, share of the time: of each event that took turns.
csv "$SCRATCH/turns.dat" | awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) { at[$i] = i; name[i] = $i } next }
    $1 != "phase" || $at["total_ns"] < 1e7 { next }
    {
        for (i = 1; i <= NF; i++) {
            event = name[i]
            if (event !~ /^(r08|r11|instructions:u?k|cycles:k)(:u?k)?$/ || $at[event "_scaling"] > 0.9)
                continue
            truth = $at["cycles:uk"] - (event ~ /:k$/ ? $at["instructions:u"] : 0)
            half = ($at[event "_high"] - $at[event "_low"]) / 2
            print $2, event, truth, $i, half, $at[event "_scaling"]
        }
    }' > "$SCRATCH/estimates"
sed "s/^/# /" "$SCRATCH/estimates"
n=$(wc -l < "$SCRATCH/estimates")
holds "there are estimates of seven events in at least five phases: $n" [ "$n" -ge 35 ]
is "each group had its turns" "$(awk '$6 < 0.3 || $6 > 0.7' "$SCRATCH/estimates")" ""
# Five phases in two groups: more than two of these ten misses in one of a hundred runs.
is "four of five intervals, or more, have the truth" \
    "$(awk '{ d = $4 - $3; out += d * d > $5 * $5 } END { print out / NR <= 0.2 }' "$SCRATCH/estimates")" 1
is "no estimate is farther off than two of its intervals" \
    "$(awk '{ d = $4 - $3; if (d * d > 4 * $5 * $5 + 1e8) print }' "$SCRATCH/estimates")" ""
is "what is nearly all user's work has narrow ones" \
    "$(awk '$1 ~ /compute/ && $2 ~ /:uk/ && $5 > 0.005 * $4' "$SCRATCH/estimates")" ""
report=$("$mmprof" report "$SCRATCH/turns.dat")
matches "the report has intervals" "$report" '^MixedWork\.rounds .* ±[0-9]'
matches "and tells whose turn it was how long" "$report" '^note: events are multiplexed'

# ---- a group at a time ----

"$mmprof" record --groups separate -e $events "${include[@]}" -o "$SCRATCH/apart.dat" -- "${mixed[@]}" 600 \
    > "$SCRATCH/out" 2>&1
is "a command is run once for each group" "$(grep -c '^ROUNDS 600 ' "$SCRATCH/out")" 2
csv "$SCRATCH/apart.1.dat" "$SCRATCH/apart.2.dat" > "$SCRATCH/joined"
is "one table has all events of both" \
    "$(head -1 "$SCRATCH/joined" | tr , '\n' | grep -cxE '(r08|r11|instructions|cycles):(u|k|uk)')" 9
# The compiler is never as fast twice: what is compared is from one run, and the table of both keeps the rate.
all_user=$(column_of "$SCRATCH/joined" MixedWork.writes instructions:u)
for run in 1 2; do
    csv "$SCRATCH/apart.$run.dat" > "$SCRATCH/run"
    user=$(column_of "$SCRATCH/run" MixedWork.writes instructions:u)
    kernel=$(calculated "$(column_of "$SCRATCH/run" MixedWork.writes cycles:uk) - $user")
    for event in r11:k instructions:k cycles:k; do
        value=$(column_of "$SCRATCH/run" MixedWork.writes $event)
        [ -n "$value" ] || continue
        between "$event of a phase, counted all the time, is the difference of two others" "$value" \
            "$(calculated "0.999 * $kernel")" "$(calculated "1.001 * $kernel")"
        rate=$(calculated "$value / $user * $all_user")
        between "as often per instruction in the table of both" \
            "$(column_of "$SCRATCH/joined" MixedWork.writes $event)" \
            "$(calculated "$rate - 1")" "$(calculated "$rate + 1")"
        echo $event >> "$SCRATCH/compared"
    done
done
is "all three are from one run or the other" \
    "$(sort "$SCRATCH/compared" | paste -sd " ")" "cycles:k instructions:k r11:k"
matches "none has an interval" "$("$mmprof" report "$SCRATCH"/apart.[12].dat | grep -c ±)" '^0$'

# ---- how probes read ----

known=(java -Xmx256m -cp "$classes" pmu.KnownWork 30)

# per_fill TRACE: the mean instructions of 1,000 equal calls.
per_fill() {
    per_call "$1" pmu/KnownWork.fill 1000 | awk '{ sum += $1 } END { printf "%.1f", sum / NR }'
}

# about CLAIM VALUE KNOWN: within 0.3 %: the readings' own instructions are in it.
about() {
    between "$1" "$2" "$(awk "BEGIN { print 0.997 * $3 }")" "$(awk "BEGIN { print 1.003 * $3 }")"
}

for how in user syscall none; do
    "$mmprof" record --read $how -e cycles,instructions "${include[@]}" -o "$SCRATCH/$how.dat" -- "${known[@]}" \
        > "$SCRATCH/$how.out" 2>&1
done
user=$(per_fill "$SCRATCH/user.dat")
about "system calls count what reads in user space do" "$(per_fill "$SCRATCH/syscall.dat")" "$user"
matches "what they cost is predicted first" "$(head -1 "$SCRATCH/syscall.out")" \
    '^mmprof: reading 1 group of counters by system call costs [0-9.]+ us per recorded call'
is "without reads records have no values" \
    "$("$mmprof" dump "$SCRATCH/none.dat" | grep -E ' (enter|exit)  ' | grep -c 'instructions=[0-9]')" 0
report=$("$mmprof" report "$SCRATCH/none.dat")
matches "but long calls are counted" "$report" '^KnownWork\.main .* 1\.000 '
matches "which a note tells" "$report" '^note: probes cannot read the counters \(--read none\)'

# ---- who may count what ----

# as_nobody COMMAND...
as_nobody() {
    setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

sysctl -q -w kernel.perf_event_paranoid=2
mkdir -m 777 "$SCRATCH/open"
chmod 755 "$SCRATCH"
as_nobody "$mmprof" record -e cycles,instructions "${include[@]}" -o "$SCRATCH/open/mine.dat" -- "${known[@]}" \
    > "$SCRATCH/out" 2>&1
about "with perf_event_paranoid 2 a user counts his own programs" "$(per_fill "$SCRATCH/open/mine.dat")" "$user"
matches "user space only, as the report says" "$("$mmprof" report "$SCRATCH/open/mine.dat")" '^note: user space only'
as_nobody "$mmprof" record -e cycles,instructions,instructions:k "${include[@]}" -o "$SCRATCH/open/kernel.dat" -- \
    "${mixed[@]}" 30 > "$SCRATCH/out" 2>&1
matches "the kernel's he may not" "$(cat "$SCRATCH/out")" "'instructions:k'.*(Permission denied|perf_event_paranoid)"
sysctl -q -w kernel.perf_event_paranoid=-1

# perf has all counters but the one for cycles, on all CPUs, and does not share them.
perf stat -a -e r08:D,r08:D,r08:D,r08:D,r08:D,r08:D -- sleep 600 > "$SCRATCH/perf.out" 2>&1 &
perf=$!
test_pids+=("$perf")
wait_for 30 sh -c "ls -l /proc/$perf/fd | grep -q perf_event"
"$mmprof" record -e $events "${include[@]}" -o "$SCRATCH/held.dat" -- "${mixed[@]}" 30 > "$SCRATCH/out" 2>&1
kill -INT $perf
matches "events for which others have all counters are named" "$(cat "$SCRATCH/out")" \
    "^mmprof: 'instructions:u' is not counted: all counters that could count it are taken"
matches "with the next step" "$(cat "$SCRATCH/out")" '^  next: stop other profilers'
report=$("$mmprof" report "$SCRATCH/held.dat")
matches "they are '-'" "$report" '^MixedWork\.rounds .*  -  +-  '
matches "with a note" "$report" '^note: not measured: instructions:u, .*: all counters that could count it are taken'

done_testing
