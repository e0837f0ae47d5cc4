#!/bin/bash
# mmprof profile: live, or record, select, record again, report; a program from its start, and one that runs.
# timeout: 300
. "$(dirname "$0")/../lib.sh"
needs_command profile

# column FILE KEY: a column of a CSV file, without its heading, one value a line; names have no commas in these tests.
column() {
    tr -d '\r' < "$1" | awk -F , -v key="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == key) c = i; next }
        c { print $c }'
}

jdk=$(first_jdk)
"$mmprof" profile -q --budget 50% --include 'micro/*' -o "$SCRATCH/live" -- \
    "$jdk/bin/java" -cp "$classes" micro.Thesis 250 $((20 * slow)) > "$SCRATCH/table" 2> "$SCRATCH/errors"
is "a program is profiled while it runs once" "$?" 0
is "with the same results" "$(grep -c '^SELF-CHECK micro/Thesis ok$' "$SCRATCH/table")" 1
matches "the table has methods that were found meanwhile" \
    "$(grep -v '^METHOD\|^UNITS' "$SCRATCH/table")" 'Thesis\.(compare|swap|sortData|readData)'
matches "above it stands what costs most" "$(cat "$SCRATCH/table")" \
    '^\* Thesis\.[a-zA-Z]+ itself uses [0-9.]+ .*% of the CPU time, .* \(--view callers=Thesis\.'
is "which is a view, too" \
    "$("$mmprof" report --view findings --csv "$SCRATCH/live/phases.dat" | grep -c '^finding,cpu,Thesis\.')" \
    "$(grep -c '^\* Thesis' "$SCRATCH/table")"
for file in phases.json phases.dat; do
    holds "$file is kept" test -s "$SCRATCH/live/$file"
done
holds "there is no recording of all methods" test ! -e "$SCRATCH/live/trace.dat"

"$mmprof" profile -q -o "$SCRATCH/live" -- "$jdk/bin/java" -cp "$classes" micro.Thesis 20 1 > "$SCRATCH/table" 2>&1
is "a program that ends before its phases are found has no table" "$?" 1
matches "and the next step is named" "$(cat "$SCRATCH/table")" 'next: add --two-runs'

"$mmprof" profile -q --groups separate -d 1 -p $$ > "$SCRATCH/table" 2>&1
matches "separate groups need two runs, and this is said" "$(cat "$SCRATCH/table")" 'next: add --two-runs'

"$mmprof" profile -q --two-runs --include 'micro/*' --weight 10% --grain 5% -o "$SCRATCH/profile%%t" -- \
    "$jdk/bin/java" -cp "$classes" micro.Thesis $((500 * slow)) 1 > "$SCRATCH/table" 2> "$SCRATCH/errors"
is "with --two-runs, a program is profiled from its start" "$?" 0
is "it ran twice, with the same results" "$(grep -c '^SELF-CHECK micro/Thesis ok$' "$SCRATCH/table")" 2
for method in main readData sortData; do
    matches "the table on the screen has $method" "$(grep -v '^METHOD\|^UNITS' "$SCRATCH/table")" "Thesis.$method"
done
for file in trace.dat phases.json phases.dat; do
    holds "$file is kept, where %% is one %" test -s "$SCRATCH/profile%t/$file"
done

"$mmprof" report --csv "$SCRATCH/profile%t" > "$SCRATCH/report.csv" 2> "$SCRATCH/errors"
is "report --csv of the directory, that is of the second trace, succeeds" "$?$(cat "$SCRATCH/errors")" 0
"$mmprof" report --json "$SCRATCH/profile%t/phases.dat" > "$SCRATCH/report.json" 2> "$SCRATCH/errors"
is "report --json too" "$?$(cat "$SCRATCH/errors")" 0

"$mmprof" profile -q --two-runs --include 'micro/*' --weight 10% --grain 5% -o "$SCRATCH/profile" -- \
    sh -c 'nice; exec "$0" "$@"' "$jdk/bin/java" -cp "$classes" micro.Thesis 50 1 > "$SCRATCH/table" 2>&1
is "both runs have the priority that the program would have" "$(grep -cx -- "$(nice)" "$SCRATCH/table")" 2

start_busy "$jdk" -Dbusy.rest=false
jvm=$pid
"$mmprof" profile -q --exclude '*' -d 2 -o "$SCRATCH/none" -p "$jvm" > "$SCRATCH/table" 2> "$SCRATCH/errors"
is "a running program of which no call was recorded has a report all the same" "$?" 0
matches "of what samples found" "$(cat "$SCRATCH/table")" '^Busy\.[a-z]+ .* [0-9]+ samples'
matches "and it is said why" "$(tr '\n' ' ' < "$SCRATCH/errors")" \
    'no call was recorded, so there are no phases; .* next: .*with a --budget of more than 1%'
"$mmprof" profile -q --two-runs --include 'target/*' -d 2 -o "$SCRATCH/late" -p "$jvm" \
    > "$SCRATCH/table" 2> "$SCRATCH/errors"
is "a running program is profiled with --two-runs" "$?" 0
matches "the table has its phases" "$(cat "$SCRATCH/table")" 'Busy\.'

# The budget is whatever this machine's CPUs have left for the program.
if ! command -v script > "$SCRATCH/which"; then
    skip "a running program is profiled in a terminal" "there is no script(1)"
else
    screen=$SCRATCH/screen
    drawn_twice() {
        [ "0$(grep -ac 'in the first [0-9]* s' "$screen" 2> /dev/null)" -ge 2 ] && grep -aq '^\* Busy\.' "$screen"
    }
    { wait_for 20 drawn_twice && printf '\003' && ended "$screen"; } |
        in_terminal "$screen" "$mmprof profile --budget 50% --include 'target/*' -o $SCRATCH/late -p $jvm"
    tr -d '\r' < "$screen" | sed 's/\x1b\[[0-9]*[A-Za-z]//g' > "$SCRATCH/shown"
    matches "what was found so far is shown after five seconds, and soon again" \
        "$(sed -nE 's/.*in the first ([0-9]+) s.*/\1/p' "$SCRATCH/shown" | xargs)" '^(5|6) ([6-9]|10)( |$)'
    matches "it is the findings" "$(sed '/^mmprof: recorded/,$d' "$SCRATCH/shown")" \
        '^\* Busy\.[a-z]+( itself| \(with the library code that it calls\)) uses '
    matches "Ctrl-C ends the recording" "$(cat "$SCRATCH/shown")" '^STATUS 0'
    matches "and prints the table so far" "$(sed -n '/^Phase /,$p' "$SCRATCH/shown")" '^Busy\.'
fi
goes_on "it goes on"
stop_busy "$jvm" "its results and output are those without mmprof"

done_testing
