#!/bin/bash
# Virtual threads that wait inside methods with probes and go on on other carriers: the program is not disturbed, and
# their calls are whole: each has its exit, and the time on all carriers.
# timeout: 300
# long: yes
. "$(dirname "$0")/../lib.sh"

newest=$(jdks | tail -n 1)
[ "$(jdk_version "$newest")" -ge 21 ] || skip_all "virtual threads need JDK 21 or later"
"$newest/bin/javac" -d "$SCRATCH/classes" "$root"/test/java/virtual/*.java 2> "$SCRATCH/errors"
is "the programs are compiled" "$?$(cat "$SCRATCH/errors")" 0

# entered METHOD: how often a method of the program was entered.
entered() {
    sed -n "s/^METHOD virtual\/VirtualThreads\.$1(.*)[^ ]* \([0-9]*\) .*/\1/p" "$SCRATCH/counts"
}

# check_trace CLAIM THREADS ROUNDS
check_trace() {
    "$build/test/tools/method_counts" "$SCRATCH/t.dat" > "$SCRATCH/counts" 2> "$SCRATCH/errors"
    matches "$1: the trace is whole and well nested, nothing is lost" "$(tail -n 1 "$SCRATCH/counts")" \
        '^RECORDS [1-9][0-9]* LOST 0 CUT 0 UNNESTED 0$'
    is "$1: each entry is there" "$(entered works) $(entered locks) $(entered synchronizes)" \
        "$2 $(($2 * $3)) $(($2 * $3))"
    is "$1: each of the program's calls has its exit" "$(grep '^METHOD virtual/' "$SCRATCH/counts" | grep -v ' 0$')" ""
    holds "$1: report" "$mmprof" report "$SCRATCH/t.dat"
    holds "$1: phases" "$mmprof" phases --weight 1% --grain 0.01% -o "$SCRATCH/phases.json" "$SCRATCH/t.dat"
}

run() {
    timeout 100 "$newest/bin/java" -Xmx512m -cp "$SCRATCH/classes" virtual.VirtualThreads "$@"
}

recorded() {
    local claim=$1 said
    shift
    said=$(timeout 100 "$mmprof" record -q --buffer 16M -o "$SCRATCH/t.dat" "$@" 2>&1; echo "status $?")
    is "$claim: the results are right" "$said" "$expected"
}

expected=$(run 3000 3; echo "status $?")
matches "without mmprof" "$expected" '^TOTAL ok, LOCKED ok, SUM [0-9]+$'
command=("$newest/bin/java" -Xmx512m -cp "$SCRATCH/classes" virtual.VirtualThreads 3000 3)
recorded "every method" --all-methods --min-bytecodes 0 -- "${command[@]}"
check_trace "every method" 3000 3
recorded "the program's own" --min-bytecodes 0 --include 'virtual/*' -- "${command[@]}"
check_trace "the program's own" 3000 3

# ---- phases that wait in the middle of known work ----

# of COLUMN METHOD: from the table of all methods.
of() {
    awk -F, -v column="$1" -v method="Phases.$2" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i }
        $2 == method { printf "%.0f", $at }' "$SCRATCH/phases.csv"
}

# compare CLAIM SMALLER LARGER
compare() {
    holds "$1 ($2 <= $3)" awk -v a="$2" -v b="$3" 'BEGIN { exit !(a > 0 && a <= b) }'
}

expected=$(timeout 100 "$newest/bin/java" -cp "$SCRATCH/classes" virtual.Phases 3000 6; echo "status $?")
matches "phases without mmprof" "$expected" '^SUM -?[0-9]+ ok'
recorded "phases" --min-bytecodes 0 --include 'virtual/Phases' -- \
    "$newest/bin/java" -cp "$SCRATCH/classes" virtual.Phases 3000 6
"$mmprof" phases --all --csv "$SCRATCH/t.dat" > "$SCRATCH/phases.csv" 2> "$SCRATCH/errors"
is "they are listed" "$?$(cat "$SCRATCH/errors")" 0
is "each call is one call, wherever it goes on" \
    "$(of calls runs) $(of calls outer) $(of calls inner) $(of calls burns)" "3000 18000 18000 72000"
is "all have returned" "$(of open_calls runs) $(of open_calls outer) $(of open_calls inner) $(of open_calls waits)" \
    "0 0 0 0"
compare "work after a wait is still the work of the call around it" "$(of total_ns burns)" "$(of total_ns outer)"
compare "and of each of them" $(($(of total_ns burns) / 2)) "$(of total_ns inner)"
compare "a call that waits takes no more time than what it does" \
    $(($(of total_ns outer) - $(of self_ns outer) - $(of self_ns inner) - $(of self_ns waits))) \
    $(($(of total_ns burns) + 1000))
compare "it does its work in the time that a thread takes for it" "$(of total_ns burns)" \
    $(($(of total_ns burnsPlain) * 2))
compare "and in no less" $(($(of total_ns burnsPlain) / 2)) "$(of total_ns burns)"
"$mmprof" export --format folded "$SCRATCH/t.dat" > "$SCRATCH/folded" 2> "$SCRATCH/errors"
is "its calls stand under those of the virtual thread, nowhere else" \
    "$(grep 'burns' "$SCRATCH/folded" | grep -v 'burnsPlain' | grep -cv 'runs.*outer')" 0

# ---- found by samples ----

timeout 100 "$mmprof" record -q --live -o "$SCRATCH/t.dat" -- \
    "$newest/bin/java" -cp "$SCRATCH/classes" virtual.Phases 2000 100 > "$SCRATCH/said" 2>&1
matches "live: the results are right" "$(cat "$SCRATCH/said")" '^SUM -?[0-9]+ ok$'
"$mmprof" dump --tables "$SCRATCH/t.dat" > "$SCRATCH/dump"
holds "live: samples see the virtual thread on a carrier, not the carrier" \
    grep -qE '^(method|info *live\.sampled\.).*Phases[. ](runs|outer|inner|waits|burns) ?\(' "$SCRATCH/dump"

# ---- attached to, twice: virtual threads wait already, and go on after the end ----

"$newest/bin/java" -XX:+EnableDynamicAgentLoading -cp "$SCRATCH/classes" virtual.Phases 3000 1 "$SCRATCH/enough" \
    > "$SCRATCH/said" 2>&1 &
java=$!
sleep 2
for i in 1 2; do
    "$mmprof" record -q --buffer 16M --min-bytecodes 0 --include 'virtual/Phases' -d 1 -p "$java" -o "$SCRATCH/t.dat" \
        > "$SCRATCH/errors" 2>&1
    is "attached: recorded ($i)" "$?$(cat "$SCRATCH/errors")" 0
    "$build/test/tools/method_counts" "$SCRATCH/t.dat" > "$SCRATCH/counts" 2>&1
    matches "attached: well nested ($i)" "$(tail -n 1 "$SCRATCH/counts")" '^RECORDS [1-9][0-9]* .* CUT 0 UNNESTED 0$'
    "$mmprof" dump "$SCRATCH/t.dat" > "$SCRATCH/dump"
    holds "attached: calls go on ($i)" grep -q ' resume ' "$SCRATCH/dump"
done
touch "$SCRATCH/enough"
wait "$java"
status=$?
matches "attached: the results are right" "$(cat "$SCRATCH/said") status $status" '^SUM -?[0-9]+ ok status 0$'

done_testing
