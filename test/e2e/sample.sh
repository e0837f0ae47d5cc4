#!/bin/bash
# mmprof sample: the methods of a JVM by stack samples that are taken from outside.
# timeout: 200
. "$(dirname "$0")/../lib.sh"
needs_command sample

# sample ARGUMENT...: sets $status, $said (output) and $errors.
sample() {
    said=$("$mmprof" sample "$@" 2> "$SCRATCH/errors")
    status=$?
    errors=$(cat "$SCRATCH/errors")
}

sample
is "no process: exit status" $status 1
matches "and what to do" "$errors" '^  next: (name (a running|one by its PID).*, or )?start one .*-- java'
sample -p $$
is "a process that is no JVM: exit status" $status 1
matches "is said" "$errors" 'not a .*JVM|no .*JVM|is no'
sample -p $$ -F 0
matches "no samples a second are refused" "$errors" "0 samples a second are not possible"
sample -p $$ --stack-size 64K
matches "so is more of a stack than a record holds" "$errors" "65536 bytes of each stack cannot be copied"
sample -p $$ --tree-size 1K
matches "so is a tree without room" "$errors" "a calling context tree of 1024 bytes is too small"

sample -p $$ -- true
matches "a process or a command, not both" "$errors" "both a (JVM|process) .* and a command"
sample -c 1000 -p $$
matches "a number of events of which there is none" "$errors" "no event is given"
sample -e page-faults -c 100 -F 100 -p $$
matches "a period and a frequency" "$errors" '--frequency has no effect with --period'
sample -e page-faults,page-faults -p $$
matches "an event twice" "$errors" "event 'page-faults' is named twice"
sample -e page-faults,cycles:precise=1 -p $$
matches "a precise level of an event that takes no samples" "$errors" "'cycles:precise=1' has a precise level"
if "$mmprof" list 2>&1 | grep -q '^no hardware events: this machine has no'; then
    sample -e cycles -c 9000000 -p $$
    matches "without a PMU it is said what there is none of" "$errors" \
        "^mmprof sample: 'cycles' takes no samples: this machine has no hardware counters"
else
    skip "without a PMU it is said what there is none of" "there is one"
fi
sample -- sh -c 'exit 3'
is "a command that starts no JVM: exit status" $status 1
matches "is said" "$errors" "'sh' started no JVM"
sample -- "$SCRATCH/none"
matches "and a command that cannot be run" "$errors" "cannot run '$SCRATCH/none': No such file"

# value KEY: the number of the metadata in $said, which is JSON.
value() {
    sed -n "s/.*\"$1\":[[:space:]]*\([0-9.e-]*\),\{0,1\}\$/\1/p" <<< "$said" | head -n 1
}

# share METHOD: of the time, and its error, in $said, which is JSON.
share() {
    awk -v method="\"$1\"," '
        $1 == "\"method\":" { is_it = $2 == method }
        is_it && $1 == "\"time_share\":" { share = $2 + 0 }
        is_it && $1 == "\"time_share_error\":" { print share, $2 + 0 }' <<< "$said"
}

# calls METHOD: at least, in $said, which is JSON.
calls() {
    awk -v method="\"$1\"," '
        $1 == "\"method\":" { is_it = $2 == method }
        is_it && $1 == "\"calls_at_least\":" { print $2 + 0 }' <<< "$said"
}

# is_near CLAIM METHOD SHARE: of that of main, within 4 points or the interval that is printed.
is_near() {
    local main part error
    read -r main _ < <(share Shares.main)
    read -r part error < <(share "$2")
    if awk -v p="${part:-0}" -v e="${error:-0}" -v m="${main:-1}" -v w="$3" 'BEGIN {
        d = p / m - w; if (d < 0) d = -d; exit !(p > 0 && (d <= 0.04 || d <= e / m)) }'; then
        ok "$1"
    else
        not_ok "$1" "$2: ${part-none} of ${main-none}, expected $3"
    fi
}

# has_parts NAME: of target.Shares, in $said.
has_parts() {
    is_near "$1: alpha has its part" Shares.alpha 0.45
    is_near "$1: so have beta" Shares.beta 0.30
    is_near "$1: gamma" Shares.gamma 0.15
    is_near "$1: delta" Shares.delta 0.10
}

has_shares() {
    has_parts "$1"
    is "$1: main was called once" "$(calls Shares.main)" 1
    n_calls=$(calls Shares.work)
    [ "${n_calls:-0}" -gt 5 ] && ok "$1: work again and again" || not_ok "$1: work again and again" "${n_calls-none}"
    # Of a hundred samples, on a busy machine, one may be the exception of a thousand.
    matches "$1: nearly all stacks in Java code are whole" "$(value whole_stacks_share)" '^(0\.9[7-9]|1$)'
    matches "$1: nearly all samples in Java code are known to the bytecode" "$(value bytecode_known_share)" \
        '^(0\.9[7-9]|1$)'
    matches "$1: folded stacks have the callers" "$(cat "$SCRATCH/folded")" \
        '^target\.Shares\.main;target\.Shares\.beta;target\.Shares\.work[; ]'
}

# has_recording JDK: 'jfr print' finds as many samples with each method innermost as the folded stacks of them have.
has_recording() {
    "$mmprof" export -f jfr -o "$SCRATCH/shares.jfr" "$SCRATCH/shares.dat"
    "$mmprof" export -f folded --value samples -o "$SCRATCH/folded" "$SCRATCH/shares.dat"
    "$jdk/bin/jfr" print --json --stack-depth 1 --events jdk.ExecutionSample "$SCRATCH/shares.jfr" > "$SCRATCH/jfr.json"
    matches "$1: JFR's tool reads the samples" "$(tail -c 20 "$SCRATCH/jfr.json" | tr -d ' \n')" ']}}$'
    is "$1: as many in each method as folded stacks have" \
        "$(python3 "$root/test/tools/read_exports.py" tops jfr "$SCRATCH/jfr.json" 2>&1)" \
        "$(python3 "$root/test/tools/read_exports.py" tops folded "$SCRATCH/folded" 2>&1)"
}

n_jdks=0
for jdk in $(jdks); do
    name="JDK $(jdk_version "$jdk")"
    start "$SCRATCH/shares" "$jdk/bin/java" -cp "$classes" target.Shares
    wait_for 30 grep -q READY "$SCRATCH/shares"
    sample -p "$pid" -d "$(awk "BEGIN { print 1.5 * $slow }")" -F 997 --json --folded "$SCRATCH/folded" \
        -o "$SCRATCH/shares.dat"
    is "$name: exit status" "$status $errors" "0 "
    has_shares "$name"
    loop=$(sed -n '/compute();/=' "$root/test/java/target/Shares.java")
    matches "$name: annotate has the line that calls compute with its share, and hardly any own time" \
        "$("$mmprof" annotate -s "$root/test/java" target.Shares.work "$SCRATCH/shares.dat" 2>&1)" \
        "^ *$loop +[0-4]\.[0-9].* [4-9][0-9]\.[0-9][0-9] .* compute\(\);\$"
    said=$("$mmprof" report --json "$SCRATCH/shares.dat" 2>&1)
    has_parts "$name, by the report of its trace"
    "$mmprof" export -f folded -o "$SCRATCH/folded" "$SCRATCH/shares.dat"
    matches "$name: exports have its contexts" "$(cat "$SCRATCH/folded")" \
        '^application;target\.Shares\.main \[sampled\];target\.Shares\.beta \[sampled\];target\.Shares\.work \['
    "$mmprof" export -f chrome -o "$SCRATCH/chrome" "$SCRATCH/shares.dat"
    if command -v python3 > "$SCRATCH/which"; then
        matches "$name: and so has a time line, as a strict reader says" \
            "$(python3 "$root/test/tools/read_exports.py" samples "$SCRATCH/chrome" Shares.beta 2>&1)" \
            '^[0-9]{3,4} [0-9]{2,4}$'
    else
        skip "$name: and so has a time line, as a strict reader says" "python3 is not installed"
    fi
    [ $n_jdks != 0 ] || has_recording "$name"
    is "$name: nothing is loaded into the JVM" "$(grep -c mmprof "/proc/$pid/maps")" 0
    is "$name: which goes on, and has said nothing" "$(is_gone "$pid" || cat "$SCRATCH/shares")" READY
    stop "$pid"
    n_jdks=$((n_jdks + 1))
done
[ $n_jdks -gt 1 ] || skip "JDK 25" "there is none"

# One whose interpreter is not there yet.
jdk=$(first_jdk)
start "$SCRATCH/shares" "$jdk/bin/java" -cp "$classes" target.Shares
until grep -q libjvm.so "/proc/$pid/maps" || is_gone "$pid"; do :; done
sample -p "$pid" -d 3 --json
is "a JVM that has just been started: exit status" "$status $errors" "0 "
matches "its methods are there" "$said" '"Shares.main"'

sample -p "$pid" -d 3 -F 5000 --budget 0.1% --json
is "a budget that 5000 samples a second do not fit: exit status" "$status $errors" "0 "
holds "samples are farther apart then" awk -v times="$(value period_stretch)" 'BEGIN { exit !(times > 1) }'

sample -p "$pid" -d 60 -F 997 --until 4% --depth 2 --folded "$SCRATCH/folded" --json
is "until each interval is within 4 %: exit status" "$status $errors" "0 "
widest=$(awk '$1 ~ /^"(time|self)_share_error":/ { w = $2 + 0 > w ? $2 + 0 : w } END { print w }' <<< "$said")
holds "which all are ($widest)" awk -v w="$widest" 'BEGIN { exit !(w > 0 && w <= 0.04) }'
holds "before the limit of 60 s" awk -v n="$(value samples)" 'BEGIN { exit !(n > 0 && n < 50 * 997) }'
is "stacks have no more frames than --depth keeps" "$(grep -c '^[^;]*;[^;]*;' "$SCRATCH/folded")" 0
sample -p "$pid" -d 0.3 -t 'no such*'
matches "no thread has the name" "$errors" \
    "none of [0-9]+ samples is of a thread 'no such\*'"
matches "which others there are" "$errors" "next: .*other threads had samples, such as '"

waits_for_signals() {
    readlink "/proc/$1/fd/"* 2> /dev/null | grep -q signalfd
}
"$mmprof" sample -p "$pid" -d 3 --json > "$SCRATCH/paused" 2> "$SCRATCH/errors" &
sampler=$!
wait_for 10 waits_for_signals $sampler
kill -USR1 $sampler
wait_for 10 grep -q '^mmprof: paused' "$SCRATCH/errors"
sleep 0.5
kill -USR1 $sampler
wait $sampler
is "the signal USR1 makes it pause, and go on" "$? $(sed "s/ -USR1 [0-9]*/ -USR1 PID/" "$SCRATCH/errors" | xargs)" \
    "0 mmprof: paused; kill -USR1 PID resumes it mmprof: resumed"
said=$(cat "$SCRATCH/paused")
holds "and it says for how long" awk -v ns="$(value paused_ns)" 'BEGIN { exit !(ns > 0.45e9) }'
stop "$pid"

# Started by a script, interpreted, from its first method on to its end.
printf '#!/bin/sh\n"%s" -Xint -cp "%s" target.Shares %d\nexit 7\n' "$jdk/bin/java" "$classes" $((3 * slow)) \
    > "$SCRATCH/script"
chmod +x "$SCRATCH/script"
sample -F 499 --json --folded "$SCRATCH/folded" -- "$SCRATCH/script"
is "a script: the exit status is its own" "$status $(grep -v 'goes on as process' <<< "$errors")" \
    "7 mmprof: the command ended with status 7"
has_shares "a script's JVM, -Xint"
matches "a script's JVM: it is sampled from its first methods on" "$(cat "$SCRATCH/folded")" \
    '^java\.lang\.System\.initPhase1'

# Prologues, epilogues and stubs are much of what this program does.
jdk=$(jdks | tail -n 1)
start "$SCRATCH/chains" "$jdk/bin/java" -XX:TieredStopAtLevel=1 -XX:CompileCommand=quiet \
    '-XX:CompileCommand=dontinline,target.Chains*::*' -cp "$classes" target.Chains
wait_for 30 grep -q READY "$SCRATCH/chains"
sample -p "$pid" -d $((3 * slow)) -F 2003 --folded "$SCRATCH/folded"
stop "$pid"
matches "small methods are sampled" "$(cat "$SCRATCH/folded")" '^target\.Chains\.main;target\.Chains\.one[; ]'
is "their stacks are of calls that the program makes" "$(impossible_chains "$SCRATCH/folded")" ""

# The walk beside AsyncGetCallTrace's, of the same moments, and beside GetStackTrace's of suspended threads.
checked=()
for how in 997 500,suspend; do
    start "$SCRATCH/checked-$how" "$jdk/bin/java" \
        "-agentpath:$build/test/tools/stack_check_agent.so=$SCRATCH/slots-${how%,*},$how" -cp "$classes" target.Shares
    checked+=("$pid")
done
for how in 997 500,suspend; do
    wait_for 30 grep -q READY "$SCRATCH/checked-$how"
done
"$build/test/tools/stack_check" "$SCRATCH/slots-500" "${checked[1]}" "$slow" 5 > "$SCRATCH/suspended" &
said=$("$build/test/tools/stack_check" "$SCRATCH/slots-997" "${checked[0]}" "$slow" 5)
wait $!
stop "${checked[0]}"
stop "${checked[1]}"
holds "stacks are those that AsyncGetCallTrace has, frame by frame: $(grep '^same ' <<< "$said"), but for its faults" \
    awk '{ n[$1] = $2; print } END { exit !(n["same"] >= 20 && n["other"] + n["only_agct"] <= 1 + 0.02 * n["same"] &&
        n["java_stacks_whole"] >= 0.995 * n["java_stacks"]) }' <(echo "$said")
holds "those of suspended threads are those that GetStackTrace has: $(grep '^same ' "$SCRATCH/suspended")" \
    awk '{ n[$1] = $2; print } END { exit !(n["same"] >= 20 && n["same"] == n["java_stacks"]) }' "$SCRATCH/suspended"

jdk=$(first_jdk)
# number METHOD KEY: a figure of a row in $said, which is JSON.
number() {
    awk -v method="\"$1\"," -v key="\"$2\":" '
        $1 == "\"method\":" { is_it = $2 == method }
        is_it && $1 == key { print $2 + 0 }' <<< "$said"
}

sample -e page-faults -c 200 --json -- "$jdk/bin/java" -cp "$classes" target.Faults 0.5
touches=$(number Faults.touch share)
computes=$(number Faults.compute share)
holds "samples of page faults are where memory is touched: $touches, and where it is not ${computes:-none}" \
    awk -v t="$touches" -v c="${computes:-0}" 'BEGIN { exit !(t > 0.1 && c < 0.1 * t) }'

sample -F 997 -e cpu-clock,page-faults --json -- "$jdk/bin/java" -cp "$classes" target.Faults 0.6
touches=$(number Faults.touch page_faults_per_second)
computes=$(number Faults.compute page_faults_per_second)
holds "what is read with samples tells methods apart: $touches and $computes faults a second" \
    awk -v t="$touches" -v c="$computes" 'BEGIN { exit !(t > 20000 && t > 2 * c) }'

# The fields of one list are read, and then those of another one.
sample -F 997 --fields --decay 50ms --csv -- "$jdk/bin/java" -Xint -cp "$classes" target.Turns 2000 20000
is "fields that are read no more are cold, those that are read now are hot" \
    "$(awk -F, '$2 ~ /^target\.Turns\$.*\.value$/ { print $2, $6 }' <<< "$said" | sort | paste -sd ' ')" \
    'target.Turns$First.value cold target.Turns$Second.value hot'
# In C2's code the bytecode is seldom known, but the instruction's offset is next's; value is on the same line.
for each in $(jdks); do
    name="JDK $(jdk_version "$each")"
    if [ "$(uname -m)" != x86_64 ]; then
        skip "$name: C2's instructions name fields" "only those of x86-64 are decoded"
        continue
    fi
    sample -F 997 --fields --csv --min-share 0 -- "$each/bin/java" -XX:-TieredCompilation -cp "$classes" \
        target.Turns 20000 2000
    holds "$name: C2's instructions name the list's fields in 70 % of the samples in Java code" awk -F, '
        $2 ~ /^target\.Turns\$(First|Second)\.(next|value)$/ { named += $4 }
        $1 == "field" && $2 != "native method" { all += $4 }
        END { exit !(all > 0.2 && named > 0.7 * all) }' <<< "$said"
done
sample --html "$SCRATCH/page.html" --tree -F 199 -- "$jdk/bin/java" -cp "$classes" target.Faults 0.2
is "the tree is a page: exit status, and what is printed" "$status$said$errors" 0
matches "and has the methods" "$(cat "$SCRATCH/page.html")" '"Faults.main'
sample --tree --csv -F 199 -- "$jdk/bin/java" -Xint -cp "$classes" target.Faults 0.2
matches "the tree is CSV, too" "$said" '^kind,time_share,self_share,samples,calls_at_least,label,depth,.*
context,[01][.0-9]*,[0-9.e-]*,[0-9]+,1,Faults.main,0,target.Faults,main,'

sample --mechanism polling -F 199 -- "$jdk/bin/java" -cp "$classes" target.Faults 0.4
is "--mechanism polling: the agent samples a program to its end" "$status$errors" 0
matches "and finds its methods, at safepoints" "$said" '^Faults.main .* [1-9][0-9]*( |$)'

# Of all time of application threads: three that wait all the time and main are a quarter each less what 'turns' has.
sample --wall -F 199 -d 3 -- "$jdk/bin/java" -cp "$classes" target.Waits 4
is "after -d the program goes on to its end: exit status" "$status" 0
matches "which is waited for" "$errors" '^mmprof: sampling has ended; the command goes on as process [0-9]+: waiting'
start "$SCRATCH/ready" "$jdk/bin/java" -cp "$classes" target.Waits 600
wait_for 60 grep -q READY "$SCRATCH/ready"
sample --wall -F 199 -d 0.9 --json -o "$SCRATCH/wall.dat" -p "$pid"
stop "$pid"
for method in Waits.park Waits.accept Waits.block; do
    all=$(number $method time_share)
    waits=$(number $method waiting_share)
    holds "--wall: $method waits all the time, without a CPU: $all, waiting $waits" \
        awk -v a="$all" -v w="$waits" 'BEGIN { exit !(a > 0.17 && a < 0.26 && w > 0.95 * a) }'
done
rests=$(number Waits.rest waiting_share)
computes=$(number Waits.compute on_cpu_share)
holds "one that works and rests has both: $computes on a CPU, $rests waiting" \
    awk -v c="$computes" -v r="$rests" 'BEGIN { exit !(c > 0.01 && c < 0.13 && r > 0.04 && r < 0.16) }'
matches "threads of the JVM that wait are in no share" "$said" "exclude [0-9.]+ s in which the JVM's own threads waited"
parks=$(number Waits.park time_share)
said=$("$mmprof" report --json "$SCRATCH/wall.dat" 2> "$SCRATCH/errors")
is "the report of its trace has the same shares" "$(number Waits.park time_share)" "$parks"
said=$("$mmprof" annotate --csv Waits.park "$SCRATCH/wall.dat" 2> "$SCRATCH/errors")
is "and so has 'annotate'" "$(awk -F, -v parks="$parks" '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == "time_share") at = i }
    NR > 1 && $at > 0 { sum += $at } END { print (sum / parks > 0.999 && sum / parks < 1.001) }' <<< "$said")" 1
# Each cause's time is what the program has measured by itself, a second; java.util.concurrent's classes are the JDK's.
trace=$SCRATCH/waits.dat
"$(jdks | tail -n 1)/bin/java" -cp "$classes" target.Waiting 3 > "$SCRATCH/waited" &
test_pids+=($!)
wait_for 60 grep -q READY "$SCRATCH/waited"
sample --wall -F 99 -d 1.5 -o "$trace" -p ${test_pids[-1]}
"$mmprof" report --view waits --all --csv "$trace" 2> "$SCRATCH/errors" | sed 's/"[^"]*"/quoted/g' > "$SCRATCH/waits"
wait "${test_pids[-1]}"
for cause in monitor lock park object_wait sleep socket; do
    measured=$(awk -v cause=$cause '$1 == cause { print $2 / 3e9 }' "$SCRATCH/waited")
    sampled=$(awk -F, -v cause=$cause \
        '$1 == cause && !/Waiting.main/ { ns += $5 } END { print ns / 1.5e9 }' "$SCRATCH/waits")
    holds "--wall: threads wait for cause $cause for $sampled s a second, by their own clock $measured" \
        awk -v s="$sampled" -v m="$measured" 'BEGIN { exit !(s > 0.55 * m && s < 1.5 * m) }'
done
"$mmprof" report --view locks "$trace" > "$SCRATCH/locks" 2> "$SCRATCH/errors"
matches "a monitor is told by its class, and where its owner is" "$(cat "$SCRATCH/locks")" \
    '^StringBuilder +monitor +Waiting\.enterMonitor +Waiting\.pause '
matches "so is a lock" "$(cat "$SCRATCH/locks")" \
    '^ReentrantLock\$NonfairSync +lock +Waiting\.acquireLock +Waiting\.pause '

done_testing
