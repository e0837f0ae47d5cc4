#!/bin/bash
# The default table names each phase, also where what it calls is called by others, too; CSV and page agree with it.
# timeout: 200
. "$(dirname "$0")/../lib.sh"
needs_command report
needs_command record

jdk=$(first_jdk)
trace=$SCRATCH/trace.dat
"$mmprof" record -q -o "$trace" -- "$jdk/bin/java" -cp "$classes" target.Painting 4 > "$SCRATCH/out" 2>&1
is "a program is recorded" $? 0
"$mmprof" report "$trace" > "$SCRATCH/table" 2> "$SCRATCH/errors"
is "and reported" "$?$(cat "$SCRATCH/errors")" 0
for name in paint parse sort; do
    matches "$name has a row" "$(cat "$SCRATCH/table")" "^Painting\.$name "
done
engine='Painting[$]Engine\.process \.\. Painting[$]Engine\.draw'
matches "what two of them call is one row" "$(cat "$SCRATCH/table")" "^$engine "
is "a library that calls back has none" "$(grep -c '^Collections\.sort' "$SCRATCH/table")" 0

"$mmprof" report --csv --fold --columns label,folded,time_share "$trace" | tr -d '\r' > "$SCRATCH/rows"
# column LABEL NUMBER: of the row with that label.
column() {
    awk -F , -v label="$1" -v at="$2" '$2 ~ label { print $at; exit }' "$SCRATCH/rows"
}
paint=$(column '^Painting.paint' 4) all=$(column '^Painting.main' 4)
if awk -v a="$paint" -v b="$all" 'BEGIN { exit !(a > 0.54 * b && a < 0.69 * b) }'; then
    ok "paint is 62 % of the program's time"
else
    not_ok "paint is 62 % of the program's time" "$paint of $all"
fi
is "CSV has the labels of the text" "$(cut -d , -f 2 "$SCRATCH/rows" | grep -c "^$engine\$")" 1
is "and all that a row stands for" "$(column 'Engine.draw$' 3)" \
    "target.Painting\$Engine.process target.Painting\$Engine.operate"
"$mmprof" report --html "$SCRATCH/page" "$trace"
is "the page has the same label" "$(grep -c "$engine" "$SCRATCH/page")" 1
done_testing
