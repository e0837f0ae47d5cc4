#!/bin/bash
# Nothing that mmprof does makes a program print: its standard output and error are the same to the byte, attached to or
# started, whatever is recorded, with JFR off, on, and used before.  (A JVM from JDK 21 on prints of itself that an
# agent was loaded late, unless -XX:+EnableDynamicAgentLoading is given, as it is here.)
# timeout: 1200
# beside: yes
. "$(dirname "$0")/faults.bash"

# used: the JVM's user starts JFR and ends it.
used() {
    printf 'JFR.start name=used\nJFR.stop name=used\n' > "$SCRATCH/commands"
    "$jdk/bin/jcmd" "$jvm" -f "$SCRATCH/commands" > "$SCRATCH/jcmd" 2>&1
}

# quiet JFR: target.Quiet, JFR being off, on or used; its PID in $jvm.
quiet() {
    n_quiet=$((${n_quiet-0} + 1))
    quiet_out=$SCRATCH/quiet-$n_quiet
    start "$SCRATCH/started" "$SHELL" -c 'out=$1; shift; exec "$@" > "$out.out" 2> "$out.err"' - "$quiet_out" \
        "$jdk/bin/java" -Xmx64m -XX:+EnableDynamicAgentLoading -cp "$classes" target.Quiet "$quiet_out.stop" "$1"
    jvm=$pid
    wait_for 20 grep -sq START "$quiet_out.err"
    [ "$1" != used ] || used
}

# ended CLAIM: it ends well, and has said what it says alone.
ended() {
    touch "$quiet_out.stop"
    wait_gone 30 "$jvm" || kill -KILL "$jvm"
    wait "$jvm"
    is "$1: the program's status and output are its own" \
        "$? $(cat "$quiet_out.out") $(cat "$quiet_out.err")" "0 START"$'\n'"END START"$'\n'"END"
}

# attached OPTION...
attached() {
    holds "$v: it is recorded ($*)" "$mmprof" record -q -o "$SCRATCH/q.dat" "$@" -p "$jvm"
}

# launched JFR OPTION...
launched() {
    local jfr=$1
    shift
    "$mmprof" record -q -o "$SCRATCH/q.dat" "$@" -- "$jdk/bin/java" -Xmx64m -cp "$classes" target.Quiet \
        "$SCRATCH/none" "$jfr" 2 > "$SCRATCH/out" 2> "$SCRATCH/err"
    is "$v, started ($*): the program's status and output are its own" \
        "$? $(cat "$SCRATCH/out") $(cat "$SCRATCH/err")" "0 START"$'\n'"END START"$'\n'"END"
}

events=(--include 'jdk/jfr/events/*' --include 'jdk/internal/event/*' --include 'target/*' --min-bytecodes 0)
while read -r jdk; do
    for jfr in $(either used "off on used"); do
        v="JDK $(jdk_version "$jdk"), JFR $jfr"
        quiet "$jfr"
        attached -d 0.3 "${events[@]}"
        if [ -n "${FAULTS_LONG-}" ]; then
            attached -d 1 --all-methods
            "$mmprof" phases -q --weight 0.1% --grain 0.0001% -o "$SCRATCH/q.json" "$SCRATCH/q.dat"
            attached -d 1 --phases "$SCRATCH/q.json"
            attached -d 3 --live
        fi
        ended "$v, attached"
        [ -n "${FAULTS_LONG-}" ] && [ "$jfr" != used ] || continue
        launched "$jfr" "${events[@]}"
        launched "$jfr" --all-methods
        launched "$jfr" --live
    done
done < <(fault_jdks)

done_testing
