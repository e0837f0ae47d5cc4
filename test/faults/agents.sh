#!/bin/bash
# Other agents at the same time, loaded before mmprof and after it: a debugger, JFR, and an agent of
# java.lang.instrument that retransforms the same classes.  Each does its work, and so does mmprof.
# timeout: 600
. "$(dirname "$0")/faults.bash"

# with_busy OPTION...: target.Busy with these options; its PID in $jvm.
with_busy() {
    start_busy "$jdk" "$@"
    jvm=$pid
}

# recorded CLAIM: a recording of the program's own methods works.
recorded() {
    local said
    said=$("$mmprof" record -q -d 0.5 --include 'target/*' --min-bytecodes 0 -o "$SCRATCH/a.dat" -p "$jvm" 2>&1)
    if [ $? = 0 ] && [ -z "$said" ] && [ "$(trace_field "$SCRATCH/a.dat" RECORDS)" -gt 100 ]; then
        ok "$1: it is recorded"
    else
        not_ok "$1: it is recorded" "$said" "$(trace_counts "$SCRATCH/a.dat")"
    fi
}

# ended CLAIM: as stop_busy; agents print lines of their own, which do not count here.
ended() {
    touch "$busy_stop"
    wait_gone 30 "$jvm" || kill -KILL "$jvm"
    wait "$jvm"
    is "$1" "$? $(grep -c '^END [0-9]* rounds ok$' "$busy_out") $(grep -c WRONG "$busy_out")" "0 1 0"
}

hits() {
    grep -c 'Breakpoint hit' "$SCRATCH/jdb"
}

more_hits_than() {
    [ "$(hits)" -gt "$1" ]
}

# hits_again CLAIM
hits_again() {
    if wait_for 30 more_hits_than "$(hits)"; then
        ok "$1"
    else
        not_ok "$1" "$(tail -n 5 "$SCRATCH/jdb")"
    fi
}

cleared() {
    [ "$(grep -c 'Removed: breakpoint' "$SCRATCH/jdb")" = "$1" ]
}

# The JVM removes breakpoints of a class that is changed, and tells no debugger.
debugger() {
    local port said recorder
    with_busy -agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0
    recorded "$v: a debugger's agent is there"
    port=$(sed -n 's/^Listening for transport dt_socket at address: \([0-9]*\).*/\1/p' "$busy_out")
    rm -f "$SCRATCH/commands"
    mkfifo "$SCRATCH/commands"
    "$jdk/bin/jdb" -attach "127.0.0.1:$port" < "$SCRATCH/commands" > "$SCRATCH/jdb" 2>&1 &
    local jdb=$!
    test_pids+=("$jdb")
    exec 7> "$SCRATCH/commands"
    echo 'stop go in target.Busy.round' >&7
    hits_again "$v: a debugger's breakpoint is hit"
    said=$("$mmprof" record -d 0.5 --include 'target/*' --min-bytecodes 0 -o "$SCRATCH/a.dat" -p "$jvm" 2>&1)
    matches "$v: a class with breakpoints is left alone, and the recording says so" "$said" \
        '^mmprof: 1 class not instrumented: a debugger has breakpoints there'
    hits_again "$v: the breakpoint is hit after the recording"
    matches "$v: the report says so" "$("$mmprof" report "$SCRATCH/a.dat" 2>&1)" \
        'note: 1 class was not instrumented: a debugger had breakpoints there'
    echo 'clear target.Busy.round' >&7
    wait_for 30 cleared 1
    start "$SCRATCH/recorder" "$mmprof" record -o "$SCRATCH/long.dat" --include 'target/*' --min-bytecodes 0 -p "$jvm"
    recorder=$pid
    wait_for 30 eval '[ "$(stat -c %s "$SCRATCH/long.dat" 2> "$SCRATCH/ignored" || echo 0)" -gt 20000 ]'
    echo 'stop go in target.Busy.round' >&7
    hits_again "$v: a breakpoint set in a recording is hit"
    kill -INT "$recorder"
    wait_gone 30 "$recorder"
    matches "$v: at its end the class keeps disabled probes, and the recording says so" "$(cat "$SCRATCH/recorder")" \
        '^mmprof: 1 class kept disabled probes: a debugger has breakpoints there'
    hits_again "$v: the breakpoint is hit after that recording"
    echo 'clear target.Busy.round' >&7
    wait_for 30 cleared 2
    said=$("$mmprof" record -d 0.5 --include 'java/util/TreeMap' -o "$SCRATCH/b.dat" -p "$jvm" 2>&1)
    is "$v: the next recording removes the probes" "$(grep -c 'kept disabled probes' <<< "$said")" 0
    recorded "$v: the breakpoints are gone"
    echo exit >&7
    exec 7>&-
    wait_gone 30 "$jdb" || kill -KILL "$jdb"
    ended "$v: a debugger: the program's results are right"
}

flight_recorder() {
    with_busy "-XX:StartFlightRecording=filename=$SCRATCH/first.jfr,settings=profile"
    recorded "$v: JFR is recording"
    ended "$v: JFR: the program's results are right"
    "$jdk/bin/jfr" summary "$SCRATCH/first.jfr" > "$SCRATCH/summary" 2>&1
    matches "$v: JFR has its samples" "$(cat "$SCRATCH/summary")" 'jdk.ExecutionSample +[1-9]'
    with_busy
    recorded "$v: JFR comes later"
    "$jdk/bin/jcmd" "$jvm" JFR.start filename="$SCRATCH/second.jfr" settings=profile > "$SCRATCH/jcmd" 2>&1
    recorded "$v: JFR has come"
    goes_on "$v: JFR has come: the program goes on"
    "$jdk/bin/jcmd" "$jvm" JFR.stop name=1 >> "$SCRATCH/jcmd" 2>&1
    "$jdk/bin/jfr" summary "$SCRATCH/second.jfr" > "$SCRATCH/summary" 2>&1
    matches "$v: JFR that came later has its samples" "$(cat "$SCRATCH/summary" "$SCRATCH/jcmd")" \
        'jdk.ExecutionSample +[1-9]'
    ended "$v: JFR that came later: the program's results are right"
}

words() {
    sed -n 's/^WORD //p' "$busy_out" | xargs
}

patched() {
    [ "$(words)" = "plain agent" ] || [ "$(words)" = agent ]
}

# start_patched OPTION...
start_patched() {
    n_busy=$((${n_busy-0} + 1))
    busy_out=$SCRATCH/patched-$n_busy.out
    busy_stop=$SCRATCH/patched-$n_busy.stop
    start "$busy_out" "$jdk/bin/java" -Xmx64m -XX:+EnableDynamicAgentLoading "$@" -cp "$SCRATCH/agent.jar" \
        target.Patched "$busy_stop"
    jvm=$pid
    wait_for 20 grep -q ROUND "$busy_out"
}

# patched_recorded CLAIM: of the class that both agents change there are records.
patched_recorded() {
    recorded "$1"
    matches "$1: with the class that both change" "$("$build/test/tools/method_counts" "$SCRATCH/a.dat")" \
        'METHOD target/Patched\$Subject.word\(I\)Ljava/lang/String; [1-9]'
    wait_for 20 patched && ok "$1: the other agent's change is there" ||
        not_ok "$1: the other agent's change is there" "$(words)"
}

patched_ended() {
    touch "$busy_stop"
    wait_gone 30 "$jvm" || kill -KILL "$jvm"
    wait "$jvm"
    is "$1" "$? $(grep -E '^(END|WRONG)' "$busy_out")" "0 END agent"
}

instrument_agent() {
    printf 'Premain-Class: target.Patched\nAgent-Class: target.Patched\nCan-Retransform-Classes: true\n' \
        > "$SCRATCH/manifest"
    "$jdk/bin/jar" -c -f "$SCRATCH/agent.jar" -m "$SCRATCH/manifest" -C "$classes" target
    start_patched "-javaagent:$SCRATCH/agent.jar"
    patched_recorded "$v: an agent that retransforms is there before"
    patched_recorded "$v: the same again"
    patched_ended "$v: an agent that came before: what it changed stays"
    start_patched
    start "$SCRATCH/recorder" "$mmprof" record -q -o "$SCRATCH/long.dat" --include 'target/*' --min-bytecodes 0 \
        -p "$jvm"
    local recorder=$pid
    wait_for 30 eval '[ "$(stat -c %s "$SCRATCH/long.dat" 2> "$SCRATCH/ignored" || echo 0)" -gt 20000 ]'
    "$jdk/bin/jcmd" "$jvm" JVMTI.agent_load "$SCRATCH/agent.jar" > "$SCRATCH/jcmd" 2>&1
    wait_for 20 patched && ok "$v: an agent that comes while mmprof records changes its class" ||
        not_ok "$v: an agent that comes while mmprof records changes its class" "$(words)" "$(cat "$SCRATCH/jcmd")"
    kill -INT "$recorder"
    wait_gone 30 "$recorder"
    wait "$recorder"
    is "$v: an agent came while mmprof recorded: mmprof ends" "$?$(cat "$SCRATCH/recorder")" 0
    patched_recorded "$v: an agent that came after"
    patched_ended "$v: an agent that came after: what it changed stays"
}

# An agent makes of a class what is none: the JVM refuses to change it.
broken_class() {
    local said
    start_patched "-javaagent:$SCRATCH/agent.jar=break"
    said=$("$mmprof" record -d 0.5 --include 'target/*' --min-bytecodes 0 -o "$SCRATCH/a.dat" -p "$jvm" 2>&1)
    matches "$v: the recording says that the JVM refused to change a class, and why" "$said" \
        '^mmprof: 1 class not changed: the JVM refused; the first: target\.Patched\$Subject: INVALID_CLASS_FORMAT$'
    touch "$busy_stop"
    wait_gone 30 "$jvm" || kill -KILL "$jvm"
    wait "$jvm"
    is "$v: the program goes on without the change" "$? $(grep -E '^(END|WRONG)' "$busy_out")" "0 END plain"
}

while read -r jdk; do
    v="JDK $(jdk_version "$jdk")"
    debugger
    [ -z "${FAULTS_LONG-}" ] || flight_recorder
    instrument_agent
    broken_class
done < <(fault_jdks)

done_testing
