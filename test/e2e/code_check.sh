#!/bin/bash
# Compiled code as the agent reads it in place is the code that the JVM's events tell of: its place, compiler, points,
# frames; its methods' names, sources and lines.
# timeout: 300
# long: yes
. "$(dirname "$0")/../lib.sh"

# number FILE NAME: the number behind a name in what the agent compared.
number() {
    tr ' ' '\n' < "$1" | grep -A 1 -x "$2" | tail -n 1
}

cp "$mmprof" "$build/test/agent/libmmprof-agent.so" "$SCRATCH" # an mmprof with the agent that compares

# check NAME JDK AT_LEAST OPTION... CLASS [ARGUMENT...]
check() {
    local name=$1 jdk=$2 at_least=$3 out=$SCRATCH/$1.compared
    shift 3
    MMPROF_CHECK_CODE=$out "$SCRATCH/mmprof" record -q --include "$include" -o "$SCRATCH/trace.dat" -- \
        "$jdk/bin/java" -Xmx512m "-Djava.library.path=$classes" -cp "$classes" "$@" > "$SCRATCH/said" 2>&1
    is "$name: recorded" $? 0
    if [ ! -s "$out" ]; then
        not_ok "$name: the agent compares" "$(cat "$SCRATCH/said")"
        return
    fi
    holds "$name: $(number "$out" compared) pieces of code, at least $at_least" \
        test "$(number "$out" compared)" -ge "$at_least"
    is "$name: as the events tell, with $(number "$out" points) points, $(number "$out" methods) methods" \
        "$(grep -v '^ns ' "$out" | grep -v '^points ' | grep -v '^classes ' | sed 's/compared [0-9]*/compared N/')" \
        "code compared N different 0 not_read 0"
    is "$name: and the class of each is known without its name" \
        "$(sed -n 's/^classes [1-9][0-9]* //p' "$out")" "wrong 0"
    echo "# us per piece: read $(per_piece "$out" read), its new methods $(per_piece "$out" described), by the events" \
        "$(per_piece "$out" told), the JVM's part not counted"
}

per_piece() {
    echo "$(number "$1" "$2") $(number "$1" compared)" | awk '{ printf "%.1f", $1 / $2 / 1000 }'
}

while read -r jdk; do
    v="JDK $(jdk_version "$jdk")"
    include=demo/JavacDemo.main
    check "$v, javac" "$jdk" 1500 demo.JavacDemo "$(first_jdk)/lib/src.zip" 1 java.net.http
    include=micro/All.main
    check "$v, micro" "$jdk" 300 micro.All
done < <(jdks)

done_testing
