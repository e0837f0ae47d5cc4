#!/bin/bash
# record --live --jit-log: what the JIT compiler made of the methods that get probes, before and after, is in the trace,
# and the report says whose code has another shape.  check-jit: the rules of a file hold for compiled code, or do not.
# drive: the compilers get methods that samples found.  jit: what is allocated in the bytecode, and on the heap; which
# calls are not inlined.
# timeout: 300
# long: yes
. "$(dirname "$0")/../lib.sh"

# What is inlined and removed in target.Inlines is known; one method of it may not be inlined.
cat > "$SCRATCH/hold" << 'END'
target.Inlines.leaf is inlined into target.Inlines.run
target.Inlines.loops(long) is inlined into target.Inlines.run
target.Inlines.apart is not inlined into target.Inlines.run
allocation of target.Inlines$Point in target.Inlines.run is removed
allocation of target.Inlines$Point in target.Inlines.removed is removed in at least 99 % of objects
allocation of Inlines$Square in target.Inlines.escapes is not removed
allocation of java.lang.StringBuilder in target.Inlines.joined is removed
target.Inlines.run is compiled by C2
END
cat > "$SCRATCH/fail" << 'END'
target.Inlines.leaf is not inlined into target.Inlines.run
target.Inlines.apart is inlined into target.Inlines.run
allocation of Inlines$Square in target.Inlines.escapes is removed
target.Inlines.never is inlined into target.Inlines.run
END
cat "$SCRATCH/hold" "$SCRATCH/fail" > "$SCRATCH/all.rules"

check_rules() {
    local jdk=$1 v=$2 seconds status results
    local expected='holds holds holds holds holds holds holds holds broken broken broken unknown'
    # On a busy machine the JIT compilers may not come to it within the first one.
    for seconds in 1 3 9; do
        "$mmprof" check-jit --junit "$SCRATCH/jit.xml" --csv "$SCRATCH/all.rules" -- "$jdk/bin/java" \
            -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,target.Inlines::apart \
            -cp "$classes" target.Inlines $seconds > "$SCRATCH/results" 2> "$SCRATCH/errors"
        status=$?
        results=$(sed -n 's/^rule,\([a-z]*\),.*/\1/p' "$SCRATCH/results" | xargs)
        [ "$results" != "$expected" ] || break
    done
    is "$v: check-jit fails where a rule does not hold" "$status$(cat "$SCRATCH/errors")" 1
    is "$v: by what the JIT compilers made of a program" "$results" "$expected" || sed 's/^/# /' "$SCRATCH/results"
    is "$v: JUnit's XML has the same" \
        "$(grep -c '<failure' "$SCRATCH/jit.xml") $(grep -c '<error' "$SCRATCH/jit.xml")" '3 1'
}

# objects METHOD COLUMN: of the table of allocations; the first time, the JVM makes one or two of another class there.
objects() {
    awk -F, -v method="$1" -v column="$2" '
        { sub(/\r$/, "") }
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i }
        $2 ~ "^Escapes." method ":" { print $at }' "$SCRATCH/objects.csv" | sort -rn | head -n 1
}

check_objects() {
    local jdk=$1 v=$2 n=200000 method
    "$mmprof" jit -q --csv --top 0 -- "$jdk/bin/java" -cp "$classes" target.Escapes $n > "$SCRATCH/objects.csv" \
        2> "$SCRATCH/errors"
    is "$v: jit ends with the program's status" "$?, $(sort -u "$SCRATCH/errors")" "0, sum 2666706666400000"
    for method in removed partly lasting copied; do
        is "$v: the bytecode of $method allocates an object a round" "$(objects $method bytecode_objects)" $n
    done
    for method in partly lasting copied; do
        is "$v: and the heap gets each of $method" "$(objects $method heap_objects)" $n
    done
    holds "$v: but few of those that do not escape" [ "$(objects removed heap_objects)" -lt $((n / 2)) ]
}

# Of the first thousand rounds, and of a thousand when all is compiled.
check_window() {
    local jdk=$1 v=$2 nth on_heap=
    for nth in 1 190; do
        "$mmprof" jit -q --csv --top 0 --in 'target/Escapes.batch' --nth $nth -- "$jdk/bin/java" -cp "$classes" \
            target.Escapes 200000 > "$SCRATCH/objects.csv" 2> "$SCRATCH/errors"
        is "$v: jit of call $nth ends with the program's status" "$?" 0
        is "$v: the bytecode of a batch allocates a thousand objects" "$(objects removed bytecode_objects)" 1000
        is "$v: of those that escape the heap gets each" "$(objects lasting heap_objects)" 1000
        on_heap+="$(objects removed heap_objects) "
    done
    is "$v: of the others all at first, and none later" "$on_heap" "1000 0 "
}

# receivers METHOD COLUMN...: of the table of receivers.
receivers() {
    awk -F, -v method="$1" -v columns="${*:2}" '
        { sub(/\r$/, "") }
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        $2 ~ "^Receivers." method ":" {
            n = split(columns, wanted, " ")
            for (i = 1; i <= n; i++) printf "%s%s", $at[wanted[i]], i < n ? " " : "\n"
        }' "$SCRATCH/receivers.csv"
}

check_receivers() {
    local jdk=$1 v=$2 shares="types resolved_share_0 resolved_share_1 resolved_share_2 resolved_share_3"
    "$mmprof" jit -q --csv --top 0 --receivers --period 1 -- "$jdk/bin/java" -cp "$classes" target.Receivers 2000 \
        > "$SCRATCH/receivers.csv" 2> "$SCRATCH/errors"
    is "$v: jit --receivers ends with the program's status" "$?, $(cat "$SCRATCH/errors")" "0, sum 14654669000"
    # shellcheck disable=SC2086
    is "$v: two levels of calling context tell the receivers in at" "$(receivers at calls $shares)" "8000 3 0 0.5 1 1"
    # shellcheck disable=SC2086
    is "$v: none tells those in both" "$(receivers both calls $shares)" "2000 2 0 0 0 0"
}

# calls: of the calls in Calls.run, the shares that are left as it runs and with probes.
calls() {
    awk -F, '
        { sub(/\r$/, "") }
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        $2 ~ "^Calls.run:" { print $at["called"], $at["as_it_runs_share"], $at["with_probes_share"] }' \
        "$SCRATCH/calls.csv" | sort | xargs
}

check_calls() {
    local jdk=$1 v=$2 rounds status expected='few 0 0 many 1 1 nearly 0 1'
    # On a busy machine C2 may not come to it within the first ones.
    for rounds in 1000 3000 9000; do
        "$mmprof" jit -q --csv --top 0 --calls --period 100 -- "$jdk/bin/java" -cp "$classes" target.Calls $rounds \
            > "$SCRATCH/calls.csv" 2> "$SCRATCH/errors"
        status=$?
        [ "$(calls)" != "$expected" ] || break
    done
    matches "$v: jit --calls ends with the program's status" "$status, $(xargs < "$SCRATCH/errors")" \
        '^0, (sum -?[0-9]+ ?){3}$'
    is "$v: a small method is inlined, a large one is not, and one in between only without a probe" "$(calls)" \
        "$expected"
}

# taken COMPILE COMMAND...: how many methods the JVM took, by the table's JSON behind the program's output.
taken() {
    "$mmprof" drive --json --compile "$1" -- "${@:2}" > "$SCRATCH/driven" 2> "$SCRATCH/errors"
    echo "$? $(sed -n 's/.*"methods_taken":[^0-9]*\([0-9]*\).*/\1/p' "$SCRATCH/driven")"
}

check_drive() {
    local jdk=$1 v=$2 n rounds
    # The JVM may come to all methods of a short run by itself.
    for rounds in 300 900 2700; do
        n=$(taken model "$jdk/bin/java" -Xcheck:jni -cp "$classes" micro.Thesis $rounds)
        [ "$n" = "0 0" ] || break
    done
    matches "$v: drive hands methods to the compilers" "$n" '^0 [1-9]'
    matches "$v: and the program computes the same" "$(cat "$SCRATCH/driven")" 'SELF-CHECK micro/Thesis ok'
    is "$v: nothing else is said" "$(cat "$SCRATCH/errors")" ""
    is "$v: with --compile nothing none" "$(taken nothing "$jdk/bin/java" -cp "$classes" micro.Thesis 100)" "0 0"
    n=$(taken model "$jdk/bin/java" -XX:-WhiteBoxAPI -cp "$classes" micro.Thesis 2700)
    matches "$v: a JVM that does not take them is an error" "$n$(cat "$SCRATCH/errors")" \
        '^1 mmprof drive: .*does not offer its WhiteBox interface'
    matches "$v: and it goes on" "$(cat "$SCRATCH/driven")" 'SELF-CHECK micro/Thesis ok'
}

# counted: by method the pieces of its code that C2 made and HotSpot discarded, and its traps: by HotSpot's own log.
# After a trap at null the interpreter throws, and counts it once more.
counted() {
    tr "'" ' ' < "$1" | awk '
        $1 == "<nmethod" { for (i = 1; i < NF; i++) { if ($i == "compile_id=") id = $(i + 1)
                                                      if ($i == "method=") of[id] = $(i + 2) } }
        $1 == "<make_not_entrant" && / compiler= c2 / { match($0, /compile_id= [0-9]+/)
                                                        n[of[substr($0, RSTART + 12, RLENGTH - 12)]]++ }
        $1 == "<uncommon_trap" && $2 == "thread=" { match($0, /reason= [a-z_]+/)
                                                    reason = substr($0, RSTART + 8, RLENGTH - 8)
                                                    sub(/_or_optimized_type_check/, "", reason) }
        $1 == "<jvms" && reason != "" { match($0, /target.Deoptimised [a-zA-Z]+/)
                                        at = substr($0, RSTART + 19, RLENGTH - 19)
                                        by[at, reason] += reason == "null_check" ? 2 : 1
                                        traps[at] = by[at, reason] " " reason
                                        reason = "" }
        END { n_methods = split("storm isNull isOther isLoaded steady", names, " ")
              for (i = 1; i <= n_methods; i++)
                  print names[i], n[names[i]] + 0, traps[names[i]] }' |
        sed 's/ $//'
}

check_discarded() {
    local jdk=$1 v=$2 method
    for method in storm isNull isOther isLoaded steady; do
        echo "target.Deoptimised.$method is deoptimized at most 3 times"
    done > "$SCRATCH/discarded.rules"
    rm -f "$SCRATCH/end"
    start "$SCRATCH/discards" "$jdk/bin/java" -XX:-BackgroundCompilation -XX:CompileCommand=quiet \
        -XX:CompileCommand=dontinline,target.Deoptimised::\* -XX:+UnlockDiagnosticVMOptions -XX:+LogCompilation \
        "-XX:LogFile=$SCRATCH/compilations" -cp "$classes" target.Deoptimised "$SCRATCH/end"
    wait_for 60 grep -q '^done' "$SCRATCH/discards"
    "$mmprof" check-jit --csv "$SCRATCH/discarded.rules" -p "$pid" > "$SCRATCH/results" 2> "$SCRATCH/errors"
    is "$v: one is discarded too often" \
        "$?$(cat "$SCRATCH/errors") $(grep -o '^rule,[a-z]*' "$SCRATCH/results" | xargs)" \
        "1 rule,broken rule,holds rule,holds rule,holds rule,holds"
    touch "$SCRATCH/end"
    wait "$pid"
    counted "$SCRATCH/compilations" > "$SCRATCH/truth"
    is "$v: what discarded code, and how often, is as HotSpot's log says" \
        "$(tr -d '\r' < "$SCRATCH/results" | sed -n 's/; traps://
            s/^rule,.*Deoptimised\.\([a-zA-Z]*\) .*[,"]\([0-9]*\) times since the JVM.s start\([^"]*\).*/\1 \2\3/p')" \
        "$(cat "$SCRATCH/truth")"
}

check_jdk() {
    local jdk=$1 v jvm seconds with_probes='compiled micro/Thesis\.sortData\(\)V.*MmprofProbe\.(enter|exit)'
    v="JDK $(jdk_version "$jdk")"
    start "$SCRATCH/running" "$jdk/bin/java" -XX:+EnableDynamicAgentLoading -cp "$classes" micro.Thesis 100 100000
    jvm=$pid
    wait_for 20 attachable "$jvm"
    sleep 2 # compiled by then
    # On a busy machine the JIT compiler may not come to it within the first one.
    for seconds in 3 6 12 24; do
        "$mmprof" record -q --live --budget 50% --jit-log -d $seconds --include 'micro/*' --min-bytecodes 0 \
            -o "$SCRATCH/jit.dat" -p "$jvm" > "$SCRATCH/said" 2>&1
        is "$v: a live recording with the JIT's log succeeds" "$?$(cat "$SCRATCH/said")" 0
        "$mmprof" dump --tables "$SCRATCH/jit.dat" | grep '^jit' > "$SCRATCH/events"
        ! grep -Eq "$with_probes" "$SCRATCH/events" || break
    done
    matches "$v: code that was there before is told" "$(cat "$SCRATCH/events")" 'there was micro/Thesis\.sortData\(\)V'
    matches "$v: the moment when a method gets probes" "$(cat "$SCRATCH/events")" 'gets probes: micro/Thesis\.sortData'
    matches "$v: and the code with them" "$(cat "$SCRATCH/events")" \
        "$with_probes"
    "$mmprof" report --json --all "$SCRATCH/jit.dat" > "$SCRATCH/report.json" 2> "$SCRATCH/errors"
    is "$v: the report succeeds" "$?$(cat "$SCRATCH/errors")" 0
    matches "$v: and has a column for it" "$(cat "$SCRATCH/report.json")" '"jit_shape"'
    matches "$v: which says what was compiled again" "$("$mmprof" report --wide "$SCRATCH/jit.dat")" \
        '^Recompiled methods +[1-9][0-9]* +n/a  measured$'
    "$mmprof" record -q --live -d 1 --include 'micro/*' -o "$SCRATCH/plain.dat" -p "$jvm" > "$SCRATCH/said" 2>&1
    is "$v: without the option the next recording has none" \
        "$?$(cat "$SCRATCH/said")$("$mmprof" dump --tables "$SCRATCH/plain.dat" | grep -c '^jit')" 00
    # What had probes is compiled again only after a while.
    echo 'micro.Thesis.* is compiled' > "$SCRATCH/one.rules"
    holds "$v: a running JVM is checked" wait_for 20 "$mmprof" check-jit "$SCRATCH/one.rules" -p "$jvm"
    "$mmprof" check-jit --html "$SCRATCH/page.html" "$SCRATCH/one.rules" -p "$jvm"
    matches "$v: and the results are a page" "$?$(grep -c 'micro.Thesis.\* is compiled' "$SCRATCH/page.html")" '^0[1-9]'
    holds "$v: the program goes on" kill -0 "$jvm"
    stop "$jvm"
    check_rules "$jdk" "$v"
    check_discarded "$jdk" "$v"
    check_objects "$jdk" "$v"
    check_window "$jdk" "$v"
    check_receivers "$jdk" "$v"
    check_calls "$jdk" "$v"
    check_drive "$jdk" "$v"
}

while read -r jdk; do
    check_jdk "$jdk"
done < <(jdks)

"$mmprof" record --jit-log --all-methods -p 1 > "$SCRATCH/said" 2>&1
is "--jit-log without --live is refused" "$?" 1
matches "and it is said why" "$(cat "$SCRATCH/said")" 'belongs to --live'

done_testing
