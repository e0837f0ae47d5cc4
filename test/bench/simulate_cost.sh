#!/bin/bash
# What simulation costs programs:   make bench-simulate [WORKLOADS=DIR]
#
# CPU time of each program against its time without anything: in QEMU alone, in QEMU with a plugin whose callbacks at
# each block and each access do nothing, in QEMU with mmprof's plugin (the model zen4), with a sample of sets (that of
# 'mmprof record --sets'), with its windows (those of 'mmprof record --window'), and in valgrind's cachegrind with
# caches and branches, which has no TLBs and runs threads one at a time.  The median of three runs without anything
# and of BENCH_RUNS (3) in QEMU, whose times go to standard error, one run in cachegrind.  BENCH_ONLY="NAME ..." takes
# only these programs; BENCH_CACHEGRIND=no leaves cachegrind out.
#
# DIR/commands is as for overhead.sh: a name, blanks, and a command 'exec java ...'.
#
# The table goes to standard output, what is run to standard error.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/workloads.sh"
. "$(dirname "$0")/cpu_times.bash"
cd "$root" || exit 1

runs=${BENCH_RUNS:-3}
jdk=${JDK:-$(first_jdk)}
directory=${WORKLOADS:-$SCRATCH}
qemu=$(command -v "qemu-$(uname -m)")
plugin=$build/libmmprof-sim.so
callbacks=$build/test/bench/callbacks.so

# OpenJDK runs in valgrind with these only: it writes code, and reads registers of threads that it stopped.
cachegrind="valgrind --tool=cachegrind --cache-sim=yes --branch-sim=yes --smc-check=all-non-file
--vex-iropt-register-updates=allregs-at-each-insn --cachegrind-out-file=/dev/null --log-file=/dev/null"

fail() {
    echo "bench-simulate: $1" >&2
    exit 1
}

[ -n "$qemu" ] || fail "qemu-$(uname -m) is not installed; 'make deps' installs it"

[ -n "${WORKLOADS-}" ] || bench_commands "$jdk" > "$SCRATCH/commands"
[ -r "$directory/commands" ] || fail "there is no '$directory/commands'"

# compare NAME COMMAND: a row.
compare() {
    local name=$1 command=$2 in_qemu alone plain full sets windows empty grind
    : > "$SCRATCH/times"
    in_qemu=$(in_emulator "$command")
    alone=$(median_of 3 "$directory" "$command")
    plain=$(median_of "$runs" "$directory" "$in_qemu" "$qemu")
    full=$(median_of "$runs" "$directory" "$in_qemu" "$qemu" -plugin "$plugin,model=zen4")
    sets=$(median_of "$runs" "$directory" "$in_qemu" "$qemu" -plugin "$plugin,model=zen4,sets=1/8")
    windows=$(median_of "$runs" "$directory" "$in_qemu" "$qemu" -plugin "$plugin,model=zen4,window=500K+250K/10M")
    empty=$(median_of "$runs" "$directory" "$in_qemu" "$qemu" -plugin "$callbacks")
    echo "  $name: $(tr '\n' ' ' < "$SCRATCH/times")" >&2
    grind=-
    # shellcheck disable=SC2086 # words
    [ "${BENCH_CACHEGRIND-}" = no ] || ! command -v valgrind > "$SCRATCH/which" ||
        grind=$(cpu_seconds "$directory" "$in_qemu" $cachegrind)
    printf '%-12s %9s %8s %10s %10s %8s %8s %12s\n' "$name" "$alone" "$(ratio "$plain" "$alone")" \
        "$(ratio "$empty" "$alone")" "$(ratio "$full" "$alone")" "$(ratio "$sets" "$alone")" \
        "$(ratio "$windows" "$alone")" "$(ratio "$grind" "$alone")"
}

printf '%-12s %9s %8s %10s %10s %8s %8s %12s\n' program 'alone (s)' QEMU callbacks simulated sets windows cachegrind
each_workload "$directory" compare
