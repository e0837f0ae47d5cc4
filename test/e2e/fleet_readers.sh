#!/bin/bash
# A file of rows is read alike by DuckDB, by ClickHouse's engine and in JavaScript, to the last digit; and a pprof
# profile by a parser that is not ours.  MMPROF_NODE_MODULES=DIR has hyparquet and pprof-format, MMPROF_CHDB=libchdb.so
# is that of @chdb/lib-linux-x64-gnu, all from npm.
# timeout: 300
# long: yes
. "$(dirname "$0")/../lib.sh"
needs_command fleet
[ -d "${MMPROF_NODE_MODULES-}" ] || skip_all "MMPROF_NODE_MODULES names no directory with hyparquet and pprof-format"
[ -r "${MMPROF_DUCKDB-$build/libduckdb.so}" ] || skip_all "there is no DuckDB: 'make duckdb' brings it"
jdk=$(first_jdk)

"$mmprof" record -q --include 'micro/*' --min-bytecodes 0 -o "$SCRATCH/trace.dat" -- \
    "$jdk/bin/java" -cp "$classes" micro.Thesis 300 1 > "$SCRATCH/out" 2>&1
is "a program is recorded" $? 0
mkdir "$SCRATCH/rows"
"$mmprof" export -q -f parquet --label service=shop -o "$SCRATCH/rows/r.parquet" "$SCRATCH/trace.dat" \
    > "$SCRATCH/out" 2>&1
is "its rows are written" $? 0

sums='SELECT count(*) AS n, sum(calls) AS a, sum(self_ns) AS b, sum(cycles) AS c FROM phases'
# told: the line of values of an answer in CSV, blanks between them and NULL for none.
told() {
    tail -n 1 | tr -d '\r' | sed -e 's/^row,//' -e 's/,$/,NULL/' -e 's/,/ /g'
}
duckdb=$("$mmprof" fleet sql --csv "$SCRATCH/rows" "$sums" 2>&1 | told)
matches "DuckDB reads the rows" "$duckdb" '^[1-9][0-9]* [1-9][0-9]* [1-9][0-9]* [0-9NUL]+$'
is "JavaScript (hyparquet) reads the same" "$(node "$root/test/tools/read_with_node.mjs" "$MMPROF_NODE_MODULES" \
    parquet "$SCRATCH/rows/r.parquet" 2>&1)" "$duckdb"
if [ -r "${MMPROF_CHDB-}" ]; then
    echo secret > "$SCRATCH/password"
    start "$SCRATCH/port" python3 "$root/test/tools/clickhouse_stand_in.py" "$MMPROF_CHDB" secret
    wait_for 60 test -s "$SCRATCH/port"
    engine=(--engine "clickhouse://127.0.0.1:$(cat "$SCRATCH/port")" --password-file "$SCRATCH/password")
    "$mmprof" fleet add "${engine[@]}" "$SCRATCH/rows/r.parquet" > "$SCRATCH/out" 2>&1
    is "ClickHouse's engine reads the same" "$("$mmprof" fleet sql --csv "${engine[@]}" "$sums" 2>&1 | told)" "$duckdb"
else
    skip "ClickHouse's engine reads the same" "MMPROF_CHDB names no libchdb.so"
fi

"$mmprof" export -q -f pprof -o "$SCRATCH/p.pb.gz" "$SCRATCH/trace.dat"
calls=$("$mmprof" export -q -f csv "$SCRATCH/trace.dat" | tr -d '\r' |
    awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["kind"] == "total" { print $at["calls"] }')
matches "pprof: a parser of Datadog's finds all calls" "$(node "$root/test/tools/read_with_node.mjs" \
    "$MMPROF_NODE_MODULES" pprof "$SCRATCH/p.pb.gz" 2>&1)" "calls $calls( |\$)"

done_testing
