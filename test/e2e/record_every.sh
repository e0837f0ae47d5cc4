#!/bin/bash
# A recording in several files: what they count adds up to what the program counts itself; each is whole and read alone;
# it outlives the JVM and a full disk, and old files go.
# timeout: 600
# long: yes
. "$(dirname "$0")/../lib.sh"

out='^METHOD micro/(Natives\.(add|sum|callsBack|fails)\(|BigCode\.code(65535|8000)\(|Hidden\.|[A-Za-z$]*\$\$Lambda|'
out+='\$Proxy|Truth|All\.)'

# The methods' counts of a file, in one form, but for proxies and hidden classes.
counts_of() {
    grep '^METHOD micro/' "$1" | grep -vE "$out" |
        awk '{ for (i = 0; i < 4; i++) n[$2, i] += $(i + 3); seen[$2] = 1 }
            END { for (m in seen) if (n[m, 0] > 0) print m, n[m, 0], n[m, 1], n[m, 2], n[m, 3] }' | LC_ALL=C sort
}

# exact JDK: the micro programs, which know how often each method was entered and left.
exact() {
    local v files
    v="JDK $(jdk_version "$1")"
    rm -rf "$SCRATCH/exact"
    "$mmprof" record -q --every 1s -o "$SCRATCH/exact" --min-bytecodes 0 --include 'micro/*' \
        --exclude 'micro/Truth*' --buffer 64M -- "$1/bin/java" -Xmx512m "-Djava.library.path=$classes" -cp "$classes" \
        micro.All > "$SCRATCH/said" 2> "$SCRATCH/errors"
    is "$v: the program ends as it does alone" "$?, $(grep -c '^SELF-CHECK .* ok$' "$SCRATCH/said") ok" "0, 14 ok"
    mapfile -t files < <(find "$SCRATCH/exact" -name '*.dat' | LC_ALL=C sort)
    [ ${#files[@]} -ge 3 ] && ok "$v: there are several files (${#files[@]})" || not_ok "$v: there are several files"
    is "$v: none is left as a part" "$(find "$SCRATCH/exact" -name '*.part')" ""
    "$build/test/tools/method_counts" "${files[@]}" > "$SCRATCH/seen"
    for file in "${files[@]}"; do
        "$mmprof" report --notes "$file"
    done > "$SCRATCH/reports" 2>&1
    if [ -n "$(memory_limit)" ] && grep -q 'calls .*were lost' "$SCRATCH/reports"; then
        skip "$v: methods are counted exactly" "records were lost: $(memory_limit)"
        return
    fi
    matches "$v: together they are well nested, and nothing is lost" "$(tail -n 1 "$SCRATCH/seen")" \
        '^RECORDS [1-9][0-9]* LOST 0 CUT 0 UNNESTED 0$'
    counts_of "$SCRATCH/said" > "$SCRATCH/expected"
    counts_of "$SCRATCH/seen" > "$SCRATCH/actual"
    if difference=$(diff "$SCRATCH/expected" "$SCRATCH/actual"); then
        ok "$v: $(wc -l < "$SCRATCH/actual") methods are counted exactly"
    else
        not_ok "$v: methods are counted exactly" "(<: said by the program, >: in the files)" "$difference"
    fi
    for file in "${files[@]}"; do
        "$mmprof" report "$file" > "$SCRATCH/report" 2>&1 ||
            not_ok "$v: '$(basename "$file")' is read alone" "$(cat "$SCRATCH/report")"
    done
    holds "$v: they become rows" "$mmprof" export -f parquet -o "$SCRATCH/rows.parquet" "${files[@]}"
}

n_whole() {
    find "$1" -name '*.dat' | wc -l
}

has_whole() {
    [ "$(n_whole "$1")" -ge "$2" ]
}

named=record.every=$SCRATCH # in its command line, as there may be others of its class

# a JVM that works until it is killed; its PID in $jvm.
busy() {
    start "$SCRATCH/jvm" "$jdk/bin/java" -Xmx64m -XX:+EnableDynamicAgentLoading "-D$named" -cp "$classes" \
        target.Busy 600
    jvm=$pid
}

# the recording of --name goes on with the next JVM; kill -9 leaves whole files and a part that is read.
restarts() {
    local to=$SCRATCH/restart first recorder before
    start "$SCRATCH/recorder" "$mmprof" record --every 1s -o "$to" --keep 4 --name "$named"
    recorder=$pid
    wait_for 20 grep -q "waiting for a JVM that matches '$named'" "$SCRATCH/recorder" &&
        ok "without a JVM it waits" || not_ok "without a JVM it waits" "$(cat "$SCRATCH/recorder")"
    busy
    first=$jvm
    wait_for 60 has_whole "$to" 2 && ok "a JVM that comes is recorded" ||
        not_ok "a JVM that comes is recorded" "$(cat "$SCRATCH/recorder")"
    stop "$first"
    busy
    wait_for 60 has_of "$to" "$jvm" && ok "so is the next one" ||
        not_ok "so is the next one" "$(cat "$SCRATCH/recorder")"
    wait_for 30 few_files "$to" 4 && ok "no more files stay than --keep says" ||
        not_ok "no more files stay than --keep says" "$(ls "$to")"
    kill -KILL "$recorder"
    wait "$recorder" 2> "$SCRATCH/ignored"
    part=$(find "$to" -name '*.part' | LC_ALL=C sort) # two of them where it was killed between two files
    holds "what a killed mmprof was writing is read" "$mmprof" report "$(head -n 1 <<< "$part")"
    for file in "$to"/*.dat; do
        "$mmprof" report "$file" > "$SCRATCH/report" 2>&1 || not_ok "whole files are" "$(cat "$SCRATCH/report")"
    done
    start "$SCRATCH/recorder" "$mmprof" record --every 1s -o "$to" --metrics "$SCRATCH/m.prom" \
        --label 'service=sh"op' --name "$named"
    recorder=$pid
    wait_for 60 has_part "$to" "$part"
    wait_for 60 has_metric 'mmprof_files_total.*,outcome="read"} [2-9]' ||
        not_ok "metrics come with each file" "$(cat "$SCRATCH/m.prom" "$SCRATCH/recorder")"
    before=$(metric 'mmprof_recorded_seconds_total')
    kill -TERM "$recorder"
    wait "$recorder"
    is "SIGTERM ends it well" $? 0
    python3 "$root/test/tools/read_exports.py" metrics "$SCRATCH/m.prom" > "$SCRATCH/metrics" 2>&1
    is "metrics are as Prometheus' format says" $? 0
    matches "metrics: with labels" "$(cat "$SCRATCH/metrics")" \
        'mmprof_cpu_seconds_total\{service="sh\\"op",host="[^"]+",part="phases"\} [0-9]'
    holds "metrics: they grow up to the last file" \
        awk "BEGIN { exit !($before >= 1 && $(metric mmprof_recorded_seconds_total) > $before) }"
    is "metrics: no half file is left" "$(ls "$SCRATCH"/m.prom*)" "$SCRATCH/m.prom"
    is "and no part is left but that of the killed one" "$(find "$to" -name '*.part' | grep -cv "$part")" 0
    is "the JVM goes on" "$(is_gone "$jvm" || echo running)" running
}

# Two JVMs of one name: both are listed, and what to do.
several() {
    local first=$jvm recorder
    busy
    start "$SCRATCH/recorder" "$mmprof" record --every 1s -o "$SCRATCH/several" --name "$named"
    recorder=$pid
    wait_for 20 grep -q 'mmprof waits until only one is left' "$SCRATCH/recorder" &&
        ok "of several JVMs of a name none is recorded" ||
        not_ok "of several JVMs of a name none is recorded" "$(cat "$SCRATCH/recorder")"
    is "they are listed" "$(grep -cE "^ +($first|$jvm)  " "$SCRATCH/recorder")" 2
    kill -TERM "$recorder"
    wait "$recorder"
    stop "$jvm"
    jvm=$first
}

# metric NAME: its value, of the only series of this name.
metric() {
    sed -n "s/^$1{[^}]*} //p" "$SCRATCH/m.prom"
}

has_metric() {
    grep -q "^$1" "$SCRATCH/m.prom"
}

has_of() {
    find "$1" -name "*-$2-*.dat" | grep -q .
}

few_files() {
    [ "$(find "$1" -type f | wc -l)" -le "$2" ]
}

has_part() {
    find "$1" -name '*.part' | grep -v "$2" | grep -q .
}

# A disk that is full for a while.
full_disk() {
    local to=$SCRATCH/full recorder
    mkdir -p "$to"
    if ! mount -t tmpfs -o size=1m none "$to" 2> "$SCRATCH/ignored"; then
        skip "the disk is full" "mount is not allowed here"
        return
    fi
    dd if=/dev/zero of="$to/filled" bs=1k count=1000 2> "$SCRATCH/ignored"
    start "$SCRATCH/recorder" "$mmprof" record -q --every 1s -o "$to" --include 'target/*' --min-bytecodes 0 -p "$jvm"
    recorder=$pid
    wait_for 60 grep -q 'No space left on device: its data are dropped' "$SCRATCH/recorder" &&
        ok "the disk is full: it is told, and the recording goes on" ||
        not_ok "the disk is full: it is told, and the recording goes on" "$(cat "$SCRATCH/recorder")"
    rm "$to/filled"
    wait_for 30 has_whole "$to" 1 && ok "with room again files are whole again" ||
        not_ok "with room again files are whole again" "$(cat "$SCRATCH/recorder")"
    kill -TERM "$recorder"
    wait "$recorder"
    is "it ends well" $? 0
    is "nothing is left of files that were dropped" "$(find "$to" -name '*.part')" ""
    is "the JVM goes on" "$(is_gone "$jvm" || echo running)" running
    umount "$to"
}

# refuses CLAIM REGEX OPTION...
refuses() {
    local claim=$1 regex=$2
    shift 2
    "$mmprof" record "$@" > "$SCRATCH/refused" 2>&1
    is "$claim: is refused" $? 1
    matches "$claim: with the reason" "$(cat "$SCRATCH/refused")" "$regex"
}

refuses "--every without -o" 'needs a directory for its files' --every 1s -p 1
refuses "--name without --every" 'each needs its own file' --name Some
refuses "a --keep that is none" "bad value '5x'" --every 1s -o "$SCRATCH/x" --keep 5x -p 1
refuses "--metrics without --every" 'need several files' --metrics "$SCRATCH/m.prom" -p 1
refuses "labels of nothing" 'labels metrics, and there are none' --every 1s -o "$SCRATCH/x" \
    --label service=s -p 1
refuses "a label that is none" "'color=red' is not a label" --every 1s -o "$SCRATCH/x" --metrics "$SCRATCH/m.prom" \
    --label color=red -p 1
refuses "metrics that cannot be written" "cannot write '/nowhere/m.prom" --every 1s -o "$SCRATCH/x" \
    --metrics /nowhere/m.prom -p 1
refuses "a directory that is a file" 'is not a directory' --every 1s -o "$SCRATCH/refused" -p 1

while read -r jdk; do
    exact "$jdk"
done < <(jdks)
restarts
several
full_disk

done_testing
