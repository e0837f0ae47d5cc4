#!/bin/bash
# File names: unique in the whole tree, in lower case and underscores (Java's classes excepted).
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

is "file names are unique in the whole tree" "$(twice "$root")" ""
is "sources are named in lower case and underscores" "$(odd "$root")" ""

mkdir -p "$SCRATCH/a" "$SCRATCH/b"
touch "$SCRATCH/a/read.c" "$SCRATCH/b/read.c" "$SCRATCH/b/CamelCase.c"
is "a name that occurs twice is found" "$(twice "$SCRATCH")" "read.c"
is "an odd name is found" "$(odd "$SCRATCH")" "./b/CamelCase.c"

done_testing
