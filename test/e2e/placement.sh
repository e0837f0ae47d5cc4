#!/bin/bash
# mmprof placement: a program whose hot objects share no line and would, placed together; identity, which changes
# nothing; hindsight; what is refused.
# timeout: 600
# beside: yes
# long: yes
. "$(dirname "$0")/../lib.sh"

jdk=$(first_jdk)
[ -n "$jdk" ] || skip_all "there is no JDK 17 or 25"

# refused WHAT NEXT ARGUMENT...: it ends with an error, and a next step.
refused() {
    local what=$1 next=$2
    shift 2
    "$mmprof" placement "$@" > "$SCRATCH/said" 2>&1
    is "refused: $what" "$?, $(grep -c "next: .*$next" "$SCRATCH/said")" "1, 1"
}

refused "no command" "behind '--'"
refused "a policy that is not known" "hot-cold, children, fields or identity" --policy=warm -- "$jdk/bin/java" -version
refused "no policy" "--policy" --policy=, -- "$jdk/bin/java" -version
refused "misses of a cache that is not simulated" "l1d, l2 or dtlb" -e l3 -- "$jdk/bin/java" -version
refused "a period of nothing" "--period 100" -c 0 -- "$jdk/bin/java" -version
refused "no run" "--runs 1" --runs 0 -- "$jdk/bin/java" -version
refused "a model that is not known" "list --models" --model=zen9 -- "$jdk/bin/java" -version

command -v "qemu-$(uname -m)" > "$SCRATCH/which" || {
    skip "programs are simulated" "qemu-user is not installed; 'make deps' installs it"
    done_testing
}
refused "a program that starts no JVM" "starts a JVM" -q -- /bin/true

# field POLICY MEMORY COLUMN: of the CSV.
field() {
    awk -F, -v policy="$1" -v memory="$2" -v column="$3" '
        { sub(/\r$/, "") }
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i }
        $2 == policy && $4 == memory { print $at }' "$SCRATCH/places.csv"
}

# between CLAIM VALUE LOW HIGH
between() {
    if awk -v x="$2" -v low="$3" -v high="$4" 'BEGIN { exit !(x != "" && x >= low && x <= high) }'; then
        ok "$1"
    else
        not_ok "$1" "is '$2', expected $3 to $4"
    fi
}

check() {
    local name=$1 event
    "$mmprof" placement -q --csv --hindsight --policy=identity,hot-cold,children,fields -c 20 -- \
        "$2" -XX:+UseSerialGC -Xmn8m -Xmx64m -XX:MaxTenuringThreshold=0 -cp "$classes" target.Places \
        > "$SCRATCH/places.csv" 2> "$SCRATCH/said"
    is "$name: both runs end as they should" "$?, $(xargs < "$SCRATCH/said")" "0, 7999600000 7999600000"
    for event in l1d l2 dtlb; do
        is "$name: identity changes nothing of $event" "$(field identity 'all memory' ${event}_change)" 0
    done
    is "$name: all objects of the class are placed" "$(field 'as it is' 'target.Places$Hot' objects)" 20000
    for policy in hot-cold children 'hot-cold (hindsight)' 'children (hindsight)'; do
        between "$name: two hot objects in a line, $policy, miss half as often" \
            "$(field "$policy" 'target.Places$Hot' l1d_change)" -0.6 -0.44
    done
    between "$name: and in L2, which has room for them then, much less" \
        "$(field hot-cold 'target.Places$Hot' l2_change)" -1 -0.5
    is "$name: with its own field order, an object of 32 bytes misses as before" \
        "$(field fields 'target.Places$Hot' l2_change | awk '{ print ($1 < 0.01 && $1 > -0.01) }')" 1
}

for each in $jdk; do
    check "JDK" "$each/bin/java"
done
done_testing
