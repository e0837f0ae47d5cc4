#!/bin/bash
# Where a JVM's start goes, against what the JVM logs and what the program knows: without an archive of classes, with
# the JDK's, and with one of the program's own; and a JVM that was not recorded from its start.
# timeout: 300
# long: yes
. "$(dirname "$0")/../lib.sh"

jdk=$(jdks | tail -n 1)
mkdir -p "$SCRATCH/source" "$SCRATCH/classes"
{
    echo 'package target; class Many {'
    for i in $(seq 0 299); do
        echo "static class C$i { static int value = $i; int get() { return value + $i; } }"
    done
    echo '}'
} > "$SCRATCH/source/Many.java"
"$jdk/bin/javac" -d "$SCRATCH/classes" "$SCRATCH/source/Many.java" "$root/test/java/target/Starts.java" \
    2> "$SCRATCH/errors"
is "the program is compiled" "$?$(cat "$SCRATCH/errors")" 0
"$jdk/bin/jar" --create --file "$SCRATCH/starts.jar" -C "$SCRATCH/classes" target

# begin OPTIONS: records a start, which the JVM logs, too.
begin() {
    "$mmprof" profile -q -o "$SCRATCH/profile" -- "$jdk/bin/java" "-Xlog:startuptime:file=$SCRATCH/start.log" \
        "-Xlog:class+load:file=$SCRATCH/classes.log" "$@" -cp "$SCRATCH/starts.jar" target.Starts 300 \
        > "$SCRATCH/out" 2>&1
    "$mmprof" report --view startup --csv "$SCRATCH/profile/phases.dat" > "$SCRATCH/startup.csv" 2> "$SCRATCH/errors"
}

# of KIND COLUMN
of() {
    awk -F, -v kind="$1" -v column="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i }
        $1 == kind { printf "%.0f", $at; exit }' "$SCRATCH/startup.csv"
}

# logged PATTERN: classes that the JVM said it loaded so.
logged() {
    grep 'source:' "$SCRATCH/classes.log" | grep -c "$@"
}

# near CLAIM A B PARTS: they differ by no more than one in so many parts.
near() {
    holds "$1 ($2 and $3)" awk -v a="$2" -v b="$3" -v n="$4" \
        'BEGIN { d = a > b ? a - b : b - a; exit !(a > 0 && d * n <= b) }'
}

begin
is "the JDK's archive: its classes are counted" "$(of archived number)" "$(logged 'shared objects file')"
is "and the others" "$(of loaded number)" "$(logged -v 'shared objects file')"
ms=$(awk '/Create VM/ { printf "%.0f", 1000 * $(NF - 1) }' "$SCRATCH/start.log")
near "creating the JVM takes as long as it logs" $(($(of create_vm total_ns) / 1000000)) "$ms" 10
matches "the slow initializer comes first" "$(grep '^initializer' "$SCRATCH/startup.csv" | head -n 1)" 'Starts[$]Slow'
near "with about the CPU time that it takes: some 50 samples" $(($(of initializer total_ns) / 1000000)) 500 2
holds "which the JVM counts, too" [ "$(of initialized total_ns)" -ge 500000000 ]
is "a quick one has no row" "$(grep -c 'Quick' "$SCRATCH/startup.csv")" 0
own=$(of loaded total_ns)
"$mmprof" report --view startup "$SCRATCH/profile/phases.dat" > "$SCRATCH/text"
matches "a note says what an archive may save" "$(cat "$SCRATCH/text")" \
    'came from no archive: an archive of the program.s own .* saves [0-9.]+ ms at most'
"$mmprof" report --view startup --json "$SCRATCH/profile/phases.dat" > "$SCRATCH/json"
matches "JSON has the rows" "$(tr -d ' \n\t' < "$SCRATCH/json")" '"kind":"create_vm".*"kind":"initializer"'

"$mmprof" report --html "$SCRATCH/page.html" "$SCRATCH/profile/phases.dat"
matches "a page has them" "$(grep -c '"startup":.*creating the JVM' "$SCRATCH/page.html")" '^[1-9]'

begin -Xshare:off
is "no archive: all classes are loaded" "$(of archived number) $(of loaded number)" "0 $(logged -v nothing)"
matches "which a note says" "$("$mmprof" report --view startup "$SCRATCH/profile/phases.dat")" \
    'no class came from an archive'
holds "that takes longer" [ "$(of loaded total_ns)" -gt "$own" ]

"$jdk/bin/java" "-XX:ArchiveClassesAtExit=$SCRATCH/starts.jsa" -cp "$SCRATCH/starts.jar" target.Starts 300 \
    > "$SCRATCH/dump" 2>&1
begin "-XX:SharedArchiveFile=$SCRATCH/starts.jsa"
is "an archive of the program's own: its classes are counted" "$(of archived number)" "$(logged 'shared objects file')"
holds "the program's are among them ($(of loaded number) are not)" [ "$(of loaded number)" -lt 150 ]
holds "that takes less time" [ "$(of loaded total_ns)" -lt "$own" ]

start_busy "$jdk"
"$mmprof" profile -q -d 1 -o "$SCRATCH/later" "$pid" > "$SCRATCH/out" 2>&1
matches "a JVM that ran already has no start" "$("$mmprof" report --view startup "$SCRATCH/later/phases.dat" 2>&1)" \
    "does not have a JVM's start"
done_testing
