# What the tests of faults share, to be sourced:  . "$(dirname "$0")/faults.bash"
#
# Each has a short form, for 'make check', and a long one: FAULTS_LONG=1 (make check-faults); FAULTS_JDK=java-17 takes
# only the JDKs whose path has that.
# shellcheck shell=bash disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# either SHORT LONG
either() {
    [ -n "${FAULTS_LONG-}" ] && echo "$2" || echo "$1"
}

# In the short form one JDK, the newest; in the long one all.
fault_jdks() {
    if [ -n "${FAULTS_LONG-}" ]; then
        jdks | grep -e "${FAULTS_JDK-}"
    else
        jdks | tail -n 1
    fi
}

# of_status PID KEY: a line of /proc status, without its unit.
of_status() {
    sed -n "s/^$2:[[:space:]]*\([0-9]*\).*/\1/p" "/proc/$1/status"
}

n_files() {
    find "/proc/$1/fd" -mindepth 1 2> "$SCRATCH/ignored" | wc -l
}

# How many mappings of memory that mmprof made the JVM has.
shared_maps() {
    grep -c 'memfd:mmprof' "/proc/$1/maps"
}

lets_go_of_memory() {
    [ "$(shared_maps "$1")" = 0 ]
}

# at_most CLAIM ACTUAL LIMIT
at_most() {
    if [ "$2" -le "$3" ]; then
        ok "$1 ($2, at most $3)"
    else
        not_ok "$1" "is:      $2" "at most: $3"
    fi
}

# What others who test here at the same time leave in /tmp, they remove soon: what stays of what came is ours.
mmprof_files() {
    find /tmp -maxdepth 1 \( -name '.mmprof-*' -o -name '.attach_pid*' \) 2> "$SCRATCH/ignored" | sort
}

remember_files() {
    mmprof_files > "$SCRATCH/files-before"
}

# Of those that came, which are still there; a list that only gets shorter.
files_left() {
    mmprof_files | comm -13 "$SCRATCH/files-before" - > "$SCRATCH/files-now"
    [ -f "$SCRATCH/files-left" ] || cp "$SCRATCH/files-now" "$SCRATCH/files-left"
    comm -12 "$SCRATCH/files-left" "$SCRATCH/files-now" > "$SCRATCH/files-both"
    mv "$SCRATCH/files-both" "$SCRATCH/files-left"
    [ ! -s "$SCRATCH/files-left" ]
}

# leaves_no_file CLAIM
leaves_no_file() {
    rm -f "$SCRATCH/files-left"
    if wait_for 30 files_left; then
        ok "$1"
    else
        not_ok "$1" "$(cat "$SCRATCH/files-left")"
    fi
}

# The summary of a trace, "RECORDS n LOST n CUT n UNNESTED n"; or what is wrong with it.
trace_counts() {
    "$build/test/tools/method_counts" "$1" 2>&1 | tail -n 1
}

# trace_field TRACE KEY
trace_field() {
    trace_counts "$1" | sed -n "s/.*\<$2 \([0-9]*\).*/\1/p"
}
