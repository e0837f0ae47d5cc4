#!/bin/bash
# A service with four faults: after 'profile' each is the subject of a finding, and of none when it is mended.
# timeout: 500
# long: yes
. "$(dirname "$0")/../lib.sh"
needs_command profile

# start_service JDK FIXED: its PID is in $pid.
start_service() {
    local java=$1/bin/java
    start "$SCRATCH/database" "$java" -Xmx64m -cp "$classes" target.Shop database
    wait_for 20 grep -q '^PORT' "$SCRATCH/database" || return 1
    start "$SCRATCH/service" "$java" -Xmx300m -XX:+EnableDynamicAgentLoading -Dfixed="$2" -cp "$classes" \
        target.Shop "$(sed -n 's/^PORT //p' "$SCRATCH/database")"
    wait_for 20 grep -q '^UP' "$SCRATCH/service"
}

# found JDK FIXED: 'RULE SUBJECT' of each finding of 40 seconds of it, when it is warm.
found() {
    start_service "$1" "$2" || return
    local service=$pid
    sleep 3
    "$mmprof" profile -q -p "$service" -d 40 -o "$SCRATCH/profile" > "$SCRATCH/report" 2>&1
    "$mmprof" report --view findings --csv "$SCRATCH/profile" | tr -d '\r' |
        awk -F , '$1 == "finding" { print $2, $3 }' | sort
    stop "$service"
}

while read -r jdk; do
    v="JDK $(jdk_version "$jdk")"
    found "$jdk" "" > "$SCRATCH/faulty"
    for finding in 'lock Shop\$Prices.quote' 'cpu Shop\$Risk.exposure' 'allocation Shop.export' \
        '(io|pool) Shop\$Orders.ofCustomer'; do
        matches "$v: there is a finding: $finding" "$(cat "$SCRATCH/faulty")" "^$finding\$"
    done
    matches "$v: its kinds of requests and jobs stand above the phases" \
        "$(sed -n '/^Request /,/^Phase /p' "$SCRATCH/report" | tr '\n' ' ')" '^Request .* Shop\.exportAgain .* Phase '
    found "$jdk" lock,walk,allocation,query > "$SCRATCH/mended"
    # Prices are still computed in 15 ms of sleep, but without the lock.
    is "$v: when they are mended there is none of them" \
        "$(grep -E '(quote|compute|exposure|export|ofCustomer)$' "$SCRATCH/mended" | grep -v '^sleep .*compute$')" ''
done < <(jdks)

done_testing
