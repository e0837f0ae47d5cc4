#!/bin/bash
# What 'mmprof diff' finds of 10 % more in one phase, in five runs against five, and what it finds that is not there:
#     make bench-diff
#
# Sets of runs are drawn from noise, BENCH_SETS (1000) of each kind.  Then a program of eight stages (test/java/bench/
# Stages.java) is recorded BENCH_RUNS (20) times as it is, and half as often with 10 % more work in one stage, in turns,
# BENCH_ROUNDS (900) rounds each, some 9 s: sets of these runs are drawn at random and compared.  BENCH_TRACES=DIR keeps
# the traces, and takes those that are there.
. "$(dirname "$0")/../lib.sh"
cd "$root" || exit 1

n_sets=${BENCH_SETS:-1000}
n_runs=${BENCH_RUNS:-20}
rounds=${BENCH_ROUNDS:-900}
directory=${BENCH_TRACES:-$SCRATCH}
stage=multiply
jdk=$(first_jdk)
set -e
mkdir -p "$directory"

# record NAME OPTIONS ... -- ARGUMENTS
record() {
    local options=()
    while [ "$2" != -- ]; do
        options+=("$2")
        set -- "$1" "${@:3}"
    done
    [ -e "$directory/$1.dat" ] ||
        "$mmprof" record -q "${options[@]}" -o "$directory/$1.dat" -- \
            "$jdk/bin/java" -Xmx512m -cp "$classes" bench.Stages "${@:3}" > "$SCRATCH/out"
}

echo "drawn from noise, $n_sets sets each:"
"$build/test/bench/diff_power" drawn "$n_sets"

record all --min-bytecodes 0 --include 'bench/*' -- 60 # these are many calls
"$mmprof" phases --weight 0.5% --grain 0.001% -o "$SCRATCH/phases.json" "$directory/all.dat" > "$SCRATCH/out"
for i in $(seq -w "$n_runs"); do
    record "plain$i" --phases "$SCRATCH/phases.json" -- "$rounds"
    [ $((10#$i % 2)) = 1 ] || record "more$i" --phases "$SCRATCH/phases.json" -- "$rounds" $stage=22
    echo "run $i of $n_runs" >&2
done
echo
echo "recorded, load $(cut -d ' ' -f 1-3 /proc/loadavg) on $(nproc) CPUs:"
"$build/test/bench/diff_power" recorded "$n_sets" Stages.$stage "$directory"/plain*.dat -- "$directory"/more*.dat
