#!/bin/bash
# Every JDK from 8 on: each command once, and samples and probes against what the program measures itself.
# JDKs are those of /usr/lib/jvm, and of a root that MMPROF_JDK_ROOT names (make jdks): these run in a chroot.
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

# What changes the layout of objects, pointers and frames, on one release each: arrays that begin elsewhere (without
# compressed class pointers: of JDK 11 at 24 bytes, of 26 at 20), small headers, and pointers with a collector's bits.
# Heaps and young generations are soon full, however little CPU time the program gets.
options() {
    case $1 in
        11 | 26) echo -Xmn8m -XX:-UseCompressedClassPointers ;;
        21) echo -Xmx64m -XX:+UseZGC -XX:+ZGenerational ;;
        25) echo -Xmn8m -XX:+UseCompactObjectHeaders ;;
        28) echo -Xmx64m -XX:+UseShenandoahGC ;;
        *) echo -Xmn8m ;;
    esac
}

# begin VERSION: starts the program on that JDK.  Fails where there is none.
# shellcheck disable=SC2046  # options are words
begin() {
    local found inside
    found=$(jdks | while read -r path; do [ "$(jdk_version "$path")" = "$1" ] && echo "$path"; done)
    folder=$SCRATCH/$1
    if [ -n "$found" ]; then
        mkdir -p "$folder"
        cp -r "$SCRATCH"/classes/* "$folder"
        start "$folder/out" "$found/bin/java" $(options "$1") -cp "$folder" Releases "$folder/end"
    elif unshare -m true 2> "$SCRATCH/ignored" && inside=$(home "$1") && [ -n "$inside" ]; then
        folder=$(mktemp -d "$MMPROF_JDK_ROOT/tmp/mmprof-test.XXXXXX") && root_folders+=("$folder")
        cp -r "$SCRATCH"/classes/* "$folder"
        chmod 755 "$folder"
        # Its own mounts: nothing stays mounted below the root, which somebody may remove.
        start "$folder/out" unshare -m sh -c 'mount --bind /proc "$0/proc" && exec chroot "$0" "$@"' \
            "$MMPROF_JDK_ROOT" "$inside/bin/java" $(options "$1") -cp "${folder#"$MMPROF_JDK_ROOT"}" \
            Releases "${folder#"$MMPROF_JDK_ROOT"}/end"
    else
        return 1
    fi
}

# share FILE METHOD: of the application's rows of a table in CSV, that method's part of what first and second have.
share() {
    awk -F, -v method="$2" 'NR == 1 { for (i = 1; i <= NF; i++) { if ($i ~ /^(label|method|value)$/ && !name) name = i
                                                               if ($i ~ /^(self_share|time_share)$/) share = i } }
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

# points FILE: four standard deviations of a share of two thirds of as many samples, and two.
points() {
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "samples") at = i }
        /Releases.(first|second)/ { n += $at } END { print int(190 / sqrt(n > 0 ? n : 1)) + 2 }' "$1"
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

# commands VERSION SAMPLES TRACE PROFILE: the rest of the commands, with the running program and what it gave.
commands() {
    matches "JDK $1: ps lists it" "$("$mmprof" ps --csv)" "(^|,)$pid,.*Releases"
    matches "JDK $1: doctor finds its layout known" "$("$mmprof" doctor "$pid")" \
        'stacks +can be sampled from outside the JVM, whose layout is known'
    matches "JDK $1: top shows what it does" "$("$mmprof" top --once -i 2 -p "$pid" 2>&1)" 'Releases.first'
    matches "JDK $1: annotate finds the line" "$("$mmprof" annotate --csv Releases.first "$2")" \
        'place,1[78],0[.][0-9]*[1-9]'
    "$mmprof" phases -q -o "$out/phases.json" "$3"
    "$mmprof" record -q --phases "$out/phases.json" -d 1 -o "$out/again.dat" "$pid" 2> "$out/again.err"
    is "JDK $1: record takes the phases that phases chose" "$? $(cat "$out/again.err")" "0 "
    matches "JDK $1: report, export and dump know the method" \
        "$("$mmprof" report "$out/again.dat" | grep -c 'Releases.first') $("$mmprof" export -q -f collapsed "$4" |
            grep -c 'Releases.first') $("$mmprof" dump --tables "$4" | grep -c 'first')" \
        '^[1-9][0-9]* [1-9][0-9]* [1-9]'
    matches "JDK $1: diff finds it as fast as it is" \
        "$("$mmprof" diff --csv "$4" "$4" 2> "$out/diff.err")" 'Releases.first'
}

root_folders=()
mkdir -p "$SCRATCH/classes"
"$jdk/bin/javac" -nowarn -source 8 -target 8 -d "$SCRATCH/classes" "$root/core/agent/Marks.java" \
    "$root/test/java/releases/Releases.java" \
    2> "$SCRATCH/javac" || cat "$SCRATCH/javac"
clean_up() {
    for pid in "${test_pids[@]}"; do
        stop "$pid"
    done
    [ ${#root_folders[@]} = 0 ] || rm -rf "${root_folders[@]}"
}

# test_release VERSION: all claims of one JDK.
test_release() {
    local v=$1 truth
    trap clean_up EXIT
    trap 'exit 143' TERM
    out=$SCRATCH/out-$v
    mkdir -p "$out"
    if ! begin "$v"; then
        skip "JDK $v" "there is none; 'make jdks' gets it, and MMPROF_JDK_ROOT names its root"
        return
    fi
    wait_for 100 grep -q '^running' "$folder/out"
    "$mmprof" sample --wall -F 50 -d 2 -o "$out/wall.dat" "$pid" > "$out/wall" 2>&1
    "$mmprof" sample -d 3 -F 299 --csv -o "$out/samples.dat" "$pid" > "$out/sample.csv" 2> "$out/sample.err"
    is "JDK $v: sample works from outside" "$? $(cat "$out/sample.err")" "0 "
    "$mmprof" report --view locks --csv "$out/wall.dat" > "$out/locks.csv"
    matches "JDK $v: who holds the lock" "$(grep '^lock,' "$out/locks.csv")" \
        'ReentrantLock.*,Releases.locked,Releases.sleep,'
    matches "JDK $v: who holds the monitor" "$(grep '^monitor,' "$out/locks.csv")" \
        ',Releases.entered,Releases.sleep,'
    matches "JDK $v: the thread by its Java name" "$("$mmprof" report --by thread --csv "$out/samples.dat" 2>&1)" \
        'computes in two methods: ä€'
    "$mmprof" record -q --include Releases --min-bytecodes 0 --argument 'mmprof.Marks.mark(1)' -d 2 \
        -o "$out/record.dat" "$pid" 2> "$out/record.err"
    is "JDK $v: record works" "$? $(cat "$out/record.err")" "0 "
    "$mmprof" profile -q -d 4 -o "$out/profile" "$pid" > "$out/profile.out" 2>&1
    is "JDK $v: profile works" $? 0
    views "$v" "$out/profile/phases.dat"
    commands "$v" "$out/samples.dat" "$out/record.dat" "$out/profile/phases.dat"
    touch "$folder/end"
    wait "$pid"
    is "JDK $v: the program ends as it does alone" "$? $(cut -d ' ' -f 2 "$folder/out" | tail -n 1)" "0 true"
    truth=$(tail -n 1 "$folder/out" | cut -d ' ' -f 3)
    near "JDK $v: samples have its shares" "$out/sample.csv" "$truth" "$(points "$out/sample.csv")"
    "$mmprof" report --csv "$out/record.dat" > "$out/report.csv"
    near "JDK $v: probes have them" "$out/report.csv" "$truth" 6
    "$mmprof" report --by mark --csv "$out/record.dat" > "$out/marks.csv"
    near "JDK $v: and so have the program's marks" "$out/marks.csv" "$truth" 6
    matches "JDK $v: profile names the method that takes most" \
        "$(grep '^\*.*itself uses.*CPU time' "$out/profile.out" | head -n 1)" 'Releases.first'
}

# say FILE: the claims of a release, as this test's own.
say() {
    local line
    while IFS= read -r line; do
        case $line in
            'ok '*' # SKIP '*) line=${line#ok * - } && skip "${line% # SKIP *}" "${line##* # SKIP }" ;;
            'ok '*) ok "${line#ok * - }" ;;
            'not ok '*) not_ok "${line#not ok * - }" ;;
            *) echo "$line" ;;
        esac
    done < "$1"
}

# Two at a time: most of the time is waiting.
# shellcheck disable=SC2086
set -- $versions
while [ $# -gt 0 ]; do
    for v in "$1" ${2:+"$2"}; do
        test_release "$v" > "$SCRATCH/$v.tap" &
    done
    wait
    shift $(($# > 1 ? 2 : 1))
done
for v in $versions; do
    say "$SCRATCH/$v.tap"
done
done_testing
