#!/bin/bash
# timeout: 900
# One live recording with counters: what it selects by itself has the CPI that is known, in the report and in 'top'.
export MACHINE_RUN_S=800
. "$(dirname "$0")/figures.bash"
in_machine -smp 1 -icount shift=1

trace=$SCRATCH/live.dat
stop=$SCRATCH/stop
java -Xmx256m -cp "$classes" pmu.KnownWork 0 "$stop" > "$SCRATCH/said" 2>&1 &
jvm=$!
test_pids+=("$jvm")
wait_for 60 grep -qx READY "$SCRATCH/said"

"$mmprof" record --live -e cycles,instructions -p "$jvm" -d 20 -o "$trace" > "$SCRATCH/out" 2>&1
is "a live recording reads counters" "$?$(grep -c 'not counted\|cannot' "$SCRATCH/out")" 00
csv "$trace" > "$SCRATCH/csv"
for method in steps1 steps3 fill; do
    between "it has found KnownWork.$method" "$(column_of "$SCRATCH/csv" "KnownWork.$method" calls)" 100 1000000
    known_cpi "whose CPI is 2" "$(column_of "$SCRATCH/csv" "KnownWork.$method" cpi)" 2
done
"$mmprof" top --count 12 -e cycles,instructions -p "$jvm" > "$SCRATCH/top" 2> "$SCRATCH/errors"
matches "top shows it, too: $(tail -n 1 "$SCRATCH/errors")" "$(cat "$SCRATCH/top")" 'KnownWork\.steps3 .* 2\.00'

touch "$stop"
wait "$jvm"
is "the program ends as without mmprof" "$?$(grep -c '^ROUNDS [0-9]' "$SCRATCH/said")" 01

done_testing
