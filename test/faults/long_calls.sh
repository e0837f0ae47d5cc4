#!/bin/bash
# A program whose threads are in long calls of the methods that get probes, and lose them, again and again, goes on.
# What the JVM frees is overwritten there (MALLOC_PERTURB_, of the GNU C library), so that whoever looks at it once more
# finds out: until JDK 21 the JVM did so, see core/agent/control/method_ids.h, and died of it, not in each run.
# timeout: 600
# long: yes
. "$(dirname "$0")/faults.bash"

n_cycles=$(either 15 100)

# sum_and_calls: what the program says at its end, 'n n'.
sum_and_calls() {
    sed -n 's/^SUM \([0-9]*\) of \([0-9]*\) calls$/\1 \2/p' "$SCRATCH/program"
}

for jdk in $(jdks); do
    v=$(basename "$jdk")
    rm -f "$SCRATCH/stop"
    start "$SCRATCH/program" env MALLOC_PERTURB_=85 "$jdk/bin/java" -Xmx256m -XX:ErrorFile="$SCRATCH/hs_err" \
        -XX:+EnableDynamicAgentLoading -cp "$classes" target.LongCalls 8 "$SCRATCH/stop"
    jvm=$pid
    wait_for 60 grep -q READY "$SCRATCH/program"
    n=0
    for ((i = 0; i < n_cycles; i++)); do
        "$mmprof" record -q --duration 0.25 --include target/LongCalls -o "$SCRATCH/u.dat" -p "$jvm" \
            > "$SCRATCH/said" 2>&1 || break
        n=$((n + 1))
    done
    is "$v: recordings while calls are under way" "$n $(cat "$SCRATCH/said")" "$n_cycles "
    touch "$SCRATCH/stop"
    wait_gone 60 "$jvm"
    wait "$jvm"
    is "$v: the program goes on to its end" $? 0
    matches "$v: and all its calls return what they should" "$(sum_and_calls)" '^([0-9]+) \1$'
done

done_testing
