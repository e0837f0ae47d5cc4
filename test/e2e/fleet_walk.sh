#!/bin/bash
# The walk of mmprof-fleet(1), on three JVMs at once, as it stands there: files, rows, and the phases of all of them.
# timeout: 300
# long: yes
. "$(dirname "$0")/../lib.sh"
needs_command fleet
jdk=$(jdks | head -n 1)
export PATH=$build:$PATH
cd "$SCRATCH" || exit 1

# example COMMAND: what the manual's first example has of it, with files and names of this test.
example() {
    sed -n '/^.Sh EXAMPLES/,/^The same with ClickHouse/p' "$root/man/mmprof-fleet.1" | sed 's/ \\e$/ \\/' |
        awk -v start="mmprof $1" 'index($0, start) == 1 { on = 1 } on { print; on = /\\$/ }' |
        sed -e 's|\*-$(date[^)]*)\*|*|; s|/var/lib/mmprof|traces|; s|/data/rows|rows|' \
            -e 's|--every 60s|--every 2s|; s|--bucket 60s|--bucket 1s|' \
            -e "s|--name ShopServer|--name ${2-}|"
}

recorders=()
for i in 1 2 3; do
    start "walk.$i" "$jdk/bin/java" "-Dfleet.walk.$i" -XX:+EnableDynamicAgentLoading -cp "$classes" target.Busy \
        "$SCRATCH/never" 20
    jvms[i]=$pid
    echo "exec $(example record "fleet.walk.$i") -q --include 'target/Busy'" > "record.$i"
    start "recorder.$i" bash "record.$i"
    recorders+=("$pid")
done
files() {
    find traces -name '*.dat' 2> ignored | wc -l
}
has_files() {
    [ "$(files)" -ge 9 ]
}
wait_for 60 has_files && ok "three JVMs are recorded at once" || not_ok "three JVMs are recorded at once" \
    "$(cat record.1 recorder.*)"
for pid in "${recorders[@]}"; do
    kill -TERM "$pid"
    wait "$pid"
done
for i in 1 2 3; do
    stop "${jvms[i]}"
done
bash -c "$(example export)" > said 2>&1
is "their files become rows" $? 0
bash -c "$(example 'fleet add')" > said 2>&1
status=$?
if [ $status != 0 ] && grep -q 'cannot find DuckDB' said; then
    skip "each JVM is a run, in several files" "there is no DuckDB: 'make duckdb' brings it"
    done_testing
    exit
fi
is "which go where all rows are" "$status" 0
"$mmprof" fleet sql --csv rows 'SELECT count(DISTINCT run), count(DISTINCT (run, file)) > 3 FROM phases' \
    > runs 2> errors
is "each JVM is a run, in several files" "$(sed -n '2s/\r$//p' runs)" "row,3,true"
bash -c "$(example 'fleet select') --csv" > selected 2> errors
matches "phases are selected over all of them" "$(cat selected errors)" 'shop,.*target\.Busy\.round'
bash -c "$(example 'fleet outliers')" > outliers 2>&1
matches "outliers are looked for, and why these few are not judged is said" "$(cat outliers)" 'no run has 8 phases'

done_testing
