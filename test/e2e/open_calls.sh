#!/bin/bash
# Calls that are under way when mmprof attaches (main, a loop that it is in) are in the call tree, on their path.
# timeout: 240
. "$(dirname "$0")/../lib.sh"

# said FILE TEXT: the program has printed this line.
said() {
    grep -qx "$2" "$1"
}

# has_event TRACE EVENT METHOD: the trace, which is still being written, has it.
has_event() {
    "$mmprof" dump "$1" 2> /dev/null | grep -q " $2  micro/UnderWay.$3()"
}

# path METHOD: its callers and itself, as the tree has them with most time.
path() {
    awk -v wanted="UnderWay.$1" '
        /UnderWay\./ {
            at = match($0, /UnderWay\./); name = substr($0, at); sub(/ \+$/, "", name)
            for (n = 0; n < depth && place[n] < at; n++) continue
            place[n] = at; names[n] = name; depth = n + 1
            if (name == wanted) {
                for (i = 0; i < depth; i++) printf "%s%s", i ? " " : "", substr(names[i], 10)
                exit
            }
        }' "$SCRATCH/tree"
}

for jdk in $(jdks); do
    version=$(jdk_version "$jdk")
    rm -f "$SCRATCH/lines"
    mkfifo "$SCRATCH/lines"
    "$jdk/bin/java" -XX:+IgnoreUnrecognizedVMOptions -XX:+EnableDynamicAgentLoading -cp "$classes" micro.UnderWay \
        < "$SCRATCH/lines" > "$SCRATCH/said" 2>&1 &
    jvm=$!
    test_pids+=("$jvm")
    exec 7> "$SCRATCH/lines"
    holds "JDK $version: a program is in a loop" wait_for 60 said "$SCRATCH/said" ready
    trace=$SCRATCH/under-way-$version.dat
    start "$SCRATCH/out" "$mmprof" record -q -p "$jvm" --include 'micro.UnderWay#*' --min-bytecodes 0 -o "$trace"
    recorder=$pid
    holds "JDK $version: mmprof finds the loop's method on its stack" wait_for 60 has_event "$trace" open first
    echo >&7
    holds "JDK $version: another one follows" wait_for 60 said "$SCRATCH/said" second
    holds "JDK $version: the one before turns out to be over" wait_for 60 has_event "$trace" exit first
    kill -INT "$recorder"
    wait "$recorder"
    is "JDK $version: the recording ends" "$?$(cat "$SCRATCH/out")" 0
    echo >&7
    exec 7>&-
    wait "$jvm"
    is "JDK $version: the program ends as without mmprof" "$?$(tail -n 1 "$SCRATCH/said")" "0done false"
    "$mmprof" phases --tree -o "$SCRATCH/ignored.json" "$trace" > "$SCRATCH/tree" 2> "$SCRATCH/errors"
    is "JDK $version: main, which never began, is at the top of the tree" "$(path main)" main
    is "JDK $version: the loop under way is in it" "$(path first)" "main first"
    is "JDK $version: and the one after it is beside it, not in it" "$(awk '
        /application$/ { root = index($0, "application") }
        /UnderWay\.second/ && index($0, "UnderWay.second") == root + 4 { n++ }
        END { print n + 0 }' "$SCRATCH/tree")" 1
    "$mmprof" report --csv --all --columns method,calls,ns_per_call,open_calls "$trace" > "$SCRATCH/report.csv" \
        2> "$SCRATCH/errors"
    is "JDK $version: a partial call has no mean, and is counted apart" "$(tr -d '\r' < "$SCRATCH/report.csv" |
        sed -n '/,\(main\|first\|second\),/s/^phase,//p' | sort | tr '\n' ' ')" \
        "first,1,,1 main,1,,1 second,1,,1 "
    "$build/test/tools/method_counts" "$trace" > "$SCRATCH/counts"
    is "JDK $version: each of them is one call" \
        "$(sed -n 's/^METHOD micro.UnderWay.\(main\|first\|second\)(.* \([0-9]*\) [0-9]* [0-9]* [0-9]*$/\1 \2/p' \
            "$SCRATCH/counts" | sort | tr '\n' ' ')" "first 1 main 1 second 1 "
done

# Each call lasts for 350 ms or more; the first and the last one are recorded in part.
"$jdk/bin/java" -XX:+IgnoreUnrecognizedVMOptions -XX:+EnableDynamicAgentLoading -cp "$classes" target.LongCalls 1 \
    "$SCRATCH/stop" > "$SCRATCH/said" 2>&1 &
jvm=$!
test_pids+=("$jvm")
holds "calls of known length go on" wait_for 60 said "$SCRATCH/said" READY
"$mmprof" record -q -p "$jvm" -d 3 --include 'target.LongCalls#work' --min-bytecodes 0 -o "$SCRATCH/long.dat" \
    > "$SCRATCH/out" 2>&1
touch "$SCRATCH/stop"
wait "$jvm"
"$mmprof" report --csv --all --clock wall --columns method,calls,ns_per_call,open_calls "$SCRATCH/long.dat" 2>&1 |
    tr -d '\r' | sed -n 's/^phase,work,//p' > "$SCRATCH/work"
holds "partial calls are not in the mean ($(cat "$SCRATCH/work"))" \
    awk -F, '{ ok = $1 > $3 && $3 > 0 && $2 > 0.999 * 350e6 } END { exit !ok }' "$SCRATCH/work"

done_testing
