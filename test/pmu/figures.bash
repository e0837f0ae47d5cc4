# What reports say, for the tests in this directory, to be sourced:  . "$(dirname "$0")/figures.bash"
#
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/machine.bash"

# csv TRACE...: the report of one or more traces, all its rows, without the commas in labels.
csv() {
    "$mmprof" report --csv --all "$@" | sed 's/\r//; s/"\([^",]*\), \([^",]*\)"/\1 \2/'
}

# column_of CSV LABEL NAME: a value of a report's row; nothing if it has no such column.
column_of() {
    awk -F, -v label="$2" -v name="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        $2 == label && name in at { print $at[name] }' "$1"
}

# column TRACE LABEL NAME
column() {
    csv "$1" > "$SCRATCH/csv"
    column_of "$SCRATCH/csv" "$2" "$3"
}

# calculate EXPRESSION of awk, for its truth
calculate() {
    awk "BEGIN { exit !($1) }"
}

# calculated EXPRESSION of awk: its value
calculated() {
    awk "BEGIN { printf \"%.17g\", $1 }"
}

# between CLAIM VALUE LOW HIGH
between() {
    if [ -n "$2" ] && calculate "$2 >= $3 && $2 <= $4"; then
        ok "$1: $2"
    else
        not_ok "$1" "is $2, expected $3 to $4"
    fi
}

# known_cpi CLAIM CPI KNOWN: but for the moment between the readings of the two counters.  Where the kernel moves an
# event in that moment, it is read again, and tens of instructions of one call are on one side only.
known_cpi() {
    between "$1" "$2" "$(awk "BEGIN { print 0.99999 * $3 }")" "$(awk "BEGIN { print 1.00001 * $3 }")"
}

# per_call TRACE METHOD N: the instructions of each of its last N calls that call nothing that is recorded.
per_call() {
    "$mmprof" dump "$1" | awk -v method="$2(" '
        !/instructions=/ { next }
        { split($0, part, "instructions="); now = part[2] + 0 }
        $4 == "enter" && index($5, method) { start = now; inside = 1; next }
        $4 == "exit" && inside { print now - start }
        { inside = 0 }' | tail -n "$3"
}

# variation FILE: the coefficient of variation of its numbers.
variation() {
    awk '{ n++; sum += $1; squares += $1 * $1 }
        END { mean = sum / n; v = squares / n - mean * mean; printf "%.7f", sqrt(v > 0 ? v : 0) / mean }' "$1"
}
