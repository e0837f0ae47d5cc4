#!/bin/bash
# timeout: 560
# takes: 150
# The end-to-end tests of 'make check' that are quick in an emulated machine, and do not depend on who has how much
# time, pass on aarch64.  aarch64_all.sh has the others.
export MACHINE_RUN_S=500
. "$(dirname "$0")/machine.bash"
in_machine -smp 2

# There is a JVM of each kind in aarch64_all.sh.
export MMPROF_GCS=G1GC
cd "$root" || exit 1
for program in test/e2e/{dump,list}.sh; do
    passes "$program"
done

done_testing
