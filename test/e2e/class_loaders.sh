#!/bin/bash
# Class loaders that know only what they were told: their classes are recorded, and no loader hears of it.
# beside: yes
. "$(dirname "$0")/../lib.sh"

# recorded: the program's methods, while loaders come and go.
recorded() {
    said=$("$mmprof" record -d 0.5 --include 'target/Sandboxes$*' --exclude 'target/Sandboxes$*Sandbox.*' \
        --min-bytecodes 0 -o "$SCRATCH/t.dat" -p "$jvm" 2>&1)
    "$build/test/tools/method_counts" "$SCRATCH/t.dat" > "$SCRATCH/seen"
}

# calls METHOD: of it, in the trace.
calls() {
    awk -v name="target/Sandboxes\$$1(I)I" '$1 == "METHOD" && $2 == name { n += $3 } END { print n + 0 }' \
        "$SCRATCH/seen"
}

check() {
    local v
    v="JDK $(jdk_version "$1")"
    rm -f "$SCRATCH/stop"
    start "$SCRATCH/out" "$1/bin/java" -Xmx128m -XX:+EnableDynamicAgentLoading -Xcheck:jni -cp "$classes" \
        target.Sandboxes "$SCRATCH/stop"
    jvm=$pid
    wait_for 20 grep -q '^READY' "$SCRATCH/out"
    for n in first second; do
        recorded
        [ "$(calls Work.run)" -gt 50 ] && [ "$(calls Script.run)" -gt 20 ] &&
            ok "$v, $n recording: their methods are in the trace" ||
            not_ok "$v, $n recording: their methods are in the trace" "$said" "$(cat "$SCRATCH/seen")"
        matches "$v, $n recording: a class whose loader is locked for good is left alone, and that is said" "$said" \
            '^mmprof: [1-9][0-9]* classes were not instrumented: .* class loaders'
    done
    touch "$SCRATCH/stop"
    wait_gone 20 "$jvm" || kill -KILL "$jvm"
    is "$v: no call failed, no loader was asked for more than without mmprof, all of them were unloaded" \
        "$(grep -v '^READY' "$SCRATCH/out")" "END ok"
}

while read -r jdk; do
    check "$jdk"
done < <(jdks)

done_testing
