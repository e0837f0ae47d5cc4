#!/bin/bash
# Programs that run out of stack or heap, exit or are stopped inside methods with probes say and return what they do
# without them, and no lock stays held.
# timeout: 300
# long: yes
. "$(dirname "$0")/../lib.sh"

# as_without NAME OPTIONS ARGUMENT...: output and status are the same with probes in every method, the JDK's included.
as_without() {
    local name=$1 options=$2 without with
    shift 2
    # shellcheck disable=SC2086  # options are words
    without=$(timeout 60 "$jdk/bin/java" -Xmx64m $options -cp "$classes" target.Overflow "$@" 2>&1; echo "status $?")
    # shellcheck disable=SC2086
    with=$(timeout 60 "$mmprof" record --all-methods -q --min-bytecodes 0 -o "$SCRATCH/t.dat" -- \
        "$jdk/bin/java" -Xmx64m $options -cp "$classes" target.Overflow "$@" 2>&1; echo "status $?")
    is "$name" "$with" "$without"
    matches "$name: the trace is whole and well nested" \
        "$("$build/test/tools/method_counts" "$SCRATCH/t.dat" 2>&1 | tail -n 1)" \
        '^RECORDS [1-9][0-9]* LOST [0-9]+ CUT 0 UNNESTED 0$'
}

while read -r jdk; do
    v="JDK $(jdk_version "$jdk")"
    as_without "$v: stacks overflow" "" stack 10
    as_without "$v: stacks overflow in the interpreter" -Xint stack 2
    as_without "$v: the heap is full" "" memory 5
    as_without "$v: System.exit twenty calls deep" "" exit
    as_without "$v: -Xcheck:jni has nothing to say" -Xcheck:jni memory 1
    if [ "$(jdk_version "$jdk")" -lt 20 ]; then
        as_without "$v: Thread.stop" "" stop
    else
        skip "$v: Thread.stop" "it stops nothing since JDK 20"
    fi
done < <(jdks)

done_testing
