#!/bin/bash
# What it costs to tell a tool of each access (thesis, Figures 2.2 and 2.3):   make bench-memtrace [WORKLOADS=DIR]
#
# CPU time of each program against its time without anything: in QEMU alone, and in QEMU with a plugin whose callbacks
# at each block and each access do nothing.  Then 'mmprof memtrace --tool' with a tool that does nothing, against the
# latter: which line of Java each access is of, which object it is in, and both.  The median of three runs without
# anything and of BENCH_RUNS (3) of the others, whose times go to standard error.  BENCH_ONLY="NAME ..." takes only
# these programs.
#
# DIR/commands is as for overhead.sh: a name, blanks, and a command 'exec java ...'.
#
# The table goes to standard output, what is run to standard error.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/workloads.sh"
. "$(dirname "$0")/cpu_times.bash"
cd "$root" || exit 1

runs=${BENCH_RUNS:-3}
directory=${WORKLOADS:-$SCRATCH}
qemu=$(command -v "qemu-$(uname -m)")

fail() {
    echo "bench-memtrace: $1" >&2
    exit 1
}

[ -n "$qemu" ] || fail "qemu-$(uname -m) is not installed; 'make deps' installs it"
[ -n "${WORKLOADS-}" ] || bench_commands "${JDK:-$(first_jdk)}" > "$SCRATCH/commands"
[ -r "$directory/commands" ] || fail "there is no '$directory/commands'"

# with_tool COMMAND ARGUMENT OPTION...
with_tool() {
    local command=$1 tool=$build/test/bench/idle_tool.so,$2
    shift 2
    median_of "$runs" "$directory" "$command" "$mmprof" memtrace -q "$@" --tool="$tool" --
}

# No object is followed where one in so many bytes is, but the look-up stays.
compare() {
    local name=$1 command=$2 in_qemu alone plain empty
    : > "$SCRATCH/times"
    in_qemu=$(in_emulator "$command")
    alone=$(median_of 3 "$directory" "$command")
    plain=$(median_of "$runs" "$directory" "$in_qemu" "$qemu")
    empty=$(median_of "$runs" "$directory" "$in_qemu" "$qemu" -plugin "$build/test/bench/callbacks.so")
    printf '%-12s %9s %8s %10s %8s %8s %8s\n' "$name" "$alone" "$(ratio "$plain" "$alone")" \
        "$(ratio "$empty" "$alone")" "$(ratio "$(with_tool "$command" lines --interval=1G)" "$empty")" \
        "$(ratio "$(with_tool "$command" '')" "$empty")" "$(ratio "$(with_tool "$command" lines)" "$empty")"
    echo "  $name: $(tr '\n' ' ' < "$SCRATCH/times")" >&2
}

printf '%-12s %9s %8s %10s %8s %8s %8s\n' program 'alone (s)' QEMU callbacks lines objects both
each_workload "$directory" compare
