#!/bin/bash
# Software events of perf are columns of totals: page faults of the method that touches new pages, and migrations.
# timeout: 120
. "$(dirname "$0")/../lib.sh"

jdk=$(first_jdk)
cd "$SCRATCH" || exit 1

# column NAME: of the method touch.
column() {
    "$mmprof" report --csv faults.dat | tr -d '\r' | awk -F , -v name="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $2 == "Faults.touch" && name in at { print $at[name] }'
}

if ! "$mmprof" list minor-faults | grep -q '^  minor-faults'; then
    skip "software events" "the kernel does not count them for this user"
    done_testing
    exit
fi
"$mmprof" record -e minor-faults,cpu-migrations --read syscall --include 'target/Faults.*' -o faults.dat -- \
    "$jdk/bin/java" -XX:+UseSerialGC -cp "$classes" target.Faults 0.5 > said 2>&1
is "software events are counted" $? 0
faults=$(column minor-faults) calls=$(column calls)
[ "${faults:-0}" -ge $((${calls:-1} * 10)) ] && ok "the faults of a method are counted" ||
    not_ok "the faults of a method are counted" "$faults in $calls calls"
matches "so are its migrations" "$(column cpu-migrations)" '^[0-9]+$'
matches "each is a column of the table" "$("$mmprof" report faults.dat)" 'minor-faults +cpu-migrations'
is "and not a rate per instructions" "$("$mmprof" report --csv faults.dat | grep -c per_1000_instructions)" 0
is "without a system call probes do not count them" \
    "$("$mmprof" record -e minor-faults --read user -o none.dat -- true 2>&1 |
        grep -c 'only a system call can read a software event')" 1

done_testing
