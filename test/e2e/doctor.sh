#!/bin/bash
# mmprof doctor: on this machine, and on JVMs that can and cannot be recorded; it leaves them alone.
# beside: yes
. "$(dirname "$0")/../lib.sh"

# doctor ARGUMENT...: sets $status, $said (output) and $errors.
doctor() {
    said=$("$mmprof" doctor "$@" 2> "$SCRATCH/errors")
    status=$?
    errors=$(cat "$SCRATCH/errors")
}

# One line for each check, a next step only after a limit or a failure, and a last line that sums up.
well_formed() {
    awk '
        /^  next: / { if (last != "limit" && last != "FAIL") exit 1; last = ""; next }
        summed || last == "limit" || last == "FAIL" { exit 1 }
        /^(ok   |limit|FAIL ) [a-z]+ +[^ ]/ { last = $1; n++; next }
        /^mmprof can(not)? record / { summed = 1; next }
        { exit 1 }
        END { if (!summed || n < 5) exit 1 }' <<< "$1"
}

check_form() {
    if well_formed "$said"; then ok "$1"; else not_ok "$1" "$said"; fi
}

# A line for each kind: the checks that a machine has, those that a JVM adds.
check_lines() {
    local claim=$1 name missing=
    shift
    for name; do
        grep -qE "^(ok|limit|FAIL) +$name " <<< "$said" || missing="$missing $name"
    done
    is "$claim" "$missing" ""
}

doctor
is "here: exit status" $status 0
is "here: nothing on the standard error" "$errors" ""
check_form "here: each limit has a next step, the last line sums up"
check_lines "here: the machine's checks are there" agent perf stacks counters switches files clock memory container
matches "where perf events cannot be opened, stacks are sampled by polling" "$(ulimit -n 5 && "$mmprof" doctor 2>&1)" \
    '^limit stacks +.*(only by polling|at safepoints)$'
matches "here: the last line" "$(tail -n 1 <<< "$said")" \
    '^mmprof can record here; times are (CPU|wall-clock) times; (no|[0-9]+|probes cannot read the) hardware counters$'
is "here: no check of a JVM" "$(grep -cE '^[a-zA-Z]+ +(jvm|java|attach|flags) ' <<< "$said")" 0
if grep -q '^no hardware' <<< "$("$mmprof" list)"; then
    matches "here: no counters is a limit" "$said" '^limit counters +no hardware counters: '
else
    matches "here: the counters are named" "$said" '^(ok|limit) +counters .* events fit at once'
fi

doctor surplus
is "an argument: exit status" $status 1
matches "an argument: the error has a next step" "$errors" '^  next: '

doctor -p 4194200
is "no such process: exit status" $status 1
matches "no such process: said" "$said" '^FAIL  jvm +there is no process 4194200$'
check_form "no such process: well formed"
doctor -p 99999999999
is "a PID that no process can have: exit status" $status 1
start "$SCRATCH/sleep" sleep 300
doctor -p "$pid"
is "not a JVM: exit status" $status 1
matches "not a JVM: said" "$said" "^FAIL  jvm .*is not a HotSpot JVM$"
matches "not a JVM: the last line says so" "$(tail -n 1 <<< "$said")" "^mmprof cannot record process $pid: see 'jvm'$"

mkdir "$SCRATCH/bin"
cp "$mmprof" "$SCRATCH/bin/"
said=$("$SCRATCH/bin/mmprof" doctor)
is "no agent: exit status" $? 1
matches "no agent: said" "$said" "^FAIL  agent +'libmmprof-agent.so' is not installed: it is not in "

while read -r jdk; do
    v=$(jdk_version "$jdk")
    start_busy "$jdk"
    jvm=$pid
    wait_for 20 attachable "$jvm"
    doctor -p "$jvm"
    is "JDK $v: exit status" $status 0
    check_form "JDK $v: well formed"
    check_lines "JDK $v: the JVM's checks are there" jvm java attach library flags code
    matches "JDK $v: its stacks can be walked" "$said" '^ok    stacks +can be sampled from outside the JVM, whose'
    matches "JDK $v: the version" "$said" "^ok    java +HotSpot $v"
    matches "JDK $v: can be attached to" "$said" '^ok    attach +the JVM handles SIGQUIT'
    matches "JDK $v: no flag matters" "$said" '^ok    flags +none'
    code=$([ "$v" -lt 23 ] && echo 'limit code +when the first class is instrumented' || echo 'ok    code ')
    matches "JDK $v: what the first change of a class costs" "$said" "^$code"
    [ ! -e "/tmp/.java_pid$jvm" ] && [ ! -e "/tmp/.attach_pid$jvm" ] && ok "JDK $v: no attach was begun" ||
        not_ok "JDK $v: no attach was begun"
    "$mmprof" record -q -o "$SCRATCH/t.dat" --include 'target/*' -p "$jvm" -d 0.5 > "$SCRATCH/record" 2>&1
    is "JDK $v: and it can be recorded" "$?$(cat "$SCRATCH/record")" 0
    doctor -p "$jvm"
    matches "JDK $v: afterwards the socket is there" "$said" '^ok    attach +the JVM has an open attach socket'
    matches "JDK $v: and another change of a class discards no code" "$said" '^ok    code '
    stop_busy "$jvm" "JDK $v: the JVM is unharmed"

    # Such a JVM handles no SIGQUIT, but listens from its start; so it is lost only when its socket is removed.
    start_busy "$jdk" -Xrs
    jvm=$pid
    doctor -p "$jvm"
    is "JDK $v, -Xrs: exit status" $status 0
    matches "JDK $v, -Xrs: said" "$said" '^ok    attach +the JVM has an open attach socket'
    "$mmprof" record -q -o "$SCRATCH/t.dat" --include 'target/*' -p "$jvm" -d 0.5 > "$SCRATCH/record" 2>&1
    is "JDK $v, -Xrs: and it can be recorded" "$?$(cat "$SCRATCH/record")" 0
    mv "/tmp/.java_pid$jvm" "$SCRATCH/socket-$jvm"
    doctor -p "$jvm"
    is "JDK $v, -Xrs without its socket: exit status" $status 1
    matches "JDK $v, -Xrs without its socket: said" "$said" '^FAIL  attach +the JVM does not handle SIGQUIT \(-Xrs\)'
    check_form "JDK $v, -Xrs without its socket: well formed"
    mv "$SCRATCH/socket-$jvm" "/tmp/.java_pid$jvm"
    stop_busy "$jvm" "JDK $v, -Xrs: the JVM is unharmed"

    start_busy "$jdk" -XX:+DisableAttachMechanism
    doctor -p "$pid"
    is "JDK $v, attaching disabled: exit status" $status 1
    matches "JDK $v, attaching disabled: said" "$said" '^FAIL  jvm .*DisableAttachMechanism'
    stop_busy "$pid" "JDK $v, attaching disabled: the JVM is unharmed"

    start_busy "$jdk" -Xint -XX:-EnableDynamicAgentLoading
    doctor -p "$pid"
    matches "JDK $v, -Xint: said" "$said" '^limit flags +-Xint'
    matches "JDK $v, no late agents: said" "$said" '^FAIL  attach .*EnableDynamicAgentLoading'
    is "JDK $v, no late agents: exit status" $status 1
    stop "$pid"
done < <(jdks)

bad=$'ok    a  b\nok    b  c\nlimit c  d\nok    d  e\nok    e  f\nmmprof can record here'
is "a limit without a next step is found" "$(well_formed "$bad" && echo formed)" ""
is "and with one it is well formed" "$(well_formed "${bad/limit c  d/limit c  d$'\n'  next: e}" && echo formed)" formed

done_testing
