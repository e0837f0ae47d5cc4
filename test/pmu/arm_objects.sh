#!/bin/bash
# timeout: 900
# takes: 60
# Objects on aarch64: mmprof for aarch64 runs in QEMU's user mode on this machine, and starts a JVM for aarch64 in the
# emulator there, with the plugins of this machine, as it would on a machine of that kind.
. "$(dirname "$0")/machine.bash"

command -v qemu-aarch64 > "$SCRATCH/which" || skip_all "there is no qemu-aarch64; Debian's qemu-user has it"
machine_needs
machine_ready
arm=$build/aarch64
plugins="libmmprof-tool.so libmmprof-memtrace.so libmmprof-placement.so"
{
    make -C "$root" -j2 --no-print-directory CC=aarch64-linux-gnu-gcc BUILD="$arm" \
        CFLAGS="-O2 --sysroot=$machine/root" LDFLAGS="--sysroot=$machine/root" \
        "$arm/libexec/mmprof/mmprof-lab" "$arm/libmmprof-lab-agent.so" &&
        make -C "$root" -j2 --no-print-directory BUILD="$build" "$build/mmprof" "$build/test/java/.made"
} > "$SCRATCH/built" 2>&1 || {
    cat "$SCRATCH/built"
    exit 1
}

# Of this machine is what QEMU loads, of aarch64 what it runs.
mkdir -p "$SCRATCH/arm/libexec/mmprof"
cp "$arm/libexec/mmprof/mmprof-lab" "$SCRATCH/arm/libexec/mmprof/"
cp "$arm/libmmprof-lab-agent.so" "$SCRATCH/arm/"
for plugin in $plugins; do cp "$build/$plugin" "$SCRATCH/arm/"; done
export QEMU_LD_PREFIX=$machine/root QEMU_CPU=neoverse-n1
java=$machine/root/usr/lib/jvm/java-17-openjdk-arm64/bin/java
on_arm() {
    qemu-aarch64 "$SCRATCH/arm/libexec/mmprof/mmprof-lab" "$@" 2> "$SCRATCH/said"
}

on_arm placement -q --csv --policy=identity,hot-cold -c 20 -- "$java" -XX:+UseSerialGC -Xmn8m -Xmx64m \
    -XX:MaxTenuringThreshold=0 -cp "$classes" target.Places > "$SCRATCH/places.csv"
is "placement: the program ends as it should" "$?, $(cat "$SCRATCH/said")" "0, 7999600000"
# misses POLICY MEMORY COLUMN
misses() {
    tr -d '"\r' < "$SCRATCH/places.csv" | awk -F , -v policy="$1" -v memory="$2" -v name="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
        $2 == policy && $4 == memory { print $at }'
}
for event in l1d l2 dtlb; do
    is "identity changes nothing of $event" "$(misses identity 'all memory' ${event}_change)" 0
done
hot='target.Places$Hot'
is "all objects of the class are placed" "$(misses 'as it is' "$hot" objects)" 20000
holds "as it is, they have the misses that were counted by hand" \
    awk -v n="$(misses 'as it is' "$hot" l1d_misses)" 'BEGIN { exit !(n > 449000 && n < 451000) }'
holds "and together, too" \
    awk -v n="$(misses hot-cold "$hot" l1d_misses)" 'BEGIN { exit !(n > 199000 && n < 201500) }'

cd "$SCRATCH" || exit 1
on_arm memtrace -q --objects-only -o objects.dat -- "$java" -XX:+UseSerialGC -Xmn4m -Xmx64m -cp "$classes" \
    target.Places > "$SCRATCH/printed"
is "objects are recorded" "$?, $(cat "$SCRATCH/printed")" "0, 7999600000"
"$mmprof" memtrace --lifetimes --csv objects.dat | tr -d '"\r' > "$SCRATCH/lifetimes.csv"
is "with their classes and lifetimes" \
    "$(grep -c '^class,target.Places\$[A-Za-z]*,20000,' "$SCRATCH/lifetimes.csv")" 3
holds "live bytes have the collections" \
    test "$("$mmprof" memtrace --live-bytes --csv objects.dat | grep -c '^collection,')" -ge 5
"$mmprof" memtrace --html page.html objects.dat > "$SCRATCH/printed" 2>&1
is "a page has what is there" "$?, $(grep -oE '"id":"[a-z-]+"' page.html | xargs)" "0, id:live-bytes id:lifetimes"

on_arm memtrace --last-uses -o uses.dat -- "$java" -cp "$classes" target.Places > "$SCRATCH/printed"
matches "last uses are refused there, and why and what to do" "$? $(tr '\n' ' ' < "$SCRATCH/said")" \
    '^1 mmprof memtrace: --last-uses follows calls by .*aarch64.*  next: record lifetimes and live bytes .*x86-64'
is "and nothing is started" "$(ls uses.dat 2> /dev/null)" ""

done_testing
