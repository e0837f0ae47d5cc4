#!/bin/bash
# Calls that are told apart by an argument's value (--argument): each has as many as the program says, on each JDK.
# timeout: 120
. "$(dirname "$0")/../lib.sh"

by=()
for argument in 'handle(1).getUri()' 'sleep(1).getUri()' 'size(3)' 'kind(1)' 'many(1)' 'text(1)' \
    'visit(0).getName()'; do
    by+=(--argument "Values.$argument")
done

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
done
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
