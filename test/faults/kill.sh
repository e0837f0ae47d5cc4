#!/bin/bash
# mmprof is killed at random moments of a recording: the JVM goes on, its probes are switched off, the next mmprof
# attaches at once, and nothing is left.  The JVM is killed, or crashes: the trace has every call up to the last one.
# timeout: 3000
. "$(dirname "$0")/faults.bash"

seed=${FAULTS_SEED:-20261121}
n_kills=$(either 4 50)

# The moments in thousandths of a whole recording, the end included.
moments() {
    awk -v seed="$seed" -v n="$n_kills" \
        'BEGIN { srand(seed); for (i = 0; i < n; i++) print int(1080 * (i + rand()) / n) }'
}

now_ms() {
    echo $(($(date +%s%N) / 1000000))
}

# The options of recording number $1: few classes, or all; from the start, or live.
options_of() {
    case $(($1 % 3)) in
        0) echo "--include target/* --min-bytecodes 0" ;;
        1) echo "--all-methods" ;;
        2) echo "--live" ;;
    esac
}

# whole_ms NUMBER: how long a recording takes that nobody disturbs.
whole_ms() {
    local start
    start=$(now_ms)
    # shellcheck disable=SC2046  # options are words
    "$mmprof" record -q -d 0.3 -o "$SCRATCH/whole.dat" $(options_of "$1") -p "$jvm" >> "$SCRATCH/said" 2>&1
    echo $(($(now_ms) - start))
}

# kill_one NUMBER THOUSANDTHS: sets last_ms and stage; the next mmprof attaches while the JVM still cleans up.
kill_one() {
    local whole=${wholes[$(($1 % 3))]} watcher recorder
    # shellcheck disable=SC2046
    start "$SCRATCH/killed" "$mmprof" record -q -d 0.3 -o "$SCRATCH/killed.dat" $(options_of "$1") -p "$jvm"
    recorder=$pid
    sleep "$(awk "BEGIN { print $whole * $2 / 1e6 }")"
    "$build/test/tools/kill_recorder" "$recorder" "$jvm" > "$SCRATCH/watched" 2>&1 &
    watcher=$!
    wait "$recorder" 2> "$SCRATCH/ignored"
    if "$mmprof" record -q -d 0.1 -o "$SCRATCH/next.dat" --include 'target/*' --min-bytecodes 0 -p "$jvm" \
        >> "$SCRATCH/said" 2>&1; then
        n_next=$((n_next + 1))
    else
        echo "after kill $1 at $2/1000" >> "$SCRATCH/said"
    fi
    wait "$watcher" 2> "$SCRATCH/ignored"
    stage=$(sed -n 's/^STAGE \([a-z]*\) .*/\1/p' "$SCRATCH/watched")
    last_ms=$(sed -n 's/.* LAST_MS \([0-9]*\).*/\1/p' "$SCRATCH/watched")
    echo "# kill $1 at $2/1000: $(cat "$SCRATCH/watched")" # nothing: mmprof had ended
}

kill_mmprof() {
    local v=$1 n=0 n_next=0 n_recording=0 worst_ms=0 threads files moment last_ms stage wholes=()
    remember_files
    for n in 0 1 2; do
        whole_ms $n > "$SCRATCH/ignored"
        wholes+=("$(whole_ms $n)")
    done
    echo "# seed $seed, whole recordings take ${wholes[*]} ms"
    threads=$(of_status "$jvm" Threads) files=$(n_files "$jvm") n=0
    while read -r moment; do
        kill_one $n "$moment" <&3
        [ "$stage" = recording ] && n_recording=$((n_recording + 1))
        [ "${last_ms:-0}" -le $worst_ms ] || worst_ms=$last_ms
        n=$((n + 1))
    done 3< /dev/null < <(moments)
    is "$v: after each of $n_kills kills, $n_recording of them with the agent at work, the next mmprof attaches" \
        "$n_next$(cat "$SCRATCH/said")" "$n_kills"
    # A machine that has other work may take longer: in the short form, that they are switched off is what counts.
    at_most "$v: probes are switched off: ms from the kill to the last record, at most" "$worst_ms" \
        "$(either 30000 $((2000 * slow)))"
    wait_for 30 lets_go_of_memory "$jvm"
    is "$v: no memory is shared with mmprof any more" "$(shared_maps "$jvm")" 0
    at_most "$v: descriptors" "$(n_files "$jvm")" "$files"
    # Compiler threads come and go.
    at_most "$v: threads" "$(of_status "$jvm" Threads)" $((threads + 3))
    leaves_no_file "$v: no file is left in /tmp"
    goes_on "$v: the JVM goes on"
}

# calls_of METHOD TRACE: entered so often.
calls_of() {
    "$build/test/tools/method_counts" "$2" 2>&1 | awk -v m="target/Steps.$1(" 'index($2, m) == 1 { print $3 }'
}

is_recording() {
    [ "$(calls_of rest "$1")" != "" ]
}

steps_said() {
    [ -f "$SCRATCH/steps" ] && [ "$(od -An -t u8 --endian=big "$SCRATCH/steps" | tr -d ' ')" -gt "$1" ]
}

# jvm_dies SIGNAL CLAIM: the last call is at most one that was begun, or ended, and not said.
jvm_dies() {
    local said recorded lost recorder
    rm -f "$SCRATCH/steps" "$SCRATCH/go" "$SCRATCH/steps.out" "$SCRATCH/dies.dat"
    start "$SCRATCH/steps.out" "$jdk/bin/java" -Xmx64m -XX:+EnableDynamicAgentLoading -XX:-CreateCoredumpOnCrash \
        "-XX:ErrorFile=$SCRATCH/hs_err" -cp "$classes" target.Steps "$SCRATCH/steps" "$SCRATCH/go"
    jvm=$pid
    wait_for 20 grep -q READY "$SCRATCH/steps.out" ||
        not_ok "$2: the program starts" "$(cat "$SCRATCH/steps.out")" || return
    start "$SCRATCH/recorder" "$mmprof" record -q -o "$SCRATCH/dies.dat" --include 'target/*' -p "$jvm"
    recorder=$pid
    wait_for 30 is_recording "$SCRATCH/dies.dat"
    touch "$SCRATCH/go"
    wait_for 30 steps_said 20000
    kill "-$1" "$jvm"
    wait_gone 60 "$jvm"
    wait_gone 30 "$recorder" || kill -KILL "$recorder"
    wait "$recorder"
    is "$2: mmprof ends by itself" "$?$(cat "$SCRATCH/recorder")" 0
    said=$(od -An -t u8 --endian=big "$SCRATCH/steps" | tr -d ' ')
    recorded=$(calls_of step "$SCRATCH/dies.dat")
    lost=$(trace_field "$SCRATCH/dies.dat" LOST)
    if [ "$((recorded + lost))" -ge "$said" ] && [ "$recorded" -le $((said + 1)) ]; then
        ok "$2: the trace has all $said calls (lost and counted: $lost)"
    else
        not_ok "$2: the trace has all calls" "said: $said, recorded: $recorded, lost: $lost"
    fi
}

while read -r jdk; do
    v="JDK $(jdk_version "$jdk")"
    start_busy "$jdk"
    jvm=$pid
    rm -f "$SCRATCH/said"
    touch "$SCRATCH/said"
    kill_mmprof "$v"
    stop_busy "$jvm" "$v: its results and output are those without mmprof"
    jvm_dies KILL "$v: the JVM is killed"
    jvm_dies SEGV "$v: the JVM crashes"
done < <(fault_jdks)

done_testing
