#!/bin/bash
# A recording in several files is killed at random moments: each file that has its name is whole, the one that was being
# written is read up to where it is whole, the JVM goes on, and the next recording does.
# timeout: 900
# long: yes
. "$(dirname "$0")/faults.bash"

seed=${FAULTS_SEED:-20261128}
n_kills=$(either 3 40)
to=$SCRATCH/files
mkdir "$to"

# The moments in ms after the first file has its name.
moments() {
    awk -v seed="$seed" -v n="$n_kills" 'BEGIN { srand(seed); for (i = 0; i < n; i++) print int(2200 * rand()) }'
}

has_new() {
    find "$to" -name '*.dat' -newer "$SCRATCH/begun" | grep -q .
}

# kill_at MS
kill_at() {
    touch "$SCRATCH/begun"
    start "$SCRATCH/killed" "$mmprof" record -q --every 1s -o "$to" --include 'target/*' --min-bytecodes 0 \
        --metrics "$SCRATCH/m.prom" -p "$jvm"
    if ! wait_for 60 has_new; then
        not_ok "a recording begins after a kill" "$(cat "$SCRATCH/killed")"
    fi
    sleep "$(awk "BEGIN { print $1 / 1000 }")"
    stop "$pid"
}

start_busy "$(fault_jdks | tail -n 1)"
jvm=$pid
while read -r ms; do
    kill_at "$ms"
done < <(moments)

n_whole=0 n_bad=0 n_parts=0
for file in "$to"/*.dat; do
    if "$mmprof" report "$file" > "$SCRATCH/report" 2>&1; then
        n_whole=$((n_whole + 1))
    else
        n_bad=$((n_bad + 1))
        echo "# $file ($(stat -c %s "$file") bytes): $(head -n 1 "$SCRATCH/report")"
    fi
done
is "after $n_kills kills each of $n_whole files with a whole name is whole" $n_bad 0
for file in "$to"/*.part; do
    [ -e "$file" ] || continue
    n_parts=$((n_parts + 1))
    "$mmprof" report "$file" > "$SCRATCH/report" 2>&1 || matches "a part says what it lacks" \
        "$(cat "$SCRATCH/report")" "next: "
done
# A file that has ended is named when it is on the disk, and the next one is being written meanwhile.
[ $n_parts -le $((2 * n_kills)) ] && ok "a kill leaves two parts at most" || not_ok "there are more parts: $n_parts"
holds "the metrics are whole" python3 "$root/test/tools/read_exports.py" metrics "$SCRATCH/m.prom"
goes_on "the JVM goes on"
stop_busy "$jvm" "and ends as it does alone"

done_testing
