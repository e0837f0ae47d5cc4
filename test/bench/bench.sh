#!/bin/bash
# What a probe and a record cost, next to uftrace on an equal C program:   make bench [UFTRACE=FILE]
#
# BENCH_RUNS (5) runs of each kind in alternating order; a figure is the median, with the smallest and the largest.
# The pair programs call in bursts and pause, so that the recorders keep up and no call is lost; both are called
# equally often, so phases and uftrace's report read as many records of theirs.  A pair takes CPU time of the program's
# thread; by the clock, the recorder's, too, where the scheduler puts it on the same CPU: so the clock's figure is
# there once more with the recorder and the program on a CPU each.  The least that a pair can
# take are two timestamps, which is measured on the C program.  The last table of the output is the result, with the
# aim beside each figure; the commands are printed as they run.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/workloads.sh"
cd "$root" || exit 1

runs=${BENCH_RUNS:-5}
read -r -a cpus < <(allowed_cpus 2)
uftrace=${UFTRACE:-uftrace}
jdk=${JDK:-$(first_jdk)}
java=$jdk/bin/java
cd "$SCRATCH" || exit 1

fail() {
    echo "bench: $1" >&2
    exit 1
}

say() {
    echo "\$ ${*//$SCRATCH\//}"
}

# spread FILE: 'median (smallest .. largest)' of the numbers in it, with 3 digits.
spread() {
    sort -g "$1" | awk '{ v[NR] = $1 } END {
        m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
        if (NR > 0) printf "%.3g (%.3g .. %.3g)", m, v[1], v[NR] }'
}

# ns FILE COMMAND...: the program's 'NS' line, appended to FILE.
ns() {
    local file=$1
    shift
    "$@" > out 2> errors < /dev/null || fail "'$*' failed: $(tail -n 3 out errors)"
    sed -n 's/^NS //p' out | tail -n 1 > value
    [ -s value ] || fail "'$*' printed no time: $(tail -n 3 out errors)"
    cat value >> "$file"
    sed -n 's/^ELAPSED //p' out >> "$file.elapsed"
}

# less A B FILE: line by line A - B.
less() {
    paste "$1" "$2" | awk '{ print $1 - $2 }' > "$3"
}

# rows NAME MMPROF UFTRACE AIM
row() {
    printf '%-42s %-24s %-24s %s\n' "$1" "$2" "$3" "$4" >> table
}

# ---- ns per pair ----

pair=("$java" -Xmx256m -cp "$classes" bench.Pair)
unarmed=("$java" -Xmx256m -Dbench.disarm=true -cp "$classes" bench.Pair)
recorded=("$mmprof" record -q --min-bytecodes 0 --include 'bench/Pair.work' --buffer 16M -o pair.dat --)
recorded_unarmed=("${recorded[@]/pair.dat/unarmed.dat}")
cc=(cc -O2 -I "$root" "$root/test/bench/pair.c" -o)
"${cc[@]}" pair && "${cc[@]}" pair_pg -pg || fail "no C compiler"
has_uftrace=0
! command -v "$uftrace" > which || has_uftrace=1
uftraced=("$uftrace" record --no-libcall --no-event --no-sched -d pair.uftrace ./pair_pg)

say "${pair[@]}"
say "${recorded[@]}" "${pair[@]}"
say "${recorded_unarmed[@]}" "${unarmed[@]}"
[ $has_uftrace = 0 ] || say "${uftraced[@]}"
for ((i = 0; i < runs; i++)); do
    ns plain "${pair[@]}"
    ns armed "${recorded[@]}" "${pair[@]}"
    "$build/test/tools/method_counts" pair.dat | tail -n 1 > counts
    grep -q ' LOST 0 ' counts || echo "  calls were lost, their records are missing in the mean: $(cat counts)"
    [ ${#cpus[@]} != 2 ] ||
        ns apart taskset -c "${cpus[0]}" "${recorded[@]/pair.dat/apart.dat}" taskset -c "${cpus[1]}" "${pair[@]}"
    ns disarmed "${recorded_unarmed[@]}" "${unarmed[@]}"
    grep -q '^DISARMED [1-9]' out || fail "no flag was closed: $(cat out)"
    ns c_plain ./pair
    ns c_stamped ./pair stamped
    if [ $has_uftrace = 1 ]; then
        rm -rf pair.uftrace
        ns c_armed "${uftraced[@]}"
    fi
done
less armed plain armed_pair
less armed.elapsed plain.elapsed elapsed_pair
[ ${#cpus[@]} != 2 ] || less apart.elapsed plain.elapsed apart_pair
less disarmed plain disarmed_pair
less c_stamped c_plain stamps
row "ns per armed pair, C2-compiled caller" "$(spread armed_pair)" \
    "$([ $has_uftrace = 0 ] && echo - || { less c_armed c_plain c_pair && spread c_pair; })" "25"
row "  of these, two timestamps" "$(spread stamps)" "-" "-"
row "  the pair by the clock" "$(spread elapsed_pair)" "-" "-"
row "  the same, recorder on a CPU of its own" "$([ ${#cpus[@]} != 2 ] && echo - || spread apart_pair)" "-" "-"
row "ns per disarmed pair" "$(spread disarmed_pair)" "-" "1"

# ---- bytes per record, ns to write one, records per second, memory ----

# javac NAME ITERATIONS: records the demo.
javac() {
    local command=("$mmprof" record --all-methods -q --buffer 64M -o "$1" -- "$java" -Xmx1g -cp "$classes"
        demo.JavacDemo "$jdk/lib/src.zip" "$2" java.net.http)
    say "${command[@]}"
    "${command[@]}" > out 2>&1 || fail "recording javac failed: $(tail -n 3 out)"
}

records_of() {
    "$build/test/tools/method_counts" "$1" | sed -n 's/^RECORDS \([0-9]*\) .*/\1/p'
}

# speed FILE RECORDS COMMAND...: million records per second of CPU time, appended to FILE, and by the clock, to
# FILE.wall; peak memory to FILE.mb.
speed() {
    local file=$1 records=$2
    shift 2
    rm -f took
    "$build/test/tools/timed" took "$@" > out 2> errors || fail "'$*' failed: $(tail -n 3 errors)"
    awk -v n="$records" '{ print n / ($5 + $7) / 1e6 }' took >> "$file"
    awk -v n="$records" '{ print n / $3 / 1e6 }' took >> "$file.wall"
    awk '{ print $9 / 1024 }' took >> "$file.mb"
}

# of_uftrace COMMAND...: its output, where there is a uftrace.
of_uftrace() {
    [ $has_uftrace = 0 ] && echo - || "$@"
}

javac javac1.dat 1
javac javac3.dat 3
n1=$(records_of javac1.dat) n3=$(records_of javac3.dat) n_pair=$(records_of pair.dat)
lost=$("$build/test/tools/method_counts" javac3.dat | sed -n 's/.* LOST \([0-9]*\) .*/\1/p')
if [ $has_uftrace = 1 ]; then
    n_c=$(($(stat -c %s pair.uftrace/[0-9]*.dat | awk '{ s += $1 } END { print s }') / 16))
    c_calls=$("$uftrace" report -d pair.uftrace 2> errors | awk '$NF == "work" { print $(NF - 1) }')
fi
say "$mmprof" phases javac3.dat
for ((i = 0; i < runs; i++)); do
    speed phases1 "$n1" "$mmprof" phases -o phases.json javac1.dat
    speed phases3 "$n3" "$mmprof" phases -o phases.json javac3.dat
    speed report3 "$n3" "$mmprof" report --csv javac3.dat
    speed phases_pair "$n_pair" "$mmprof" phases -o phases.json pair.dat
    [ $has_uftrace = 0 ] || speed c_report "$n_c" "$uftrace" report -d pair.uftrace
    "$build/test/bench/encode_bench" javac3.dat > out || fail "encode_bench failed"
    for way in predicted plain; do
        sed -n "s/^$way \([0-9.]*\) .*/\1/p" out >> "coded.$way"
        sed -n "s/^$way .* \([0-9.]*\) bytes.*/\1/p" out >> "coded.$way.bytes"
        sed -n "s/^$way .* read \([0-9.]*\)$/\1/p" out >> "coded.$way.read"
    done
done
row "bytes per record (javac; uftrace: C)" \
    "$(awk -v b="$(stat -c %s javac3.dat)" -v n="$n3" 'BEGIN { printf "%.2f", b / n }')" \
    "$(of_uftrace awk -v b=$((${n_c:-0} * 16)) -v n=$((2 * ${c_calls:-0})) 'BEGIN { printf "%.2f", b / n }')" "1.5"
row "  of these, plainly" "$(spread coded.plain.bytes)" "-" "-"
row "ns to code a record: predicted" "$(spread coded.predicted)" "-" "-"
row "  plainly (thread faster than recorder)" "$(spread coded.plain)" "-" "-"
row "ns to decode a record: predicted; plain" "$(spread coded.predicted.read); $(spread coded.plain.read)" "-" "-"
row "M records/s: phases, report, of pair" "$(spread phases_pair)" "$(of_uftrace spread c_report)" "60"
row "  phases, of javac" "$(spread phases3)" "-" "60"
row "  the same, by the clock" "$(spread phases3.wall)" "-" "100"
row "  report, of javac" "$(spread report3)" "-" "60"
row "peak MB, $n1 records" "$(spread phases1.mb)" "-" "-"
row "peak MB, $n3 records" "$(spread phases3.mb)" "$(of_uftrace spread c_report.mb)" "-"
row "calls lost of javac's" "$lost" "-" "0"

peer=uftrace
[ $has_uftrace = 0 ] || peer=$("$uftrace" --version 2> errors | cut -d ' ' -f 1,2)
echo
echo "$(nproc) CPUs, $(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1), Linux $(uname -r), JDK" \
    "$(sed -n 's/^JAVA_VERSION="\(.*\)"/\1/p' "$jdk/release"), $runs runs: median (smallest .. largest)"
echo
printf '%-42s %-24s %-24s %s\n' "" mmprof "$peer" aim
cat table
[ $has_uftrace = 1 ] ||
    printf '\n-: there is no %s here\n  next: apt-get install uftrace, or UFTRACE=FILE\n' "'$uftrace'"
