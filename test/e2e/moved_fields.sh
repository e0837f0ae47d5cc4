#!/bin/bash
# A JVM whose fields are elsewhere than it says, as a build that nobody has seen: its stacks are read rightly or
# refused, never wrongly.  'moved_fields.py PID try build/test/tools/walk_again SEED 1000' tries more.
# timeout: 400
# long: yes
. "$(dirname "$0")/../lib.sh"

javac -d "$SCRATCH" "$root/test/java/releases/Frames.java"

moved() {
    python3 "$root/test/tools/moved_fields.py" "$pid" "$@"
}

# sampled OPTION...: its status; what it says is in $said.
sampled() {
    said=$("$mmprof" sample -F 199 --csv "$@" -p "$pid" 2>&1)
    status=$?
}

# odd_jdk DIR: the JDK in a directory of that name, its libjvm.so without symbols; its classes are links.
odd_jdk() {
    rm -rf "$1"
    cp -rs "$jdk" "$1"
    rm -rf "${1:?}/bin" "$1/lib/server" "$1"/lib/*.so
    cp -rL "$jdk/bin" "$1/bin"
    cp -rL "$jdk/lib/server" "$1/lib/server"
    cp -L "$jdk"/lib/*.so "$1/lib"
    strip "$1/lib/server/libjvm.so"
}

refused="the layout of this JVM.s stacks is not known .*: methods' names cannot be read"
while read -r jdk; do
    v="JDK $(jdk_version "$jdk")"
    rm -f "$SCRATCH/end"
    start "$SCRATCH/out" "$jdk/bin/java" -Xmx64m -XX:CompileCommand=exclude,Frames.interpreted -cp "$SCRATCH" Frames \
        "$SCRATCH/end"
    jvm=$pid
    wait_for 60 grep -q '^running' "$SCRATCH/out"
    sampled -d 1
    is "$v: as it is it is sampled from outside" "$status $(grep -c '^method,Frames.recursive,' <<< "$said")" "0 1"
    is "$v: of 12 moves of a field none is read wrongly" \
        "$(moved try "$build/test/tools/walk_again" 11 12 | tee "$SCRATCH/tries" | grep -o '[0-9]* wrong$')" "0 wrong"
    matches "$v: most of them are refused" "$(tail -n 1 "$SCRATCH/tries")" ' ([7-9]|1[0-2]) refused'
    odd_jdk "$SCRATCH/jdk ü"
    mkdir -p "$SCRATCH/copy" && cp "$jdk/lib/server/libjvm.so" "$SCRATCH/copy"
    start "$SCRATCH/other" "$SCRATCH/jdk ü/bin/java" -cp "$SCRATCH" Frames "$SCRATCH/end" "$SCRATCH/copy/libjvm.so"
    wait_for 60 grep -q '^running' "$SCRATCH/other"
    first=$(grep -m 1 -o '/[^ ]*libjvm.so' "/proc/$pid/maps")
    sampled -d 1 --mechanism perf
    is "$v: a libjvm.so without symbols, elsewhere, is read, and another one before it in memory passed by" \
        "$first $status $(grep -c '^method,Frames.recursive,' <<< "$said")" "$SCRATCH/copy/libjvm.so 0 1"
    stop "$pid"
    pid=$jvm
    moved release $((${v#JDK } < 20 ? 99 : 10))
    sampled -d 1 --mechanism perf
    is "$v: one that says it is of another release is read as it is" \
        "$status $(grep -c '^method,Frames.recursive,' <<< "$said")" "0 1"
    moved release "${v#JDK }"
    by=$(moved move JavaThread::_current_pending_monitor JavaThread::_threadObj)
    sampled -d 1 --wall -o "$SCRATCH/wall.dat"
    waits=$("$mmprof" report --view waits --csv "$SCRATCH/wall.dat" |
        grep -o '^monitor\|Frames.main,Thread.sleep' | sort -u)
    is "$v: what is no monitor is not taken for one that a thread sleeps for" \
        "$status $waits" "0 Frames.main,Thread.sleep"
    moved move JavaThread::_current_pending_monitor $((-by)) > "$SCRATCH/ignored"
    start "$SCRATCH/waits" "$jdk/bin/java" -cp "$classes" target.Waits 600
    wait_for 60 grep -q READY "$SCRATCH/waits"
    moved move JavaThread::_current_pending_monitor 8 > "$SCRATCH/ignored"
    sampled -d 1 --wall -o "$SCRATCH/wall.dat"
    waits=$("$mmprof" report --view waits "$SCRATCH/wall.dat")
    is "$v: a wait for a monitor that the thread does not say is one, and it is said that the monitor is not known" \
        "$status $(grep -cE '^monitor +Waits.block|^note: which monitor it is, .* is not known' <<< "$waits")" "0 2"
    stop "$pid"
    pid=$jvm
    moved move Symbol::_body 24 > "$SCRATCH/ignored"
    sampled -d 1 --mechanism perf
    matches "$v: --mechanism perf says which check failed" "$status $said" "^1 mmprof sample: $refused"
    sampled -d 2
    matches "$v: without it the agent samples, which is said" "$status $said" \
        "^0 mmprof sample: $refused; stacks are sampled at safepoints"
    matches "$v: and finds the methods" "$said" 'method,Frames.recursive,'
    touch "$SCRATCH/end"
    wait "$pid"
    is "$v: the program ends by itself" $? 0
done < <(jdks)

done_testing
