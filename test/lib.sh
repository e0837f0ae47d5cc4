# Helpers of the shell tests, to be sourced:  . "$(dirname "$0")/../lib.sh"
#
# A test prints TAP (test/run adds it up).  The file being tested is $build/mmprof; BUILD names another directory.
# shellcheck shell=bash
# shellcheck disable=SC2034  # some are for the tests
set -u
unset MAKEFLAGS MFLAGS MAKELEVEL # a make that a test runs is not part of the one that runs the test

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${BUILD:-build}
case $build in
    /*) ;;
    *) build=$root/$build ;;
esac
mmprof=$build/mmprof
agent=$build/libmmprof-agent.so
classes=$build/test/java
slow=${MMPROF_SLOW:-1} # how many times slower than usual this machine is: time limits are that much longer
if [ -z "${SCRATCH-}" ]; then
    SCRATCH=$(mktemp -d)
    scratch_is_own=1
fi

tap_n=0
tap_failed=0
test_pids=()

ok() {
    tap_n=$((tap_n + 1))
    printf 'ok %d - %s\n' $tap_n "$1"
}

# not_ok CLAIM [DIAGNOSTIC...]: each diagnostic may have several lines.
not_ok() {
    tap_n=$((tap_n + 1))
    tap_failed=$((tap_failed + 1))
    printf 'not ok %d - %s\n' $tap_n "$1"
    shift
    [ $# = 0 ] || printf '%s\n' "$@" | head -n 40 | sed 's/^/# /'
    return 1
}

skip() {
    tap_n=$((tap_n + 1))
    printf 'ok %d - %s # SKIP %s\n' $tap_n "$1" "$2"
}

# is CLAIM ACTUAL EXPECTED
is() {
    if [ "$2" = "$3" ]; then
        ok "$1"
    else
        not_ok "$1" "is:       $2" "expected: $3"
    fi
}

# holds CLAIM COMMAND...: ok if the command succeeds; else its output is the diagnostic.
holds() {
    local claim=$1 output
    shift
    if output=$("$@" 2>&1); then
        ok "$claim"
    else
        not_ok "$claim" "$*" "$output"
    fi
}

# matches CLAIM TEXT REGEX (extended, per line)
matches() {
    if grep -qE -- "$3" <<< "$2"; then
        ok "$1"
    else
        not_ok "$1" "is:              $2" "does not match:  $3"
    fi
}

# What all reports say of a trace that the test has made agrees: of the latest one that is small, if it can be read.
agrees_with_itself() {
    local trace said status
    [ -x "$build/test/tools/consistent" ] || return
    trace=$(find "$SCRATCH" -name '*.dat' -size -600k -printf '%T@ %p\n' 2> "$SCRATCH/ignored" | sort -n | tail -n 1)
    [ -n "$trace" ] || return
    said=$("$build/test/tools/consistent" "$mmprof" "${trace#* }" 2>&1)
    status=$?
    [ $status != 1 ] || not_ok "all reports of '$(basename "${trace#* }")' agree" "$said"
    [ $status != 0 ] || ok "all reports of '$(basename "${trace#* }")' agree"
}

done_testing() {
    agrees_with_itself
    echo "1..$tap_n"
    [ $tap_failed = 0 ]
    exit
}

skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}

# wait_for SECONDS COMMAND...: until the command succeeds; fails when the time is over.
wait_for() {
    local end=$((SECONDS + $1 * slow))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.05
    done
}

# wait_gone SECONDS PID: until the process has ended, as a zombie or for good.
wait_gone() {
    wait_for "$1" is_gone "$2"
}

is_gone() {
    ! grep -q '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/status" 2> /dev/null
}

# start FILE COMMAND...: in the background, all output to FILE; its PID is in $pid; killed when the test ends.
start() {
    local file=$1
    shift
    : > "$file" # at once: nobody is to wait for a line that another program left there
    "$@" > "$file" 2>&1 < /dev/null &
    pid=$!
    test_pids+=("$pid")
}

stop() {
    kill -KILL "$1" 2> /dev/null
    wait "$1" 2> /dev/null
}

at_exit() {
    local status=$?
    for pid in ${test_pids[@]+"${test_pids[@]}"}; do
        kill -KILL "$pid" 2> /dev/null
    done
    wait 2> /dev/null
    [ -z "${scratch_is_own-}" ] || rm -rf "$SCRATCH"
    exit $status
}
trap at_exit EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# needs_command NAME: skips the test as a whole when mmprof has no such command.
needs_command() {
    "$mmprof" help | grep -q "^  $1 " || skip_all "mmprof has no command '$1'"
}

# attachable PID: a JVM far enough in its start to be attached to (it handles SIGQUIT then).
attachable() {
    local caught
    caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$1/status" 2> /dev/null)
    [ -n "$caught" ] && [ $((0x${caught: -2} & 0x4)) != 0 ]
}

# start_busy JDK [OPTION...]: target.Busy, which says what it did in $busy_out; ends by stop_busy.  Its PID is in $pid.
# JDK 21 and later warn about agents that are loaded late, unless told not to.
start_busy() {
    local jdk=$1
    shift
    n_busy=$((${n_busy-0} + 1))
    busy_out=$SCRATCH/busy-$n_busy.out
    busy_stop=$SCRATCH/busy-$n_busy.stop
    start "$busy_out" "$jdk/bin/java" -Xmx256m -XX:+EnableDynamicAgentLoading "$@" \
        -cp "$classes" target.Busy "$busy_stop"
    wait_for 20 grep -q '^ROUND' "$busy_out"
}

# goes_on CLAIM: the busy JVM still does its rounds.
goes_on() {
    local n
    n=$(grep -c '^ROUND' "$busy_out")
    if wait_for 20 more_rounds_than "$n"; then
        ok "$1"
    else
        not_ok "$1" "$(tail -n 5 "$busy_out")"
    fi
}

more_rounds_than() {
    [ "$(grep -c '^ROUND' "$busy_out")" -gt "$1" ]
}

# stop_busy CLAIM: it ends by itself with the right results, and has said nothing else.
stop_busy() {
    local busy_pid=$1 claim=$2 status
    touch "$busy_stop"
    # With many threads and a load of 10 a round takes a minute.
    wait_gone 180 "$busy_pid" || { kill -KILL "$busy_pid" && claim+=' (this test killed it, after 180 s)'; }
    wait "$busy_pid"
    status=$?
    if [ $status = 0 ] && grep -q '^END [0-9]* rounds ok$' "$busy_out" &&
        ! grep -vqE '^(ROUND [0-9]+|END .*)$' "$busy_out"; then
        ok "$claim"
    else
        not_ok "$claim" "status $status" "$(grep -vE '^ROUND [0-9]+$' "$busy_out")"
    fi
}

# in_terminal FILE COMMAND: runs it (by sh) in a terminal of its own; what it shows goes to FILE.
in_terminal() {
    local file=$1
    shift
    # The shell of it must outlive a Ctrl-C, whichever it is.
    script -qfec "trap : INT; stty rows 20 cols 100; stty -g; $*; echo STATUS \$?; stty -g" "$file" > /dev/null 2>&1
}

# shows FILE TEXT: until that is on the screen; then what follows can be typed.
shows() {
    wait_for 20 grep -aqE -- "$2" "$1" 2> /dev/null && return
    echo "'$2' is not shown, but at the end: $(tail -c 1000 "$1" | cat -v)" >&2
    return 1
}

# ended FILE: until the command has said its status: a terminal whose input ends before would end it, too.
ended() {
    shows "$1" 'STATUS [0-9]'
}

# What doctor says of the memory where a control group limits it, else nothing.  Buffers start small there and grow
# while they are used: a burst of threads loses records, which the report counts.
memory_limit() {
    "$mmprof" doctor | sed -n 's/^ok *memory *\(.*memory limit of the control group\).*/\1/p'
}

# The JDKs to test, one path a line: 17, and 25 where there is one.  MMPROF_JDKS (paths) replaces the list.
jdks() {
    local version home
    if [ -n "${MMPROF_JDKS-}" ]; then
        printf '%s\n' $MMPROF_JDKS
        return
    fi
    for version in 17 25; do
        for home in /usr/lib/jvm/*; do
            [ ! -L "$home" ] && [ "$(jdk_version "$home")" = $version ] && echo "$home" && break
        done
    done
}

# The garbage collectors to test, one a line.  MMPROF_GCS replaces the list.
collectors() {
    printf '%s\n' ${MMPROF_GCS-SerialGC ParallelGC G1GC ZGC}
}

# collectors_of JDK: all of them for the newest; for an older one beside it those that have changed since.
collectors_of() {
    if [ "$1" = "$(jdks | tail -n 1)" ] || [ -n "${MMPROF_GCS-}" ]; then
        collectors
    else
        printf '%s\n' G1GC ZGC
    fi
}

# The major version of a JDK, from its 'release' file.
jdk_version() {
    sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release" 2> /dev/null
}

# all_jdks: those of jdks, and of the root that MMPROF_JDK_ROOT names (make jdks): 'VERSION HOME', 'VERSION HOME ROOT'.
all_jdks() {
    local home name in=${MMPROF_JDK_ROOT-/nowhere}
    {
        jdks | while read -r home; do echo "$(jdk_version "$home") $home"; done
        for home in "$in"/usr/lib/jvm/java-[0-9]*-openjdk-*; do
            name=${home##*/java-}
            [ ! -d "$home" ] || [ -L "$home" ] || ! unshare -m true 2> /dev/null || echo "${name%%-*} ${home#"$in"} $in"
        done
    } | sort -sn
}

# start_java FILE HOME ROOT CLASSES OPTION...: as start does, a Java program of a JDK of all_jdks; ROOT: '' or the one
# that it runs in, to which CLASSES are copied.  What the copy is called here is in $java_folder.
start_java() {
    local file=$1 home=$2 in=$3 from=$4
    shift 4
    java_folder=$from
    if [ -z "$in" ]; then
        start "$file" "$home/bin/java" -cp "$from" "$@"
        return
    fi
    java_folder=$(mktemp -d "$in/tmp/mmprof-test.XXXXXX") && chmod 755 "$java_folder" && cp -r "$from/." "$java_folder"
    # Its own mounts: nothing stays mounted below the root, which somebody may remove.
    start "$file" unshare -m sh -c 'mount --bind /proc "$0/proc" && exec chroot "$0" "$@"' "$in" \
        "$home/bin/java" -cp "${java_folder#"$in"}" "$@"
}

# impossible_chains FILE: those of its folded stacks that are not of calls that target.Chains makes.
impossible_chains() {
    local arrays='(;java\.util\.Arrays\.copyOf.*)?' nano='(;java\.lang\.System\.nanoTime)?' chains
    chains="one(;two(;three(;four)?)?)?|large(;four)?|steps(;[A-Z][a-z]*\\.go)?|down(;down){0,9}"
    chains="$chains|copies$arrays|clock$nano"
    sed 's/target\.Chains[.$]//g' "$1" | grep -vE "^main(;($chains))? [0-9]+\$"
}

# The first of them, for tests that need one.
first_jdk() {
    jdks | head -n 1
}

# trace_info FILE KEY: what a trace says of its recording.
trace_info() {
    "$mmprof" dump --tables "$1" | sed -n "s/^info *$2 = \(.*\)  # .*/\1/p"
}
