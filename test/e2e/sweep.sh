#!/bin/bash
# mmprof sweep: heap sizes, against what the program says of its collections; sizes that do not work.
# timeout: 200
. "$(dirname "$0")/../lib.sh"

java=$(first_jdk)/bin/java
cd "$SCRATCH" || exit 1

"$mmprof" sweep --heap 32m,128m,4k --runs 2 --csv -o runs -- \
    "$java" -XX:+UseSerialGC -cp "$classes" target.Collected truth > table 2> errors
is "a program is run with each size" "$? $(sort truth | cut -d ' ' -f 1 | uniq -c | xargs)" "0 2 -Xmx128m 2 -Xmx32m"
# off MOST FIELD KEY UNIT: sizes whose mean in the table is further from that of the program's own than a part and 5.
off() {
    python3 -c '
import csv, sys
most, field, key, unit = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
lines = [line.split() for line in open("truth")]
for row in csv.DictReader(open("table")):
    told = [float(line[field]) for line in lines if line[0] == "-Xmx" + row["heap"]]
    if told and abs(float(row[key]) / unit - sum(told) / len(told)) > most * sum(told) / len(told) + (5 if most else 0):
        print(row["heap"], row[key], told)' "$@"
}
is "the number of collections is what the program counts" "$(off 0 1 collections 1)" ""
is "pauses take as long as it says" "$(off 0.05 2 pause_ns 1e6)" ""
matches "a size that is too small has no figures" "$(tr -d '\r' < table)" '^heap,4k,0,,,,,,,$'
is "each run has its trace" "$(cd runs && echo *-?.dat)" "128m-1.dat 128m-2.dat 32m-1.dat 32m-2.dat 4k-1.dat"
is "which are kept" "$("$mmprof" sweep -o runs -- "$java" 2>&1 | head -n 1)" "mmprof sweep: 'runs' has 5 traces already"
matches "sizes with none of which it runs are an error" \
    "$("$mmprof" sweep --heap 4k --runs 1 -o none -- "$java" -version 2>&1; echo $?)" "none of the heap sizes '4k'"
matches "a command with a size is refused" "$("$mmprof" sweep -- "$java" -Xmx1g 2>&1)" "'-Xmx1g' sets the heap's size"
matches "so is what is no size" "$("$mmprof" sweep --heap 64m,much -- "$java" 2>&1)" "malformed heap sizes '64m,much'"
matches "and what is not java" "$("$mmprof" sweep -- sh 2>&1)" "'sh' is not java"
done_testing
