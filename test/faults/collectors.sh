#!/bin/bash
# Programs on a simulated processor end as on a real one, with each collector: what emulators get wrong (signals at
# stack overflows and null pointers, threads, code that is written while it runs) does not change what they compute.
#
# The long form runs each program ten times with each collector; in windows, too.  It takes half an hour;
# FAULTS_COLLECTORS and FAULTS_PROGRAMS choose a part of it ("Parallel G1", "walks exceptions threads").
# timeout: 3600
# beside: yes
# long: yes
. "$(dirname "$0")/faults.bash"

jdk=$(first_jdk)
[ -n "$jdk" ] || skip_all "there is no JDK 17 or 25"
command -v "qemu-$(uname -m)" > "$SCRATCH/which" || skip_all "qemu-user is not installed; 'make deps' installs it"

# simulated COLLECTOR OPTION... -- ARGUMENT...: runs a program; its status and what it said, but for its times.
simulated() {
    local collector=$1 options=()
    shift
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    "$mmprof" record -q --simulate "${options[@]}" --include 'target/*' --include 'micro/*' -o "$SCRATCH/s.dat" -- \
        "$jdk/bin/java" "-XX:+Use${collector}GC" -Xmx256m -cp "$classes" "$@" > "$SCRATCH/said" 2>&1
    echo "$? $(grep -vE '^PHASE' "$SCRATCH/said")"
}

alone() {
    "$jdk/bin/java" -cp "$classes" "$@" > "$SCRATCH/said" 2>&1
    echo "$? $(grep -vE '^PHASE' "$SCRATCH/said")"
}

# same COLLECTOR CLAIM N PROGRAM ARGUMENT...: it says the same as alone, N times.
same() {
    local collector=$1 claim=$2 n=$3 wrong=0 expected i said
    shift 3
    expected=$(alone "$@")
    for ((i = 0; i < n; i++)); do
        options=(--)
        [ $((i % 2)) = 0 ] || options=(--window=200K+200K/1M --)
        said=$(simulated "$collector" "${options[@]}" "$@")
        [ "$said" = "$expected" ] || { wrong=$((wrong + 1)) && printf '%s\n' "$said" | sed 's/^/# /' | head -20; }
    done
    is "$collector: $claim: $n of $n runs end right" "$wrong wrong, ${expected%% *}" "0 wrong, 0"
}

walks="stack overflows and null pointers"
exceptions="exceptions, thrown and by the JVM"
threads="threads that come and go"

# ten COLLECTOR PROGRAM
ten() {
    case $2 in
        walks) same "$1" "$walks" 10 target.Walks 2 ;;
        exceptions) same "$1" "$exceptions" 10 micro.Exceptions 20000 ;;
        threads) same "$1" "$threads" 10 micro.Threads 100 ;;
    esac
}

if [ -n "${FAULTS_LONG-}" ]; then
    for collector in ${FAULTS_COLLECTORS:-Serial Parallel G1}; do
        for program in ${FAULTS_PROGRAMS:-walks exceptions threads}; do
            ten "$collector" "$program"
        done
    done
else
    # Stack overflows and null pointers are those of test/e2e/simulate.sh, whose collector is the serial one.
    same Parallel "$exceptions" 1 micro.Exceptions 1000
    same G1 "$threads" 1 micro.Threads 20
fi

done_testing
