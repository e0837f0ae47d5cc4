#!/bin/bash
# mmprof fleet --engine: the same questions to ClickHouse as to DuckDB, with the same answers.  Its current engine comes
# from npm (@chdb/lib-linux-x64-gnu, 559 MB): MMPROF_CHDB=libchdb.so.  Behind the server's HTTP is a stand-in.
# timeout: 300
# long: yes
. "$(dirname "$0")/../lib.sh"
needs_command fleet
[ -r "${MMPROF_CHDB-}" ] || skip_all "MMPROF_CHDB names no libchdb.so (npm: @chdb/lib-linux-x64-gnu)"
[ -r "${MMPROF_DUCKDB-$build/libduckdb.so}" ] || skip_all "there is no DuckDB: 'make duckdb' brings it"

"$build/test/tools/make_fleet" "$SCRATCH/rows" 20 30 5 3
echo secret > "$SCRATCH/password"
start "$SCRATCH/port" python3 "$root/test/tools/clickhouse_stand_in.py" "$MMPROF_CHDB" secret
wait_for 60 test -s "$SCRATCH/port"
engine=(--engine "clickhouse://127.0.0.1:$(cat "$SCRATCH/port")" --password-file "$SCRATCH/password")

is "files are added" "$("$mmprof" fleet add "${engine[@]}" "$SCRATCH"/rows/*.parquet 2>&1)" \
    "20 added, 0 there already, 0 not added"
is "adding them again does nothing" "$("$mmprof" fleet add "${engine[@]}" "$SCRATCH"/rows/*.parquet 2>&1)" \
    "0 added, 20 there already, 0 not added"

# both ACTION...: what the server and DuckDB say, without the line of what was asked.
both() {
    is "fleet $*: ClickHouse and DuckDB say the same" "$("$mmprof" fleet "$@" "${engine[@]}" 2>&1 | tail -n +2)" \
        "$("$mmprof" fleet "$@" "$SCRATCH/rows" 2>&1 | tail -n +2)"
}
both select --weight 3%
both compare --before version=1 --after version=2
both outliers
both outliers --measure call-time --all
"$build/test/tools/make_fleet" bad "$SCRATCH/bad"
"$mmprof" fleet add "$SCRATCH/rows" "$SCRATCH/bad/sampled.parquet" > "$SCRATCH/said" 2>&1
is "a method without calls is added" "$("$mmprof" fleet add "${engine[@]}" "$SCRATCH/bad/sampled.parquet" 2>&1)" \
    "1 added, 0 there already, 0 not added"
both select --weight 3%
both compare --before version=1 --after version=2 --all
for name in "\\' OR true --" $'\\' "'" "a\\''" '$$' '{x:String}' $'a\n'; do
    is "no row is of a service '$name'" "$("$mmprof" fleet select --json --service "$name" "${engine[@]}" 2>&1 |
        grep -c '"phase"')" 0
    both select --service "$name"
    both outliers --service "$name"
done
matches "the planted regression is found" "$("$mmprof" fleet compare --before version=1 --after version=2 \
    "${engine[@]}" 2>&1)" 'Service7\.handle'
matches "and the planted outlier" "$("$mmprof" fleet outliers "${engine[@]}" 2>&1)" 'host-17-'
matches "a query of one's own" \
    "$("$mmprof" fleet sql "${engine[@]}" --csv 'SELECT count(*) AS n FROM phases;' 2>&1)" 3103
# dashboard SERVICE: its queries, and that of the services, as Grafana and its data source of ClickHouse expand them.
dashboard() {
    python3 -c 'import json, re, sys
board = json.load(open(sys.argv[1]))
queries = [panel["targets"][0]["rawSql"] for panel in board["panels"]]
queries += [one["query"] for one in board["templating"]["list"] if one["type"] == "query"]
service = "\x27" + sys.argv[2].replace("\x27", "\x27\x27") + "\x27"
for query in queries:
    query = re.sub(r"\$__timeFilter\((\w+)\)", r"\1 >= toDateTime(1789999000) AND \1 <= toDateTime(1790090000)", query)
    print(query.replace("${service:sqlstring}", service))' "$root/report/fleet/grafana_dashboard.json" "$1"
}

while IFS= read -r query; do
    "$mmprof" fleet sql "${engine[@]}" --csv "$query" > "$SCRATCH/answer" 2>&1
    is "a query of Grafana's dashboard is answered" "$?" 0
    matches "with rows" "$(wc -l < "$SCRATCH/answer")" '^([2-9]|[1-9][0-9]+)$'
done < <(dashboard shop)
head -c 300 "$SCRATCH/bad/whole.parquet" > "$SCRATCH/bad/cut.parquet"
cp "$SCRATCH/bad/whole.parquet" "$SCRATCH/bad/again.parquet"
"$mmprof" fleet add --strict "${engine[@]}" "$SCRATCH"/bad/{whole,again,cut,foreign,newer,hostile}.parquet \
    > "$SCRATCH/said" 2>&1
is "with --strict it is an error if a file is not added" $? 1
matches "and each is counted" "$(cat "$SCRATCH/said")" '2 added, 1 there already, 3 not added'
for name in cut foreign newer; do
    matches "and named" "$(cat "$SCRATCH/said")" "bad/$name.parquet' is not added: "
done
cp "$SCRATCH"/bad/{future,early}.parquet "$SCRATCH/rows"
"$mmprof" fleet add --strict "${engine[@]}" "$SCRATCH"/bad/{future,early}.parquet > "$SCRATCH/said" 2>&1
is "with --strict rows of a wrong clock are an error" $? 1
matches "a clock ahead is told" "$(cat "$SCRATCH/said")" "future.parquet' has 2 rows of .* in the future"
matches "and one that was put back" "$(cat "$SCRATCH/said")" "early.parquet' has 2 rows of .* before their run began"
for query in "SELECT count(*) AS n FROM phases WHERE run LIKE 'h-4-%' OR run LIKE 'h-5-%'" \
    "SELECT max(ts) < now() AS past FROM phases"; do
    "$mmprof" fleet sql --csv "${engine[@]}" "$query" 2>&1 | sed 's/,true/,1/' > "$SCRATCH/answer"
    is "no answer has them: $query" "$(cat "$SCRATCH/answer")" \
        "$("$mmprof" fleet sql --csv "$SCRATCH/rows" "$query" 2> "$SCRATCH/errors" | sed 's/,true/,1/')"
done
rm "$SCRATCH"/rows/{future,early}.parquet
service=$("$mmprof" fleet sql "${engine[@]}" --csv "SELECT DISTINCT service FROM phases WHERE run LIKE 'h-6-%'" 2>&1)
matches "a label is what it was" "$service" "<script>alert\(1\)</script>'\\); DROP TABLE phases; --"
matches "and can be asked for" "$("$mmprof" fleet select --csv "${engine[@]}" --service \
    "$(printf '<script>alert(1)</script>'\''); DROP TABLE phases; --"../../../etc/x\033[31m,=1+1')" 2>&1 | wc -l)" '^2$'
matches "the server refuses what changes anything" \
    "$("$mmprof" fleet sql "${engine[@]}" 'DROP TABLE mmprof.phase_rows' 2>&1)" READONLY
matches "without the password it is said what to give" "$("$mmprof" fleet select "${engine[0]}" "${engine[1]}" 2>&1)" \
    'next: give clickhouse://USER@HOST:PORT and --password-file FILE'
while IFS= read -r query; do
    "$mmprof" fleet sql "${engine[@]}" --csv "$query" > "$SCRATCH/answer" 2>&1
    is "a query of the dashboard with that label is answered" "$?" 0
done < <(dashboard "$(printf '<script>alert(1)</script>'\''); DROP TABLE phases; --"../../../etc/x\033[31m,=1+1')" |
    head -n 4)
# Last: what the embedded library is asked next after that has no answer.
forever='SELECT sum(sipHash64(number)) FROM numbers(1000000000000)'
matches "a query that takes too long is ended" "$("$mmprof" fleet sql "${engine[@]}" --timeout 1s "$forever" 2>&1)" \
    'takes longer than 1 s'
matches "where there is no server it is said which port" \
    "$("$mmprof" fleet select --engine clickhouse://127.0.0.1:1 2>&1)" 'next: see that it runs'

done_testing
