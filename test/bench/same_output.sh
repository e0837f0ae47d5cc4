#!/bin/bash
# Whether two builds say the same of traces, byte for byte:   OLD=DIR test/bench/same_output.sh TRACE...
#
# DIR has the other build's mmprof.  Compared are the status, what is printed, and the files that are written, of
# 'phases', of 'report' with each of its views, and of 'export' with each of its formats.  ONLY=WORD: of commands with
# this word.
. "$(dirname "$0")/../lib.sh"
traces=()
for trace in "$@"; do
    traces+=("$(realpath "$trace")")
done
if [ ! -x "${OLD-}/mmprof" ] || [ $# = 0 ]; then
    printf 'same_output: no build, or no trace\n  next: OLD=DIR %s TRACE...\n' "$0" >&2
    exit 2
fi
old=$(realpath "$OLD")
n_differing=0

# run DIR COMMAND...: all that the command makes, in DIR, by that build.
run() {
    local dir=$1 program=$2
    shift 2
    rm -rf "$dir" && mkdir "$dir" && cd "$dir" || exit 2
    "$program" "$@" > printed 2> errors < /dev/null
    echo $? > status
    cd ..
}

# same TRACE COMMAND...: {} in a word is the trace.
same() {
    local trace=$1
    shift
    [[ "$*" == *"${ONLY-}"* ]] || return 0
    run old "$old/mmprof" "${@//\{\}/"$trace"}"
    run new "$mmprof" "${@//\{\}/"$trace"}"
    if diff -rq old new > differing; then
        printf 'same     %s (%s bytes)\n' "$*" "$(du -sb new | cut -f 1)"
    else
        printf 'DIFFERS  %s: %s\n' "$*" "$(tr '\n' ' ' < differing)"
        n_differing=$((n_differing + 1))
    fi
}

cd "$SCRATCH" || exit 2
for trace in "${traces[@]}"; do
    echo "# $trace"
    method=$("$old/mmprof" report --csv "$trace" | sed -n '2s/^[^,]*,\([^,]*\),.*/\1/p')
    for how in --csv --json --all --tree --per-thread --sweep '--clock wall' '--tree --per-thread --csv'; do
        # shellcheck disable=SC2086  # options
        same "$trace" phases $how {}
    done
    for how in '' --csv --json --for-agents '--html page.html' '--clock wall' '--csv --clock wall' '--wide --all'; do
        # shellcheck disable=SC2086
        same "$trace" report $how {}
    done
    for view in $("$old/mmprof" report --views | sed 's|^ *||; s|[^a-z-].*||'); do
        same "$trace" report --view "${view}" {}
        same "$trace" report --view "${view}=$method" --csv {}
    done
    for format in flamegraph collapsed speedscope pprof otlp jfr chrome json csv parquet; do
        same "$trace" export -f "$format" -o out {}
    done
    for how in '-f collapsed --per-thread' '-f collapsed --clock wall' '-f collapsed --value calls' \
        '-f flamegraph --reverse' '--metrics m.prom'; do
        # shellcheck disable=SC2086
        same "$trace" export $how {}
    done
done
[ $n_differing = 0 ]
