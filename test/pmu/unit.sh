#!/bin/bash
# timeout: 900
# The unit tests of the counters pass where there are some.
. "$(dirname "$0")/machine.bash"
in_machine -icount shift=0

for test in "${machine_unit[@]}"; do
    if "$build/test/unit/$test" > "$SCRATCH/out" 2>&1; then
        ok "$test: $(grep -c '^ok' "$SCRATCH/out") claims, $(grep -c '# SKIP' "$SCRATCH/out") skipped"
    else
        not_ok "$test" "$(grep -A 5 '^not ok' "$SCRATCH/out")"
    fi
done

done_testing
