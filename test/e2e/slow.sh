#!/bin/bash
# Calls of which one in a hundred is slow for a reason that is planted: report --view slow names it, on each JDK.
# timeout: 400
# long: yes
. "$(dirname "$0")/../lib.sh"
needs_command profile

ms=150
told=() # methods that are told apart by an argument have probes from the start
for method in steady sleeps enters locks takes reads collects computes; do
    told+=(--argument "Tail.$method(1)")
done

# judge: of the view in JSON, two lines for each planted method: the argument that its slow calls have, if it is seldom
# otherwise; and its name, whether its part is the largest (the machine's run queue is nobody's plan), how long that is
# in percent of what is planted, whether the parts add up, and why.
judge() {
    python3 -c '
import json, sys
planted = {"sleeps": "sleep", "enters": "monitor", "locks": "lock", "takes": "park", "reads": "socket",
           "collects": "collection", "computes": "cpu", "steady": None}
names = list(planted.values())[:-1] + ["run_queue", "object_wait", "file", "page_fault", "jvm", "not_known"]
names.append("throttled")
for row in json.load(sys.stdin)["rows"]:
    if row["class"] != "target/Tail" or row["method"] not in planted:
        continue
    parts = {name: row[name + "_ns"] for name in names}
    above, cause = row["above_ns"], planted[row["method"]]
    sums = "adds up" if abs(sum(parts.values()) - above) <= 0.05 * above else "does not add up"
    del parts["run_queue"]
    most = max(parts, key=parts.get)
    part = 100 * parts[cause if cause else most] / (1e6 * float(sys.argv[1]))
    if row["value"] is not None and row["value_share"] < 0.1:
        print("value of", row["method"], row["value"])
    print(row["method"], "largest" if most == cause else most, int(part), sums, row["because"])' $ms
}

for jdk in $(jdks); do
    v="JDK $(jdk_version "$jdk")"
    "$mmprof" record -q --live --budget 90% "${told[@]}" -o "$SCRATCH/tail.dat" -- \
        "$jdk/bin/java" -Xmx300m -XX:+UseSerialGC -cp "$classes" target.Tail $((25 * slow)) $ms > "$SCRATCH/said" 2>&1
    "$mmprof" report --view slow --top 0 --json "$SCRATCH/tail.dat" > "$SCRATCH/table"
    "$mmprof" report --html "$SCRATCH/page.html" "$SCRATCH/tail.dat"
    holds "$v: the page says it, too" grep -q 'Tail.sleeps: the slowest 1 % take' "$SCRATCH/page.html"
    judge < "$SCRATCH/table" > "$SCRATCH/judged"
    for method in sleeps enters locks takes reads computes; do
        matches "$v: $method: what is planted is the largest part, as long as planted" "$(cat "$SCRATCH/judged")" \
            "^$method largest ([6-9][0-9]|1[0-9][0-9]) adds up"
    done
    matches "$v: a collection that falls into a call is found" "$(cat "$SCRATCH/judged")" \
        '^collects largest [0-9]+ adds up'
    matches "$v: who holds the monitor is said" "$(cat "$SCRATCH/judged")" \
        '^enters .*waiting for a monitor \(Object\) that Tail.refresh holds'
    for method in sleeps computes; do
        matches "$v: $method: the slowest have the argument that makes them slow" "$(cat "$SCRATCH/judged")" \
            "^value of $method true\$"
    done
    matches "$v: calls without a tail have no part that is planted" "$(cat "$SCRATCH/judged")" \
        '^steady (cpu|not_known) [0-9] '
done
done_testing
