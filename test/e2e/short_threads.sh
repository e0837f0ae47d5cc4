#!/bin/bash
# Threads that use less CPU time than lies between two samples: they have samples, or it is said how much has none.
# timeout: 120
. "$(dirname "$0")/../lib.sh"
needs_command sample

jdk=$(first_jdk)

# value KEY: the number or word of the metadata in $said, which is JSON.
value() {
    sed -n "s/.*\"$1\":[[:space:]]*\"\{0,1\}\([a-z0-9.e-]*\)\"\{0,1\},\{0,1\}\$/\1/p" <<< "$said" | head -n 1
}

# share METHOD: of the time, in $said.
share() {
    awk -v method="\"$1\"," '
        $1 == "\"method\":" { is_it = $2 == method }
        is_it && $1 == "\"time_share\":" { print $2 + 0 }' <<< "$said"
}

# begin ARGUMENT...: starts a program as the user that $as makes it.
begin() {
    start "$SCRATCH/out" "${as[@]}" "$jdk/bin/java" -XX:TieredStopAtLevel=1 -cp "$classes" target.ShortThreads "$@"
    wait_for 60 grep -q READY "$SCRATCH/out"
    sleep 0.3 # the loops are compiled
}

# is_covered CLAIM: the CPU time has samples, but for chance.
is_covered() {
    holds "$1 have samples for their CPU time: none for $(value unsampled_share)" \
        awk -v u="$(value unsampled_share)" 'BEGIN { exit !(u < 0.25) }'
}

as=()
begin
said=$("$mmprof" sample -p "$pid" -F 997 -d 1 --json 2>&1)
if [ "$(value sampling_scope)" = cpus ]; then
    is_covered "tasks with a thread each"
    holds "in the right proportions: $(share ShortThreads.task) to $(share ShortThreads.between)" \
        awk -v t="$(share ShortThreads.task)" -v b="$(share ShortThreads.between)" \
        'BEGIN { exit !(t / (t + b) > 0.65 && t / (t + b) < 0.92) }'
    "$mmprof" record -q -d 1 -o "$SCRATCH/record.dat" -p "$pid"
    said=$("$mmprof" report "$SCRATCH/record.dat" 2>&1)
    matches "'mmprof record' has a row of their method" "$said" '^ShortThreads\.(task|work|lambda|startTask)'
else
    skip "tasks with a thread each have samples for their CPU time" "events of whole CPUs are not allowed"
fi
matches "polling says how much has none" "$("$mmprof" sample --mechanism polling -d 0.5 -p "$pid" 2>&1)" \
    '[0-9]+ % of the CPU time \(.*\) was not sampled: polling misses'
stop "$pid"

begin 1000
said=$("$mmprof" sample -p "$pid" -F 997 -d 1 --json 2>&1)
if [ "$(value sampling_scope)" = cpus ]; then
    is_covered "a thousand threads that mostly sleep"
else
    skip "a thousand threads that mostly sleep have samples" "events of whole CPUs are not allowed"
fi
stop "$pid"

said=$("$mmprof" sample -F 997 --json -- sh -c "'$jdk/bin/java' -XX:TieredStopAtLevel=1 -cp '$classes' \
    target.ShortThreads 0 1; exit 0" 2>&1)
if [ "$(value sampling_scope)" = cpus ]; then
    is_covered "tasks of a JVM that a script starts"
else
    skip "tasks of a JVM that a script starts have samples" "events of whole CPUs are not allowed"
fi

# Others than root sample each thread by itself.
if [ "$(id -u)" != 0 ] || ! command -v setpriv > "$SCRATCH/which"; then
    skip "without rights the share without samples is said" "it takes root and setpriv to be another user"
    done_testing
    exit
fi
as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
begin
said=$("${as[@]}" "$mmprof" sample -p "$pid" -d 1 --json 2>&1)
if grep -q '^mmprof sample: .*perf_event' <<< "$said"; then
    skip "without rights the share without samples is said" "this user may not sample"
else
    matches "without rights the share without samples is said" "$said" \
        '([0-9]+ % of the CPU time \(.*\) was not sampled|used [0-9.]+ s of CPU time and has no sample)'
fi
stop "$pid"
done_testing
