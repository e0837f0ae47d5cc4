# The programs that a bench is about, to be sourced behind lib.sh.
# shellcheck shell=bash

# each_workload DIRECTORY FUNCTION: calls it with the name and the command of each that DIRECTORY/commands names, one a
# line: a name, blanks, a command.  Lines that begin with '#' are left out; BENCH_ONLY="NAME ..." takes only these.
each_workload() {
    local name command
    while read -r name command <&3; do
        [[ -n $name && $name != '#'* ]] || continue
        [ -z "${BENCH_ONLY-}" ] || [[ " $BENCH_ONLY " == *" $name "* ]] || continue
        echo "$name: $command" >&2
        "$2" "$name" "$command"
    done 3< "$1/commands"
}

# allowed_cpus N: the first N of those that this may run on, or as many as there are.
allowed_cpus() {
    sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status | tr ',' '\n' | awk -F - -v n="$1" '
        { for (i = $1; i <= ($2 == "" ? $1 : $2) && n > 0; n--) printf "%d ", i++ }
        END { print "" }'
}
