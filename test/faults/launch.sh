#!/bin/bash
# A command that is not java itself: a start script that asks for the version first, several JVMs, a JVM that goes on
# when the command has ended, a command that goes on when its JVM has ended.
# timeout: 400
. "$(dirname "$0")/faults.bash"

dir=$SCRATCH/scripts
mkdir "$dir"
busy="java -cp $classes target.Busy"

# script_of NAME: from the standard input.
script_of() {
    { echo '#!/bin/sh'; cat; } > "$dir/$1"
    chmod +x "$dir/$1"
}

# What a JVM sees of how it was started.
script_of seen.sh <<E
v=\$(java -version 2>&1 | head -n 1)
case \$v in *version*) ;; *) echo "no version: \$v"; exit 3 ;; esac
echo "\$v"
java --list-modules | grep -c '^java.base@'
java -cp $classes target.Started
exit 7
E
script_of version.sh <<E
java -version 2>&1 | grep -q version
sleep 2 | jdb > $dir/jdb.out
exec $busy $dir/none 1
E
script_of two.sh <<E
$busy $dir/none 2
exec $busy $dir/none 3
E
script_of left.sh <<E
$busy $dir/none 2 > $dir/left.out 2>&1 &
E
script_of after.sh <<E
$busy $dir/none 1
sleep 3
E
script_of apart.sh <<E
exec env -i PATH="\$PATH" $busy $dir/stop
E

# seconds TRACE: of the recording.
seconds() {
    "$mmprof" report "$1" | sed -n 's/^trace .*: \([0-9.]*\) s,.*/\1/p'
}

# record NAME SCRIPT OPTION...: into NAME.dat
record() {
    "$mmprof" record --include target/Busy.round -o "$SCRATCH/$1.dat" "${@:3}" -- "$dir/$2" 2>&1
}

calls() {
    "$mmprof" report --csv --min-share 0 "$SCRATCH/$1.dat" | grep -c '^phase,Busy.round'
}

tries() {
    local v=$1 expected
    expected=$("$dir/seen.sh" 2>&1; echo $?)
    is "$v: a script prints what it prints without mmprof, and its status is the same" \
        "$("$mmprof" record -q --include target/Started.main -o "$SCRATCH/seen.dat" -- "$dir/seen.sh" 2>&1; echo $?)" \
        "$expected"
    record version version.sh > "$SCRATCH/said"
    is "$v: JVMs that print a version, or of a JDK's tool, are passed by, and not counted" \
        "$(calls version) $(grep -c 'JVMs or more' "$SCRATCH/said")" "1 0"
    record left left.sh > "$SCRATCH/said"
    is "$v: a JVM that the command leaves behind is recorded until it ends" \
        "$(grep -c '^END' "$dir/left.out") $(calls left) $(grep -c 'the JVM ended' "$SCRATCH/said")" "1 1 1"
}

tries_more() {
    local v=$1 said begin whole
    matches "$v: sample passes it by, too" "$("$mmprof" sample -- "$dir/version.sh" 2> "$SCRATCH/said")" \
        '^program +java .*target.Busy'
    said=$(record two two.sh)
    matches "$v: of two JVMs the first is recorded, and that is said" "$said" \
        'started 2 JVMs or more; JVM [0-9]+ \(java .*target.Busy .*/none 2\) was recorded'
    said=$(record two two.sh --name 'none 3')
    matches "$v: --name chooses the second" "$said" 'JVM [0-9]+ \(java .*target.Busy .*/none 3\) was recorded'
    is "$v: and it has calls" "$(calls two)" 1

    "$mmprof" sample -- "$dir/left.sh" > "$SCRATCH/table" 2> "$SCRATCH/said"
    is "$v: sample: one that the command leaves behind, until it ends" \
        "$(grep -c '^END' "$dir/left.out") $(grep -c '^program *java' "$SCRATCH/table")" "1 1"
    matches "$v: sample: of two JVMs the first, and that is said" \
        "$("$mmprof" sample -- "$dir/two.sh" 2>&1 > "$SCRATCH/table")" \
        'started 2 JVMs or more; JVM [0-9]+ \(java .*target.Busy .*/none 2\) was sampled'
    said=$(record cut left.sh -d 0.3)
    matches "$v: one that goes on after the time is named" "$said" 'JVM [0-9]+, which the command started, goes on'
    wait_for 30 grep -q '^END' "$dir/left.out"

    begin=$(date +%s%3N)
    record after after.sh > "$SCRATCH/said"
    whole=$(($(date +%s%3N) - begin))
    holds "$v: a recording ends with its JVM, before the command" \
        awk -v whole=$whole -v trace="$(seconds "$SCRATCH/after.dat")" \
        'BEGIN { print whole, trace; exit !(trace > 0 && trace * 1000 < whole - 2500) }'
}

has_rounds() {
    [ "$(grep -c ^ROUND "$SCRATCH/apart.out")" -ge "$1" ]
}

apart() {
    local v=$1 n
    start "$SCRATCH/apart.out" "$mmprof" record --include target/Busy.round -o "$SCRATCH/apart.dat" -- "$dir/apart.sh"
    holds "$v: a JVM whose environment was made anew is attached to, and that is said" \
        wait_for 40 grep -qE 'JVM [0-9]+ started without the agent, and was attached to [0-9.]+ s later' \
        "$SCRATCH/apart.out"
    n=$(grep -c ^ROUND "$SCRATCH/apart.out")
    wait_for 40 has_rounds $((n + 20))
    touch "$dir/stop"
    wait_gone 30 "$pid"
    rm "$dir/stop"
    is "$v: and recorded" "$(calls apart)" 1
}

# Start scripts of services change to the user that runs the JVM.
as_other_user() {
    local v=$1
    if [ "$(id -u)" != 0 ] || ! runuser -u nobody -- test -r "$classes/target/Busy.class"; then
        skip "$v: a JVM of another user is recorded" "it needs root, and classes that others may read"
        return
    fi
    script_of user.sh <<E
exec runuser -u nobody -- $jdk/bin/$busy $dir/none 6
E
    record user user.sh > "$SCRATCH/said"
    is "$v: a JVM of another user is recorded" "$(calls user)" 1
}

while read -r jdk; do
    PATH="$jdk/bin:$PATH"
    v="JDK $(jdk_version "$jdk")"
    tries "$v"
    [ -n "$(either '' long)" ] || continue
    tries_more "$v"
    apart "$v"
    as_other_user "$v"
done < <(fault_jdks)

script_of none.sh < /dev/null
said=$("$mmprof" record -o "$SCRATCH/none.dat" -- "$dir/none.sh" 2>&1)
matches "a command that starts no JVM is refused" "$? $said" "^1 mmprof record: '.*' ended before a JVM of it loaded"

done_testing
