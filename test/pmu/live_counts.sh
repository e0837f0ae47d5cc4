#!/bin/bash
# timeout: 900
# takes: 150
# One live recording with counters: what it selects by itself has the CPI that is known, in the report and in 'top'.
export MACHINE_RUN_S=800
. "$(dirname "$0")/figures.bash"
in_machine -smp 1 -icount shift=1

trace=$SCRATCH/live.dat
start_busy "$(first_jdk)"
jvm=$pid

"$mmprof" record --live -e cycles,instructions -p "$jvm" -d 20 -o "$trace" > "$SCRATCH/out" 2>&1
is "a live recording reads counters" "$?$(grep 'events were not counted\|is not counted:\|cannot' "$SCRATCH/out")" 0
csv "$trace" > "$SCRATCH/csv"
# The phases of the program's own class: how many, and the least and largest CPI.
read -r n low high < <(awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    $1 == "phase" && $2 ~ /^Busy\./ && $at["cpi"] > 0 {
        cpi = $at["cpi"] + 0
        low = n == 0 || cpi < low ? cpi : low
        high = cpi > high ? cpi : high
        n++
    }
    END { print n + 0, low + 0, high + 0 }' "$SCRATCH/csv")
between "it has found phases by itself" "$n" 1 100
between "whose CPI is 2" "$low" 1.999 2.001
between "all of them" "$high" 1.999 2.001
known_cpi "so is that of all" "$(awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $1 == "total" { print $at["cpi"] }' "$SCRATCH/csv")" 2

"$mmprof" top --count 12 --budget 50% -e cycles,instructions -p "$jvm" > "$SCRATCH/top" 2> "$SCRATCH/errors"
matches "top shows it, too: $(tail -n 1 "$SCRATCH/errors")" "$(cat "$SCRATCH/top")" 'Busy| 2\.00 .*Busy'
matches "with the CPI" "$(grep Busy "$SCRATCH/top")" ' 2\.00'
stop_busy "$jvm" "the program's results and output are those without mmprof"

done_testing
