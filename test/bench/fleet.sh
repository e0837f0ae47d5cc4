#!/bin/bash
# What questions to a fleet take, and whether they find what is planted and nothing else:   make bench-fleet
#
# The phases are those of the traces in FLEET_TRACES, made many with noise of known size (test/tools/make_fleet.c): in
# version 2 the eighth one takes 1.2 times as long, and JVM 17 has 1.5 times the CPI.  Costs are CPU time.
#
#     FLEET_TRACES="a.dat b.dat"      recordings; without them the phases are made up
#     FLEET_SIZE="1000 200 60"        JVMs, phases, minutes, of which costs are printed (12 M rows: made in 10 minutes)
#     FLEET_SEEDS="1 20"              the first and the last seed of fleets with a line each, of the size
#     FLEET_SMALL="60 200 3"          (1000 200 60: a minute of CPU time each)
. "$(dirname "$0")/../lib.sh"
cd "$SCRATCH" || exit 1

read -r -a size <<< "${FLEET_SIZE:-1000 200 60}"
read -r -a small <<< "${FLEET_SMALL:-60 200 3}"
read -r -a traces <<< "${FLEET_TRACES-}"
read -r first last <<< "${FLEET_SEEDS:-1 20}"
table=()

# Calls and times a minute of all methods that were recorded.
if [ ${#traces[@]} -gt 0 ]; then
    for trace in "${traces[@]}"; do
        "$mmprof" export -q -f json "$trace"
    done | python3 -c '
import json, sys
at, text, decoder, seen = 0, sys.stdin.read(), json.JSONDecoder(), set()
while text[at:].strip():
    table, n = decoder.raw_decode(text[at:].lstrip())
    at += len(text[at:]) - len(text[at:].lstrip()) + n
    total = next(row["self_ns"] for row in table["rows"] if row["kind"] == "total")
    for row in table["rows"]:
        if row["kind"] == "phase" and row.get("calls") and row.get("self_ns") and row["method"] not in seen:
            seen.add(row["method"])
            print("%.0f\t%.0f\t%.0f\t%s" % (max(row["calls"], 100), 6e10 * row["total_ns"] / total,
                                            6e10 * row["self_ns"] / total, row["method"]))' > table
    table=(table)
    echo "$(wc -l < table) phases of ${#traces[@]} traces"
fi

# ask NAME ARGUMENT...: CPU seconds, MB, and what it found.
ask() {
    rm -f took
    "$build/test/tools/timed" took "$mmprof" fleet "${@:2}" > answer 2>&1
    awk -v name="$1" '{ printf "%-10s %6.1f CPU s %6.0f MB   ", name, $5 + $7, $9 / 1024 }' took
    head -n 1 answer | sed 's/^fleet *//'
}

if [ "${size[0]}" -gt 0 ]; then
    "$build/test/tools/make_fleet" rows "${size[@]}" 1 "${table[@]}"
    echo "$((size[0] * (size[1] + 1) * size[2])) rows, $(du -sb rows | cut -f 1) bytes"
    ask select select rows
    ask compare compare --before version=1 --after version=2 rows
    ask outliers outliers rows
    ask call-time outliers --measure call-time rows
fi

# One fleet: what was planted and found, and what else was said to differ.
small_fleet() {
    rm -rf small
    "$build/test/tools/make_fleet" small "${small[@]}" "$1" "${table[@]}"
    "$mmprof" fleet compare --timeout 1h --weight 0 --json --before version=1 --after version=2 small > compare.json &&
        "$mmprof" fleet outliers --timeout 1h --json small > outliers.json &&
        python3 -c '
import json, sys
ratios = [row["ratio"] for row in json.load(open("compare.json"))["rows"]]
runs = [row["run"] for row in json.load(open("outliers.json"))["rows"]]
planted = sum(1.1 < ratio < 1.3 for ratio in ratios)
outlier = sum("host-17-" in run for run in runs)
print(planted, len(ratios) - planted, outlier, len(runs) - outlier, *map("{:.3f}".format, ratios))'
}

found=0 false=0 outlier=0 others=0
for ((seed = first; seed <= last; seed++)); do
    read -r a b c d ratios < <(small_fleet "$seed" 2> errors)
    [ -n "${d-}" ] || { echo "seed $seed failed: $(cat errors)"; continue; }
    echo "seed $seed: planted phase $a (ratio $ratios), other phases $b, planted run $c, other runs $d"
    found=$((found + a)) false=$((false + b)) outlier=$((outlier + c)) others=$((others + d))
done
echo "$((last - first + 1)) fleets of ${small[*]}: planted phase found in $found, others $false;" \
    "planted run in $outlier, others $others"
