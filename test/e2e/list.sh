#!/bin/bash
# mmprof list: what it prints with and without a PMU, and of what does not work.
# beside: yes
. "$(dirname "$0")/../lib.sh"

# list ARGUMENT...: sets $status, $said (output) and $errors.
list() {
    said=$("$mmprof" list "$@" 2> "$SCRATCH/errors")
    status=$?
    errors=$(cat "$SCRATCH/errors")
}

list
is "exit status" $status 0
is "nothing on the standard error" "$errors" ""
matches "the first line says what PMU there is" "$(head -n 1 <<< "$said")" '^(PMU: |no hardware events: )'
if [[ $said == "no hardware events: "* ]]; then
    matches "and what to do when there is none" "$(sed -n 2p <<< "$said")" '^  next: '
    is "without a PMU no hardware event is listed" "$(grep -c '^  cycles ' <<< "$said")" 0
else
    matches "and with a PMU it lists cycles" "$said" '^  cycles '
fi
matches "time on the CPU can be measured" "$said" '^  task-clock +time on the CPU'

list --all
is "--all: exit status" $status 0
for event in cycles instructions L1-dcache-load-misses branch-misses page-faults; do
    matches "--all knows $event" "$said" "^  $event +[a-zA-Z]"
done

list --all 'TLB'
matches "a part of a name is found, whatever its case" "$said" '^  dTLB-load-misses '
is "others are not" "$(grep -c '^  cycles ' <<< "$said")" 0
list --all 'itlb*'
is "a pattern is for the whole name" "$(grep -c 'dTLB' <<< "$said")" 0
matches "with a star" "$said" '^  iTLB-load-misses '
list 'no-such-event'
is "no match: exit status" $status 0
matches "no match is said" "$said" "^no event matches 'no-such-event'"
list one two
is "two patterns: exit status" $status 1
matches "the error has a next step" "$errors" "^  next: run 'mmprof list PATTERN'"

done_testing
