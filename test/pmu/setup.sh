#!/bin/bash
# timeout: 840
# The machine is made, and mmprof builds for it; where it cannot be made, all tests in it are skipped.
. "$(dirname "$0")/machine.bash"

unset MACHINE_TRIED
machine_needs
machine_ready
ok "the machine is made"
holds "mmprof builds for aarch64" machine_build

done_testing
