#!/bin/bash
# timeout: 840
# takes: 60
# The machine is made, and mmprof builds for it; where it cannot be made, all tests in it are skipped.
. "$(dirname "$0")/machine.bash"

unset MACHINE_TRIED
machine_needs
machine_ready
ok "the machine is made"
if machine_build > "$SCRATCH/built" 2>&1; then
    ok "mmprof builds for aarch64"
else
    not_ok "mmprof builds for aarch64" "$(tail -n 30 "$SCRATCH/built")"
fi

done_testing
