#!/bin/bash
# What all reports say of a trace agrees, on both clocks; and what checks that (every test does, over a trace of its
# own: agrees_with_itself in test/lib.sh) finds what does not.
# timeout: 240
. "$(dirname "$0")/../lib.sh"
needs_command report

jdk=$(first_jdk)
trace=$SCRATCH/consistent.dat
"$mmprof" record -q --include 'micro/*' --min-bytecodes 0 -o "$trace" -- \
    "$jdk/bin/java" -cp "$classes" micro.Thesis 100 1 > "$SCRATCH/out" 2>&1
is "a program is recorded" $? 0
holds "on the CPU clock all reports agree" "$build/test/tools/consistent" "$mmprof" "$trace"
holds "on the wall clock they do, too" "$build/test/tools/consistent" "$mmprof" "$trace" --clock wall

# ---- every view: --columns takes its columns in any order; --sort moves rows, and no sum ----

csv() {
    "$mmprof" report --csv --view "$@" "$trace" 2> "$SCRATCH/errors" | tr -d '\r'
}

sums() {
    grep -nE '^([0-9]+,)?total,' <<< "$1"
}

n_views=0
wrong=
views=$("$mmprof" report --views | sed -E 's/^ *([a-z-]+)(=METHOD)?.*/\1\2/; s/METHOD/main/' |
    grep -vE 'misses|fields')
for view in $views; do
    table=$(csv "$view")
    [ -n "$table" ] || continue # the trace has nothing of it
    n_views=$((n_views + 1))
    keys=$(head -n 1 <<< "$table" | sed 's/^schema_version,//; s/^kind,//')
    first=${keys%%,*} last=${keys##*,}
    [[ $(csv "$view" --columns "$last,$first" | head -n 1) =~ kind,$last,$first$ ]] || wrong+="$view --columns; "
    sorted=$(csv "$view" --sort "$last")
    grep -q 'a tree cannot be sorted' "$SCRATCH/errors" && continue
    [ "$(sort <<< "$sorted")" = "$(sort <<< "$table")" ] || wrong+="$view --sort $last: other rows; "
    [ "$(sums "$sorted")" = "$(sums "$table")" ] || wrong+="$view --sort $last moves a sum; "
done
is "--columns and --sort work on every view" "$wrong" ""
holds "of which this trace has ten or more" [ "$n_views" -ge 10 ]

# contradicts CLAIM REGEX SCRIPT: with a sed script between mmprof and its reader.
contradicts() {
    printf "#!/bin/bash\nset -o pipefail\n'%s' \"\$@\" | sed -E '%s'\n" "$mmprof" "$3" > "$SCRATCH/mmprof"
    chmod +x "$SCRATCH/mmprof"
    "$build/test/tools/consistent" "$SCRATCH/mmprof" "$trace" > "$SCRATCH/said" 2>&1
    is "$1" $? 1
    matches "$1: it is named" "$(cat "$SCRATCH/said")" "$2"
}
contradicts "a row with more of its own than in all" 'more time of its own' \
    's/("time_share":[[:space:]]*)0\.[1-9][0-9]*/\10.0001/'
contradicts "a share of 118 %" 'has a time_share of 1.18' 's/("time_share":[[:space:]]*)0\.[1-9][0-9]*/\11.18/'
contradicts "groups that are not all of the time" 'groups=package: the rows. self_ns are' \
    '/"kind":[[:space:]]*"package"/,/}/s/("self_ns":[[:space:]]*)[0-9]/\19/'
contradicts "CSV that is not JSON" 'as CSV' 's/^(phase,[^,]*,)0\.[0-9]*/\10.5/'

# Of samples alone, and threads that wait: as the latest trace it is what done_testing looks at.
"$mmprof" sample --wall -F 99 -o "$SCRATCH/wall.dat" -- \
    "$jdk/bin/java" -cp "$classes" micro.Thesis 30 1 > "$SCRATCH/out" 2>&1
is "a program is sampled" $? 0

done_testing
