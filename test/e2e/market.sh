#!/bin/bash
# A service with eight faults under load: each is a finding of one recording, its handlers are the kinds
# of request, and none is found when all are mended.
# timeout: 600
# long: yes
# takes: 90
. "$(dirname "$0")/../lib.sh"
needs_command profile

jdk=$(first_jdk)
[ -n "$jdk" ] || skip_all "there is no JDK 17 or 25"

# cpu_seconds PID
cpu_seconds() {
    sed 's/.*) //' "/proc/$1/stat" | awk -v hz="$(getconf CLK_TCK)" '{ printf "%d\n", ($12 + $13) / hz }'
}

# has_used PID SECONDS
has_used() {
    [ "$(cpu_seconds "$1")" -ge "$2" ]
}

# A machine that has little for it needs longer for as many samples.
# profiled FAULTS SECONDS: after so much CPU time; its report, and its findings as 'RULE SUBJECT'.
profiled() {
    local folder=$SCRATCH/$1 load service before seconds
    mkdir "$folder"
    start "$SCRATCH/load" "$jdk/bin/java" -Xmx100m -cp "$classes" target.Market load "$folder"
    load=$pid
    start "$SCRATCH/service" "$jdk/bin/java" -Xmx400m -XX:+EnableDynamicAgentLoading -cp "$classes" \
        target.Market serve "$folder" "$1"
    service=$pid
    wait_for 60 test -e "$folder/service" || return
    wait_for 90 has_used "$service" "$2" || return
    for seconds in 15 60; do
        before=$(cpu_seconds "$service")
        "$mmprof" profile -q -p "$service" -d $seconds -o "$SCRATCH/$1.profile" > "$SCRATCH/report" 2>&1
        has_used "$service" $((before + $2 / 2)) && break
    done
    "$mmprof" report --view findings --csv "$SCRATCH/$1.profile" 2> "$SCRATCH/errors" | tr -d '\r"' |
        awk -F , '$1 == "finding" { print $2, $3 }' > "$SCRATCH/$1.findings"
    "$mmprof" report --view groups=request --csv "$SCRATCH/$1.profile" 2> "$SCRATCH/errors" > "$SCRATCH/$1.requests"
    stop "$load"
    stop "$service"
}

profiled all 14
while read -r claim finding; do
    matches "$claim: it is found" "$(cat "$SCRATCH/all.findings")" "^$finding\$"
done << 'END'
basket io Market\$Baskets\.price
audit library Market\$AuditLog\.append
report allocation Market\$SalesReport\.concatenated
search (library|cpu) Market\$Catalogue\.found
dates library Market\$Calendar\.formatted
payment sleep Market\$Payments\.await
mail (io|library) Market\$Mailer\.sendInThread
copy library Market\$Snapshots\.deepCopy
END
is "each handler is a kind of request, though one method calls them" \
    "$(tr -d '"' < "$SCRATCH/all.requests" | grep -oE 'Market\$[A-Za-z]+\.handle' | sort | paste -sd ' ')" \
    "Market\$AuditLog.handle Market\$Baskets.handle Market\$Calendar.handle Market\$Catalogue.handle \
Market\$Mailer.handle Market\$Payments.handle Market\$SalesReport.handle Market\$Snapshots.handle"

profiled none 5
is "none of them is found when it is mended" \
    "$(grep -E '^(io|sleep|library) |SalesReport' "$SCRATCH/none.findings")" ''

done_testing
