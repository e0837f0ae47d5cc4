#!/bin/bash
# JVMs that write their classes into an archive when they end, or may be asked for one: HotSpot dies of it where a class
# was changed.  None is: the program ends as without mmprof, and its archive is whole.
# timeout: 300
# beside: yes
. "$(dirname "$0")/faults.bash"

jar=$SCRATCH/busy.jar

# with_archive JDK ARCHIVE OPTION...: target.Busy from a jar, as classes in folders are not archived.
with_archive() {
    local jdk=$1
    archive=$2
    shift 2
    n_busy=$((${n_busy-0} + 1))
    busy_out=$SCRATCH/archiving-$n_busy.out
    busy_stop=$SCRATCH/archiving-$n_busy.stop
    start "$busy_out" env -C "$SCRATCH" "$jdk/bin/java" -Xmx64m "$@" -cp "$jar" target.Busy "$busy_stop"
    jvm=$pid
}

# left_alone NAME OPTION: nothing is changed in $jvm, and each command says why.
left_alone() {
    local said
    wait_for 20 grep -q '^ROUND' "$busy_out"
    said=$("$mmprof" record --all-methods -d 0.2 -o "$SCRATCH/a.dat" -p "$jvm" 2>&1)
    is "$1: recording calls is refused" $? 1
    matches "$1: it is said why" "$said" "^mmprof record: JVM $jvm writes a class archive \($2"
    matches "$1: doctor says it" "$("$mmprof" doctor -p "$jvm")" "^limit archive .*\($2"
    said=$("$mmprof" record -d 0.5 -o "$SCRATCH/a.dat" -p "$jvm" 2>&1)
    is "$1: live, there are samples, and no class is changed" \
        "$? $(grep -c 'no loaded class was instrumented' <<< "$said")" "0 1"
    matches "$1: and it is said why" "$said" "writes a class archive \($2"
}

# archived NAME OPTION JDK USE: the program ends well, and the archive has its classes.
archived() {
    touch "$busy_stop"
    wait_gone 60 "$jvm" || kill -KILL "$jvm"
    wait "$jvm"
    is "$1: the program's status is its own" "$? $(grep -c '^END [0-9]* rounds ok$' "$busy_out")" "0 1"
    matches "$1: its classes are in the archive" \
        "$("$3/bin/java" "$4=$archive" -Xlog:class+load -cp "$jar" target.Busy "$busy_stop" 2>&1)" \
        'target\.Busy source: shared objects file'
}

dump() {
    "$1/bin/jcmd" "$jvm" VM.cds dynamic_dump "$archive" > "$SCRATCH/jcmd" 2>&1
}

of_jdk() { # of_jdk VERSION
    jdks | while read -r home; do [ "$(jdk_version "$home")" != "$1" ] || echo "$home"; done
}

jdk17=$(of_jdk 17) jdk25=$(of_jdk 25)
"$(jdks | head -n 1)/bin/jar" -c -f "$jar" -C "$classes" target

if [ -n "$jdk25" ]; then
    with_archive "$jdk25" "$SCRATCH/a.aot" -XX:+EnableDynamicAgentLoading "-XX:AOTCacheOutput=$SCRATCH/a.aot"
    cache=("$jvm" "$busy_out" "$busy_stop" "$archive")
fi
if [ -n "$jdk17" ]; then
    with_archive "$jdk17" "$SCRATCH/a.jsa" "-XX:ArchiveClassesAtExit=$SCRATCH/a.jsa"
    left_alone "JDK 17, an archive at the end" -XX:ArchiveClassesAtExit
    archived "JDK 17, an archive at the end" -XX:ArchiveClassesAtExit "$jdk17" -XX:SharedArchiveFile
fi
if [ -n "$jdk25" ]; then
    jvm=${cache[0]} busy_out=${cache[1]} busy_stop=${cache[2]} archive=${cache[3]}
    left_alone "JDK 25, an AOT cache" -XX:AOTCacheOutput
    archived "JDK 25, an AOT cache" -XX:AOTCacheOutput "$jdk25" -XX:AOTCache
else
    skip "JDK 25, an AOT cache" "there is no JDK 25"
fi

launched=$("$mmprof" record --live -o "$SCRATCH/a.dat" -- java -XX:ArchiveClassesAtExit=a.jsa Main 2>&1)
is "a JVM that would not start with an agent is not started" \
    "$? $(grep -c 'archive (-XX:ArchiveClassesAtExit=a.jsa) does not start with an agent' <<< "$launched")" "1 1"
if [ -n "${FAULTS_LONG-}" ]; then
    while read -r jdk; do
        v="JDK $(jdk_version "$jdk"), an archive when asked"
        with_archive "$jdk" "$SCRATCH/dynamic-$n_busy.jsa" -XX:+EnableDynamicAgentLoading -XX:+RecordDynamicDumpInfo
        left_alone "$v" "-XX:\+RecordDynamicDumpInfo"
        dump "$jdk"
        goes_on "$v: the program goes on after the dump"
        archived "$v" "" "$jdk" -XX:SharedArchiveFile
        v="JDK $(jdk_version "$jdk"), an archive of another JVM"
        with_archive "$jdk" "$SCRATCH/static-$n_busy.jsa" -XX:+EnableDynamicAgentLoading
        wait_for 20 grep -q '^ROUND' "$busy_out"
        holds "$v: calls are recorded" "$mmprof" record -q --all-methods -d 1 -o "$SCRATCH/a.dat" -p "$jvm"
        (cd "$SCRATCH" && "$jdk/bin/jcmd" "$jvm" VM.cds static_dump "$archive" > "$SCRATCH/jcmd" 2>&1)
        archived "$v" "" "$jdk" -XX:SharedArchiveFile
    done < <(jdks)
    if [ -n "$jdk25" ]; then
        launched=$("$mmprof" record --live -o "$SCRATCH/a.dat" -- sh -c \
            "$jdk25/bin/java -XX:AOTCacheOutput=$SCRATCH/b.aot -cp $jar target.Busy $SCRATCH/none 3; exit 7" 2>&1)
        is "JDK 25, started: the status is the command's, and the cache is there" \
            "$? $(grep -c '^END .* ok$' <<< "$launched") $([ -s "$SCRATCH/b.aot" ] && echo there)" "7 1 there"
    fi
fi

done_testing
