#!/bin/bash
# mmprof report --view timeline: its sums are those of the report, in whatever steps.
# timeout: 120
. "$(dirname "$0")/../lib.sh"
needs_command report

jdk=$(first_jdk)
"$mmprof" record -q --include target/Cpu -o "$SCRATCH/cpu.dat" -- \
    "$jdk/bin/java" -XX:+UseG1GC -Xmx32m -cp "$classes" target.Cpu 1 > "$SCRATCH/out" 2>&1
is "a program that collects garbage is recorded" $? 0
cd "$SCRATCH" || exit 1

# sums_of FILE COLUMN: by the part of the VM; the phases and the other code are the application.
sums_of() {
    tr -d '\r' < "$1" | awk -F , -v column="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $1 == "region" || $1 == "kernel" || $1 == "total" || ($1 == "phase" && ("start_ns" in at)) { next }
        { sum[$1 == "phase" ? "application" : $1] += $at[column] }
        END { for (part in sum) printf "%s %.6f\n", part, sum[part] / 1e9 }' | sort
}

# all_of FILE COLUMN [NS]: the sum of the parts, less NS, in us.
all_of() {
    sums_of "$1" "$2" | awk -v less="${3:-0}" '{ sum += $2 } END { printf "%.0f", sum * 1e6 - less / 1e3 }'
}

"$mmprof" report --all --csv cpu.dat > report.csv
# fact KEY: of the report.
fact() {
    "$mmprof" report --json cpu.dat | sed -nE "s/.*\"$1\":[[:space:]]*([0-9.e+-]+).*/\1/p"
}
switches=$(fact switches_ns)
withheld=$(fact withheld_ns | cut -d . -f 1) # by the host: that stays in some rows
for step in 10ms 0.1 333ms 5; do
    "$mmprof" report --all --csv --view timeline=$step cpu.dat > "timeline.csv"
    is "steps of $step: the application's CPU time adds up to the report's" \
        "$(sums_of timeline.csv cpu_ns | grep '^application ')" "$(sums_of report.csv self_ns | grep '^application ')"
    # Each of ten figures is rounded, twice.
    off=$(($(all_of timeline.csv cpu_ns) - $(all_of report.csv self_ns "${switches:-0}")))
    if [ ${off#-} -le $((10 + ${withheld:-0} / 1000)) ]; then
        ok "steps of $step: and all that of all, but for what the kernel charges for switches"
    else
        not_ok "steps of $step: and all that of all, but for what the kernel charges for switches" \
            "off by $off us" "switches: ${switches:-not known} ns" "$(sums_of timeline.csv cpu_ns)" \
            "report:" "$(sums_of report.csv self_ns)"
    fi
done

# Those of the phases, too: both are without the other phases that they call.
phases_of() {
    tr -d '\r' < "$1" | awk -F , -v column="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $1 == "phase" { printf "%s %.6f\n", $at["method"], $at[column] / 1e9 }' | sort
}
is "so do the phases' own times" "$(phases_of timeline.csv cpu_ns)" "$(phases_of report.csv self_ns)"

# regions_of OPTION...: the region of each method, by name.
regions_of() {
    "$mmprof" report --all --csv "$@" cpu.dat | tr -d '\r' | awk -F , '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $1 == "phase" { print $at["label"], $at["region"] + 0 }' | sort
}
is "and their regions, in the table of phases" "$(regions_of --view phases=regions)" "$(regions_of --view timeline)"
matches "which are regions" "$(regions_of --view phases=regions)" ' [1-9][0-9]*$'
is "rows that stand for others have theirs, too" \
    "$("$mmprof" report --fold --csv --view phases=regions cpu.dat | tr -d '\r' |
        awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $1 == "phase" && $at["region"] == ""')" ""
"$mmprof" report --view timeline=50ms --csv cpu.dat > timeline.csv
steps=$(grep -c '^application,' timeline.csv)
is "each step has its collector" "$(grep -c '^gc,' timeline.csv)" "$steps"
[ "$steps" -ge 15 ] && ok "a second has many steps of 50 ms" ||
    not_ok "a second has many steps of 50 ms" "$(head -5 timeline.csv)"
"$mmprof" report --view timeline cpu.dat > timeline.txt
matches "text: a line for each region" "$(cat timeline.txt)" \
    '^region [12] +[0-9.]+ % of the time, [0-9]+ times?: .*[a-z]'
matches "text: a line for each step" "$(cat timeline.txt)" '^[0-9.]+ +[0-9] +[0-9.]+ '
"$mmprof" report --view timeline --json cpu.dat > timeline.json
holds "json: it is JSON" python3 -m json.tool timeline.json /dev/null

refused() {
    said=$("$mmprof" report "${@:3}" 2>&1)
    is "$1: status 1" $? 1
    matches "$1: says what to do" "$said" "$2"
}
refused "steps that are too short" 'next: take longer ones' --view timeline=0.000001 cpu.dat
refused "a step that is none" "'often' is no time" --view timeline=often cpu.dat
refused "two tables" 'next: choose one of them' --view timeline --stats cpu.dat
refused "two traces" 'next: run it once for each of them' --view timeline cpu.dat cpu.dat

# 51,200 pages are touched once: one of seven faults is told of, if nobody asks for them, and stands for as many.
"$mmprof" phases -q -o phases.json cpu.dat > said 2>&1
faults_of() {
    "$mmprof" record -q --phases phases.json "$@" -o faults.dat -- "$jdk/bin/java" -XX:+UseSerialGC -Xms200m -Xmx200m \
        -XX:+AlwaysPreTouch -cp "$classes" target.Cpu 1 > said 2>&1
    "$mmprof" report --view timeline --csv faults.dat | tr -d '\r' | awk -F , '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        ("page_faults" in at) && $1 != "region" { sum += $at["page_faults"] }
        END { print sum + 0 }'
}
if [ "$(trace_info cpu.dat offcpu)" = perf ]; then
    all=$(faults_of -e page-faults)
    is "page faults that were asked for are not samples" \
        "$("$mmprof" report --notes --view timeline faults.dat | grep -c 'page faults')" 0
    some=$(faults_of)
    matches "else they are, which is noted" "$("$mmprof" report --notes --view timeline faults.dat)" \
        'one in 7 page faults'
    if awk -v all="$all" -v some="$some" 'BEGIN { exit !(all > 10000 && some > 0.85 * all && some < 1.15 * all) }'; then
        ok "and as many"
    else
        not_ok "and as many" "$some, where $all were recorded"
    fi
else
    skip "page faults" "the kernel does not tell of them"
fi

done_testing
