#!/bin/bash
# timeout: 900
# takes: 45
# The simulated processor executes what a real one does: the same JVM for aarch64 runs the same program in the machine,
# whose PMU counts its instructions, and in QEMU's user mode on this machine, with mmprof's simulator.
. "$(dirname "$0")/machine.bash"

# Interpreted, on one CPU, with the same heap: what a JVM executes depends on little else then.
java_options="-Xint -XX:+UseSerialGC -Xmx256m -XX:ActiveProcessorCount=1"
counts=$build/test/java/simulated.counts # goes into the machine with the classes

# simulate PROGRAM: its instructions and cycles, of all threads.
simulate() {
    # shellcheck disable=SC2086 # words
    QEMU_CPU=neoverse-n1 qemu-aarch64 -L "$machine/root" \
        -plugin "$build/libmmprof-sim.so,model=neoverse-n1,out=$SCRATCH/counts" \
        "$machine/root/usr/lib/jvm/java-17-openjdk-arm64/bin/java" $java_options -cp "$classes" "$@" \
        > "$SCRATCH/said" 2>&1 || return 1
    awk '{ for (i = 2; i < NF; i += 2) n[$i] += $(i + 1) }
        END { printf "%.0f %.0f\n", n["instructions"], n["cycles"] }' "$SCRATCH/counts"
}

if [ -z "${MMPROF_IN_MACHINE-}" ]; then
    command -v qemu-aarch64 > "$SCRATCH/which" || skip_all "there is no qemu-aarch64; Debian's qemu-user has it"
    machine_needs
    machine_ready
    make -C "$root" -j2 --no-print-directory BUILD="$build" "$build/libmmprof-sim.so" "$build/test/java/.made" \
        > "$SCRATCH/built" 2>&1 || { cat "$SCRATCH/built" && exit 1; }
    { simulate target.Walks 1 && simulate target.Walks 9; } > "$counts"
fi
in_machine -smp 1 -icount shift=0

# measure ROUNDS: instructions and cycles by the PMU.
measure() {
    # shellcheck disable=SC2086 # words
    perf stat -x , -o "$SCRATCH/stat" -e instructions:u,cycles:u java $java_options -cp "$classes" target.Walks "$1" \
        > "$SCRATCH/said" 2>&1
    echo "$(sed -n 's/,.*instructions:u.*//p' "$SCRATCH/stat") $(sed -n 's/,.*cycles:u.*//p' "$SCRATCH/stat")"
}

# The JVM's start depends on time, what the rounds execute does not.
{ measure 1 && measure 9; } > "$SCRATCH/measured"
paste "$SCRATCH/measured" "$counts" | sed 's/^/# by the PMU, and simulated (instructions, cycles): /'
difference() {
    awk 'NR == 1 { n = $1 } NR == 2 { printf "%d", $1 - n }' "$1"
}
# agree CLAIM PMU SIMULATED: within 1 %.
agree() {
    holds "$1, simulated and by the PMU: $3, $2" \
        awk -v a="$2" -v b="$3" 'BEGIN { exit !(a > 1e6 && b > a * 0.99 && b < a * 1.01) }'
}

agree "instructions of eight rounds agree within 1 %" "$(difference "$SCRATCH/measured")" "$(difference "$counts")"
agree "and those of a whole process" "$(awk 'NR == 2 { print $1 }' "$SCRATCH/measured")" \
    "$(awk 'NR == 2 { print $1 }' "$counts")"

done_testing
