#!/bin/bash
# Stacks of Java that native code has called, by the foreign function API and by JNI, are whole.
# timeout: 100
# beside: yes
. "$(dirname "$0")/../lib.sh"
needs_command sample

newest=$(jdks | tail -n 1)
[ "$(jdk_version "$newest")" -ge 22 ] || skip_all "the foreign function API needs JDK 22 or later"
"$newest/bin/javac" -d "$SCRATCH/classes" "$root"/test/java/upcall/*.java 2> "$SCRATCH/errors"
is "the program is compiled" "$?$(cat "$SCRATCH/errors")" 0

# samples PATTERN: in the folded stacks that have it.
samples() {
    awk -v pattern="$1" '{ if ($0 ~ pattern) n += $NF } END { print n + 0 }' "$SCRATCH/folded"
}

for mode in -Xint -Xmixed; do
    start "$SCRATCH/out" "$newest/bin/java" $mode --enable-native-access=ALL-UNNAMED \
        -Djava.library.path="$build/test/java" -cp "$SCRATCH/classes" upcall.Upcalls
    wait_for 60 grep -q READY "$SCRATCH/out"
    [ $mode = -Xint ] || sleep 1
    said=$("$mmprof" sample -p "$pid" -F 997 -d 1 --folded "$SCRATCH/folded" 2>&1)
    stop "$pid"
    all=$(samples 'upcall.Upcalls')
    whole=$(samples '^upcall.Upcalls.main')
    leaf=$(samples 'Upcalls.leaf')
    holds "$mode: stacks begin with main: $whole of $all" awk -v w="$whole" -v a="$all" \
        'BEGIN { exit !(a > 50 && w >= 0.99 * a) }'
    holds "$mode: leaf has its four fifths: $leaf of $all" awk -v l="$leaf" -v a="$all" \
        'BEGIN { exit !(l > 0.65 * a && l < 0.92 * a) }'
    is "$mode: each with the two calls of either kind" \
        "$(samples 'descend.*byJni.*descend.*byUpcall.*compare.*descend.*byJni.*descend.*byUpcall.*compare.*leaf')" \
        "$leaf"
    none=$(sed -n 's/^application, no Java method *\([0-9.]*\).*/\1/p' <<< "$said")
    holds "$mode: all time has a Java method but for ${none:-0} %" awk -v n="${none:-0}" 'BEGIN { exit !(n < 3) }'
    is "$mode: no stack lacks its outer methods" "$(grep -c 'without outer' <<< "$said")" 0
done
done_testing
