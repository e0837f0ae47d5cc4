#!/bin/bash
# mmprof fleet --engine and a real ClickHouse server, Debian's 18.16: what an old server can is answered as by DuckDB,
# passwords and read-only mode are its own, and what it cannot is refused.  (Its SQL has no WITH, no casts with '::', no
# IS NOT DISTINCT FROM, no window functions; it has no DateTime64, and Debian's reads no Parquet: so no question of
# mmprof's own.  These are asked of version 26 in fleet_clickhouse.sh.)
# timeout: 300
# long: yes
. "$(dirname "$0")/../lib.sh"
needs_command fleet
server=$(PATH=$PATH:/usr/sbin command -v clickhouse-server) ||
    skip_all "there is no server: 'apt-get install clickhouse-server' brings it"
[ -r "${MMPROF_DUCKDB-$build/libduckdb.so}" ] || skip_all "there is no DuckDB: 'make duckdb' brings it"

read -r http tcp < <(python3 -c 'import socket
sockets = [socket.socket() for _ in "ab"]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in sockets))')
cat > "$SCRATCH/config.xml" << END
<yandex><logger><level>warning</level><log>$SCRATCH/log</log></logger>
<http_port>$http</http_port><tcp_port>$tcp</tcp_port><listen_host>127.0.0.1</listen_host>
<path>$SCRATCH/data/</path><tmp_path>$SCRATCH/tmp/</tmp_path><mark_cache_size>1000000</mark_cache_size>
<users_config>users.xml</users_config><default_profile>default</default_profile>
<default_database>default</default_database></yandex>
END
cat > "$SCRATCH/users.xml" << END
<yandex><profiles><default/></profiles><quotas><default/></quotas><users>
<default><password>none of ours</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
<quota>default</quota></default>
<fleet><password>sec:ret</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
<quota>default</quota></fleet></users></yandex>
END
mkdir "$SCRATCH/data" "$SCRATCH/tmp"
start "$SCRATCH/server" "$server" --config-file="$SCRATCH/config.xml"

# post SQL [FILE]: by hand, as the server's user.
post() {
    python3 -c 'import base64, sys, urllib.parse, urllib.request
body = open(sys.argv[3], "rb").read() if len(sys.argv) > 3 else b""
request = urllib.request.Request("http://127.0.0.1:%s/?query=%s" % (sys.argv[1], urllib.parse.quote(sys.argv[2])), body)
request.add_header("Authorization", "Basic " + base64.b64encode(b"fleet:sec:ret").decode())
print(urllib.request.urlopen(request).read().decode(), end="")' "$http" "$@" 2>> "$SCRATCH/errors"
}
wait_for 60 post 'SELECT 1' > "$SCRATCH/ignored" || skip_all "the server does not start: $(head -n 3 "$SCRATCH/server")"
version=$(post 'SELECT version()')

"$build/test/tools/make_fleet" "$SCRATCH/rows" 3 20 4 5
"$mmprof" fleet sql --csv "$SCRATCH/rows" "SELECT run, phase, CAST(epoch(ts) AS BIGINT) AS ts, kind, coalesce(calls, -1)
    AS calls, coalesce(self_ns, -1) AS self_ns FROM phases" 2> "$SCRATCH/errors" | tr -d '\r' | sed '1d; s/^row,//' \
    > "$SCRATCH/rows.csv"
post 'CREATE DATABASE mmprof'
post 'CREATE TABLE mmprof.raw (run String, phase String, ts Int64, kind String, calls Int64, self_ns Int64)
    ENGINE = Log'
post 'CREATE VIEW mmprof.phases AS SELECT run, phase, ts, kind, if(calls < 0, NULL, calls) AS calls,
    if(self_ns < 0, NULL, self_ns) AS self_ns FROM mmprof.raw'
post 'INSERT INTO mmprof.raw FORMAT CSV' "$SCRATCH/rows.csv"

echo sec:ret > "$SCRATCH/password"
echo wrong > "$SCRATCH/wrong"
at=clickhouse://fleet@127.0.0.1:$http
engine=(--engine "$at" --password-file "$SCRATCH/password")
asked() {
    "$mmprof" fleet sql --csv "$@" 2>&1 | tail -n 1 | tr -d '\r'
}
for query in "SELECT count(*) AS n, count(calls) AS known, sum(calls) AS n_calls, sum(self_ns) AS ns FROM phases" \
    "SELECT phase, sum(self_ns) AS ns FROM phases WHERE kind = 'phase' GROUP BY phase ORDER BY ns DESC, phase LIMIT 1" \
    "SELECT count(DISTINCT run) AS runs, min(self_ns) AS least FROM phases;" \
    "SELECT max(calls) AS none FROM phases WHERE kind = 'gc'"; do
    is "ClickHouse $version and DuckDB say the same: $query" "$(asked "${engine[@]}" "$query")" \
        "$(asked "$SCRATCH/rows" "$query")"
done
is "texts are as they are" "$(asked "${engine[@]}" "SELECT 'a\\\\c\\'d,e' AS text")" "row,\"a\\c'd,e\""

# refused CLAIM REGEX ARGUMENT...
refused() {
    local claim=$1 regex=$2
    shift 2
    "$mmprof" fleet "$@" > "$SCRATCH/answer" 2>&1
    is "$claim: exits with 1" $? 1
    matches "$claim: with the reason" "$(cat "$SCRATCH/answer")" "$regex"
}
needs='ClickHouse 18[0-9.]*, whose SQL lacks what this needs'
if [ "${version%%.*}" -lt 24 ]; then
    refused "select on an old server" "$needs" select "${engine[@]}"
    refused "compare on an old server" "$needs" compare --before version=1 --after version=2 "${engine[@]}"
    refused "outliers on an old server" "$needs" outliers "${engine[@]}"
    refused "add to an old server" "$needs" add "${engine[@]}" "$SCRATCH/rows/jvm-0.parquet"
fi
refused "a wrong password" 'next: give clickhouse://USER@HOST:PORT and --password-file FILE' sql --engine "$at" \
    --password-file "$SCRATCH/wrong" 'SELECT 1'
refused "no password" 'next: give clickhouse://USER@HOST:PORT and --password-file FILE' sql --engine "$at" 'SELECT 1'
refused "another user's password" 'next: give clickhouse://USER@HOST:PORT and' sql \
    --engine "clickhouse://127.0.0.1:$http" --password-file "$SCRATCH/password" 'SELECT 1'
refused "a password file that is not there" "cannot read the password in '/nowhere'" sql --engine "$at" \
    --password-file /nowhere 'SELECT 1'
refused "a statement that changes" 'readonly mode' sql "${engine[@]}" 'DROP TABLE mmprof.raw'
refused "what is no SQL" 'ClickHouse: .*Syntax error' sql "${engine[@]}" 'SELECT ('
refused "the port of another protocol" 'next: see that it runs, and that --engine has the port of HTTP' sql \
    --engine "clickhouse://fleet@127.0.0.1:$tcp" --password-file "$SCRATCH/password" 'SELECT 1'
refused "a query that takes too long" 'takes longer than 1 s' sql "${engine[@]}" --timeout 1s \
    'SELECT sum(sipHash64(number)) FROM (SELECT number FROM system.numbers)'
is "and nothing was dropped" "$(post 'SELECT count() FROM mmprof.raw')" "$(wc -l < "$SCRATCH/rows.csv")"

done_testing
