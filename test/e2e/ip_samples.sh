#!/bin/bash
# record --frequency and report --view vm: where threads' time goes; names from whichever symbols a file has.
# timeout: 300
. "$(dirname "$0")/../lib.sh"
needs_command report

functions=$build/test/tools/native_functions

# ---- symbols ----

offset_of() {
    nm "$1" | awk -v name="$2" '$3 == name { print "0x" $1 }'
}

check_symbols() {
    local lib=$SCRATCH/liba.so offset debug=$SCRATCH/debug id
    cat > "$SCRATCH/a.c" << 'END'
int shown(int x);
static __attribute__((noinline)) int hidden_one(int x) { return x * 3 + 1; }
int shown(int x) { return hidden_one(x) + 1; }
END
    if ! cc -O1 -g -shared -fPIC -Wl,--build-id -o "$lib" "$SCRATCH/a.c" 2> "$SCRATCH/errors" ||
        ! command -v objcopy > "$SCRATCH/which"; then
        skip "names from each kind of symbol table" "no compiler or objcopy"
        return
    fi
    offset=$(offset_of "$lib" hidden_one) # where it is loaded: at the same offset in so small a file
    is "a file's own table names its static functions" "$("$functions" "$lib" "$offset" | xargs)" ".symtab hidden_one"
    objcopy --only-keep-debug "$lib" "$SCRATCH/liba.debug"
    cp "$lib" "$SCRATCH/stripped.so"
    strip "$SCRATCH/stripped.so"
    is "a stripped one has names of what it exports only" \
        "$("$functions" "$SCRATCH/stripped.so" "$offset" | tail -n 1)" "-"
    matches "and it is said that they are" "$("$functions" "$SCRATCH/stripped.so" | head -n 1)" '^\.dynsym \(exported'
    id=$(readelf -n "$lib" | sed -n 's/.*Build ID: //p')
    mkdir -p "$debug/.build-id/${id:0:2}"
    cp "$SCRATCH/liba.debug" "$debug/.build-id/${id:0:2}/${id:2}.debug"
    is "a separate file is found by build id" \
        "$(MMPROF_DEBUG=$debug "$functions" "$SCRATCH/stripped.so" "$offset" | tail -n 1)" hidden_one
    matches "and named" "$(MMPROF_DEBUG=$debug "$functions" "$SCRATCH/stripped.so")" "^\.symtab of .*/${id:2}\.debug$"
    rm -r "$debug"
    (cd "$SCRATCH" && objcopy --add-gnu-debuglink=liba.debug stripped.so linked.so)
    is "or by .gnu_debuglink, beside the file" \
        "$(MMPROF_DEBUG=$debug "$functions" "$SCRATCH/linked.so" "$offset" | tail -n 1)" hidden_one
    echo >> "$SCRATCH/liba.debug"
    is "but not one with another checksum" \
        "$(MMPROF_DEBUG=$debug "$functions" "$SCRATCH/linked.so" "$offset" | tail -n 1)" "-"
    if objcopy --remove-section=.dynsym "$SCRATCH/stripped.so" "$SCRATCH/none.so" 2> "$SCRATCH/errors"; then
        is "one without any has none" "$("$functions" "$SCRATCH/none.so" "$offset" | xargs)" "none -"
    fi
}

# ---- recordings ----

# The field of a row of report --view vm --csv, by the column's key.
cell() {
    tr -d '\r' < "$1" | awk -F, -v kind="$2" -v key="$3" \
        'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $1 == kind { print $at[key] == "" ? 0 : $at[key] }'
}

# between CLAIM VALUE LOW HIGH
between() {
    if awk -v v="$2" -v low="$3" -v high="$4" 'BEGIN { exit !(v != "" && v >= low && v <= high) }'; then
        ok "$1"
    else
        not_ok "$1" "is $2, not within $3 and $4"
    fi
}

# The application's share in a table of phases, of the time that threads had.
phases_share() {
    awk -F, '
        $1 == "phase" || $1 == "application" { s += $4 }
        $1 == "kernel" || $1 == "switches" { k += $4 }
        END { print s / (1 - k) }' "$1"
}

check_recording() {
    local jdk=$1 v=$2 trace=$SCRATCH/$2.dat vm=$SCRATCH/$2.vm
    "$mmprof" record -q --frequency 1000 --ip-events page-faults --lines --include 'target/Parts.main' -o "$trace" -- \
        "$jdk/bin/java" -Xmx256m -Xbatch -XX:+UseSerialGC -cp "$classes" target.Parts 1000 > "$SCRATCH/said" 2>&1
    is "$v: a program is recorded" "$? $(cat "$SCRATCH/said")" "0 DONE ok"
    if [ -n "$(trace_info "$trace" hits.failed)" ]; then
        skip "$v: where its threads were" "$(trace_info "$trace" hits.failed)"
        return
    fi
    "$mmprof" report --view vm --csv "$trace" > "$vm"
    is "$v: the report says where its threads were" $? 0
    "$mmprof" report --view vm --json "$trace" > "$vm.json"
    # While the host has the CPU, periods pass without a hit, on a clock that may count that time.
    between "$v: hits stand for no more CPU time than the threads had, and for most of it" \
        "$(tr ',{}' '\n' < "$vm.json" |
            awk -F: '/"hits_ns"/ { hits = $2 } /"cpu_ns"/ { cpu = $2 } END { print hits / cpu }')" 0.4 1.02
    "$mmprof" report --csv --min-share 0 "$trace" > "$SCRATCH/phases.csv"
    # That has a row for time that no thread had: the switches themselves.
    between "$v: the application's share is that of the phase table" \
        "$(echo "$(cell "$vm" total application_share)" "$(phases_share "$SCRATCH/phases.csv")" |
            awk '{ print $1 - $2 }')" -0.01 0.01
    between "$v: all shares add up to 1" "$(cell "$vm" total share)" 0.999 1.001
    between "$v: the serial collector works in the VM thread" "$(cell "$vm" vm_gc vm_thread_share)" 0.001 1
    "$mmprof" report --view hot --csv --top 0 "$trace" > "$vm.hot"
    matches "$v: code of C2 has its lines, and what it is inlined in" "$(grep '^c2_code,Parts.step' "$vm.hot")" \
        'Parts\.java:2[23] in Parts\.compute:2[7-9]'
    between "$v: the program's own methods are most of its time" \
        "$(awk -F, '/^c[12]_code,Parts|^interpreter/ { s += $4 } END { print s }' "$vm.hot")" 0.05 1
    between "$v: all code is known" "$(cell "$vm" unknown share | grep . || echo 0)" 0 0.02
    between "$v: what the interpreter runs is its own" "$(cell "$vm" interpreter share)" 0.0001 0.5
    between "$v: an event that takes samples is told of all code" "$(cell "$vm" total page_faults_per_second)" 100 1e7
    is "$v: no event of the JVM failed" "$(trace_info "$trace" code.failed)" ""
    is "$v: nor was one needed" "$(trace_info "$trace" code.cpu_ms) $(trace_info "$trace" code.all)" "0.0 "
    matches "$v: functions of the JVM have names" "$("$mmprof" report --view hot --csv --top 0 "$trace")" \
        '^vm_gc,.*(Serial|DefNew|Mark|Oop|Card|Tenured|Gen)'
}

check_symbols
while read -r jdk; do
    check_recording "$jdk" "$(jdk_version "$jdk")"
done < <(jdks)

jdk=$(first_jdk)
[ -n "$jdk" ] || done_testing
"$mmprof" record -q --frequency 0 --include 'target/Parts.main' -o "$SCRATCH/none.dat" -- \
    "$jdk/bin/java" -cp "$classes" target.Parts 1 > "$SCRATCH/said" 2>&1
is "without --frequency there are no hits" "$(trace_info "$SCRATCH/none.dat" hits)" ""
"$mmprof" report --view vm "$SCRATCH/none.dat" > "$SCRATCH/out" 2>&1
is "and a report of them is refused" $? 1
matches "with what to do" "$(cat "$SCRATCH/out")" 'next: record with --frequency'
"$mmprof" record --frequency 99999 -o "$SCRATCH/none.dat" -- "$jdk/bin/java" > "$SCRATCH/out" 2>&1
is "more than 10000 a second are refused" $? 1
"$mmprof" record --frequency 0 --lines -o "$SCRATCH/none.dat" -- "$jdk/bin/java" > "$SCRATCH/out" 2>&1
is "and so are lines of none" $? 1
matches "with what to do" "$(cat "$SCRATCH/out")" 'next: remove one of them'

matches "a clock takes samples anyway" \
    "$("$mmprof" record --ip-events cpu-clock -o "$SCRATCH/none.dat" -- "$jdk/bin/java" 2>&1)" \
    "^mmprof record: 'cpu-clock' is a clock"

# Code that was compiled before mmprof came: it is never said to be at a line, or in what is inlined, where it is not.
# attached JDK NAME OPTION [FLAG...]: the recorder's option, "" for none; the JVM's flags
attached() {
    local jdk=$1 name=$2 option=$3
    shift 3
    start_busy "$jdk" "$@"
    "$mmprof" record -q $option --frequency 1000 --include target/Busy.main -d 2 -o "$SCRATCH/late.dat" -p "$pid" \
        > "$SCRATCH/said" 2>&1
    is "$name: recorded" "$? $(cat "$SCRATCH/said")" "0 "
    stop "$pid"
    "$mmprof" report --view hot --csv --top 0 "$SCRATCH/late.dat" > "$SCRATCH/hot" 2>&1
}

while read -r late; do
    v="JDK $(jdk_version "$late")"
    attached "$late" "$v, attached late" --lines -Xbatch
    [ -z "$(trace_info "$SCRATCH/late.dat" hits.failed)" ] || continue
    no_lines=$(trace_info "$SCRATCH/late.dat" hits.no_lines)
    if [ "$no_lines" = 0 ]; then # JDK 17 compiles all code anew; and a slow machine had compiled nothing before
        skip "$v: hits in older code" "there are none"
    else
        matches "$v: hits in older code are noted" "$("$mmprof" report --notes --view hot "$SCRATCH/late.dat")" \
            'but no line or inlined method'
    fi
    attached "$late" "$v, with its lines from the start" "" -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints
    is "$v: all lines are known then" "$(trace_info "$SCRATCH/late.dat" hits.no_lines)" 0
    attached "$late" "$v, without lines" "" -Xbatch
    is "$v: the JVM tells of no compiled code by itself" \
        "$(trace_info "$SCRATCH/late.dat" code.cpu_ms) $(trace_info "$SCRATCH/late.dat" code.all)" "0.0 "
    matches "$v: its methods are known" "$(cat "$SCRATCH/hot")" '^c[12]_code,Busy\.'
    matches "$v: and how to know the lines" "$("$mmprof" report --notes --view hot "$SCRATCH/late.dat")" \
        'record with --lines'
done < <(jdks)

# A recorder that is killed writes no names; the report takes those of the same build here.
start_busy "$jdk"
jvm=$pid
start "$SCRATCH/recorder" "$mmprof" record -q --frequency 1000 --include target/Busy.round -o "$SCRATCH/cut.dat" \
    -p "$jvm"
recorder=$pid
enough() {
    local n
    n=$("$mmprof" dump --tables "$SCRATCH/cut.dat" 2> "$SCRATCH/errors" | sed -n 's/.* \([0-9]*\) IP samples,.*/\1/p')
    [ "${n:-0}" -gt 500 ]
}
if wait_for 60 enough; then
    stop "$recorder"
    "$mmprof" dump --tables "$SCRATCH/cut.dat" > "$SCRATCH/tables" 2> "$SCRATCH/errors"
    "$mmprof" report --view hot --csv --top 0 "$SCRATCH/cut.dat" > "$SCRATCH/hot" 2> "$SCRATCH/errors"
    is "a trace that is cut has no names" "$(grep -c '^symbol' "$SCRATCH/tables")" 0
    matches "the report names functions of the same build" "$(cat "$SCRATCH/hot")" \
        '^vm_[a-z]*,[A-Za-z_]+::[a-z_]+'
elif [ -n "$(trace_info "$SCRATCH/none.dat" hits.failed)" ]; then
    skip "a trace that is cut" "the kernel does not tell where threads are"
else
    not_ok "a trace that is cut" "$(cat "$SCRATCH/recorder")"
fi
stop "$jvm"

done_testing
