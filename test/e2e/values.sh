#!/bin/bash
# Calls that are told apart by an argument's value (--argument): each has as many as the program says, on each JDK.
# The same for the program's marks (core/agent/Marks.java), whose CPU time the program measures itself.
# timeout: 180
. "$(dirname "$0")/../lib.sh"

by=()
for argument in 'handle(1).getUri()' 'sleep(1).getUri()' 'size(3)' 'kind(1)' 'many(1)' 'text(1)' \
    'visit(0).getName()'; do
    by+=(--argument "Values.$argument")
done

# differ TRUTH TABLE: marks whose times are off by more than a tenth and 5 ms, or whose numbers are others.
differ() {
    "$mmprof" report --by mark --json "$2" | python3 -c '
import json, sys
rows = {r["value"]: (int(r["calls"]), r["total_ns"] / 1e6)
        for r in json.load(sys.stdin)["rows"] if r["kind"] == "value"}
truth = {w[0]: (int(w[1]), float(w[2])) for w in (line.split() for line in open(sys.argv[1]))}
for mark in rows.keys() | truth.keys():
    (n, ms), (calls, known) = rows.get(mark, (0, 0)), truth.get(mark, (0, 0))
    if n != calls or abs(ms - known) > known / 10 + 5:
        print(mark, n, ms, "in place of", calls, known)' "$1"
}

mkdir "$SCRATCH/marked"
"$(first_jdk)/bin/javac" -nowarn -Xlint:-options --release 8 -d "$SCRATCH/marked" "$root/core/agent/Marks.java" \
    "$root/test/java/marked/Marked.java"

for jdk in $(jdks); do
    version=$(jdk_version "$jdk")
    trace=$SCRATCH/values-$version.dat
    "$mmprof" record -q --include target/Values.main -o "$trace" "${by[@]}" -- \
        "$jdk/bin/java" -cp "$classes" target.Values > "$SCRATCH/said" 2>&1
    is "JDK $version: the program ends as it does by itself" $? 0
    "$mmprof" report --by 'Values.*' --json "$trace" > "$SCRATCH/table" 2>&1
    python3 -c '
import json, sys
for row in json.load(sys.stdin)["rows"]:
    if row["kind"] != "others":
        print(row["method"], row["value"], int(row["calls"]))' < "$SCRATCH/table" | sort > "$SCRATCH/recorded"
    sort "$SCRATCH/said" > "$SCRATCH/counted"
    is "JDK $version: each value has its calls" "$(diff "$SCRATCH/recorded" "$SCRATCH/counted" | head -n 20)" ""
    is "JDK $version: they are about a thousand" "$(wc -l < "$SCRATCH/counted")" 1021
    "$mmprof" record -q --include Marked.parse --argument 'mmprof.Marks.mark(1)' -o "$SCRATCH/marks-$version.dat" -- \
        "$jdk/bin/java" -cp "$SCRATCH/marked" Marked > "$SCRATCH/said" 2>&1
    is "JDK $version: marks have the CPU time up to the next one" "$(wc -l < "$SCRATCH/said") \
$(differ "$SCRATCH/said" "$SCRATCH/marks-$version.dat")" "3 "
done
matches "a trace without marks is refused" "$("$mmprof" report --by mark "$trace" 2>&1)" \
    "has no values of 'mmprof.Marks.mark\(1\)'"
"$mmprof" report --by Values.text "$trace" > "$SCRATCH/text"
is "the argument may be named as for the recording" "$("$mmprof" report --by 'Values.text(1)' "$trace" | cksum)" \
    "$(cksum < "$SCRATCH/text")"
matches "one that was not recorded is refused" "$("$mmprof" report --by 'Values.main(1)' "$trace" 2>&1)" \
    "has no values of 'Values.main\(1\)'"
is "text of a value does not steer a terminal" "$(grep -c $'\033' "$SCRATCH/text")" 0

"$mmprof" record --argument 'Values.handle' -p 1 2> "$SCRATCH/errors"
matches "an argument without its number is refused" "$(cat "$SCRATCH/errors")" \
    "bad value 'Values.handle' of option --argument"
done_testing
