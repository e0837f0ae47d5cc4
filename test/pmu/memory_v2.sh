#!/bin/bash
# timeout: 560
# takes: 200
# A JVM in a memory group of version 2 survives recordings: here, where the memory controller is in nobody else's hands.
export MACHINE_RUN_S=500
. "$(dirname "$0")/machine.bash"
in_machine -smp 2

cd "$root" || exit 1
mkdir -p /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup
passes test/faults/memory_group.sh

done_testing
