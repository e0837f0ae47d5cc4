#!/bin/bash
# What goes wrong gives one clear message with the next step, status 1, and leaves the JVM unharmed.
# timeout: 300
# beside: yes
. "$(dirname "$0")/../lib.sh"

# refused CLAIM REGEX COMMAND...: status 1, one message that matches, one next step, not long, but for listed JVMs.
refused() {
    local claim=$1 regex=$2 said status
    shift 2
    said=$(timeout 60 "$@" 2>&1 < /dev/null)
    status=$?
    if [ $status = 1 ] && grep -qE -- "$regex" <<< "$said" && [ "$(grep -c '^  next: ' <<< "$said")" = 1 ] &&
        [ "$(grep -vc '^ *[0-9][0-9]*  ' <<< "$said")" -le 5 ]; then
        ok "$claim"
    else
        not_ok "$claim" "${*/#$build/build}" "status $status, says:" "$said" "expected status 1, and: $regex"
    fi
}

record() {
    refused "$1" "$2" "$mmprof" record -q -o "$SCRATCH/t.dat" "${@:3}"
}

jdk=$(first_jdk)
start_busy "$jdk"
jvm=$pid

"$mmprof" > "$SCRATCH/said" 2>&1
is "no arguments: the help, status 1" "$?, $(grep -c '^usage: mmprof' "$SCRATCH/said")" "1, 1"
refused "an unknown command" "unknown command 'recrod'" "$mmprof" recrod
matches "with the one that was meant" "$("$mmprof" recrod 2>&1)" "did you mean 'record'"
matches "a view likewise" "$("$mmprof" report --view wiats 2>&1)" "did you mean .*'waits'"
refused "record needs a PID or a command, and names the JVMs that run" "^ *$jvm  target.Busy|^  and [0-9]+ more" \
    "$mmprof" record
refused "an unknown option" "unknown option '--pit'" "$mmprof" record --pit 1
record "all methods, and few of them" "--live .*--all-methods" --live --all-methods -p 1
record "methods that a file names, and all" "--phases .*--all-methods" --phases p.json --all-methods -p 1
refused "profile needs a PID or a command" "(PID|COMMAND|command)" "$mmprof" profile

record "no such PID" "[Nn]o (such )?process.*|does not exist" -p 4194200 -d 1
record "a name that no JVM has" "^ *$jvm  target.Busy|^  and [0-9]+ more" -p no-such-program -d 1
matches "ps lists a JVM" "$("$mmprof" ps)" "^ *$jvm .* yes +target.Busy\$"
start "$SCRATCH/sleep.out" sleep 300
sleeper=$pid
record "not a JVM" "(not|no) .*(JVM|Java)" -p "$sleeper" -d 1
is_gone "$sleeper" && not_ok "that process is unharmed" || ok "that process is unharmed"
stop "$sleeper"
record "a command that is not there" "(No such file|not found)" -- /no/such/java -version
record "a command that is no JVM" "(not|no) .*(JVM|Java|agent)|[Aa]gent" -- sleep 0.1

if [ "$(id -u)" = 0 ] && command -v setpriv > "$SCRATCH/which"; then
    mkdir -m 777 "$SCRATCH/open"
    chmod 755 "$SCRATCH"
    cp "$mmprof" "$agent" "$SCRATCH/open"
    refused "another user's JVM" "([Uu]ser|uid|permi)" setpriv --reuid=65534 --regid=65534 --clear-groups \
        "$SCRATCH/open/mmprof" record -q -o "$SCRATCH/open/t.dat" -p "$jvm" -d 1
else
    skip "another user's JVM" "it takes root and setpriv to be two users"
fi

record "a class that is not there" "did you mean --include 'target/Busy'" --include target/Bussy -p "$jvm" -d 1
record "a method behind dots only" "did you mean --include 'target.Busy#round'" --include target.Busy.round -p "$jvm" \
    -d 1
record "a method that is not there" "did you mean --include 'round'" --include target/Busy.ruond -p "$jvm" -d 1
record "only small methods" "give --min-bytecodes 0" --include 'java/util/Optional' --exclude '*.no' -p "$jvm" -d 1
record "live: a class that is not there" "matches no loaded class" --live --include 'no/such/package/*' -p "$jvm" -d 1
holds "a method that is named is recorded, however small it is" \
    "$mmprof" record "$SCRATCH/busy-1.stop" -q -o "$SCRATCH/small.dat" --include target/Busy.depth -d 500ms
matches "with its calls" "$("$build/test/tools/method_counts" "$SCRATCH/small.dat")" 'target/Busy.depth.* [1-9][0-9]*'
holds "a trace ends when it is too large" "$mmprof" record -q -o "$SCRATCH/small.dat" --max-size 100K \
    --include 'target/*' --min-bytecodes 0 -p "$jvm" -d 30
holds "and not long after" [ "$(stat -c %s "$SCRATCH/small.dat")" -lt 50000000 ]

# Ctrl-C while classes are changed: soon over, no trace, no error in the program.
start "$SCRATCH/cut" "$mmprof" record --all-methods -o "$SCRATCH/cut.dat" -p "$jvm"
sleep 0.1
kill -INT "$pid"
holds "Ctrl-C while classes are changed ends it soon" wait_gone 3 "$pid"
matches "which is told" "$(cat "$SCRATCH/cut")" 'stopped (before|while)'
[ ! -e "$SCRATCH/cut.dat" ] && ok "there is none" || not_ok "there is none"

record "an unknown event" "no-such-event" -e no-such-event -p "$jvm" -d 1
refused "an unwritable output" "/no/such/directory/t.dat" "$mmprof" record -q -o /no/such/directory/t.dat -p "$jvm" -d 1
record "a file of phases that is not there" "/no/such/phases.json" --phases /no/such/phases.json -p "$jvm" -d 1
echo '{ "phases": [' > "$SCRATCH/cut.json"
record "a file of phases that is cut off" "cut.json" --phases "$SCRATCH/cut.json" -p "$jvm" -d 1
goes_on "the JVM goes on after each of these"

# Process ids come again, and a JVM that was killed leaves its socket.
if command -v python3 > "$SCRATCH/which"; then
    start "$SCRATCH/again" "$jdk/bin/java" -cp "$classes" target.Cpu 60
    again=$pid
    wait_for 20 attachable "$again"
    sleep 1
    if [ "$(id -u)" = 0 ]; then # in the working directory, where the JVM looks first, and in /tmp
        for left in "$PWD/.attach_pid$again" "/tmp/.attach_pid$again"; do
            touch "$left"
            chown 65534 "$left"
        done
    fi
    python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('/tmp/.java_pid$again')"
    holds "a socket that a JVM of the same process id left is not in the way" \
        "$mmprof" record -q -o "$SCRATCH/again.dat" -p "$again" -d 1
    matches "nobody said which methods: it is recorded live" "$("$mmprof" dump "$SCRATCH/again.dat")" 'live\.budget'
    is "nor are files by which another user began to attach to one: no thread dump, and they are gone" \
        "$(grep -c 'Full thread dump' "$SCRATCH/again")$(find "$PWD" /tmp -maxdepth 1 -name ".attach_pid$again")" 0
    stop "$again"
else
    skip "a socket that a JVM of the same process id left is not in the way" "there is no python3 to leave one"
fi

kill -STOP "$jvm"
record "a JVM that does not answer" "(answer|respon|reply|stopped)" -p "$jvm" -d 1
kill -CONT "$jvm"
goes_on "and that JVM goes on when it is let"

start "$SCRATCH/first" "$mmprof" record -q -o "$SCRATCH/first.dat" --include 'target/*' -p "$jvm"
first=$pid
wait_for 30 test -s "$SCRATCH/first.dat" # the header; the attaching itself is over when records are there
wait_for 30 eval '[ "$(stat -c %s "$SCRATCH/first.dat")" -gt 10000 ]'
record "a second mmprof on the same JVM" "(already|another|second)" -p "$jvm" -d 1
kill -INT "$first"
wait "$first"
is "the first one is not disturbed" "$?$(cat "$SCRATCH/first")" 0

for command in phases report dump; do
    refused "$command: no such trace" "/no/such.dat" "$mmprof" $command /no/such.dat
    echo "This is no trace, however long it may be: $(seq 1000 | xargs)" > "$SCRATCH/text.dat"
    refused "$command: not a trace" "text.dat" "$mmprof" $command "$SCRATCH/text.dat"
    size=$(stat -c %s "$SCRATCH/first.dat" 2> "$SCRATCH/ignored" || echo 0)
    cp "$SCRATCH/first.dat" "$SCRATCH/damaged.dat"
    printf 'damaged!' | dd of="$SCRATCH/damaged.dat" bs=1 seek=$((size / 2)) conv=notrunc status=none
    "$mmprof" $command "$SCRATCH/damaged.dat" > "$SCRATCH/said" 2> "$SCRATCH/errors"
    status=$?
    is "$command: a damaged trace" \
        "$status, $(grep -c 'damaged.dat' "$SCRATCH/errors"), $(grep -c '^  next: ' "$SCRATCH/errors")" "1, 1, 1"
done

# full COMMAND...: of mmprof, with an output that takes nothing.
full() {
    refused "${*//$SCRATCH\//}: an output that is full is an error" \
        "cannot write (to the standard output|'/dev/full|the profile: No space)" \
        bash -c '"$@" > /dev/full' - "$mmprof" "$@"
}

trace=$SCRATCH/first.dat
for command in $("$mmprof" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    full "$command" --help
done
while read -r words; do
    full $words
done << END
help
version
list
doctor
dump $trace
dump --tables $trace
diff $trace $trace
diff --json $trace $trace
diff --html - $trace $trace
diff --html /dev/full $trace $trace
report $trace
report --csv $trace
report --view timeline --json $trace
report --html - $trace
report --html /dev/full $trace
phases -o $SCRATCH/p.json $trace
phases --tree -o $SCRATCH/p.json $trace
phases -q -o - $trace
phases -o /dev/full $trace
export -q -f folded $trace
export -q -f chrome $trace
export -q -f pprof -o /dev/full $trace
top --interval 1 -p $jvm
record -q --include target/* -p $jvm -d 1 -o /dev/full
END
"$mmprof" profile -q -p "$jvm" -d 1 -o "$SCRATCH/full" > /dev/full 2> "$SCRATCH/errors"
is "profile: an output that is full is an error" \
    "$?, $(grep -c '^mmprof profile: cannot write to the standard output$' "$SCRATCH/errors")" "1, 1"
holds "what a profile had recorded by then is there" "$mmprof" dump --tables "$SCRATCH/full/phases.dat"
stop_busy "$jvm" "the program's results and output are those without mmprof"

for command in record profile; do
    "$mmprof" $command -o "$SCRATCH/$command.made" -- "$jdk/bin/java" target.None > "$SCRATCH/said" 2> "$SCRATCH/errors"
    is "$command: a program that fails has its status, which is told" \
        "$?, $(grep -c 'mmprof: the command ended with status 1$' "$SCRATCH/errors")" "1, 1"
done
start "$SCRATCH/killed" "$mmprof" record --all-methods -o "$SCRATCH/killed.dat" -- \
    "$jdk/bin/java" -cp "$classes" target.Cpu 60
wait_for 30 test -s "$SCRATCH/killed.dat"
wait_for 30 eval '[ "$(stat -c %s "$SCRATCH/killed.dat")" -gt 10000 ]'
pkill -KILL -P "$pid"
wait "$pid"
is "one that is killed, too" "$?, $(grep 'mmprof: the command' "$SCRATCH/killed")" \
    "137, mmprof: the command ended with status 137"

# outlives COMMAND SECONDS: a program that goes on after its recording of so many seconds, until busy_stop is there;
# mmprof's PID is in $pid.
outlives() {
    busy_out=$SCRATCH/outlives-$1
    busy_stop=$busy_out.stop
    rm -f "$busy_stop"
    start "$busy_out" "$mmprof" "$1" -d "$2" -o "$SCRATCH/outlives-$1.made" -- "$jdk/bin/java" -cp "$classes" \
        target.Busy "$busy_stop"
    wait_for 60 grep -q '^mmprof: the trace is whole; the command goes on as process [0-9]*: waiting' "$busy_out"
    matches "$1: a recording that ends before its command tells what it did at once" "$(cat "$busy_out")" \
        '^mmprof: recorded .*the time is up'
}

for command in record profile; do
    outlives $command 3
    [ $command = record ] || matches "$command: with the report" "$(cat "$busy_out")" '^whole process '
    kill -INT "$pid"
    goes_on "$command: a Ctrl-C is the command's, which goes on if it wants to"
    touch "$busy_stop"
    wait "$pid"
    is "$command: then mmprof ends with it" "$?, $(grep -c '^END [0-9]* rounds ok$' "$busy_out")" "0, 1"
done
outlives record 1
kill -TERM "$pid"
wait "$pid"
is "record: SIGTERM ends mmprof while it waits" $? 143
goes_on "record: but not the command"
touch "$busy_stop"
holds "record: which ends as it would have" wait_for 30 grep -q '^END [0-9]* rounds ok$' "$busy_out"

# A limit on the size of files is as a full disk.
busy_out=$SCRATCH/limited busy_stop=$SCRATCH/limited.stop
start "$busy_out" bash -c 'ulimit -f 16000; exec "$@"' - "$mmprof" record -q --buffer 8K -o "$SCRATCH/limit.dat" \
    --include 'target/*' --min-bytecodes 0 -- "$jdk/bin/java" -cp "$classes" target.Busy "$busy_stop"
holds "record: a disk that is full is told at once" wait_for 60 grep -qE \
    "^mmprof: cannot write '.*limit.dat': File too large; the command goes on as process [0-9]+: waiting" "$busy_out"
goes_on "record: then the command goes on"
touch "$busy_stop"
wait "$pid"
is "record: and when it has ended, that is an error" \
    "$?, $(grep -c '^END [0-9]* rounds ok$' "$busy_out"), $(grep -c '^  next: ' "$busy_out")" "1, 1, 1"

start_busy "$jdk" -XX:+DisableAttachMechanism
record "attaching is disabled" "DisableAttachMechanism" -p "$pid" -d 1
stop_busy "$pid" "-XX:+DisableAttachMechanism: the JVM is unharmed"

done_testing
