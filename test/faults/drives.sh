#!/bin/bash
# mmprof drive of many JVMs whose classes are unloaded and retransformed meanwhile, with -Xcheck:jni: each does its work
# and ends well (thesis §4.4; man/mmprof-drive.1).  DRIVES=N JVMs, with Serial, Parallel, G1 and ZGC in turns.
# timeout: 9000
# long: yes
. "$(dirname "$0")/faults.bash"

drives=${DRIVES:-$(either 8 500)}
collectors=(Serial Parallel G1 Z)

printf 'Premain-Class: target.Patched\nAgent-Class: target.Patched\nCan-Retransform-Classes: true\n' \
    > "$SCRATCH/manifest"

# drive NUMBER: another rule and collector each time.
drive() {
    local out=$SCRATCH/out rule=model taken
    [ $(($1 % 5)) -lt 4 ] || rule=random
    "$mmprof" drive -F 1000 --compile $rule --seed "$1" --json -- "$jdk/bin/java" -Xmx256m \
        -XX:+Use"${collectors[$1 % 4]}"GC -XX:ErrorFile="$SCRATCH/hs_err.%p" -Xcheck:jni \
        -javaagent:"$SCRATCH/agent.jar" -cp "$classes" target.Driven 400 < /dev/null > "$out" 2>&1
    status=$?
    taken=$(sed -n 's/.*"methods_taken":[[:space:]]*\([0-9]*\).*/\1/p' "$out")
    n_taken=$((n_taken + ${taken:-0}))
    [ $status = 0 ] && [ -n "$taken" ] && grep -q '^DONE 400$' "$out" &&
        ! grep -qE '^WRONG|FATAL|^WARNING in native' "$out" && return
    n_harmed=$((n_harmed + 1))
    [ $n_harmed -gt 3 ] || sed "s/^/# drive $1 of $v, status $status: /" "$out" | grep -v '"' | head -n 20
}

while read -r jdk; do
    v=$(jdk_version "$jdk")
    n_harmed=0 n_taken=0
    # shellcheck disable=SC2016  # names of classes
    "$jdk/bin/jar" cfm "$SCRATCH/agent.jar" "$SCRATCH/manifest" -C "$classes" 'target/Patched$Subject.class' \
        -C "$classes" target/Patched.class -C "$classes" 'target/Patched$1.class'
    for ((i = 0; i < drives; i++)); do
        drive $i
    done
    is "$v: of $drives JVMs, which took $n_taken methods, none is harmed" $n_harmed 0
    is "$v: and none has crashed" "$(find "$SCRATCH" -name 'hs_err.*' | wc -l)" 0
    holds "$v: JVMs took some methods each" [ $n_taken -gt $((drives * 5)) ]
done < <(fault_jdks)
done_testing
