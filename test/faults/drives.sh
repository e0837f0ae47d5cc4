#!/bin/bash
# mmprof drive of many JVMs whose classes are unloaded and retransformed meanwhile, with -Xcheck:jni: each ends well and
# prints what it prints alone (thesis §4.4; man/mmprof-drive.1).  DRIVES=N JVMs with Serial, Parallel, G1 and ZGC in
# turns, from FIRST on; SCRATCH=DIR keeps all that they print, which is kept of those that are harmed anyway.
# timeout: 9000
# long: yes
. "$(dirname "$0")/faults.bash"

drives=${DRIVES:-$(either 8 500)}
first=${FIRST:-0}
rounds=400
collectors=(Serial Parallel G1 Z)

printf 'Premain-Class: target.Patched\nAgent-Class: target.Patched\nCan-Retransform-Classes: true\n' \
    > "$SCRATCH/manifest"

# java_of COLLECTOR: in $command.
java_of() {
    command=("$jdk/bin/java" -Xmx256m -XX:+Use"$1"GC -XX:ErrorFile="$SCRATCH/hs_err.%p" -Xcheck:jni
        -javaagent:"$SCRATCH/agent-$v.jar" -cp "$classes" target.Driven "$rounds")
}

# What a JVM that is not driven prints.
alone() {
    local collector
    for collector in "${collectors[@]}"; do
        java_of "$collector"
        "${command[@]}" < /dev/null > "$SCRATCH/alone-$v-$collector" 2>&1
    done
}

# is_well OUT STATUS: a table, after the very output of a JVM alone, which may say besides what it could not compile.
is_well() {
    [ "$2" = 0 ] && grep -q '"methods_taken"' "$1" && sed '/^{/,$d' "$1" | cmp -s - "$SCRATCH/alone-$v-$collector" &&
        ! grep -qv '^WB error: failed to ' "$1.errors"
}

# drive NUMBER: another rule and collector each time.
drive() {
    local out=$SCRATCH/drive-$v-$1 rule=model collector=${collectors[$1 % 4]} status taken
    [ $(($1 % 5)) -lt 4 ] || rule=random
    java_of "$collector"
    "$mmprof" drive -F 1000 --compile $rule --seed "$1" --json -- "${command[@]}" < /dev/null > "$out" 2> "$out.errors"
    status=$?
    taken=$(sed -n 's/.*"methods_taken":[[:space:]]*\([0-9]*\).*/\1/p' "$out")
    n_taken=$((n_taken + ${taken:-0}))
    echo "$v $1 $collector $rule status $status taken ${taken:--}" >> "$SCRATCH/drives"
    if is_well "$out" $status; then
        [ -z "${scratch_is_own-}" ] || rm "$out" "$out.errors"
        return
    fi
    n_harmed=$((n_harmed + 1))
    cat "$out.errors" >> "$out"
    cp "$out" "${TMPDIR:-/tmp}/mmprof-drive-$v-$1"
    [ $n_harmed -gt 3 ] || sed "s|^|# drive $1 of $v, status $status: |" "$out" | grep -v '"' | head -n 20
}

while read -r jdk; do
    v=$(jdk_version "$jdk")
    n_harmed=0 n_taken=0
    # shellcheck disable=SC2016  # names of classes
    "$jdk/bin/jar" cfm "$SCRATCH/agent-$v.jar" "$SCRATCH/manifest" -C "$classes" 'target/Patched$Subject.class' \
        -C "$classes" target/Patched.class -C "$classes" 'target/Patched$1.class'
    alone
    for ((i = first; i < first + drives; i++)); do
        drive "$i"
    done
    is "$v: of $drives JVMs, which took $n_taken methods, none is harmed" $n_harmed 0
    is "$v: and none has crashed" "$(find "$SCRATCH" -name 'hs_err.*' | wc -l)" 0
    holds "$v: JVMs took some methods each" [ $n_taken -gt $((drives * 5)) ]
done < <(fault_jdks)
done_testing
