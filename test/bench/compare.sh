#!/bin/bash
# This build beside that of another revision, in turns:   make bench-compare REV=v0.1
#
# REV is built from 'git archive' in $BUILD/compare, with this revision's calltree_bench.c, whose headers it must have.
# A figure is the median of BENCH_RUNS (5) runs of each in turns, with the smallest and the largest; the ratio is this
# build's to REV's in the same turn: where the smallest and the largest are on one side of 1, the builds differ.
# Traces are synthetic, of COMPARE_RECORDS (20 million) records; all but the pair is CPU time.
. "$(dirname "$0")/../lib.sh"
cd "$root" || exit 1

runs=${BENCH_RUNS:-5} records=${COMPARE_RECORDS:-20000000}
java=${JDK:-$(first_jdk)}/bin/java

# fail WHAT NEXT
fail() {
    printf 'bench-compare: %s\n  next: %s\n' "$1" "$2" >&2
    exit 1
}

[ -n "${REV-}" ] || fail 'REV does not say which revision' 'make bench-compare REV=HEAD~1'
git rev-parse --git-dir > "$SCRATCH/git" 2>&1 || fail "'$root' is not a git checkout: $(cat "$SCRATCH/git")" \
    'run it in a clone'
commit=$(git rev-parse --verify --quiet "$REV^{commit}") || fail "there is no revision '$REV' in this clone" \
    "git fetch origin '$REV', or in a shallow clone git fetch --unshallow"
other=$build/compare/${commit:0:12}

make_other() {
    rm -rf "$other"
    mkdir -p "$other" && git archive "$commit" | tar -x -C "$other" || return
    cp test/bench/calltree_bench.c "$other/test/bench/" || return
    make -C "$other" -j"$(nproc)" CC="${CC:-cc}" BUILD=build make build/test/bench/calltree_bench && touch "$other/made"
}

if [ ! -e "$other/made" ]; then
    echo "builds $commit in $other" >&2
    make_other > "$SCRATCH/made" 2>&1 || fail "'$REV' does not build: $(grep -m 1 error "$SCRATCH/made")" \
        "make -C $other"
fi
cd "$SCRATCH" || exit 1

# speed NAME COMMAND...: million records of t.dat in a second of CPU time, appended to NAME.
speed() {
    local name=$1
    shift
    rm -f took
    "$build/test/tools/timed" took "$@" > out 2> errors || fail "'$*' failed: $(tail -n 1 errors)" 'run it by itself'
    awk -v n="$n_records" '{ print n / ($5 + $7) / 1e6 }' took >> "$name"
}

# turn NAME BUILD: appends to NAME.FIGURE.
turn() {
    "$2/test/bench/calltree_bench" -r "$records" -n 1 -o t.dat > out 2>&1 || fail "calltree_bench of '$2': $(cat out)" \
        'run it by itself'
    n_records=$(sed -n 's/^records \([0-9]*\) .*/\1/p' out)
    sed -n 's/.*bytes\/record \([0-9.]*\).*/\1/p' out >> "$1.bytes"
    sed -n 's/^write \([0-9.]*\) .*/\1/p' out >> "$1.write"
    sed -n 's/^read \([0-9.]*\) .*/\1/p' out >> "$1.read"
    sed -n 's/.*tree \([0-9.]*\) M.*/\1/p' out >> "$1.tree"
    speed "$1.phases" "$2/mmprof" phases -o phases.json t.dat
    speed "$1.report" "$2/mmprof" report --csv t.dat
    "$2/mmprof" record -q --min-bytecodes 0 --include 'bench/Pair.work' --buffer 16M -o pair.dat -- \
        "$java" -Xmx256m -cp "$classes" bench.Pair > out 2>&1 || fail "'$2/mmprof record' failed: $(tail -n 1 out)" \
        'run it by itself'
    sed -n 's/^NS //p' out >> "$1.pair"
}

# spread FILE: 'median (smallest .. largest)' of the numbers in it, with 3 digits.
spread() {
    sort -g "$1" | awk '{ v[NR] = $1 } END {
        m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
        printf "%.3g (%.3g .. %.3g)", m, v[1], v[NR] }'
}

for ((i = 0; i < runs; i++)); do
    turn old "$other/build"
    turn new "$build"
done
printf '%s CPUs, %s runs in turns: median (smallest .. largest)\n\n' "$(nproc)" "$runs"
printf '%-40s %-24s %-24s %s\n' "" "${REV:0:20}" "this build" "ratio"
while read -r file name; do
    paste "old.$file" "new.$file" | awk '{ print $2 / $1 }' > ratio
    printf '%-40s %-24s %-24s %s\n' "$name" "$(spread "old.$file")" "$(spread "new.$file")" "$(spread ratio)"
done << 'ROWS'
pair ns of a call with its pair of probes
write recorder: ns to write a record
bytes bytes a record
read million records/s read
tree million records/s into a call tree
phases million records/s of mmprof phases
report million records/s of mmprof report
ROWS
