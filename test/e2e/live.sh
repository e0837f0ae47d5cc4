#!/bin/bash
# mmprof record --live: one run, the phases are found meanwhile, and what is called too often is switched off.
# timeout: 300
# long: yes
. "$(dirname "$0")/../lib.sh"

# metadata FILE: the trace's metadata about the live recording, 'key value'.
metadata() {
    "$mmprof" dump --tables "$1" | sed -n 's/^info *\(live\.[a-z_.0-9]*\) = \(.*\)  # .*/\1 \2/p'
}

# value FILE KEY
value() {
    metadata "$1" | awk -v key="$2" '$1 == key { $1 = ""; sub(/^ /, ""); print }' | tail -n 1
}

# below VALUE LIMIT
below() {
    awk -v v="$1" -v limit="$2" 'BEGIN { exit !(v != "" && v < limit) }'
}

# has_calls TRACE: the trace, which is still being written, has a call of Busy.round that has ended.  Reading it takes
# CPU time from the program: twice a second.
has_calls() {
    sleep 0.5
    "$mmprof" dump "$1" 2> /dev/null | grep -q ' exit  target/Busy\.round('
}

# has_samples TRACE: it has 300 stack samples.
has_samples() {
    local n
    sleep 0.5
    n=$("$mmprof" dump "$1" 2> /dev/null | sed -n 's/^.* events, \([0-9]*\) samples, .*/\1/p')
    [ "${n:-0}" -ge 400 ]
}

# live_until CONDITION TRACE OPTION...: records $jvm until 'CONDITION TRACE' holds; status is mmprof's.
live_until() {
    rm -f "$2"
    "$mmprof" record --live --budget 90% "${@:3}" -p "$jvm" -o "$2" > "$SCRATCH/out" 2> "$SCRATCH/errors" &
    test_pids+=($!)
    wait_for 60 "$1" "$2"
    kill -INT "${test_pids[-1]}"
    wait "${test_pids[-1]}"
    status=$?
}

for jdk in $(jdks); do
    version=$(jdk_version "$jdk")
    start_busy "$jdk" -Dbusy.rest=false
    jvm=$pid
    trace=$SCRATCH/live-$version.dat
    cheap=() # from JDK 23 on only what depends on a class is compiled again, which is within any limit
    [ "$version" -lt 23 ] || cheap=(--recompile 1ms)
    live_until has_calls "$trace" ${cheap[@]+"${cheap[@]}"}
    is "JDK $version: a running program is recorded live" "$status$(cat "$SCRATCH/out")" 0
    matches "JDK $version: it says what it did" "$(cat "$SCRATCH/errors")" '[1-9][0-9]* stack samples; '
    matches "JDK $version: and what that cost" "$(cat "$SCRATCH/errors")" \
        "cost in percent of the program's CPU time: probes"
    matches "JDK $version: classes are changed${cheap[*]:+, with ${cheap[*]}, too}" "$(cat "$SCRATCH/errors")" \
        '[1-9][0-9]* methods instrumented in [1-9]'
    together=$(sed -n 's/^mmprof: cost .*; total \([0-9.]*\) %$/\1/p' "$SCRATCH/errors")
    "$mmprof" phases --csv -q -o "$SCRATCH/phases.json" "$trace" > "$SCRATCH/phases" 2> "$SCRATCH/errors"
    is "JDK $version: the trace is one for 'mmprof phases'" "$?$(cat "$SCRATCH/errors")" 0
    matches "JDK $version: the method that does all the work is there" "$(cat "$SCRATCH/phases.json")" \
        '"method":[[:space:]]*"round"'
    "$mmprof" report --wide "$trace" > "$SCRATCH/report" 2> "$SCRATCH/errors"
    is "JDK $version: and for 'mmprof report'" "$?$(cat "$SCRATCH/errors")" 0
    "$mmprof" report --all --csv "$trace" | tr -d '\r' > "$SCRATCH/rows"
    is "JDK $version: a row says why its probes were switched off" \
        "$(grep -cE '^phase,.*,switched off: it' "$SCRATCH/rows")" \
        "$("$mmprof" dump --tables "$trace" | grep -cE '^info *live\.method\.[0-9]+ = [^a].* it')"
    matches "JDK $version: what only samples know is a row of the same table, with why it has no probes" \
        "$(cat "$SCRATCH/rows")" '^sampled,[^,]+,[0-9.e-]+,.*,[1-9][0-9]* samples?,'
    "$mmprof" report --view callers=Busy.round "$trace" > "$SCRATCH/callers" 2>&1
    matches "JDK $version: a method's callers are known" "$(cat "$SCRATCH/callers")" '  Busy\.[a-z]+( \+)?$'
    "$mmprof" report --view callers=Busy.ruond "$trace" > "$SCRATCH/callers" 2>&1
    matches "JDK $version: a method that is not there is an error with the nearest one" \
        "$?$(cat "$SCRATCH/callers")" "next: did you mean 'Busy.round'"
    "$mmprof" report --thread 'mian*' "$trace" > "$SCRATCH/callers" 2>&1
    matches "JDK $version: so is a thread that is not there, with those that are" \
        "$?$(cat "$SCRATCH/callers")" "the application's threads are .*'main'"
    "$mmprof" report --view cost --csv "$trace" | tr -d '\r' > "$SCRATCH/cost"
    matches "JDK $version: what the recording cost: pauses" "$(cat "$SCRATCH/cost")" \
        '^pause_longest,Longest pause,[1-9][0-9.e+]*,,ns,"measured, upper bound"$'
    matches "JDK $version: also of the last ones, which take the probes out" "$(cat "$SCRATCH/cost")" \
        '^removal_longest,"Pause to remove probes, longest",[1-9][0-9.e+]*,,ns,"measured, upper bound; after '
    matches "JDK $version: CPU time" "$(cat "$SCRATCH/cost")" \
        '^cpu,Total CPU time,[1-9][0-9.e+]*,0\.[0-9e-]+,ns,of the program.s CPU time; budget 90 %$'
    matches "JDK $version: the same behind the report" "$(cat "$SCRATCH/report")" '^Total CPU time  .* m?s '
    is "JDK $version: the last lines on the terminal have the same total" "$together" \
        "$(awk -F, '$1 == "cpu" && $4 != "" { printf "%.2f", $4 * 100 }' "$SCRATCH/cost")"
    own=$(awk -F, '$1 == "recorder_cpu" { print $3 / 1e6 }' "$SCRATCH/cost")
    is "JDK $version: mmprof's own CPU time is the trace's" "$own" \
        "$("$mmprof" dump --tables "$trace" | awk '$2 == "recorder.cpu_ns" { print $4 / 1e6 }')"
    holds "JDK $version: and has all that was charged meanwhile" below "$(value "$trace" live.own_cpu_ms)" \
        "$(awk "BEGIN { print $own + 0.1 }")"
    goes_on "JDK $version: the program goes on"
    stop_busy "$jvm" "JDK $version: its results and output are those without mmprof"
done

# A JVM before JDK 23 would discard all its code: one that took long to compile is not instrumented.
for jdk in $(jdks); do
    version=$(jdk_version "$jdk")
    [ "$version" -lt 23 ] || continue
    start_busy "$jdk" -Dbusy.rest=false
    jvm=$pid
    trace=$SCRATCH/kept-$version.dat
    for option in --all-methods --include=target/* --argument=Busy.round\(1\); do
        "$mmprof" record -d 1 -o "$trace" "$option" --recompile 1ms -p "$jvm" > "$SCRATCH/out" 2> "$SCRATCH/errors"
        is "JDK $version: with ${option%%=*} it asks before all code is discarded" "$?$(cat "$SCRATCH/out") $(
            grep -cE 'would discard all its compiled code, [0-9.]+ s of|^  next: if it may, add --recompile [1-9]' \
                "$SCRATCH/errors")" '1 2'
    done
    live_until has_samples "$trace" --recompile 1ms
    is "JDK $version, --recompile: a running program is recorded" "$status$(cat "$SCRATCH/out")" 0
    "$mmprof" report --wide --no-fold --notes "$trace" > "$SCRATCH/report" 2> "$SCRATCH/said"
    is "JDK $version, --recompile: and reported" "$?$(cat "$SCRATCH/said")" 0
    matches "JDK $version: no class is changed, which it says at once, with the price" \
        "$(tr '\n' ' ' < "$SCRATCH/errors")" \
        'no exact calls: .* [0-9.]+ s of JIT compilation, and may for 0.001 s .*mmprof: recorded [0-9.]+ s'
    matches "JDK $version: with the next step" "$(cat "$SCRATCH/errors")" \
        'next: .*-agentpath:/.*/libmmprof-agent\.so=prepare, .*--recompile [1-9]'
    is "JDK $version: nothing was changed" "$(value "$trace" live.batches)" 0
    matches "JDK $version: the report has what samples found" "$(cat "$SCRATCH/report")" \
        '^Busy\.round .*all compiled code would be discarded'
    matches "JDK $version: and says why" "$(cat "$SCRATCH/report")" \
        '^note: no class was instrumented, so no call was'
    live_until has_calls "$trace" --mechanism polling
    matches "JDK $version: --mechanism polling: the agent samples" "$(cat "$SCRATCH/errors")" \
        '[1-9][0-9]* stack samples by the agent; '
    matches "JDK $version: without the option it tells before it changes a class" "$(cat "$SCRATCH/errors")" \
        '^mmprof: this JVM now discards all its compiled code, [0-9.]+ s of JIT compilation'
    live_until has_calls "$trace" --recompile 1ms
    matches "JDK $version: once it has done so, there is no code left to keep" "$(cat "$SCRATCH/errors")" \
        '[1-9][0-9]* methods instrumented in [1-9]'
    stop_busy "$jvm" "JDK $version, --recompile: its results and output are those without mmprof"
done

# What a program allocates, by the JVM's own counters and its samples, against its own account: in shares, of which the
# least samples of so short a run tell some ten points.
# allocated METHOD: its share of the bytes, in per cent.
allocated() {
    awk -F, -v method="$1" '$2 == method { print int($5 * 100 + 0.5) }' "$SCRATCH/allocated"
}

for jdk in $(jdks); do
    version=$(jdk_version "$jdk")
    trace=$SCRATCH/allocates-$version.dat
    "$mmprof" record --live -q -o "$trace" -- "$jdk/bin/java" -cp "$classes" target.Allocates 700 > "$SCRATCH/out" 2>&1
    counted=$(sed -n 's/^rounds .* counted //p' "$SCRATCH/out")
    "$mmprof" report --view allocations --csv "$trace" | tr -d '\r' > "$SCRATCH/allocated"
    told=$("$mmprof" dump --tables "$trace" | awk '$2 == "allocations.jvm_bytes" { print $4 }')
    holds "JDK $version: bytes allocated are those that the program counts" \
        awk "BEGIN { exit !($told > 0.9 * $counted && $told < 1.1 * $counted + 5e6) }"
    holds "JDK $version: of them 40 % by a method that allocates 40 %" \
        awk "BEGIN { exit !($(allocated Allocates.points) > 20 && $(allocated Allocates.points) < 60) }"
    matches "JDK $version: what a method has the JDK allocate is the method's" "$(cat "$SCRATCH/allocated")" \
        '^method,Allocates\.lists,ArrayList\.<init>,java\.lang\.Object\[\],0\.'
done

# What still lives of that, against the program's own account: within twice the interval, which is one of 95 %.
jdk=$(first_jdk)
trace=$SCRATCH/keeps.dat
"$mmprof" record --live --budget 90% -q -o "$trace" -- "$jdk/bin/java" -Xmx512m -cp "$classes" \
    target.Keeps 500 > "$SCRATCH/out" 2>&1
"$mmprof" report --view live-objects=class --csv "$trace" | tr -d '\r' > "$SCRATCH/live"
bytes=$(awk -F, 'NR > 1 && $1 == "class" && $3 ~ /Keeps.Kept.<init>/ { print $6, $7 }' "$SCRATCH/live")
holds "bytes that a method keeps are those that live, and what is dropped does not" \
    awk -v kept="$(sed -n 's/^kept \([0-9]*\) .*/\1/p' "$SCRATCH/out")" \
    "BEGIN { n = split(\"$bytes\", b, \" \"); exit !(n == 2 && b[1] - 2 * b[2] < kept && kept < b[1] + 2 * b[2]) }"
"$mmprof" report --view collections --csv "$trace" | tr -d '\r' > "$SCRATCH/live"
matches "the heap before a collection is more than after it" \
    "$(awk -F, 'NR > 1 && $7 != "" && $8 != "" { print ($7 > $8) }' "$SCRATCH/live" | sort -u)" '^1$'

# A class whose hot loop is under way keeps its code: the JVM would interpret the loop until it ends.
looks_at_loop() {
    "$mmprof" record --live --budget 90% -p "$jvm" -d $((3 * slow)) --min-bytecodes 0 -o "$SCRATCH/loop.dat" \
        > "$SCRATCH/out" 2>&1
    "$mmprof" dump "$SCRATCH/loop.dat" > "$SCRATCH/loop"
    grep ' enter  micro/LongLoop\.' "$SCRATCH/loop" >> "$SCRATCH/changed"
    grep -qE ' methods? not instrumented: a hot loop of (its|their) class was running' "$SCRATCH/out" &&
        ! grep -q ' open  micro/LongLoop\.' "$SCRATCH/loop" &&
        grep -qE '^info *live\.sampled\.[0-9]+ = (1|0\.9)[0-9.]* [0-9]+ micro/LongLoop main .* loop ' "$SCRATCH/loop"
}

# start_loop: micro.LongLoop, until end_loop.
start_loop() {
    rm -f "$SCRATCH/lines"
    mkfifo "$SCRATCH/lines"
    "$jdk/bin/java" -XX:+IgnoreUnrecognizedVMOptions -XX:+EnableDynamicAgentLoading -cp "$classes" micro.LongLoop \
        < "$SCRATCH/lines" > "$SCRATCH/said" 2>&1 &
    jvm=$!
    test_pids+=("$jvm")
    exec 7> "$SCRATCH/lines"
    holds "JDK $version: a hot loop is under way" wait_for 60 grep -qx ready "$SCRATCH/said"
}

end_loop() {
    echo >&7
    exec 7>&-
    wait "$jvm"
    is "JDK $version: the loop ends as without mmprof" "$?$(tail -n 1 "$SCRATCH/said")" "0done false"
}

for jdk in $(jdks); do
    version=$(jdk_version "$jdk")
    rm -f "$SCRATCH/changed"
    start_loop
    holds "JDK $version: a live recording leaves its class alone, claims no call, and has its time from samples" \
        wait_for 100 looks_at_loop
    is "JDK $version: and does so" "$(cat "$SCRATCH/changed")" ""
    end_loop
done

# What a loop of their class calls in turns, for milliseconds each, gets probes; of the loop there is one call.
# cpu_used PID SECONDS: it has used so much CPU time.
cpu_used() {
    [ "$(awk -v hz="$(getconf CLK_TCK)" '{ print int(($14 + $15) / hz) }' "/proc/$1/stat")" -ge "$2" ]
}

# phases_alternate: within a budget that a few seconds at load 10 can pay, main is one call under way, and of the others
# there are records only: each has as many calls as the next, with their known CPU time.
phases_alternate() {
    "$mmprof" record --live -q --budget 10% -p "$jvm" -d $((5 * slow)) -o "$SCRATCH/turns.dat" > "$SCRATCH/out" 2>&1
    "$mmprof" dump "$SCRATCH/turns.dat" > "$SCRATCH/turns"
    "$mmprof" phases --csv -o "$SCRATCH/ignored.json" "$SCRATCH/turns.dat" 2> "$SCRATCH/errors" |
        tr -d '\r' | awk -F , '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $(at["class"]) == "target/Alternating" {
            ms[$(at["method"])] = $(at["total_ns"]) / $(at["calls"]) / 1e6
            calls[$(at["method"])] = $(at["calls"])
        }
        function off(method, known) {
            return ms[method] < known * 0.95 || ms[method] > known * 1.25 || calls[method] - calls["alpha"] > 1 ||
                calls["alpha"] - calls[method] > 1
        }
        END { exit calls["alpha"] < 20 || off("alpha", 4.5) || off("beta", 3) || off("gamma", 1.5) || off("delta", 1) }
        ' && [ "$(grep -c ' open .*Alternating\.main(' "$SCRATCH/turns")" = 1 ]
}

for jdk in $(jdks); do
    version=$(jdk_version "$jdk")
    start "$SCRATCH/said" "$jdk/bin/java" -XX:+IgnoreUnrecognizedVMOptions -XX:+EnableDynamicAgentLoading \
        -cp "$classes" target.Alternating 300
    jvm=$pid
    wait_for 60 cpu_used "$jvm" 3
    holds "JDK $version: what a warm loop calls in turns is exact within the budget" wait_for 40 phases_alternate
    stop "$jvm"
done

jdk=$(first_jdk)
"$mmprof" record --live -q -o "$SCRATCH/cost.dat" -- "$jdk/bin/java" -cp "$classes" bench.Accessors 8 1 \
    > "$SCRATCH/out" 2> "$SCRATCH/errors"
is "a program is recorded live from its start" "$?" 0
probes=$(value "$SCRATCH/cost.dat" live.probes_ms)
holds "small methods that are called all the time cost next to nothing: $probes ms" below "$probes" 200

"$mmprof" record --all-methods --budget 2% -p 1 > "$SCRATCH/out" 2>&1
is "a budget of a recording that is not live is refused" "$?" 1
matches "with the reason" "$(cat "$SCRATCH/out")" \
    '^mmprof record: --budget, --weight and --grain belong to --live$'
"$mmprof" record --live --budget 0 -p 1 > "$SCRATCH/out" 2>&1
is "and a budget of nothing" "$?" 1

done_testing
