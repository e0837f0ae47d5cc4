#!/bin/bash
# The micro programs know how often each of their methods was entered, left, left by an exception, and is still
# running at the end: a trace says exactly the same, on each JDK and with each garbage collector.
# timeout: 900
# long: yes
. "$(dirname "$0")/../lib.sh"

programs="Thesis Locality Exceptions Recursion Virtual Osr Threads Synchronized Constructors Loaders Lambdas Big Natives
Unfinished"

# What is not instrumented: native methods; a method of 65535 bytes; one of 8000 bytes, which HotSpot would compile no
# more if it grew; hidden classes and so lambdas' own classes (JVMTI shows no agent the class file of a hidden class).
out='^METHOD micro/(Natives\.(add|sum|callsBack|fails)\(|BigCode\.code(65535|8000)\(|Hidden\.|[A-Za-z$]*\$\$Lambda)'

# The lines of a file that belong to a program, in one form: proxies without their number, equal names added up.
of_program() {
    local classes=$2
    case $2 in
        Loaders) classes='(Loaders|Plugin)' ;;
        Lambdas) classes='(Lambdas|Hidden|\$Proxy[0-9]*)' ;;
        Big) classes='(Big|BigCode)' ;;
    esac
    grep -E "^METHOD micro/${classes}[.\$]" "$1" | grep -vE "$out" | sed -E 's/\$Proxy[0-9]+/$Proxy/' |
        grep -vE '^METHOD micro/\$Proxy\.(hashCode|equals|toString|proxyClassLookup)' |
        awk '{ for (i = 0; i < 4; i++) n[$2, i] += $(i + 3); seen[$2] = 1 }
            END { for (m in seen) if (n[m, 0] > 0) print m, n[m, 0], n[m, 1], n[m, 2], n[m, 3] }' | LC_ALL=C sort
}

check_one() {
    local jdk=$1 gc=$2 said=$SCRATCH/said seen=$SCRATCH/seen trace=$SCRATCH/t.dat program name status
    name="JDK $(jdk_version "$jdk"), $gc"
    rm -f "$said" "$seen" "$trace"
    "$mmprof" record --quiet --min-bytecodes 0 --include 'micro/*' --exclude 'micro/Truth*' --buffer 16M \
        -o "$trace" -- "$jdk/bin/java" -XX:+Use"$gc" -Xmx512m "-Djava.library.path=$classes" -cp "$classes" micro.All \
        > "$said" 2> "$SCRATCH/errors"
    status=$?
    is "$name: the programs end as they do without mmprof" \
        "$status, $(grep -c '^SELF-CHECK .* ok$' "$said") ok, $(grep -c -e WRONG -e FAILED "$said") wrong" \
        "0, $(wc -w <<< "$programs") ok, 0 wrong"
    "$build/test/tools/method_counts" "$trace" > "$seen" 2>> "$SCRATCH/errors"
    if [ -n "$is_limited" ] && "$mmprof" report --notes "$trace" 2>&1 | grep -q 'calls .*were lost'; then
        skip "$name: methods are counted exactly" "records were lost: $is_limited"
        return
    fi
    matches "$name: the trace is whole and well nested, nothing is lost" \
        "$(tail -n 1 "$seen"; grep -v '^WARNING: ' "$SCRATCH/errors")" '^RECORDS [1-9][0-9]* LOST 0 CUT 0 UNNESTED 0$'
    for program in $programs; do
        of_program "$said" "$program" > "$SCRATCH/expected"
        of_program "$seen" "$program" > "$SCRATCH/actual"
        if [ -s "$SCRATCH/expected" ] && difference=$(diff "$SCRATCH/expected" "$SCRATCH/actual"); then
            ok "$name: $program: $(wc -l < "$SCRATCH/actual") methods are counted exactly"
        else
            not_ok "$name: $program: its methods are counted exactly" "(<: said by the program, >: in the trace)" \
                "${difference-}"
        fi
    done
}

is_limited=$(memory_limit)
echo "# left out: native methods, code of 65535 bytes, code that would pass HotSpot's 8000 bytes, hidden classes"
while read -r jdk; do
    for gc in $(collectors_of "$jdk"); do
        check_one "$jdk" $gc
    done
done < <(jdks)

done_testing
