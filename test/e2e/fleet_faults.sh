#!/bin/bash
# Files of a fleet that are not to be believed: each is named, skipped and counted, --strict exits with 1, and what is
# right is read; labels are labels, whatever is in them; and a query of one's own reads nothing but the directory.
# timeout: 300
# beside: yes
# long: yes
. "$(dirname "$0")/../lib.sh"
needs_command fleet
[ -r "${MMPROF_DUCKDB-$build/libduckdb.so}" ] || skip_all "there is no DuckDB: 'make duckdb' brings it"

"$build/test/tools/make_fleet" bad "$SCRATCH/bad"
bad=$SCRATCH/bad
head -c 300 "$bad/whole.parquet" > "$bad/cut.parquet"
: > "$bad/empty.parquet"
echo 'run,phase' > "$bad/text.parquet"
cp "$bad/whole.parquet" "$bad/zz-again.parquet"
cp "$bad/whole.parquet" "$bad/a*.parquet"
ln -s "$bad/whole.parquet" "$bad/link.parquet"
mkfifo "$bad/pipe.parquet"
cp "$bad/hostile.parquet" "$bad/damaged.parquet"
printf '\0\0\0\0' | dd of="$bad/damaged.parquet" bs=1 seek=40 conv=notrunc 2> "$SCRATCH/ignored"

# asked DIR: how many rows the table has.
asked() {
    "$mmprof" fleet sql "${@:2}" --csv "$1" 'SELECT count(*) AS n FROM phases' > "$SCRATCH/answer" 2> "$SCRATCH/said"
    echo "$?,$(sed -n '2s/\r$//p' "$SCRATCH/answer")"
}

while IFS='|' read -r file claim regex; do
    rm -rf "$SCRATCH/rows"
    mkdir "$SCRATCH/rows"
    cp -P "$bad/whole.parquet" "$SCRATCH/rows"
    cp -RP "$bad/$file" "$SCRATCH/rows"
    is "$claim: what is right is read" "$(asked "$SCRATCH/rows")" "0,row,2"
    matches "$claim: it is named, with the reason" "$(cat "$SCRATCH/said")" "^mmprof: '[^']*/${file//\*/\\*}' $regex"
    is "$claim: with --strict it is an error" "$(asked "$SCRATCH/rows" --strict)" "1,row,2"
    matches "$claim: it is counted" "$("$mmprof" fleet select "$SCRATCH/rows" 2>&1)" \
        '^fleet    1 file, 1 skipped|^fleet    [12] files?, 0 skipped, 2 rows skipped'
done << 'END'
cut.parquet|a file that is cut|is skipped: it is cut
empty.parquet|an empty file|is skipped: it is cut, or no Parquet
text.parquet|a file of text|is skipped: it is cut, or no Parquet
damaged.parquet|a page that is damaged|is skipped: it is damaged
foreign.parquet|another program's|is skipped: mmprof did not write it
newer.parquet|a newer schema|is skipped: it has schema 2, and this mmprof reads 1
zz-again.parquet|a run that is there already|is skipped: it has rows of a run that are in
future.parquet|a clock ahead|has 2 rows of .* in the future: they are skipped
early.parquet|a clock put back|has 2 rows of .* before their run began: they are skipped
a*.parquet|a name that is a pattern|is skipped: its name would be a pattern
link.parquet|a link|is skipped: it is a symbolic link
pipe.parquet|what is no file|is skipped: it is no file
END

"$mmprof" fleet add --strict "$SCRATCH/added" "$bad"/{whole,cut,empty,text,foreign,newer,damaged}.parquet \
    > "$SCRATCH/said" 2>&1
is "fleet add --strict: exits with 1 if a file is not added" $? 1
matches "fleet add counts them" "$(cat "$SCRATCH/said")" '1 added, 0 there already, 6 not added'
is "and leaves nothing else" "$(find "$SCRATCH/added" -type f | wc -l)" 1

while read -r action option; do
    "$mmprof" fleet "$action" "$option" 5 "$SCRATCH/added" 'SELECT 1' > "$SCRATCH/said" 2>&1
    is "an option of another action is refused: $action $option" $? 1
    matches "with the reason: $action $option" "$(cat "$SCRATCH/said")" \
        "$option is not an option of 'fleet $action'"
done << 'END'
sql --html
sql --min-call
sql --keep
END

# Labels: SQL, HTML, a path, a terminal's escape, a comma and what spreadsheets run.
"$mmprof" fleet add "$SCRATCH/hostile" "$bad/hostile.parquet" > "$SCRATCH/said" 2>&1
is "a file's name is not made of labels" \
    "$(cd "$SCRATCH/hostile" && find . -type f | grep -cvE '^./[0-9a-f]{16}\.parquet$')" 0
"$mmprof" fleet select --html "$SCRATCH/page.html" "$SCRATCH/hostile" > "$SCRATCH/answer" 2>&1
is "hostile labels: are selected" $? 0
matches "hostile labels: as they are" "$(cat "$SCRATCH/answer")" "DROP TABLE phases; --"
is "hostile labels: no escape reaches a terminal" "$(grep -c $'\033' "$SCRATCH/answer")" 0
is "hostile labels: no markup of theirs is on the page" "$(grep -c '<script>alert' "$SCRATCH/page.html")" 0
matches "hostile labels: but their text" "$(cat "$SCRATCH/page.html")" 'DROP TABLE phases'
"$mmprof" fleet select --json "$SCRATCH/hostile" > "$SCRATCH/answer" 2>&1
is "hostile labels: JSON and CSV say the same, but for the escape" "$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["rows"][0]["service"].replace("\x1b", "?"))' "$SCRATCH/answer" 2>&1)" \
    "$("$mmprof" fleet select --csv "$SCRATCH/hostile" 2>&1 | python3 -c 'import csv, sys
print(next(csv.DictReader(sys.stdin))["service"])' 2>&1)"
service=$(printf '<script>alert(1)</script>'\''); DROP TABLE phases; --"../../../etc/x\033[31m,=1+1')
"$mmprof" fleet select --csv --service "$service" "$SCRATCH/hostile" > "$SCRATCH/answer" 2>&1
is "hostile labels: can be asked for" "$(wc -l < "$SCRATCH/answer")" 2
matches "a service that is not there: it is said how to find the others" \
    "$("$mmprof" fleet select --service none "$SCRATCH/hostile" 2>&1)" 'note: no phase .*SELECT DISTINCT service'
is "hostile labels: nothing was dropped" "$(asked "$SCRATCH/hostile")" "0,row,2"

# A query of one's own.  The directory has a link out of it, and a file that is no table.
rows=$SCRATCH/rows
rm -rf "$rows"
mkdir "$rows"
cp "$bad/whole.parquet" "$rows"
ln -s /etc/passwd "$rows/passwd.csv"
ln -s /etc "$rows/etc"
cp "$bad/hostile.parquet" "$SCRATCH/outside.parquet"
while IFS= read -r query; do
    query=${query//ROWS/$rows}
    "$mmprof" fleet sql --csv "$rows" "${query//SCRATCH/$SCRATCH}" > "$SCRATCH/answer" 2>&1
    is "is refused: $query" "$?, $(grep -cE 'root:|h-6-' "$SCRATCH/answer")" "1, 0"
done << 'END'
SELECT * FROM read_csv('/etc/passwd')
SELECT * FROM '/etc/passwd'
SELECT * FROM read_text('ROWS/../../etc/passwd')
SELECT * FROM read_text('ROWS/passwd.csv')
SELECT * FROM read_text('ROWS/etc/passwd')
SELECT * FROM read_blob('/proc/self/environ')
SELECT * FROM read_parquet('SCRATCH/outside.parquet')
SELECT * FROM glob('/etc/*')
SELECT * FROM sniff_csv('/etc/passwd')
SELECT * FROM read_csv('http://127.0.0.1/x')
SELECT * FROM duckdb_secrets()
SELECT getenv('HOME')
SELECT * FROM query('COPY (SELECT 1) TO ''ROWS/x.csv''')
SELECT 1; COPY (SELECT 1) TO 'ROWS/x.csv'
COPY (SELECT 1) TO 'ROWS/x.csv'
ATTACH 'ROWS/x.db'
INSTALL httpfs
LOAD httpfs
SET enable_external_access = true
PRAGMA enable_logging
CREATE TABLE x AS SELECT 1
DROP VIEW phases
SELECT length(list(i)) FROM range(1000000000) a(i)
SELECT * FROM range(6000000)
END
matches "what is outside: it is said what may be read" \
    "$("$mmprof" fleet sql "$rows" "SELECT * FROM read_csv('/etc/passwd')" 2>&1)" "next: query the table 'phases'"
# What never ends, or needs more than there is: one error, soon, whether DuckDB hears that it is to end or not.
while IFS=';' read -r regex query; do
    started=$SECONDS
    timeout 100 "$mmprof" fleet sql --timeout 0.2s "$rows" "$query" > "$SCRATCH/answer" 2>&1
    is "is ended: $query" "$?, $(wc -l < "$SCRATCH/answer")" "1, 2"
    matches "with the reason" "$(cat "$SCRATCH/answer")" "the query $regex"
    [ $((SECONDS - started)) -lt 60 ] || not_ok "in time"
done << 'END'
takes longer than 0.2 s;SELECT sum(a.i * b.i) FROM range(1000000) a(i), range(1000000) b(i)
takes longer than 0.2 s;WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT sum(n) FROM t
takes longer than 0.2 s;SELECT levenshtein(repeat('a', 300000), repeat('b', 300000))
(takes longer than 0.2 s|needs more than 1 GB);SELECT length(repeat('x', 2000000000))
(takes longer than 0.2 s|needs more than 1 GB);SELECT range(1000000000)
END
"$mmprof" fleet sql --timeout 1us "$rows" 'SELECT count(*) FROM phases' > "$SCRATCH/answer" 2>&1
is "a file that is not read in time is not said to be cut" "$?, $(grep -c 'is skipped' "$SCRATCH/answer")" "1, 0"
matches "but that time is over" "$(cat "$SCRATCH/answer")" 'took too long|takes longer'
is "and nothing was written" "$(cd "$rows" && find . -type f)" ./whole.parquet

done_testing
