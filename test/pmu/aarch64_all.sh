#!/bin/bash
# timeout: 3700
# The end-to-end tests of 'make check' that are slow in an emulated machine pass on aarch64.  Left out is what says
# nothing about the machine (install, lint, manual, names, other_machine, rooms, runner) or needs a newer JDK
# (virtual_threads).
export MACHINE_RUN_S=3600
. "$(dirname "$0")/machine.bash"
[ -n "${PMU_ALL-}" ] || skip_all "it takes half an hour: 'make check-pmu PMU_ALL=1' runs it"
in_machine -smp 2 -m 3072

cd "$root" || exit 1
for test in micro_counts cputime cycles doctor overflow thesis rewrite_behave rewrite_jdk; do
    passes test/e2e/$test.sh
done

done_testing
