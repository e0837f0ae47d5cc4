#!/bin/bash
# Where simulated misses are: an array and a list whose misses are known by class, line and generation, before and after
# collections that move them.
# timeout: 300
# beside: yes
# long: yes
. "$(dirname "$0")/../lib.sh"

command -v "qemu-$(uname -m)" > "$SCRATCH/which" || skip_all "qemu-user is not installed; 'make deps' installs it"
[ "$(uname -m)" = x86_64 ] || skip_all "which bytecode is interpreted is known on x86-64 only"
[ -n "$(first_jdk)" ] || skip_all "there is no JDK 17 or 25"

# record NAME JAVA OPTION...: two rounds of target.Misses, a collection between them.
record() {
    local name=$1 java=$2
    shift 2
    "$mmprof" record -q --simulate --min-bytecodes 0 --include target/Misses.add --include target/Misses.chase \
        -o "$SCRATCH/$name.dat" -- "$java" "$@" -Xms128m -Xmx128m -cp "$classes" target.Misses 2 > "$SCRATCH/said" 2>&1
    is "$name: the program ends as it should" "$?, $(cat "$SCRATCH/said")" "0, 131072"
}

# count NAME WAY LABEL [IN [COLUMN]]: misses of L1D, or what else the column has, in the rows that begin so.
count() {
    "$mmprof" report --view "misses=$2" --csv "$SCRATCH/$1.dat" 2> "$SCRATCH/errors" | tr -d '\r' |
        awk -F , -v label="$3" -v of="${4-}" -v column="${5-l1d_misses}" '
            { gsub(/"/, "") }
            NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) from_end = NF - i }
            NR > 1 && index($2, label) == 1 && (of == "" || index($3, of) == 1) { n += $(NF - from_end) }
            END { printf "%d\n", n }'
}

# between CLAIM NUMBER LEAST MOST
between() {
    if [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; then
        ok "$1: $2"
    else
        not_ok "$1" "is: $2" "expected: $3 to $4"
    fi
}

# estimates CLAIM NUMBER TRUTH SAMPLES: within two per cent, or with fewer samples four standard deviations.
estimates() {
    local ppm
    ppm=$(awk -v n="$4" 'BEGIN { e = n > 0 ? 4 / sqrt(n) : 0; printf "%d", 1e6 * (e > 0.02 ? e : 0.02) }')
    between "$1, by $4 samples" "$2" $(($3 - $3 / 1000 * ppm / 1000)) $(($3 + $3 / 1000 * ppm / 1000))
}

# 131,072 lines of an array and 65,536 nodes, in each of two rounds; what was thrown away makes estimates of the counts.
# Making them misses, too, but not in these lines.
# check NAME [MOST]: misses of the array.
check() {
    local name=$1 most=${2-460000}
    between "$name: a line of code that walks an array misses once a line of it" \
        "$(count "$name" line 'Misses.add:')" 235000 290000
    # A node is as long as a line, and begins anywhere in one.
    between "$name: one that follows a list misses once a node, or twice where its header is in another line" \
        "$(count "$name" line 'Misses.chase:')" 117000 275000
    between "$name: those of the array are known to be the array's" "$(count "$name" class 'long[]')" 240000 "$most"
    between "$name: those of the nodes the class'" "$(count "$name" class 'target.Misses$Node')" 120000 700000
    "$mmprof" report --notes --view misses=class --json "$SCRATCH/$name.dat" > "$SCRATCH/json" 2>&1
    # One of 4,096 is drawn, of 100 million or more; where a slow machine cannot keep up, one of 8,192, or fewer.
    local share per_cent counted
    counted=$(sed -n 's/.*"accesses":[[:space:]]*\([0-9.]*\).*/\1/p' "$SCRATCH/json" | head -n 1)
    estimates "$name: accesses add up to $counted, which were counted" \
        "$(count "$name" class all '' accesses)" "$counted" "$(count "$name" class all '' drawn)"
    share=$(sed -n 's/.*"known_code_share":[[:space:]]*\([0-9.]*\).*/\1/p' "$SCRATCH/json" | head -n 1)
    per_cent=$(awk -v s="$share" 'BEGIN { printf "%d", 100 * s }')
    between "$name: which code it was is known of so many per cent of the misses" "$per_cent" 90 100
    share=$(sed -n 's/.*"known_memory_share":[[:space:]]*\([0-9.]*\).*/\1/p' "$SCRATCH/json" | head -n 1)
    between "$name: and whose memory of so many" "$(awk -v s="$share" 'BEGIN { printf "%d", 100 * s }')" 90 100
    # The agent's calibration of a pair of probes alone would be 100 million.
    between "$name: accesses of mmprof itself are few" "$(count "$name" class 'mmprof itself' '' accesses)" 0 20000000
}

# fields NAME LABEL COLUMN: of the rows of fields that begin so; of all but the total one, added up, without.
fields() {
    "$mmprof" report --view fields --top 0 --csv "$SCRATCH/$1.dat" 2> "$SCRATCH/errors" | tr -d '\r' |
        awk -F , -v label="$2" -v column="$3" '
            { gsub(/"/, "") }
            NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) from_end = NF - i }
            NR > 1 && (label == "" ? $1 != "total" : index($2, label) == 1) { n += $(NF - from_end) }
            END { printf "%d\n", n }'
}

# cell NAME VIEW COLUMN: of the table's total row.
cell() {
    "$mmprof" report --view "$2" --csv "$SCRATCH/$1.dat" 2> "$SCRATCH/errors" | tr -d '\r' |
        awk -F , -v column="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) from_end = NF - i }
            $1 == "total" { print $(NF - from_end) }'
}

# check_rate NAME: what classes add to the misses of L2 per 1,000 instructions are those of the table of phases.
check_rate() {
    local of_classes of_phases
    of_classes=$(cell "$1" misses l2_per_1000_instructions)
    of_phases=$(cell "$1" phases simulated::L2-data-misses_per_1000_instructions)
    is "$1: misses of L2 per 1,000 instructions are those of the phases within 3 %" \
        "$(awk -v a="$of_classes" -v b="$of_phases" 'BEGIN { print (a > 0.97 * b && a < 1.03 * b) }')" 1
}

# check_fields NAME: the field of the list, whose every other node is of a subclass, and the array's elements.
check_fields() {
    local name=$1 share
    estimates "$name: the bytecode of the array names its elements" \
        "$(fields "$name" 'long[] elements' l1d_by_bytecode)" 262144 "$(count "$name" line 'Misses.add:' '' kept)"
    between "$name: that of the list the field that it follows" \
        "$(fields "$name" 'target.Misses$Node.next' l1d_by_bytecode)" 150000 500000
    between "$name: of a subclass by object, in its header or there" \
        "$(fields "$name" 'target.Misses$Node2' l1d_by_object)" 60000 350000
    between "$name: which no bytecode names" "$(fields "$name" 'target.Misses$Node2' l1d_by_bytecode)" 0 0
    is "$name: both ways add up to all misses" \
        "$(fields "$name" '' l1d_by_object) $(fields "$name" '' l1d_by_bytecode) $(fields "$name" all l2_by_object)" \
        "$(count "$name" field all) $(count "$name" field all) $(count "$name" field all '' l2_misses)"
    share=$("$mmprof" report --view fields --json "$SCRATCH/$name.dat" |
        sed -n 's/.*"known_bytecode_share":[[:space:]]*\([0-9.]*\).*/\1/p')
    between "$name: the bytecode is known of so many per cent of what Java code missed" \
        "$(awk -v s="$share" 'BEGIN { printf "%d", 100 * s }')" 97 100
    "$mmprof" report --view fields --csv "$SCRATCH/$name.dat" | sed -n '2,3p' | cut -d , -f 2 | sort > "$SCRATCH/table"
    is "$name: these two are the first fields" "$(paste -sd, "$SCRATCH/table")" \
        'long[] elements,target.Misses$Node.next'
}

for jdk in $(jdks); do
    version=$(jdk_version "$jdk")
    record "serial$version" "$jdk/bin/java" -Xint -XX:+UseSerialGC
    check "serial$version"
    check_rate "serial$version"
    check_fields "serial$version"
    between "before the collection the nodes are young" \
        "$(count "serial$version" field 'target.Misses$Node' eden)" 60000 600000
    between "after it they are old" "$(count "serial$version" field 'target.Misses$Node' 'old generation')" 58000 140000
done
jdk=$(first_jdk)
record parallel "$jdk/bin/java" -Xint -XX:+UseParallelGC
# Before a full collection there is a young one, which copies the array: 131,072 lines are read and as many written.
check parallel 720000
between "the array that a collection copied is known where it was, and where it is then" \
    "$(count parallel class 'long[]')" 600000 720000
record g1 "$jdk/bin/java" -XX:+UseG1GC
check g1
between "an array of 8 MB is humongous" "$(count g1 field 'long[]' humongous)" 240000 460000

# Nodes do not fit into a young generation of 2 MB: collections copy them, read where they were, write where they are.
"$mmprof" record -q --simulate --include 'target/*' -o "$SCRATCH/young.dat" -- "$jdk/bin/java" \
    -XX:+UseSerialGC -Xlog:gc -Xmn2m -Xmx64m -cp "$classes" target.Misses 1 > "$SCRATCH/said" 2>&1
"$mmprof" report --notes --view misses=class --json "$SCRATCH/young.dat" > "$SCRATCH/json" 2>&1
share=$(sed -n 's/.*"known_object_share":[[:space:]]*\([0-9.]*\).*/\1/p' "$SCRATCH/json" | head -n 1)
matches "there are young collections" "$(grep -c 'Pause Young' "$SCRATCH/said")" '^[1-9]'
between "of so many per cent of their misses in the heap, and others', the object is known" \
    "$(awk -v s="$share" 'BEGIN { printf "%d", 100 * s }')" 95 100

# An array of eight times L2's size is walked again and again: of the 16,384 lines of all threads' L2 most are the
# array's.
"$mmprof" record -q --simulate=ultrasparc3 --include 'target/*' -o "$SCRATCH/full.dat" -- \
    "$jdk/bin/java" -Xint -XX:+UseSerialGC -Xmx128m -cp "$classes" target.Misses 3 64 > "$SCRATCH/said" 2>&1
"$mmprof" report --notes --view misses=contents --csv "$SCRATCH/full.dat" 2> "$SCRATCH/errors" | tr -d '\r"' |
    awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR > 1 { lines = $at["l2_lines"] * ($at["l2_eden"] + $at["l2_old"]); if (lines > most) most = lines }
        END { printf "%d\n", most }' > "$SCRATCH/lines"
between "L2 is full of the array that was walked" "$(cat "$SCRATCH/lines")" 8193 16384
# An array that fits into L2, 8,192 lines, walked ten times: full collections between take it away (SA, section 6), but
# only from an L2 that threads share.
printf 'like ultrasparc3\nl2.shared no\n' > "$SCRATCH/private"
for model in ultrasparc3 "$SCRATCH/private"; do
    least=78000 most=90000
    [ "$model" = ultrasparc3 ] || least=8000 most=16000
    "$mmprof" record -q --simulate="$model" --include NoSuch -o "$SCRATCH/evicted.dat" -- \
        "$jdk/bin/java" -Xint -XX:+UseSerialGC -Xmx64m -cp "$classes" target.Evicted > "$SCRATCH/said" 2>&1
    between "${model##*/}: misses of L2 with a full collection before each walk" \
        "$(count evicted method Evicted.walk '' l2_misses)" "$least" "$most"
done
# Its 8 MB, and what the JVM has, of 128.
"$mmprof" report --notes --view misses=contents --csv "$SCRATCH/full.dat" 2> "$SCRATCH/errors" | tr -d '\r"' |
    awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR > 1 { mb = $at["used_eden_mb"] + $at["used_old_mb"] + $at["used_humongous_mb"]; if (mb > most) most = mb }
        END { printf "%d\n", most }' > "$SCRATCH/used"
between "the heap has it, too, in MB" "$(cat "$SCRATCH/used")" 8 128
"$mmprof" report --notes --view misses=contents "$SCRATCH/full.dat" > "$SCRATCH/table" 2>&1
matches "it is a table of steps" "$(grep From "$SCRATCH/table")" '^ *From +Snapshots +L2 lines +Eden '

# ---- what is said ----

"$mmprof" report --notes --view misses=field "$SCRATCH/g1.dat" > "$SCRATCH/table" 2>&1
matches "elements of arrays have ranges of indices" "$(cat "$SCRATCH/table")" '^long\[\] \[524288\.\.1048575\] '
matches "fields have names" "$(cat "$SCRATCH/table")" '^target\.Misses\$Node\.next '
matches "it is said that this is simulated" "$(cat "$SCRATCH/table")" '^misses   simulated \(zen4\): [0-9,]+ loads'
matches "and of how many misses it is known" "$(cat "$SCRATCH/table")" \
    '^note: attributed L1D misses, .*: memory region '
"$mmprof" report --notes --view misses=line,source="$root/test/java" "$SCRATCH/g1.dat" > "$SCRATCH/table" 2>&1
matches "lines are shown" "$(cat "$SCRATCH/table")" '^Misses\.add:[0-9]+ .* sum \+= array\[i\];$'
"$mmprof" report --notes --view misses=part "$SCRATCH/g1.dat" > "$SCRATCH/table" 2>&1
matches "kinds of bytecode are, in compiled code, too" \
    "$("$mmprof" report --view misses=bytecode "$SCRATCH/g1.dat" 2>&1)" '^array read, long +[0-9]'
matches "parts of the JVM are told apart" "$(cat "$SCRATCH/table")" '^JVM: garbage collection +[0-9]'
"$mmprof" report --notes --view misses=time "$SCRATCH/g1.dat" > "$SCRATCH/table" 2>&1
matches "there is a row for each step" "$(grep -cE '^ *[0-9.]+ (ns|us|ms|s) ' "$SCRATCH/table")" '^[1-9]'
"$mmprof" report --notes --view misses=part,java "$SCRATCH/g1.dat" > "$SCRATCH/table" 2>&1
is "the JVM's own code can be left out" "$?, $(grep -cE '^(JVM: |other native)' "$SCRATCH/table")" "0, 0"
matches "and Java code stays" "$(cat "$SCRATCH/table")" '^interpreter +[0-9]'
matches "and it is said of how many misses that leaves something" "$(cat "$SCRATCH/table")" \
    '^note: Java code and .* only: [0-9.]+ % of L1D misses, [0-9.]+ % of L2 misses$'
"$mmprof" report --notes --view misses=contents,java "$SCRATCH/g1.dat" > "$SCRATCH/table" 2>&1
is "of what is in the caches it cannot be" "$?, $(grep -c 'next: remove it, or use' "$SCRATCH/table")" "1, 1"
"$mmprof" report --view phases=java "$SCRATCH/g1.dat" > "$SCRATCH/table" 2>&1
is "phases cannot be of Java code only" "$?, $(grep -c "the view 'phases' has no 'java'" "$SCRATCH/table")" "1, 1"
"$mmprof" report --notes --view misses=object "$SCRATCH/g1.dat" > "$SCRATCH/table" 2>&1
is "another way is refused" "$?, $(grep -c 'next: use --view misses=class' "$SCRATCH/table")" "1, 1"

"$mmprof" record -q --simulate --counts-only --include 'target/*' -o "$SCRATCH/counts.dat" -- \
    "$jdk/bin/java" -XX:+UseSerialGC -Xmx64m -cp "$classes" target.Walks > "$SCRATCH/said" 2>&1
is "counts can be had without it" $? 0
"$mmprof" report --csv "$SCRATCH/counts.dat" 2> "$SCRATCH/errors" | head -n 1 > "$SCRATCH/table"
matches "and are there" "$(cat "$SCRATCH/table")" 'simulated::L1-dcache-misses'
"$mmprof" report --notes --view misses "$SCRATCH/counts.dat" > "$SCRATCH/table" 2>&1
is "where they are is not told then" "$?, $(grep -c 'next: record .* without --counts-only' "$SCRATCH/table")" "1, 1"
"$mmprof" record -q --counts-only -o "$SCRATCH/refused.dat" -- "$jdk/bin/java" -version > "$SCRATCH/said" 2>&1
is "without a simulation it says nothing" "$?, $(grep -c 'next: add --simulate' "$SCRATCH/said")" "1, 1"

done_testing
