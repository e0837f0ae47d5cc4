#!/bin/bash
# timeout: 900
# takes: 45
# On a machine that takes two cycles for each instruction, CPI is 2.  Stacks that are sampled by cycles are of calls
# that the program makes, and methods have samples as they take cycles.
. "$(dirname "$0")/figures.bash"
in_machine -smp 1 -icount shift=1

"$mmprof" profile --two-runs -e cycles,instructions -o "$SCRATCH/profile" -- \
    java -Xmx256m -cp "$classes" pmu.KnownWork 200 > "$SCRATCH/out" 2>&1
matches "a program takes two cycles for each instruction" "$(cat "$SCRATCH/out")" '^KnownWork\.main .* 2\.000 '
matches "so does the average" "$(cat "$SCRATCH/out")" '^whole process .* 2\.000 '

# ---- top-down ----

# QEMU's PMU counts no stalls: it counts instructions in their place (test/tools/stalls_agent.c), half of the cycles.
topdown() {
    LD_PRELOAD=$build/test/tools/stalls_agent.so "$mmprof" record -q -e topdown --include 'pmu/*' --min-bytecodes 0 \
        -o "$SCRATCH/topdown.dat" -- java -Xmx256m -cp "$classes" pmu.KnownWork 30 > "$SCRATCH/out" 2>&1
    csv "$SCRATCH/topdown.dat" > "$SCRATCH/topdown.csv"
}
# part NAME: of main
part() {
    column_of "$SCRATCH/topdown.csv" KnownWork.main "$1"
}
topdown
known_cpi "the N1's front-end bound is the share of its stalled cycles" "$(part frontend_bound_share)" 0.5
between "it is the formula over the counts beside it: their difference" \
    "$(calculated "$(part frontend_bound_share) - $(part STALL_FRONTEND) / $(part cycles)")" -1e-6 1e-6
is "a part whose event does not count has no figure" "$(part backend_bound_share)" ""
report=$("$mmprof" report --notes "$SCRATCH/topdown.dat")
matches "nor has one without a formula" "$report" "without a figure: Neoverse N1 counts stalled cycles, not slots"
matches "the reasons are told" "$report" 'not measured: STALL_BACKEND: it was 0 in'
LIBPFM_FORCE_PMU=arm_n2 topdown
# Half of the operations retire, and each of five slots of a cycle is lost as often as an instruction is retired.
known_cpi "the N2's retiring slots are known" "$(part retiring_share)" "$(awk 'BEGIN { print 0.5 * (1 - 2 / 10) }')"

# ---- events that take IP samples ----

"$mmprof" record --frequency 500 --ip-events cycles,instructions -o "$SCRATCH/ip.dat" -- \
    java -Xint -Xmx256m -cp "$classes" pmu.KnownWork 100 > "$SCRATCH/out" 2>&1
"$mmprof" report --view vm --csv "$SCRATCH/ip.dat" > "$SCRATCH/ip.csv"
# ratio ROW: CPI of it, and half of its interval.
ratio() {
    tr -d '\r' < "$SCRATCH/ip.csv" | awk -F, -v row="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        $1 == row { print $at["cpi"], $at["cpi_error"] }'
}
for row in interpreter total; do
    read -r value error <<< "$(ratio $row)"
    between "CPI of $row, from samples by cycles and by instructions (${value:--} +-${error:--})" \
        "$(calculated "(${value:-9} - 2) / (${error:-0} + 0.1)")" -1.5 1.5
done

# ---- samples ----

# by_cycles NAME OPTION... of java: samples, folded stacks, and a trace; with each sample, instructions.
by_cycles() {
    local name=$1
    shift
    : > "$SCRATCH/java.out"
    start "$SCRATCH/java.out" java -Xmx256m -cp "$classes" "$@"
    wait_for 60 grep -q READY "$SCRATCH/java.out"
    "$mmprof" sample -e cycles,instructions -c 250007 -d 1 --json --folded "$SCRATCH/$name.folded" \
        -o "$SCRATCH/$name.dat" \
        -p "$pid" > "$SCRATCH/$name.json" 2> "$SCRATCH/errors"
    is "$name: sampled by cycles" "$?$(cat "$SCRATCH/errors")" 0
}

# folded REGEX: the samples of those stacks.
folded() {
    awk -v regex="$1" '$0 ~ regex { sum += $NF } END { print sum + 0 }' "$SCRATCH/known.folded"
}

# The thread that has had the most CPU time.
busiest() {
    local task
    for task in /proc/"$pid"/task/*; do
        echo "$(sed 's/.*) //' "$task/stat" | awk '{ print $12 + $13 }') ${task##*/}"
    done | sort -n | tail -n 1 | cut -d' ' -f2
}

by_cycles known pmu.KnownWork 0 "$SCRATCH/stop"
main=$(busiest)
"$mmprof" sample -e cycles -F 2000 --budget 3% -d 2 --json -p "$pid" > "$SCRATCH/budget.json"
between "a budget of 3 % for samples by cycles is kept: per cent in mmprof and in the kernel" "$(awk '
    /"(own|kernel)_cpu_share":/ { sum += 100 * $2 } END { print sum + 0 }' "$SCRATCH/budget.json")" 0.1 4
touch "$SCRATCH/stop"
wait_gone 60 "$pid"
is "known: it ends well" "$(tail -n 1 "$SCRATCH/java.out" | cut -d' ' -f1)" ROUNDS
cpi=$(awk '$1 == "\"method\":" { is_main = $2 == "\"KnownWork.main\"," }
    is_main && $1 == "\"cpi\":" { print $2 + 0 }' "$SCRATCH/known.json")
between "each sample has the instructions of its cycles: CPI" "${cpi:-0}" 1.98 2.02
one=$(folded ';pmu.KnownWork.steps1') three=$(folded ';pmu.KnownWork.steps3')
# Three times the steps, called four times where the other is called five times; of 2,500 samples.
between "methods have samples as they have cycles ($one and $three)" "$(calculated "$three / ($one + $three)")" \
    0.67 0.74
"$mmprof" dump "$SCRATCH/known.dat" > "$SCRATCH/dump"
number=$(sed -n "s/^thread  *\([0-9]*\) .*: tid $main,.*/\1/p" "$SCRATCH/dump")
between "nearly all are of its thread: per cent" \
    "$(awk -v thread="$number," '/^sample  thread/ { n++; own += $3 == thread } END { print n ? 100 * own / n : 0 }' \
        "$SCRATCH/dump")" 95 100

for modifier in precise=2 pp; do
    "$mmprof" sample -e cycles:$modifier -- java -version > "$SCRATCH/out" 2>&1
    matches "precise samples (:$modifier), which this PMU does not have, are refused" "$(cat "$SCRATCH/out")" \
        "^mmprof sample: 'cycles:$modifier' takes no samples: this PMU has no such precise level"
done

# Prologues, epilogues and stubs: much of what this program does.
by_cycles chains -XX:CompileCommand=quiet '-XX:CompileCommand=dontinline,target.Chains*::*' target.Chains
stop "$pid"
is "all stacks are of calls that the program makes" "$(impossible_chains "$SCRATCH/chains.folded")" ""
between "of so many samples" "$(awk '{ sum += $NF } END { print sum }' "$SCRATCH/chains.folded")" 1000 4200
matches "and whole" "$(cat "$SCRATCH/chains.json")" '"whole_stacks_share":	(0\.999|1$|1,)'

done_testing
