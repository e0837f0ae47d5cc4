#!/bin/bash
# mmprof profile: record, select, record again, report; a program from its start, and one that runs.
# timeout: 300
. "$(dirname "$0")/../lib.sh"
needs_command profile

# column FILE KEY: a column of a CSV file, without its heading, one value a line; names have no commas in these tests.
column() {
    tr -d '\r' < "$1" | awk -F , -v key="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == key) c = i; next }
        c { print $c }'
}

jdk=$(first_jdk)
"$mmprof" profile -q --include 'micro/*' --weight 10% --grain 5% -o "$SCRATCH/profile" -- \
    "$jdk/bin/java" -cp "$classes" micro.Thesis $((500 * slow)) 1 > "$SCRATCH/table" 2> "$SCRATCH/errors"
is "a program is profiled from its start" "$?" 0
is "it ran twice, with the same results" "$(grep -c '^SELF-CHECK micro/Thesis ok$' "$SCRATCH/table")" 2
for method in main readData sortData; do
    matches "the table on the screen has $method" "$(grep -v '^METHOD\|^UNITS' "$SCRATCH/table")" "Thesis.$method"
done
for file in trace.dat phases.json phases.dat; do
    holds "$file is kept" test -s "$SCRATCH/profile/$file"
done

"$mmprof" report --csv "$SCRATCH/profile/phases.dat" > "$SCRATCH/report.csv" 2> "$SCRATCH/errors"
is "report --csv of the second trace succeeds" "$?$(cat "$SCRATCH/errors")" 0
"$mmprof" report --json "$SCRATCH/profile/phases.dat" > "$SCRATCH/report.json" 2> "$SCRATCH/errors"
is "report --json too" "$?$(cat "$SCRATCH/errors")" 0

"$mmprof" profile -q --include 'micro/*' --weight 10% --grain 5% -o "$SCRATCH/profile" -- \
    sh -c 'nice; exec "$0" "$@"' "$jdk/bin/java" -cp "$classes" micro.Thesis 50 1 > "$SCRATCH/table" 2>&1
is "both runs have the priority that the program would have" "$(grep -cx -- "$(nice)" "$SCRATCH/table")" 2

start_busy "$jdk"
jvm=$pid
"$mmprof" profile -q --include 'target/*' -d 2 -o "$SCRATCH/late" -p "$jvm" > "$SCRATCH/table" 2> "$SCRATCH/errors"
is "a running program is profiled" "$?" 0
matches "the table has its phases" "$(cat "$SCRATCH/table")" 'Busy\.'
goes_on "it goes on"
stop_busy "$jvm" "its results and output are those without mmprof"

done_testing
