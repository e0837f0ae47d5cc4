#!/bin/bash
# The test runner: what it counts as passed, failed and skipped.
. "$(dirname "$0")/../lib.sh"
unset TEST_AGAIN RUN_SECONDS TEST_BESIDE MMPROF_SLOW

# judged BODY: the last line and the status of test/run on a script with that body.
judged() {
    printf '#!/bin/bash\n%s\n' "$1" > "$SCRATCH/case.sh"
    chmod +x "$SCRATCH/case.sh"
    TEST_TIMEOUT=5 "$root/test/run" "$SCRATCH/case.sh" > "$SCRATCH/said" 2>&1
    local status=$?
    echo "$(tail -n 1 "$SCRATCH/said"), status $status"
}

is "claims that hold are passed" "$(judged 'echo "ok 1 - a"; echo "ok 2 - b"; echo 1..2')" \
    "2 passed, 0 failed, 0 skipped, status 0"
is "the plan may come first" "$(judged 'echo 1..1; echo "ok 1 - a"')" "1 passed, 0 failed, 0 skipped, status 0"
is "a claim that does not hold is failed" "$(judged 'echo "not ok 1 - a"; echo "ok 2 - b"; echo 1..2; exit 1')" \
    "1 passed, 1 failed, 0 skipped, status 1"
is "SKIP is neither" "$(judged 'echo "ok 1 - a # SKIP no PMU"; echo 1..1')" "0 passed, 0 failed, 1 skipped, status 0"
matches "SKIP is shown with its reason" "$(cat "$SCRATCH/said")" '^  ok 1 - a # SKIP no PMU$'
is "a program may be skipped as a whole" "$(judged 'echo "1..0 # SKIP no JDK"')" \
    "0 passed, 0 failed, 1 skipped, status 0"
is "no output is a failure" "$(judged ':')" "0 passed, 1 failed, 0 skipped, status 1"
is "a plan of nothing is a failure" "$(judged 'echo 1..0')" "0 passed, 1 failed, 0 skipped, status 1"
is "no plan is a failure" "$(judged 'echo "ok 1 - a"')" "1 passed, 1 failed, 0 skipped, status 1"
is "too few results are a failure" "$(judged 'echo "ok 1 - a"; echo 1..2')" "1 passed, 1 failed, 0 skipped, status 1"
is "too many results are a failure" "$(judged 'echo 1..1; echo "ok 1 - a"; echo "ok 2 - b"')" \
    "2 passed, 1 failed, 0 skipped, status 1"
is "two plans are a failure" "$(judged 'echo 1..1; echo "ok 1 - a"; echo 1..1')" \
    "1 passed, 1 failed, 0 skipped, status 1"
is "wrong numbers are a failure" "$(judged 'echo "ok 1 - a"; echo "ok 3 - b"; echo 1..2')" \
    "2 passed, 1 failed, 0 skipped, status 1"
is "a bad status is a failure" "$(judged 'echo "ok 1 - a"; echo 1..1; exit 3')" \
    "1 passed, 1 failed, 0 skipped, status 1"
is "a crash is a failure" "$(judged 'echo "ok 1 - a"; echo 1..1; kill -SEGV $$')" \
    "1 passed, 1 failed, 0 skipped, status 1"
is "a hang is a failure, after the script's own timeout" \
    "$(judged $'# timeout: 1\necho "ok 1 - a"; echo 1..1; exec sleep 60')" "1 passed, 1 failed, 0 skipped, status 1"
printf '#!/bin/sh\nsleep 2\necho "ok 1 - a"\necho 1..1\n' > "$SCRATCH/slow.sh"
chmod +x "$SCRATCH/slow.sh"
is "after RUN_SECONDS no program is begun any more" \
    "$(RUN_SECONDS=2 "$root/test/run" "$SCRATCH/slow.sh" "$SCRATCH/slow.sh" 2>&1 | tail -n 1)" \
    "1 passed, 0 failed, 1 skipped"
printf '#!/bin/sh\n# takes: 61\necho "ok 1 - a"\necho 1..1\n' > "$SCRATCH/long.sh"
chmod +x "$SCRATCH/long.sh"
is "nor one that takes longer than what is left of them" \
    "$(RUN_SECONDS=60 "$root/test/run" "$SCRATCH/long.sh" "$SCRATCH/slow.sh" 2>&1 | tail -n 1)" \
    "1 passed, 0 failed, 1 skipped"
is "which is begun where they are not set" "$("$root/test/run" "$SCRATCH/long.sh" 2>&1 | tail -n 1)" \
    "1 passed, 0 failed, 0 skipped"
is "a program that is not there is a failure" \
    "$("$root/test/run" "$SCRATCH/missing.sh" 2>&1 | tail -n 1)" "0 passed, 1 failed, 0 skipped"
judged 'echo "not ok 1 - a"; echo "# is 1, expected 2"; echo "it broke" >&2; echo 1..1; exit 1' > "$SCRATCH/line"
matches "a failure's diagnostics are shown" "$(cat "$SCRATCH/said")" '^  # is 1, expected 2$'
matches "and its standard error" "$(cat "$SCRATCH/said")" 'it broke'
is "each program has an empty directory of its own and no input" \
    "$(judged '[ -z "$(ls -A "$SCRATCH")" ] && ! read -r line && echo "ok 1 - a"; echo 1..1')" \
    "1 passed, 0 failed, 0 skipped, status 0"

# first_fails FILE: the body of one that fails the first time only.
first_fails() {
    echo "[ -e '$1' ] && { echo 'ok 1 - a'; echo 1..1; exit; }; touch '$1'; echo 'not ok 1 - a'; echo 1..1; exit 1"
}
is "what fails once has failed" "$(judged "$(first_fails "$SCRATCH/once")")" "0 passed, 1 failed, 0 skipped, status 1"
is "or passes the second time, where that may be" \
    "$(TEST_AGAIN=1 judged "$(first_fails "$SCRATCH/again")")" \
    "1 passed, 0 failed, 0 skipped, status 0"
matches "its failure is shown" "$(cat "$SCRATCH/said")" '^  not ok 1 - a$'
matches "and it is named at the end" "$(cat "$SCRATCH/said")" '^failed at first, then passed:.*case\.sh$'
is "what fails twice has failed" "$(TEST_AGAIN=1 judged 'echo "not ok 1 - a"; echo 1..1; exit 1')" \
    "0 passed, 1 failed, 0 skipped, status 1"

# beside FILE BODY: writes one that may run beside others.
beside() {
    printf '#!/bin/bash\n# beside: yes\n%s\n' "$2" > "$1"
    chmod +x "$1"
}

# judged_beside BODY OTHER: two, of which the first may run beside others.
judged_beside() {
    beside "$SCRATCH/beside.sh" "$1"
    printf '#!/bin/bash\n%s\n' "$2" > "$SCRATCH/other.sh"
    chmod +x "$SCRATCH/other.sh"
    TEST_BESIDE=1 "$root/test/run" "$SCRATCH/beside.sh" "$SCRATCH/other.sh" > "$SCRATCH/said" 2>&1
    local status=$?
    echo "$(tail -n 1 "$SCRATCH/said"), status $status"
}
# Each of two that goes on when both have begun.
met_a="touch '$SCRATCH/A'; until [ -e '$SCRATCH/B' ]; do sleep 0.05; done; echo 'ok 1 - a'; echo 1..1"
met_b="touch '$SCRATCH/B'; until [ -e '$SCRATCH/A' ]; do sleep 0.05; done; echo 'ok 1 - b'; echo 1..1"
is "two run at the same time, if one says that it may" \
    "$(judged_beside "$met_a" "$met_b")" "2 passed, 0 failed, 0 skipped, status 0"
matches "both are shown" "$(tr '\n' ' ' < "$SCRATCH/said")" 'other\.sh .*beside\.sh '
is "it has the lowest priority" \
    "$(judged_beside '[ "$(nice)" = 19 ] && echo "ok 1 - a"; echo 1..1' \
        'sleep 1; [ "$(nice)" != 19 ] && echo "ok 1 - b"; echo 1..1')" \
    "2 passed, 0 failed, 0 skipped, status 0"
is "what fails there has failed" \
    "$(judged_beside 'echo "not ok 1 - a"; echo 1..1; exit 1' 'echo "ok 1 - b"; echo 1..1')" \
    "1 passed, 1 failed, 0 skipped, status 1"
is "or passes the second time" \
    "$(TEST_AGAIN=1 judged_beside "$(first_fails "$SCRATCH/beside")" 'echo "ok 1 - b"; echo 1..1')" \
    "2 passed, 0 failed, 0 skipped, status 0"
matches "and is named as well" "$(cat "$SCRATCH/said")" '^failed at first, then passed:.*beside\.sh$'

rm -f "$SCRATCH"/[AB]
beside "$SCRATCH/first.sh" "$met_a"
beside "$SCRATCH/second.sh" "$met_b"
is "two that may run beside others run at the same time when nothing else is left" \
    "$(TEST_BESIDE=1 "$root/test/run" "$SCRATCH/first.sh" "$SCRATCH/second.sh" | tail -n 1)" \
    "2 passed, 0 failed, 0 skipped"
beside "$SCRATCH/long.sh" "echo \$\$ > '$SCRATCH/pid'; exec sleep 60"
printf '#!/bin/sh\nsleep 1\necho "ok 1 - a"\necho 1..1\n' > "$SCRATCH/other.sh"
start "$SCRATCH/said" env TEST_BESIDE=1 "$root/test/run" "$SCRATCH/long.sh" "$SCRATCH/other.sh"
wait_for 10 test -s "$SCRATCH/pid"
kill -TERM "$pid"
holds "what runs beside the others ends with the runner" wait_gone 10 "$(cat "$SCRATCH/pid")"

done_testing
