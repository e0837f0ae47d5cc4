#!/bin/bash
# Every method of every class of a JDK is rewritten; the JVM boots on the result, verifies all of it and runs it.
# For each of REWRITE_SEEDS the same with a third of the methods, at random.
# timeout: 1800
# beside: yes
# long: yes
. "$(dirname "$0")/../lib.sh"

tool=$build/test/tools/rewrite_classes
probe_source=$root/test/java/rewrite/probe/MmprofProbe.java
link_source=$root/test/java/rewrite/Link.java
quick=(-XX:TieredStopAtLevel=1 -XX:+UseSerialGC) # nothing here runs for long

# flags LIST DIR: sources of the flag classes; each flag holds its method's token.
flags() {
    awk -v dir="$2" '
        {
            class = int(($1 - 1) / 1000)
            if (file == "" || class != last) {
                if (file != "") { print "}" > file; close(file) }
                file = dir "/MmprofFlags" class ".java"
                print "package java.lang;\npublic final class MmprofFlags" class " {" > file
                last = class
            }
            print "    public static int g" ($1 - 1) % 1000 " = " $1 ";" > file
        }
        END { if (file != "") print "}" > file }' "$1"
}

# number NAME FILE: of a line 'NAME NUMBER'.
number() {
    sed -n "s/^$1 //p" "$2"
}

# prepare JDK RULE IN OUT: rewritten classes, probe and flags; OUT/options has the patches for java.
prepare() {
    local jdk=$1 rule=$2 in=$3 out=$4
    mkdir -p "$out/source/java/lang" "$out/modules/java.base"
    "$tool" "$rule" java/lang/MmprofProbe java/lang/MmprofFlags "$in" "$out/modules" "$out/list" \
        > "$out/counts" 2> "$out/skipped" || return
    flags "$out/list" "$out/source/java/lang"
    "$jdk/bin/javac" "${quick[@]/#/-J}" -nowarn --patch-module java.base="$out/source" -d "$out/modules/java.base" \
        "$out"/source/java/lang/*.java "$probe_source" || return
    for module in "$out"/modules/*/; do
        module=${module%/}
        echo "--patch-module=${module##*/}=$module"
    done > "$out/options"
}

# link_all JDK OUT NAMES: verifies and links the named classes on the rewritten JDK.
link_all() {
    "$1/bin/java" "${quick[@]}" -Xverify:all -Xshare:off --add-modules ALL-SYSTEM "@$2/options" \
        -cp "$SCRATCH/link" Link "$3"
}

class_names() {
    (cd "$1" && find . -name '*.class' ! -name module-info.class) |
        sed 's,^\./\([^/]*\)/\(.*\)\.class$,\1 \2,; s,/,.,g'
}

test_jdk() {
    local jdk=$1 version=$2 here=$SCRATCH/$2 n
    local all=$here/all said=$here/said broken=$here/broken
    mkdir -p "$here"
    "$jdk/bin/jimage" extract --dir="$here/jdk" "$jdk/lib/modules" || return
    class_names "$here/jdk" > "$here/names"
    n=$(wc -l < "$here/names")
    holds "JDK $version: all classes are rewritten" prepare "$jdk" all "$here/jdk" "$all"
    is "JDK $version: no class is called malformed" "$(number MALFORMED "$all/counts")" 0
    is "JDK $version: no method is at a limit or unusual" \
        "$(for why in LIMITS UNUSUAL; do number $why "$all/counts"; done | xargs)" "0 0"
    is "JDK $version: the check of what was rewritten doubts nothing" \
        "$(for what in UNSURE DOUBTED; do number $what "$all/counts"; done | xargs)" "0 0"
    holds "JDK $version: few methods are too large ($(number TOO_LARGE "$all/counts"))" \
        test "$(number TOO_LARGE "$all/counts")" -lt 10
    link_all "$jdk" "$all" "$here/names" > "$said" 2>&1
    is "JDK $version: all $n classes are linked, $(number METHODS "$all/counts") rewritten methods" \
        "$(number LINKED "$said")" "$n"
    is "JDK $version: the verifier objects to nothing" "$(number VERIFY_ERRORS "$said")" 0
    grep -E '^(VerifyError|other|absent|#)' "$said" | head -n 20 | sed 's/^/# /'
    holds "JDK $version: the probes ran ($(number ENTERS "$said") entries)" test "$(number ENTERS "$said")" -gt 1000000
    echo "# $(number REWRITTEN "$all/counts") of $(number CLASSES "$all/counts") classes changed," \
        "$(($(number REWRITE_NS "$all/counts") / $(number CLASSES "$all/counts") / 1000)) us of CPU time per class," \
        "$(($(number VERIFY_NS "$all/counts") / $(number CLASSES "$all/counts") / 1000)) us of it for the check"

    for seed in ${REWRITE_SEEDS-}; do
        rm -rf "$all"
        holds "JDK $version, seed $seed: a third of the methods are rewritten" \
            prepare "$jdk" "random=$seed" "$here/jdk" "$all"
        link_all "$jdk" "$all" "$here/names" > "$said" 2>&1
        is "JDK $version, seed $seed: all classes are linked, $(number METHODS "$all/counts") rewritten methods" \
            "$(number LINKED "$said")" "$n"
        is "JDK $version, seed $seed: neither the verifier nor the check objects to anything" \
            "$(number VERIFY_ERRORS "$said") $(number UNSURE "$all/counts")" "0 0"
    done

    # The same with a frame that is wrong, in a class that the JVM does not need to start.
    mkdir -p "$here/few/java.base/java/text"
    cp "$here"/jdk/java.base/java/text/ChoiceFormat.class "$here/few/java.base/java/text"
    class_names "$here/few" > "$here/few_names"
    holds "JDK $version: a class is rewritten with a wrong frame" prepare "$jdk" broken "$here/few" "$broken"
    link_all "$jdk" "$broken" "$here/few_names" > "$here/said_broken" 2>&1
    is "JDK $version: the verifier objects to it" "$(number VERIFY_ERRORS "$here/said_broken")" 1
    is "JDK $version: and so does the check" "$(number DOUBTED "$broken/counts")" 1
    rm -rf "$here"
}

[ -x "$tool" ] || skip_all "$tool is not built; 'make check' builds it"
[ -n "$(first_jdk)" ] || skip_all "there is no JDK 17 or 25; 'make deps' installs one"
"$(first_jdk)/bin/javac" -d "$SCRATCH/link" "$link_source" || exit 1
for version in 17 25; do
    claim="JDK $version: all classes are rewritten"
    jdk=$(jdks | while read -r home; do [ "$(jdk_version "$home")" != $version ] || echo "$home"; done | head -n 1)
    if [ -z "$jdk" ]; then
        skip "$claim" "there is no JDK $version"
    elif [ ! -x "$jdk/bin/jimage" ] || [ ! -f "$jdk/lib/modules" ]; then
        skip "$claim" "$jdk has no jimage or no lib/modules"
    else
        test_jdk "$jdk" $version
    fi
done
done_testing
