#!/bin/bash
# timeout: 560
# takes: 340
# The unit tests pass on aarch64, where instructions are counted, exactly.  In this machine time passes with the
# instructions, so that it is not a slow one.
export MACHINE_RUN_S=500
. "$(dirname "$0")/machine.bash"
in_machine -smp 1 -icount shift=0

cd "$root" || exit 1
for test in build/test/unit/*; do
    case $test in
        */estimate_test | */live_test | */diff_power_test) ;; # they compute for minutes: aarch64_all.sh
        *) passes "$test" ;;
    esac
done

done_testing
