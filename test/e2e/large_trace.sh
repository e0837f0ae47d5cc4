#!/bin/bash
# What readers of a large trace say while they read it.
# long: yes
. "$(dirname "$0")/../lib.sh"

large=$SCRATCH/large.dat
"$build/test/bench/calltree_bench" -r 10000000 -n 0 -o "$large" > "$SCRATCH/made"

while IFS='|' read -r command shown; do
    in_terminal "$SCRATCH/screen" "'$mmprof' $command '$large' > '$SCRATCH/printed'" < /dev/null
    said=no
    grep -aqE 'reading the trace: [0-9]+ %, some [0-9]+ s left' "$SCRATCH/screen" && said=yes
    is "'$command' says on a terminal how much of the trace it has read: $shown" "$said" "$shown"
    matches "and ends well" "$(tr -d '\r' < "$SCRATCH/screen" | grep -a STATUS)" 'STATUS 0$'
    # shellcheck disable=SC2086  # words
    "$mmprof" $command "$large" > "$SCRATCH/printed" 2> "$SCRATCH/errors"
    is "elsewhere it says nothing" "$(cat "$SCRATCH/errors")" ""
done << 'END'
report --view timeline|yes
export -f parquet -q|no
END

done_testing
