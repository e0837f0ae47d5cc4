#!/bin/bash
# mmprof top: plain tables, and in a terminal; nothing stays behind, however it ends.
# timeout: 150
. "$(dirname "$0")/../lib.sh"
needs_command top

jdk=$(first_jdk)
start_busy "$jdk" -Dbusy.rest=false
jvm=$pid
mkdir "$SCRATCH/empty"
cd "$SCRATCH/empty" || exit 1

# terminal_is_restored CLAIM FILE: both 'stty -g' say the same, and the last screen shown is the usual one.
terminal_is_restored() {
    local settings
    settings=$(tr -d '\r' < "$2" | grep -aoE '[0-9a-f]+(:[0-9a-f]+){20,}' | sort -u | wc -l)
    is "$1: the terminal's settings are those from before" "$settings" 1
    is "$1: its own screen is back, with the cursor" \
        "$(grep -aoE '\[\?(1049|25)[hl]' "$2" | tail -n 2 | tr -d '\n')" '[?25h[?1049l'
}

# nothing_stays CLAIM: no file, no connection, no thread of the agent's.
nothing_stays() {
    is "$1: there is no trace" "$(ls -A "$SCRATCH/empty")" ''
    wait_for 20 agent_is_gone
    is "$1: the agent is gone" "$(threads_of_agent)" 0
}

threads_of_agent() {
    cat /proc/"$jvm"/task/*/comm 2> /dev/null | grep -c '^mmprof'
}

agent_is_gone() {
    [ "$(threads_of_agent)" = 0 ]
}

# Before any class of it was changed.
"$mmprof" top -p "$jvm" --once --recompile 0.001 > "$SCRATCH/out" 2> "$SCRATCH/errors"
status=$?
if ! grep -q 'not instrumented: ' "$SCRATCH/out"; then
    skip "what is shown where no class is changed" "this JVM does not throw its code away"
else
    is "where no class is changed, top shows no phases" \
        "$status $(sed '/^methods without probes, from/,$d' "$SCRATCH/out" | grep -c Busy)" "0 0"
    matches "but what samples found" "$(cat "$SCRATCH/out")" \
        '^methods without probes, from [0-9]+ samples in [0-9.]+ s:$'
    matches "with its share, the interval, and why it has no probes" "$(cat "$SCRATCH/out")" \
        '^ *[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.<]+ +Busy\.round +all compiled code would be discarded$'
    is "the share is in its interval" \
        "$(awk '/Busy/ && !($2 <= $1 && $1 <= $3) { print }' "$SCRATCH/out")" ''
fi
nothing_stays "after that"

"$mmprof" top -p "$jvm" --count 2 --interval 0.5 > "$SCRATCH/out" 2> "$SCRATCH/errors"
is "top prints plain tables" "$?$(cat "$SCRATCH/errors")" 0
is "as many as it was asked for" "$(grep -c "^JVM $jvm: " "$SCRATCH/out")" 2
matches "with the method that does all the work" "$(cat "$SCRATCH/out")" '^ *[0-9.]+ +[0-9.]+ .* Busy\.round$'
is "which cannot have had more than all of the time" \
    "$(awk '/^-----/ { rows = 1; next } NF == 0 { rows = 0 } rows && $1 > 105' "$SCRATCH/out")" ''
holds "and no escape sequence" test -z "$(grep -a "$(printf '\033')" "$SCRATCH/out")"
nothing_stays "after plain tables"

"$mmprof" top -p "$jvm" --once --sort name > "$SCRATCH/out" 2> "$SCRATCH/errors"
sed '1,/^-----/d; /^methods without probes, from/,$d' "$SCRATCH/out" | awk 'NF > 0 { print $NF }' > "$SCRATCH/names"
is "sorted by name, when told to" "$(LC_ALL=C sort "$SCRATCH/names")" "$(cat "$SCRATCH/names")"

if ! command -v script > "$SCRATCH/which"; then
    skip "top works in a terminal" "there is no script(1)"
else
    screen=$SCRATCH/quit
    { shows "$screen" 'Busy\.round' && printf n && shows "$screen" 'by name; keys' && printf q && ended "$screen"; } |
        in_terminal "$screen" "$mmprof top -p $jvm"
    matches "q quits" "$(tr -d '\r' < "$screen" | grep -a 'STATUS [0-9]')" 'STATUS 0'
    matches "a key sorts" "$(tr -d '\r' < "$screen" | grep -a keys)" '^.*by name; keys'
    terminal_is_restored "after q" "$screen"
    nothing_stays "after q"

    screen=$SCRATCH/break
    { shows "$screen" 'Busy\.round' && printf '\003' && ended "$screen"; } | in_terminal "$screen" "$mmprof top -p $jvm"
    matches "Ctrl-C ends it" "$(tr -d '\r' < "$screen" | grep -a 'STATUS [0-9]')" 'STATUS 0'
    terminal_is_restored "after Ctrl-C" "$screen"
    nothing_stays "after Ctrl-C"

    screen=$SCRATCH/kill
    { shows "$screen" 'Busy\.round' && kill -TERM "$(pgrep -f "^$mmprof top -p $jvm\$")" && ended "$screen"; } |
        in_terminal "$screen" "$mmprof top -p $jvm"
    terminal_is_restored "after kill" "$screen"
    nothing_stays "after kill"
fi

"$mmprof" top --sort colour -p "$jvm" > "$SCRATCH/out" 2>&1
is "a column that is none is refused" "$?" 1
"$mmprof" top -- java > "$SCRATCH/out" 2>&1
matches "so is a command" "$(cat "$SCRATCH/out")" "^mmprof top: 'java': only a running JVM can be watched$"
"$mmprof" top > "$SCRATCH/out" 2>&1
is "and nothing at all" "$?" 1

goes_on "the program goes on"
stop_busy "$jvm" "its results and output are those without mmprof"
done_testing
