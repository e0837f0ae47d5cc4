#!/bin/bash
# timeout: 900
# takes: 30
# On a machine that takes two cycles for each instruction, CPI is 2.
. "$(dirname "$0")/machine.bash"
in_machine -smp 1 -icount shift=1

"$mmprof" profile --two-runs -e cycles,instructions -o "$SCRATCH/profile" -- \
    java -Xmx256m -cp "$classes" pmu.KnownWork 200 > "$SCRATCH/out" 2>&1
matches "a program takes two cycles for each instruction" "$(cat "$SCRATCH/out")" '^KnownWork\.main .* 2\.000 '
matches "so does the average" "$(cat "$SCRATCH/out")" '^Benchmark average .* 2\.000 '

done_testing
