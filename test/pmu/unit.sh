#!/bin/bash
# timeout: 300
# The unit tests of the counters pass where instructions are counted, exactly.
. "$(dirname "$0")/machine.bash"
in_machine -smp 1 -icount shift=0

cd "$root" || exit 1
for test in $(grep -lE '^#include "(core/counters/|cmd/doctor)' test/unit/*_test.c); do
    passes "build/${test%.c}"
done

done_testing
