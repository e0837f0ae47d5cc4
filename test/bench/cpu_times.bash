# CPU times of programs in the emulator, for the benches of what simulation and memtrace cost; sourced behind lib.sh.
# shellcheck shell=bash disable=SC2154

# bench_commands DIRECTORY: prints the programs, as workloads.sh reads them, which take half a second to two each.
bench_commands() {
    local java="exec $1/bin/java -XX:+UseSerialGC -Xmx512m -cp $classes"
    cat << END
sort        $java micro.Locality 150000 150000
thesis      $java micro.Thesis 1000 1
osr         $java micro.Osr
recursion   $java micro.Recursion 8000
exceptions  $java micro.Exceptions 3000000
threads     $java micro.Threads
javac       $java -Xmx1g demo.JavacDemo $1/lib/src.zip 1 java.net.http
END
}

# cpu_seconds DIRECTORY COMMAND BEFORE...: of one run there, or '-': 'BEFORE... PROGRAM ARGUMENT...' for 'exec PROGRAM
# ARGUMENT...'.
cpu_seconds() {
    local directory=$1 command=$2 before
    shift 2
    before="$*"
    rm -f "$SCRATCH/took"
    (cd "$directory" && "$build/test/tools/timed" "$SCRATCH/took" sh -c "exec $before ${command#exec }") \
        > "$SCRATCH/out" 2> "$SCRATCH/errors" < /dev/null || { echo -; return; }
    awk '{ printf "%.2f\n", $5 + $7 }' "$SCRATCH/took"
}

# median_of N DIRECTORY COMMAND BEFORE...: of N runs, whose times go to $SCRATCH/times.
median_of() {
    local n=$1 i
    shift
    for ((i = 0; i < n; i++)); do
        cpu_seconds "$@" | tee -a "$SCRATCH/times"
    done | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# ratio A B
ratio() {
    awk -v a="$1" -v b="$2" 'BEGIN { if (a == "-" || b == "-" || b == 0) print "-"; else printf "%.1f\n", a / b }'
}

# in_emulator COMMAND: 'exec java ...' with the path of java, for qemu-user looks for no program.
in_emulator() {
    local java=${1#exec }
    echo "exec $(command -v "${java%% *}") ${1#exec * }"
}
