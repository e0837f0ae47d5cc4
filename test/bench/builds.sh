#!/bin/bash
# What live recordings cost a program with one build of mmprof and with others:
#     make bench-builds BUILDS="DIR ..." [WORKLOADS=DIR]
#
# A workload (as for overhead.sh) runs without mmprof and with 'DIR/mmprof record --live --budget 1%' of each of these
# directories, all at the same time on one CPU, BENCH_SETS (4) times; with two CPUs there are two such sets at a time.
# So what else the machine does, and what the program does by chance that lasts, slows all of a set down, and builds are
# compared by less than by pairs of each with a run without mmprof.  BENCH_ONLY="NAME ..." takes only these workloads.
#
# The tables go to standard output, what is run to standard error.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/workloads.sh"
. "$(dirname "$0")/runs.sh"
cd "$root" || exit 1

n_sets=${BENCH_SETS:-4}
directory=${WORKLOADS:?give a directory with a file 'commands'}
read -r -a builds <<< "${BUILDS:?give directories with an mmprof each}"

fail() {
    echo "bench-builds: $1" >&2
    exit 1
}

[ -r "$directory/commands" ] || fail "there is no '$directory/commands'"
for b in "${!builds[@]}"; do
    builds[b]=$(realpath "${builds[b]}")
    [ -x "${builds[b]}/mmprof" ] || fail "there is no '${builds[b]}/mmprof'"
done

# run_one CPU NUMBER COMMAND: with the build of that number, or with none ('plain').
run_one() {
    local run=$1.$2
    if [ "$2" = plain ]; then
        once "$run" "$1" sh -c "$3"
    else
        once "$run" "$1" "${builds[$2]}/mmprof" record -q --live --budget 1% -o "$SCRATCH/$run.dat" -- sh -c "$3"
    fi
}

# set_of CPU NAME COMMAND: appends to NAME-CPU.NUMBER the figures of the run without mmprof and of that build's.
set_of() {
    local cpu=$1 name=$2 runs=() status=0 b
    for b in plain "${!builds[@]}"; do
        run_one "$cpu" "$b" "$3" &
        runs+=($!)
    done
    for b in "${runs[@]}"; do
        wait "$b" || status=1
    done
    [ $status = 0 ] || return
    for b in "${!builds[@]}"; do
        figures "$cpu.plain" "$cpu.$b" > "$SCRATCH/$cpu.figures"
        echo "  $name, plain and build $b: $(cat "$SCRATCH/$cpu.figures")" >&2
        cat "$SCRATCH/$cpu.figures" >> "$SCRATCH/$name-$cpu.$b"
    done
}

# compare NAME COMMAND
compare() {
    on_each_cpu "$n_sets" set_of "$1" "$2"
}

# more_seconds A [B]: 'mean (standard error)' of the CPU seconds that build A takes more than none, or than build B.
more_seconds() {
    local name
    for name in "$SCRATCH"/*."$1"; do
        name=${name%."$1"}
        paste -d ' ' "$name.$1" "$name.${2-$1}"
    done 2> "$SCRATCH/none" | awk -v is_other="${2+1}" '
        NF == 36 { x = $4 - (is_other ? $22 : $1); n++; sum += x; squares += x * x }
        END {
            if (n < 2) { print "-"; exit }
            mean = sum / n
            printf "%+.2f (%.2f)\n", mean, sqrt((squares - n * mean * mean) / (n - 1) / n)
        }'
}

each_workload "$directory" compare
compgen -G "$SCRATCH/*-*.0" > "$SCRATCH/none" || fail "nothing was run"

echo "CPU time more than without mmprof, in %: mean (standard error), and in whose threads; iterations:"
means_heading sets
for b in "${!builds[@]}"; do
    means "$b"
done
echo
echo "In seconds, and compared with build 0 in the same sets:"
for b in "${!builds[@]}"; do
    than_first=-
    [ "$b" = 0 ] || than_first=$(more_seconds "$b" 0)
    printf '%-4s %-16s %-16s %s\n' "$b" "$(more_seconds "$b")" "$than_first" "${builds[b]}"
done
