#!/bin/bash
# Every JDK from 8 on: samples from outside, probes, and one command for all, against what the program measures itself.
# JDKs are those of /usr/lib/jvm, and of a Debian root that MMPROF_JDK_ROOT names (make jdks): these run in a chroot.
# timeout: 600
# long: yes
. "$(dirname "$0")/../lib.sh"

versions='8 11 17 21 25 26 27 28'
jdk=$(jdks | head -n 1)

# home VERSION: of a JDK in the root, as seen from inside.
home() {
    (cd "${MMPROF_JDK_ROOT:-/nowhere}" 2> "$SCRATCH/ignored" && find usr/lib/jvm -maxdepth 1 \
        -name "java-$1-openjdk-*" -type d) |
        sed 's,^,/,' | head -n 1
}

# begin VERSION: starts the program on that JDK.  Fails where there is none.
begin() {
    local found inside
    found=$(jdks | while read -r path; do [ "$(jdk_version "$path")" = "$1" ] && echo "$path"; done)
    folder=$SCRATCH/$1
    if [ -n "$found" ]; then
        mkdir -p "$folder"
        cp "$SCRATCH"/classes/*.class "$folder"
        start "$folder/out" "$found/bin/java" -cp "$folder" Releases "$folder/end"
    elif [ "$(id -u)" = 0 ] && inside=$(home "$1") && [ -n "$inside" ]; then
        folder=$(mktemp -d "$MMPROF_JDK_ROOT/tmp/mmprof-test.XXXXXX") && root_folders+=("$folder")
        cp "$SCRATCH"/classes/*.class "$folder"
        chmod 755 "$folder"
        start "$folder/out" chroot "$MMPROF_JDK_ROOT" "$inside/bin/java" -cp "${folder#"$MMPROF_JDK_ROOT"}" Releases \
            "${folder#"$MMPROF_JDK_ROOT"}/end"
    else
        return 1
    fi
}

# share FILE METHOD: of the application's rows of a table in CSV, that method's part of what first and second have.
share() {
    awk -F, -v method="$2" 'NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "label" || $i == "method") name = i
                                                               if ($i == "self_share") share = i } }
        $name ~ /^"?(Releases\.)?first/ { first = $share }
        $name ~ /^"?(Releases\.)?second/ { second = $share }
        END { if (first + second == 0) print "none"; else printf "%.0f\n",
                  100 * (method == "first" ? first : second) / (first + second) }' "$1"
}

# near CLAIM FILE SHARE POINTS: first's share is about what the program measured.
near() {
    local said
    said=$(share "$2" first)
    if [ "$said" != none ] && [ $((said - $3)) -le "$4" ] && [ $(($3 - said)) -le "$4" ]; then
        ok "$1"
    else
        not_ok "$1" "first has $said % of both, and by its own clock $3 %" "$(head -n 8 "$2")"
    fi
}

loads_jvm() {
    grep -q libjvm.so "/proc/$1/maps" 2> "$SCRATCH/ignored"
}

# views VERSION TRACE: what a profile knows besides time.
views() {
    if [ "$1" = 8 ]; then
        matches "JDK $1: why there are no allocations" "$("$mmprof" report --view allocations "$2" 2>&1)" \
            'older than JDK 11'
    else
        matches "JDK $1: who allocates" "$("$mmprof" report --view allocations --csv "$2" | sed -n 2p)" \
            '^method,Releases.allocate,'
    fi
    matches "JDK $1: its collections" "$("$mmprof" report --view collections --csv "$2" | sed -n 2p)" '^gc_'
    matches "JDK $1: what the JIT compilers inlined" \
        "$("$mmprof" report --view inlining --csv "$2" | grep -c 'Releases.first,Releases.round')" '^[1-9]'
}

root_folders=()
mkdir -p "$SCRATCH/classes"
"$jdk/bin/javac" -nowarn -source 8 -target 8 -d "$SCRATCH/classes" "$root/test/java/releases/Releases.java" \
    2> "$SCRATCH/javac" || cat "$SCRATCH/javac"
for v in $versions; do
    if ! begin "$v"; then
        skip "JDK $v" "there is none; 'make jdks' gets it, and MMPROF_JDK_ROOT names its root"
        continue
    fi
    wait_for 30 loads_jvm "$pid"
    "$mmprof" sample -d 3 -F 299 --csv "$pid" > "$SCRATCH/sample.csv" 2> "$SCRATCH/sample.err"
    is "JDK $v: sample works from outside" "$? $(cat "$SCRATCH/sample.err")" "0 "
    "$mmprof" sample --wall -F 50 -d 2 -o "$SCRATCH/wall.dat" "$pid" > "$SCRATCH/wall" 2>&1
    "$mmprof" report --view locks --csv "$SCRATCH/wall.dat" > "$SCRATCH/locks.csv"
    matches "JDK $v: who holds the lock" "$(grep '^lock,' "$SCRATCH/locks.csv")" \
        'ReentrantLock.*,Releases.locked,Releases.sleep,'
    matches "JDK $v: who holds the monitor" "$(grep '^monitor,' "$SCRATCH/locks.csv")" \
        ',Releases.entered,Releases.sleep,'
    "$mmprof" record -q --include Releases --min-bytecodes 0 -d 2 -o "$SCRATCH/$v.dat" "$pid" 2> "$SCRATCH/record.err"
    is "JDK $v: record works" "$? $(cat "$SCRATCH/record.err")" "0 "
    "$mmprof" profile -q -d 4 -o "$SCRATCH/profile-$v" "$pid" > "$SCRATCH/profile" 2>&1
    is "JDK $v: profile works" $? 0
    views "$v" "$SCRATCH/profile-$v/phases.dat"
    touch "$folder/end"
    wait "$pid"
    is "JDK $v: the program ends as it does alone" "$? $(cut -d ' ' -f 2 "$folder/out" | tail -n 1)" "0 true"
    truth=$(tail -n 1 "$folder/out" | cut -d ' ' -f 3)
    near "JDK $v: samples have its shares" "$SCRATCH/sample.csv" "$truth" 12
    "$mmprof" report --csv "$SCRATCH/$v.dat" > "$SCRATCH/report.csv"
    near "JDK $v: probes have them" "$SCRATCH/report.csv" "$truth" 6
    matches "JDK $v: profile names the method that takes most" \
        "$(grep '^\*.*CPU time' "$SCRATCH/profile" | head -n 1)" \
        'Releases.first'
done
[ ${#root_folders[@]} = 0 ] || rm -rf "${root_folders[@]}"
done_testing
