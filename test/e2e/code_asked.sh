#!/bin/bash
# Compiled code is told only where threads were found, and is read in place.
# timeout: 300
# long: yes
. "$(dirname "$0")/../lib.sh"

# at_most CLAIM VALUE HIGH
at_most() {
    if awk -v v="$2" -v high="$3" 'BEGIN { exit !(v != "" && v <= high) }'; then
        ok "$1"
    else
        not_ok "$1" "is '$2', not at most $3"
    fi
}

# record NAME JDK OPTION FLAG... CLASS [ARGUMENT...]: the recorder's option, "" for none
record() {
    local name=$1 jdk=$2 option=$3
    shift 3
    trace=$SCRATCH/trace.dat
    "$mmprof" record -q --live $option --frequency 1000 -o "$trace" -- "$jdk/bin/java" -Xmx512m \
        "-Djava.library.path=$classes" -cp "$classes" "$@" > "$SCRATCH/said" 2>&1
    is "$name: recorded" $? 0
}

share() {
    echo "$(trace_info "$trace" "$1") $(trace_info "$trace" hits)" | awk '{ print $1 / $2 }'
}

check_parts() {
    local jdk=$1 v=$2
    record "$v" "$jdk" --lines -Xbatch -XX:+UseSerialGC target.Parts 1000
    if [ -n "$(trace_info "$trace" hits.failed)" ]; then
        skip "$v: where its threads were" "$(trace_info "$trace" hits.failed)"
        return
    fi
    is "$v: the JVM's structures are known" "$(trace_info "$trace" code.all)$(trace_info "$trace" code.failed)" ""
    is "$v: and it tells of no compiled code by itself" "$(trace_info "$trace" code.cpu_ms)" 0.0
    at_most "$v: the code that threads were found in is known" "$(share hits.unknown)" 0.02
    "$mmprof" report --notes --view hot --csv --top 0 "$trace" > "$SCRATCH/hot"
    matches "$v: by its method" "$(cat "$SCRATCH/hot")" '^c2_code,Parts\.'
    is "$v: and all lines are" "$(trace_info "$trace" hits.no_lines)" 0
    matches "$v: and what is inlined there" "$(cat "$SCRATCH/hot")" '^c2_code,Parts.step.*Parts\.java:2[23] in Parts\.'
    [ "$jdk" = "$(first_jdk)" ] || return # what follows is the recorder's affair
    record "$v, without lines" "$jdk" "" -Xbatch -XX:+UseSerialGC target.Parts 1000
    matches "$v: methods are known then, too" "$("$mmprof" report --notes --view hot --csv --top 0 "$trace")" \
        '^c2_code,Parts\.'
    at_most "$v: of a tenth and more not the line" "$(share hits.no_lines | awk '{ print -$1 }')" -0.1
    matches "$v: which is noted" "$("$mmprof" report --notes --view hot "$trace")" \
        'the JIT kept no line-level debug info; record with --lines'
    record "$v, against the program's own options" "$jdk" --lines -Xbatch -XX:+UseSerialGC \
        -XX:+UnlockDiagnosticVMOptions -XX:-DebugNonSafepoints target.Parts 1000
    at_most "$v: those count" "$(share hits.no_lines | awk '{ print -$1 }')" -0.1
    matches "$v: which is noted, too" "$("$mmprof" report --notes --view hot "$trace")" 'start the JVM with -XX'
}

# Code and classes come and go while they are read.
check_gone() {
    local jdk=$1 v=$2
    record "$v, a small code cache" "$jdk" --lines -XX:ReservedCodeCacheSize=5m -XX:+UseSerialGC demo.JavacDemo \
        "$(first_jdk)/lib/src.zip" 1 java.net.http
    matches "$v: the program has compiled all" "$(cat "$SCRATCH/said")" 'iteration 1 of 1'
    is "$v: the log is whole" "$(trace_info "$trace" code.failed)" ""
    record "$v, classes that are unloaded" "$jdk" --lines -XX:+UseSerialGC micro.All
    matches "$v: the program has come to its end" "$(cat "$SCRATCH/said")" '^PROGRAM Unfinished'
}

while read -r jdk; do
    check_parts "$jdk" "JDK $(jdk_version "$jdk")"
    check_gone "$jdk" "JDK $(jdk_version "$jdk")"
done < <(jdks)

done_testing
