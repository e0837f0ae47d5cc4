#!/bin/bash
# mmprof export: each format is read by a strict reader of it, and says the same of a method as 'mmprof report' does.
# timeout: 300
# beside: yes
. "$(dirname "$0")/../lib.sh"
needs_command export
command -v python3 > "$SCRATCH/which" || skip_all "python3 is not installed; 'make deps' installs it"

jdk=$(first_jdk)
trace=$SCRATCH/trace.dat
"$mmprof" record -q --include 'micro/*' --min-bytecodes 0 -o "$trace" -- \
    "$jdk/bin/java" -cp "$classes" micro.Thesis 300 1 > "$SCRATCH/out" 2>&1
is "a program is recorded" $? 0

reader() {
    python3 "$root/test/tools/read_exports.py" "$@" 2>&1
}

export_to() {
    "$mmprof" export -q --format "$1" -o "$SCRATCH/$1" "${@:2}" "$trace" 2>&1
}

# of_method KEY: what the table of all methods says of micro.Thesis.sortData.
of_method() {
    "$mmprof" phases --all --csv -o "$SCRATCH/phases.json" "$trace" | tr -d '\r' |
        awk -F , -v key="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
            $at["method"] == "sortData" { printf "%.0f\n", $at[key] }'
}

# of_calls METHOD [TRACE]: how often it was called.
of_calls() {
    "$mmprof" phases --all --csv -o "$SCRATCH/phases.json" "${2-$trace}" | tr -d '\r' |
        awk -F , -v m="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
            $at["method"] == m { print $at["calls"] }'
}

# near CLAIM ACTUAL EXPECTED: within a thousandth; each context is rounded to a nanosecond.
near() {
    if awk -v a="$2" -v b="$3" 'BEGIN { exit !(b > 0 && a - b <= b / 1000 && b - a <= b / 1000) }'; then
        ok "$1"
    else
        not_ok "$1" "is:       $2" "expected: $3"
    fi
}

method=micro.Thesis.sortData
total=$(of_method total_ns)
[ -n "$total" ] && ok "the table has $method" || not_ok "the table has $method"

for format in folded speedscope pprof otlp; do
    is "$format is written" "$(export_to $format)" ""
    read -r value sum < <(reader $format "$SCRATCH/$format" $method)
    near "$format: $method has the time that the table says" "${value-}" "$total"
    [ $format = folded ] && all=${sum-}
    near "$format: all of it is as much as in the folded stacks" "${sum-}" "${all-}"
done
if command -v protoc > "$SCRATCH/which"; then
    gunzip < "$SCRATCH/pprof" | protoc --decode perftools.profiles.Profile -I "$root/test/tools" \
        pprof_profile.proto > "$SCRATCH/decoded" 2>&1
    is "pprof: protoc decodes it by its schema" $? 0
    is "pprof: it knows all fields" "$(grep -cE '^ *[0-9]+[:{ ]' "$SCRATCH/decoded")" 0
    matches "pprof: with the method" "$(cat "$SCRATCH/decoded")" "string_table: \"$method\""
    protoc --decode opentelemetry.proto.profiles.v1development.ProfilesData -I "$root/test/tools" otlp_profiles.proto \
        < "$SCRATCH/otlp" > "$SCRATCH/decoded" 2>&1
    is "otlp: protoc decodes it by its schema" $? 0
    is "otlp: it knows all fields" "$(grep -cE '^ *[0-9]+[:{ ]' "$SCRATCH/decoded")" 0
else
    skip "pprof: protoc decodes it by its schema" "protoc is not installed; 'make deps' installs it"
fi

"$mmprof" export --metrics "$SCRATCH/m.prom" --label 'service=a"b\c' "$trace" > "$SCRATCH/out" 2>&1
is "metrics are written" $? 0
matches "metrics: they are as the format says, with the calls, and labels are escaped" \
    "$(reader metrics "$SCRATCH/m.prom")" \
    'mmprof_calls\{service="a\\"b\\\\c",host="[^"]*"\} [0-9]+'
is "metrics: no half file is left" "$(ls "$SCRATCH"/m.prom*)" "$SCRATCH/m.prom"
if command -v promtool > "$SCRATCH/which"; then
    is "metrics: promtool finds nothing wrong" "$(promtool check metrics < "$SCRATCH/m.prom" 2>&1)" ""
else
    skip "metrics: promtool finds nothing wrong" "promtool is not installed: Debian's package prometheus has it"
fi
is "metrics: sums of the parts are the time of the table" "$(awk '/^mmprof_cpu_seconds/ { s += $NF }
    END { printf "%.3f", s }' "$SCRATCH/m.prom")" "$("$mmprof" export -q -f csv "$trace" | tr -d '\r' |
    awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["kind"] == "total" { printf "%.3f", $at["self_ns"] / 1e9 }')"

export_to folded --value calls > "$SCRATCH/out"
read -r value sum < <(reader folded "$SCRATCH/folded" micro.Thesis.compare)
is "folded: calls can be counted instead" "${value-}" "$(of_calls compare)"
export_to folded --min-share 50% > "$SCRATCH/out"
read -r value sum < <(reader folded "$SCRATCH/folded" micro.Thesis.compare)
is "folded: small contexts can be left out" "${value-}" 0
near "folded: their time is their callers' then" "${sum-}" "$all"
export_to speedscope --per-thread > "$SCRATCH/out"
matches "speedscope: each thread can have a profile of its own" "$(cat "$SCRATCH/speedscope")" \
    '"name":"main \([0-9]+\)"'

is "chrome is written" "$(export_to chrome)" ""
read -r n _ < <(reader chrome "$SCRATCH/chrome" Thesis.sortData)
is "chrome: a slice for each call" "${n-}" "$(of_method calls)"
matches "chrome: the main thread has slices of methods" "$(reader tracks "$SCRATCH/chrome" method)" '^main$'
matches "chrome: the VM's threads have slices of CPU time" "$(reader tracks "$SCRATCH/chrome" cpu)" \
    '^(VM Thread|C[12] Compiler.*)$'
"$mmprof" export --format chrome --min-slice 0.001 -o "$SCRATCH/chrome" "$trace" 2> "$SCRATCH/said"
matches "chrome: it says what was left out" "$(cat "$SCRATCH/said")" \
    'slices are written; [0-9]+ shorter than 1\.00 ms are left out'
read -r n _ < <(reader chrome "$SCRATCH/chrome" Thesis.compare)
calls=$(of_calls compare)
[ "${n:-$calls}" -lt "$calls" ] && ok "chrome: short calls are left out" ||
    not_ok "chrome: short calls are left out" "${n-} slices of $calls calls"

is "json is written" "$(export_to json)" ""
keys=$(reader keys "$SCRATCH/json")
is "json: the schema's page describes each key" "$(while read -r key; do
    grep -qE "^\.It( Cm)?.*[ \"]$key( |,|\"|$)" "$root/man/mmprof.schema.5" || echo "$key"
done <<< "$keys")" ""
is "csv is written" "$(export_to csv)" ""
is "csv: the version is in each row" "$(tr -d '\r' < "$SCRATCH/csv" | cut -d , -f 1 | sort | uniq -c | wc -l)" 2
is "csv: its columns are those of JSON" "$(head -n 1 "$SCRATCH/csv" | tr -d '\r' | tr ',' '\n' | tail -n +3)" \
    "$(sed -n '/^label$/,$p' <<< "$keys")"

is "parquet is written" "$(export_to parquet --bucket 1s --label "service=a'b" "$trace")" ""
is "parquet: it begins and ends as such a file does" \
    "$(head -c 4 "$SCRATCH/parquet")$(tail -c 4 "$SCRATCH/parquet")" PAR1PAR1
is "parquet: the page describes each column" \
    "$(sed -n 's/.*{ "\([a-z0-9_]*\)", PARQUET_.*/\1/p' "$root/report/fleet/fleet_rows.c" | while read -r column; do
        grep -qE "^\.It( Cm)?.* $column( |$)" "$root/man/mmprof.parquet.5" || echo "$column"
    done)" ""

fleet() {
    MMPROF_DUCKDB=${MMPROF_DUCKDB:-$root/build/libduckdb.so} "$mmprof" fleet "$@" 2>&1
}
matches "fleet: without DuckDB it says how to get it" \
    "$("$mmprof" fleet select --duckdb /nowhere.so "$SCRATCH" 2>&1)" "next: run 'make duckdb'"
matches "fleet: what it can do" "$("$mmprof" fleet mend "$SCRATCH" 2>&1)" \
    'next: give add, select, compare, outliers, compact or sql'
if [ ! -e "$root/build/libduckdb.so" ]; then
    skip "fleet: DuckDB reads the rows" "there is no DuckDB: 'make duckdb' brings it"
else
    "$mmprof" export -f parquet --label service=shop -o "$SCRATCH/rows.parquet" "$trace"
    is "fleet: a file is added" "$(fleet add "$SCRATCH/fleet" "$SCRATCH/rows.parquet")" \
        "1 added, 0 there already, 0 not added"
    sql="SELECT sum(cpu_ns)::BIGINT AS total_ns FROM phases WHERE method = 'sortData'"
    near "fleet: DuckDB finds the time that the table says" \
        "$(fleet sql --csv "$SCRATCH/fleet" "$sql" | tr -d '\r' | tail -n 1 | cut -d , -f 2)" "$total"
    matches "fleet: it is a phase of its service" "$(fleet select --min-call 1ms "$SCRATCH/fleet")" "^shop +$method"
    matches "fleet: one run of each side is too few" \
        "$(fleet compare --before service=shop --after service=x "$SCRATCH/fleet")" "has 1 run$"
    cp "$trace" "$SCRATCH/fleet/x.parquet"
    fleet select --strict "$SCRATCH/fleet" > "$SCRATCH/out"
    is "fleet: with --strict a file that is none fails" $? 1
fi

refused() {
    "$mmprof" export "${@:3}" > "$SCRATCH/out" 2> "$SCRATCH/said"
    is "$1: status 1" $? 1
    matches "$1: says what to do" "$(cat "$SCRATCH/said")" "$2"
}
"$mmprof" export -f flamegraph --reverse --title 'Sort & <find>' "$trace" > "$SCRATCH/reversed.html"
matches "a flame graph has the title that is asked for" "$(cat "$SCRATCH/reversed.html")" \
    '<title>Sort &amp; &lt;find></title>'
matches "reversed, its first frames are callees" \
    "$(grep -o '"nodes":\[\[-1,0,[1-9].*' "$SCRATCH/reversed.html")" 'nodes'
refused "a title of folded stacks" 'next: leave them out' --format folded --title x "$trace"
refused "an unknown format" 'next: choose --format flamegraph, collapsed .folded.,' --format svg "$trace"
refused "no format" 'next: choose --format flamegraph' "$trace"
refused "an unknown value" 'next: it has calls, wall, cpu' --format folded --value cycles "$trace"
refused "a label that is none" 'next: give --label service=NAME' --format parquet --label colour=red "$trace"
refused "buckets of another format" 'next: leave --bucket out' --format csv --bucket 1s "$trace"
refused "two traces of another format" 'next: run it once for each' --format csv "$trace" "$trace"
refused "no trace" 'nothing-here.dat' --format chrome "$SCRATCH/nothing-here.dat"
refused "a place that cannot be written" 'next: choose another path' --format csv -o "$SCRATCH/none/x" "$trace"
refused "a format that fails leaves no file" 'it has' --format folded --value cycles -o "$SCRATCH/half" "$trace"
[ ! -e "$SCRATCH/half" ] && ok "no half file is there" || not_ok "no half file is there"

matches "an older name of a view is told the new one" \
    "$("$mmprof" report --hot "$trace" 2>&1 > "$SCRATCH/out")" "use '--view hot'"

"$mmprof" phases -q -o "$SCRATCH/of-%p.json" "$trace"
is "the process ID of the traced JVM can be in a name" "$(basename "$SCRATCH"/of-*.json)" \
    "of-$("$mmprof" dump --tables "$trace" | sed -n 's/^info  *jvm\.pid = \([0-9]*\).*/\1/p').json"

# ---- on a terminal ----

# shown COMMAND...: by mmprof, in a terminal of 70 columns, with a pager that marks its lines; its status at the end.
shown() {
    script -qec "stty cols 70 rows 30; PAGER='sed s/^/P:/' $mmprof $* $trace; echo STATUS \$?" /dev/null < /dev/null |
        tr -d '\r'
}

if ! command -v script > "$SCRATCH/which"; then
    skip "a report fits the terminal" "there is no script(1)"
else
    shown report > "$SCRATCH/screen"
    is "a report on a terminal comes through the pager, with the status of mmprof" \
        "$(grep -vc '^P:' "$SCRATCH/screen") $(tail -n 1 "$SCRATCH/screen")" "1 STATUS 0"
    matches "with colours" "$(cat "$SCRATCH/screen")" $'^P:\x1b\\[1mPhase'
    is "and fits" "$(sed 's/\x1b\[[0-9;]*m//g; s/^P://; s/[^ -~][^ -~]*/./g' "$SCRATCH/screen" | grep -cE '.{71}')" 0
    matches "colours can be left out" "$(shown report --color never)" '^P:Phase'
    for command in "phases --tree -o $SCRATCH/tree.json" "diff $trace" "dump --tables"; do
        is "so does '${command%% *}'" "$(shown "$command" | grep -v '^P:')" "STATUS 0"
    done
    is "but not with --no-pager" "$(shown report --no-pager | grep -c '^P:')" 0
fi

# ---- names that other languages have ----

names=$SCRATCH/names
mkdir -p "$names/target"
LC_ALL=C sed -e 's/adds__positive__numbers/adds (positive) numbers/g' \
    -e $'s/resets__a__terminal/\x1bc\\\na_% \xc2\x9b\xe2\x80\xae_______/g' \
    "$classes/target/Names.class" > "$names/target/Names.class"

record_names() {
    "$mmprof" record -q "$@" -- "$jdk/bin/java" -cp "$names" target.Names > "$SCRATCH/out" 2>&1
}

record_names --include 'target.Names#*' --min-bytecodes 0 -o "$names/all.dat"
is "a program with odd names is recorded" "$?" 0
"$mmprof" phases -q --all --grain 0 --weight 0 -o "$names/phases.json" "$names/all.dat" > "$SCRATCH/out" 2>&1
record_names --phases "$names/phases.json" -o "$names/phases.dat"
is "what 'phases' wrote of them, 'record --phases' takes" "$?" 0
for name in 'adds (positive) numbers' $'\xf0\x9d\x92\xb3work' '?c?a_% ??_______'; do
    is "all calls of '$name' are in the second recording" \
        "$(of_calls "$name" "$names/phases.dat")" 3
done
is "a pattern with such a letter finds its method" \
    "$(record_names --include $'target.Names#\xf0\x9d\x92\xb3work' --min-bytecodes 0 -o "$names/one.dat" &&
        "$mmprof" dump --tables "$names/one.dat" | grep -c '^method')" 1
steers='\x1b|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]'
for command in "report --all" "report --all --csv" "report --all --json" "report --view timeline --json" \
    "report --view hot --csv" "phases --all" "phases --tree" "phases --per-thread --csv" "phases --per-thread --json" \
    "dump" "export -q -f collapsed" "export -q -f flamegraph" \
    "export -q -f speedscope" "export -q -f chrome" "export -q -f json" \
    "report --html -"; do
    case $command in
        phases*) set -- -o "$SCRATCH/phases.json" "$names/all.dat" ;;
        *) set -- "$names/all.dat" ;;
    esac
    # shellcheck disable=SC2086
    "$mmprof" $command "$@" > "$names/text" 2>&1
    status=$?
    said=$(iconv -f UTF-8 -t UTF-8 < "$names/text" 2>&1 > "$SCRATCH/out")
    is "'$command' is UTF-8 in which nothing steers a terminal" \
        "$status $said $(LC_ALL=C grep -cP "$steers" "$names/text")" "0  0"
done

done_testing
