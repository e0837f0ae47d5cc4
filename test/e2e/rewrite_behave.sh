#!/bin/bash
# Rewritten programs do what they did, and their probes see each entry, return and unwinding.
# long: yes
# beside: yes
. "$(dirname "$0")/../lib.sh"

tool=$build/test/tools/rewrite_classes
source=$root/test/java/rewrite/behave

[ -x "$tool" ] || skip_all "$tool is not built; 'make check' builds it"
jdk=$(first_jdk)
[ -n "$jdk" ] || skip_all "there is no JDK 17 or 25; 'make deps' installs one"

# old_class FILE...: says that the class is of Java 5, for the JVM's other verifier.
old_class() {
    local file
    for file; do
        printf '\061' | dd of="$file" bs=1 seek=7 conv=notrunc status=none
    done
}

# rewrite DIR: DIR/in becomes DIR/out, with a flag class.
rewrite() {
    "$tool" all Probe Flags "$1/in" "$1/out" "$1/list" > "$1/counts" || return
    {
        echo "public final class Flags0 {"
        awk '{ print "    public static int g" $1 - 1 " = " $1 ";" }' "$1/list"
        echo "}"
    } > "$1/Flags0.java"
    "$jdk/bin/javac" -d "$1/out" "$1/Flags0.java"
}

# What each method of Subject saw: entries, returns, unwindings.  Sub.<init>'s missing one is left by an exception
# out of super(), which no handler can cover.
expected() {
    cat << 'END'
Subject$Base.<init>(I)V 3 2 1
Subject$Defaults.<init>()V 1 1 0
Subject$Defaults.<init>(I)V 1 1 0
Subject$Sub.<init>(I)V 4 1 2
Subject.<init>()V 1 1 0
Subject.all()I 1 1 0
Subject.argument(I)I 4 3 1
Subject.catches()I 1 1 0
Subject.constructors()I 1 1 0
Subject.dense(I)I 6 6 0
Subject.fails([I)V 1 0 1
Subject.fibonacci(I)I 25 25 0
Subject.finallies(Z)I 2 1 1
Subject.line(Ljava/lang/Throwable;)V 6 6 0
Subject.locked(Z)I 2 1 1
Subject.monitors()I 1 1 0
Subject.passes()V 1 0 1
Subject.returns(I)I 3 3 0
Subject.sparse(I)I 6 6 0
Subject.spin()V 1 1 0
Subject.wide(JDLjava/lang/String;)D 1 1 0
END
}

expected_modern() {
    cat << 'END'
Modern$Point.<init>(II)V 1 1 0
Modern$Point.hashCode()I 1 1 0
Modern.all()I 1 1 0
Modern.apply(Ljava/util/function/IntUnaryOperator;I)I 3 2 1
Modern.kind(Ljava/lang/Object;)I 1 1 0
Modern.lambda$all$0(II)I 2 2 0
Modern.lambda$all$1(I)I 1 0 1
END
}

expected_gates() {
    cat << 'END'
disarmed: enters 0 exits 0 unwinds 0
armed within: enters 0 exits 0
disarmed within: enters 1 exits 1
armed within a failing one: unwinds 0
END
}

# behave NAME DIR MODERN: runs what is in DIR, and compares it with what DIR/in does.
behave() {
    local name=$1 dir=$2 modern=$3 home
    : > "$dir/empty"
    "$jdk/bin/java" -Xverify:all -cp "$SCRATCH/main:$dir/in" Behave "$dir/empty" "$modern" > "$dir/before" 2>&1
    matches "$name: the program runs" "$(cat "$dir/before")" '^returned '
    while read -r home; do
        "$home/bin/java" -Xverify:all -cp "$SCRATCH/main:$dir/out" Behave "$dir/list" "$modern" > "$dir/after" 2>&1
        home="JDK $(jdk_version "$home")"
        is "$name, $home: results and the lines of exceptions stay" \
            "$(head -n 1 "$dir/after")" "$(cat "$dir/before")"
        is "$name, $home: each entry, return and unwinding is counted" \
            "$(sed 1d "$dir/after" | grep -v 'armed' | sort)" \
            "$({ expected; [ "$modern" = false ] || expected_modern; } | sort)"
        is "$name, $home: a call does at its end what its entry decided" \
            "$(grep armed "$dir/after")" "$(expected_gates)"
    done < <(jdks)
}

mkdir -p "$SCRATCH"/{main,new/in,old/in}
export LC_ALL=C
"$jdk/bin/javac" -g --release 17 -d "$SCRATCH/new/in" "$source"/{Subject,Modern}.java || exit 1
"$jdk/bin/javac" --release 17 -cp "$SCRATCH/new/in" -d "$SCRATCH/main" "$source"/{Behave,Probe}.java || exit 1
"$jdk/bin/javac" -nowarn -Xlint:-options -g --release 8 -d "$SCRATCH/old/in" "$source/Subject.java" || exit 1
old_class "$SCRATCH"/old/in/*.class
holds "today's classes are rewritten" rewrite "$SCRATCH/new"
holds "Java 5's classes are rewritten" rewrite "$SCRATCH/old"
is "no method is left out" "$(grep -hE '^(TOO_LARGE|LIMITS|UNUSUAL|MALFORMED)' "$SCRATCH"/*/counts | sort -u | xargs)" \
    "LIMITS 0 MALFORMED 0 TOO_LARGE 0 UNUSUAL 0"
behave "today's classes" "$SCRATCH/new" true
behave "Java 5's classes" "$SCRATCH/old" false
done_testing
