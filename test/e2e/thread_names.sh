#!/bin/bash
# Threads have their whole names, and each sample that of its time.
# timeout: 100
. "$(dirname "$0")/../lib.sh"
needs_command sample

# share NAME: of the time, in the table by thread that $said is, as CSV.
share() {
    awk -F, -v name="$1" '
        NR == 1 || /^kind|^label/ {
            for (i = 1; i <= NF; i++) { if ($i == "label") l = i; if ($i == "time_share") s = i }
        }
        $l == name { print $s }' <<< "$said"
}

n_jdks=0
alpha=task-alpha-of-the-northern-shop
beta=task-beta-of-the-southern-shop
for jdk in $(jdks); do
    name="JDK $(jdk_version "$jdk")" collector=G1
    [ "$(jdk_version "$jdk")" -lt 24 ] || collector=Z # with bits of its own in pointers
    name+=", $collector"
    start "$SCRATCH/out" "$jdk/bin/java" "-XX:+Use${collector}GC" -XX:TieredStopAtLevel=1 -cp "$classes" target.Renames
    wait_for 60 grep -q READY "$SCRATCH/out"
    "$mmprof" sample -p "$pid" -F 499 -d 1.5 -o "$SCRATCH/s.dat" > "$SCRATCH/said" 2>&1
    is "$name: exit status" $? 0
    said=$("$mmprof" report --by thread --all --csv "$SCRATCH/s.dat" 2> "$SCRATCH/errors")
    holds "$name: a thread that changes its name has its time under each: $(share $alpha), $(share $beta)" \
        awk -v a="$(share $alpha)" -v b="$(share $beta)" 'BEGIN { exit !(a / (a + b) > 0.6 && a / (a + b) < 0.9) }'
    holds "$name: a name with characters beyond 16 bits is whole" [ -n "$(share "music 𝄞 and other texts")" ]
    holds "$name: a name that another thread has given counts" [ -n "$(share second-name-of-the-other)" ]
    is "$name: no name is cut" \
        "$(grep -cE '^(application,)?(task-alpha-of-t|task-beta-of-th|second-name-of-|music . an)(,|$)' <<< "$said")" 0
    said=$("$mmprof" sample -p "$pid" --wall -d 0.5 -o "$SCRATCH/w.dat" > "$SCRATCH/said" 2>&1
        "$mmprof" report --by thread --all --csv "$SCRATCH/w.dat" 2> "$SCRATCH/errors")
    holds "$name: --wall has whole names" [ -n "$(share second-name-of-the-other)" ]
    if [ $((n_jdks++)) = 0 ]; then
        "$mmprof" sample -t '*-northern-shop' -p "$pid" -F 499 -d 1 -o "$SCRATCH/t.dat" > "$SCRATCH/said" 2>&1
        matches "only threads of a name: others are counted" "$(cat "$SCRATCH/said")" \
            "shares are of threads '\*-northern-shop' only; [0-9]+ samples of others are left out"
        is "they are in no row" "$("$mmprof" dump "$SCRATCH/t.dat" | grep -cE '(beta|second|music)')" 0
        said=$("$mmprof" report --by thread --all --csv "$SCRATCH/t.dat" 2> "$SCRATCH/errors")
        holds "the thread has all the time" awk -v a="$(share $alpha)" 'BEGIN { exit !(a > 0.999) }'
        "$mmprof" sample --mechanism polling -p "$pid" -F 199 -d "$slow" -o "$SCRATCH/p.dat" > "$SCRATCH/said" 2>&1
        said=$("$mmprof" report --by thread --all --csv "$SCRATCH/p.dat" 2> "$SCRATCH/errors")
        holds "polling has whole names, and those of the time: $(share $alpha), $(share $beta)" \
            awk -v a="$(share $alpha)" -v b="$(share $beta)" 'BEGIN { exit !(a > b && b > 0) }'
        "$mmprof" record -q --include target/Cpu -t 'cpu-*' -o "$SCRATCH/c.dat" -- "$jdk/bin/java" -cp "$classes" \
            target.Cpu 1 > "$SCRATCH/said" 2>&1
        "$mmprof" report --all --csv "$SCRATCH/c.dat" > "$SCRATCH/said" 2> "$SCRATCH/errors"
        is "record -t has the calls of that thread only" \
            "$(cut -d, -f1,2,6 "$SCRATCH/said" | grep 'Cpu.works')" "phase,Cpu.works,1"
        is "and lost none" "$("$mmprof" dump --tables "$SCRATCH/c.dat" | grep -c 'lost.*= [1-9]')" 0
        "$mmprof" record -q -d 1.5 -o "$SCRATCH/r.dat" -p "$pid"
        matches "a recording with probes says that a thread has changed its name" \
            "$("$mmprof" report --by thread "$SCRATCH/r.dat" 2> "$SCRATCH/errors")" \
                '[0-9]+ threads? changed (its name|their names)'
    fi
    stop "$pid"
done
done_testing
