#!/bin/bash
# File names: unique in the whole tree, in lower case and underscores (Java's classes excepted).  In production code so
# beside: yes
# are the tags of structs, and functions say what they add or find: what grep finds is what was meant.
. "$(dirname "$0")/../lib.sh"

files() {
    (cd "$1" && find . -name .git -prune -o -path ./build -prune -o -type f -print)
}

# Names that occur twice.  'run' is what programs of this kind are called; fuzz corpora name files by content; each room
# has its README.md.
twice() {
    files "$1" | grep -v '/corpus/' | sed 's,.*/,,' | grep -vxE 'run|README\.md' | sort | uniq -d
}

odd() {
    files "$1" | grep -E '\.(c|h|sh|awk)$' | grep -vE '/[a-z0-9_.]+$'
}

# Tags of structs that are defined twice.
tags_twice() {
    (cd "$1" && find . -path ./build -prune -o -path ./test -prune -o -name '*.[ch]' -print0 |
        xargs -0 grep -ohE '\<struct [a-z_0-9]+ \{' | sort | uniq -d)
}

# Functions whose names say only what a hundred others do.
bare() {
    (cd "$1" && find . -path ./build -prune -o -path ./test -prune -o -name '*.[ch]' -print0 |
        xargs -0 grep -hE '^static .*\<(add|find|take)\(')
}

is "file names are unique in the whole tree" "$(twice "$root")" ""
is "sources are named in lower case and underscores" "$(odd "$root")" ""

is "each struct's tag is defined once" "$(tags_twice "$root")" ""
is "what a function adds, finds or takes stands in its name" "$(bare "$root")" ""

mkdir -p "$SCRATCH/a" "$SCRATCH/b"
touch "$SCRATCH/a/read.c" "$SCRATCH/b/read.c" "$SCRATCH/b/CamelCase.c"
is "a name that occurs twice is found" "$(twice "$SCRATCH")" "read.c"
is "an odd name is found" "$(odd "$SCRATCH")" "./b/CamelCase.c"
echo 'static const struct row { int a; } rows[1];' | tee "$SCRATCH/a/one.c" > "$SCRATCH/b/other.h"
echo 'static int add(int a)' >> "$SCRATCH/a/one.c"
is "a function that only adds is found" "$(bare "$SCRATCH")" 'static int add(int a)'
is "a tag that is defined twice is found" "$(tags_twice "$SCRATCH")" "struct row {"

done_testing
