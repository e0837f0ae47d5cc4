#!/bin/bash
# Threads that use less CPU time than lies between two samples: they have samples, or it is said how much has none.
# timeout: 120
. "$(dirname "$0")/../lib.sh"
needs_command sample

jdk=$(first_jdk)
java=("$jdk/bin/java" -XX:TieredStopAtLevel=1 -cp "$classes" target.ShortThreads)

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

# Starts the tasks as the user that $as makes it.
begin() {
    start "$SCRATCH/out" "${as[@]}" "${java[@]}"
    wait_for 60 grep -q READY "$SCRATCH/out"
    sleep 0.3 # the loops are compiled
}

# is_covered CLAIM: 95 % of the CPU time has samples, but for chance (three standard deviations) and lost samples.
is_covered() {
    holds "$1 have samples for 95 % of their CPU time: none for $(value unsampled_share) ($(value samples) samples)" \
        awk -v u="$(value unsampled_share)" -v n="$(value samples)" \
        -v lost="$(grep -o '[0-9]* samples were lost' <<< "$said" | head -n 1)" \
        'BEGIN { exit !(n > 0 && u < 0.05 + 3 / sqrt(n) + lost / (n + lost)) }'
}

# is_in_proportion CLAIM: the shares of two methods, against the clocks of their threads.
is_in_proportion() {
    local truth
    truth=$(sed -n 's/^CPU //p' <<< "$said")
    holds "$1: in the right proportions: $(share ShortThreads.task) to $(share ShortThreads.between), clocks: $truth" \
        awk -v t="$(share ShortThreads.task)" -v b="$(share ShortThreads.between)" -v n="$(value samples)" \
        -v truth="$truth" 'BEGIN {
            split(truth, ns, " ")
            is = t / (t + b)
            was = ns[1] / (ns[1] + ns[2])
            off = is > was ? is - was : was - is
            exit !(off < 0.03 + 3 * sqrt(was * (1 - was) / (n * (t + b))))
        }'
}

as=()
begin
said=$("$mmprof" sample -p "$pid" -F 997 -d 1 --json 2>&1)
if [ "$(value sampling_scope)" = cpus ]; then
    is_covered "tasks with a thread each"
    "$mmprof" record -q -d 1 -o "$SCRATCH/record.dat" -p "$pid"
    said=$("$mmprof" report "$SCRATCH/record.dat" 2>&1)
    matches "'mmprof record' has a row of their method" "$said" '^ShortThreads\.(task|work|lambda|startTask)'
else
    skip "tasks with a thread each have samples for their CPU time" "events of whole CPUs are not allowed"
fi
matches "polling says how much has none" "$("$mmprof" sample --mechanism polling -d 3 -p "$pid" 2>&1)" \
    '[0-9]+ % of the CPU time \(.*\) was not sampled: polling misses'
stop "$pid"

# whole_run WHAT COMMAND...: one that ends by itself
whole_run() {
    local what=$1
    shift
    said=$("$mmprof" sample -F 997 -d 300 --json -- "$@" 2>&1) # to its end
    if [ "$(value sampling_scope)" = cpus ]; then
        is_covered "$what"
        is_in_proportion "$what"
        is "$what: what has none is not said to be of threads with too little time" \
            "$(grep -c 'less CPU time than one' <<< "$said")" 0
    else
        skip "$what have samples for 95 % of their CPU time" "events of whole CPUs are not allowed"
    fi
}

whole_run "a thousand threads that mostly sleep" "${java[@]}" 1000 4
whole_run "tasks of a JVM that a script starts" sh -c '"$@"; exit 0' - "${java[@]}" 0 2

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
