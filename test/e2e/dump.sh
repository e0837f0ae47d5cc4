#!/bin/bash
# mmprof dump: what it prints of a trace that is whole, cut, damaged, or none at all.
# beside: yes
. "$(dirname "$0")/../lib.sh"

trace=$root/test/fuzz/corpus/trace/example
size=$(stat -c %s "$trace")

# dump ARGUMENT...: sets $status, $said (output) and $errors.
dump() {
    said=$("$mmprof" dump "$@" 2> "$SCRATCH/errors")
    status=$?
    errors=$(cat "$SCRATCH/errors")
}

dump "$trace"
is "a whole trace: exit status" $status 0
is "nothing on the standard error" "$errors" ""
matches "metadata is printed" "$said" '^info    host = here  # name of the machine$'
matches "events are printed, in microseconds" "$said" '^ +0\.453 us  main +unwind  Main\.sort\(\)V  instructions=1150$'
totals="1 kernel events, 1 counter reads, 1 threads, 2 methods"
is "the totals are the last line" "$(tail -n 1 <<< "$said")" "6 records, $totals"
whole=$said

dump --tables "$trace"
is "--tables leaves the events out" "$said" "$(grep -v ' us  ' <<< "$whole")"

dump /dev/stdin < <(cat "$trace")
is "from a pipe, in ticks: exit status" $status 0
matches "the time is the counter's" "$said" '^ +1906  main +unwind'

head -c $((size - 1)) "$trace" > "$SCRATCH/cut"
dump "$SCRATCH/cut"
is "a cut trace: exit status" $status 0
is "all whole chunks are printed" "$said" "$whole"
matches "a line says that it has no end" "$errors" 'has no end'

# A flipped bit in the RECORDS payload.
cp "$trace" "$SCRATCH/damaged"
printf '\x03' | dd of="$SCRATCH/damaged" bs=1 seek=$((0x18e)) conv=notrunc 2> "$SCRATCH/errors"
dump "$SCRATCH/damaged"
is "a damaged trace: exit status" $status 1
matches "what stands before the damage is printed" "$said" '  main +runs$'
matches "the message names the byte" "$errors" "is damaged at byte 365: the checksum of a chunk is wrong$"
matches "and the next step" "$errors" '^  next: .*--salvage'
dump --salvage "$SCRATCH/damaged"
is "--salvage: exit status" $status 0
is "the rest is printed" "$(tail -n 1 <<< "$said")" "0 records, $totals"
matches "and the damage counted" "$errors" 'damage was skipped in 1 places'

dump "$SCRATCH/none"
is "a missing file: exit status" $status 1
matches "it is named" "$errors" "^mmprof dump: cannot open '$SCRATCH/none': No such file or directory$"
dump "$root/Makefile"
matches "another file is no trace" "$errors" "is not a trace$"
dump "$trace" "$trace"
matches "one trace at a time" "$errors" '^mmprof dump: one trace at a time'
dump --salvage --tables "$trace"
before=$said
dump "$trace" --salvage --tables
is "options behind the trace" "$said" "$before"

done_testing
