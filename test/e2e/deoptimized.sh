#!/bin/bash
# What becomes of methods' code: the table of report --view jit against HotSpot's own log, and the finding, which only a
# program has whose method is deoptimized again and again.
# timeout: 500
# beside: yes
. "$(dirname "$0")/../lib.sh"

# sampled JDK MODE ROUNDS: from the JVM's start until the program has done its rounds, into t.dat.  It compiles in the
# foreground: C2 is never late, and each round has one trap.  More calls than usual go by until C1 and C2 compile.
sampled() {
    local sampler
    rm -f "$SCRATCH"/{end,out,t.dat,log}
    "$mmprof" sample -o "$SCRATCH/t.dat" -- "$1/bin/java" -XX:-BackgroundCompilation -XX:CompileCommand=quiet \
        '-XX:CompileCommand=dontinline,target.Storms::faulty' -XX:-UseOnStackReplacement \
        -XX:Tier3InvocationThreshold=2000 -XX:Tier3MinInvocationThreshold=2000 -XX:Tier4InvocationThreshold=20000 \
        -XX:Tier4MinInvocationThreshold=20000 -XX:+UnlockDiagnosticVMOptions -XX:+LogCompilation \
        "-XX:LogFile=$SCRATCH/log" -cp "$classes" target.Storms "$2" "$3" "$SCRATCH/end" > "$SCRATCH/out" 2>&1 &
    sampler=$!
    wait_for 100 grep -q '^done' "$SCRATCH/out"
    kill -INT "$sampler" # takes the last samples while the JVM is there
    wait_for 20 grep -q 'the command goes on' "$SCRATCH/out"
    touch "$SCRATCH/end"
    wait "$sampler"
}

# column KEY: of the row of Storms.faulty or Storms.steady.
column() {
    "$mmprof" report --view jit --all --csv "$SCRATCH/t.dat" | tr -d '\r' | awk -F, -v key="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == key) at = i }
        $2 ~ /^Storms.(faulty|steady)$/ { print $at }'
}

finding() {
    "$mmprof" report --view findings --json "$SCRATCH/t.dat" | tr -d '\t' | grep -A3 '"rule":"deoptimized"'
}

check_faulty() {
    local jdk=$1 v n
    v="JDK $(jdk_version "$jdk")"
    sampled "$jdk" faulty 24
    n=$(awk -F "compile_id='|'" '/^<nmethod.*target.Storms faulty / { is[$2] = 1 }
        /^<make_not_entrant.*compiler=.c2/ { match($0, /compile_id=.[0-9]+/)
                                              n += is[substr($0, RSTART + 12, RLENGTH - 12)] }
        END { print n + 0 }' "$SCRATCH/log")
    is "$v: deoptimized as often as HotSpot's log says, and by the same reasons" \
        "$(column deoptimized) $(column reasons)" \
        "$n $(grep -c "<uncommon_trap thread=.*reason='unstable_if'" "$SCRATCH/log") unstable_if"
    is "$v: which is once a round" "$n" 24
    is "$v: and compiled by C2 once more" "$(column compiled)" 25
    matches "$v: it is partly C1's code" "$(column c1_share)" '^0\.(0[3-9]|[1-6])'
    matches "$v: and mostly C2's" "$(column c2_share)" '^0\.[3-9]'
    matches "$v: that is a finding" "$("$mmprof" report --view findings "$SCRATCH/t.dat" | tr '\n' ' ')" \
        'Storms.faulty is deoptimized again and again, 24 times \(24 unstable_if: a branch .*--view jit\)'
    matches "$v: the trace has each change" "$("$mmprof" dump "$SCRATCH/t.dat" |
        awk '$1 == "code" { n[$2] += $3 } END { print n["discarded"], n["unstable_if"] }')" '^2[4-9] 2[4-9]$'
}

while read -r jdk; do
    check_faulty "$jdk"
done < <(jdks)

"$mmprof" report --html "$SCRATCH/page.html" "$SCRATCH/t.dat" > "$SCRATCH/said" 2>&1
matches "the page has the table" "$? $(grep -c '24 unstable_if' "$SCRATCH/page.html")" '^0 [1-9]'
jdk=$(first_jdk)
for mode in mended never; do
    sampled "$jdk" $mode 6
    matches "$mode: its code is discarded at the start at most" "$(column deoptimized)" '^[0-2]$'
    is "$mode: that is no finding" "$(finding)" ""
done

done_testing
