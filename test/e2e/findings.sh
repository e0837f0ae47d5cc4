#!/bin/bash
# Faults that are planted in target.Faulty: each is a finding of ten seconds, and none when it is mended or never
# was.
# timeout: 900
# long: yes
. "$(dirname "$0")/../lib.sh"
needs_command profile

names=() rules='' heap=400m

# found STATE SECONDS NAME...: 'RULE SUBJECT' and the evidence of each finding of a program with these faults.
found() {
    local state=$1 seconds=$2
    shift 2
    start "$SCRATCH/program" "$(first_jdk)/bin/java" "-Xmx$heap" -XX:+EnableDynamicAgentLoading -Djournal="$SCRATCH" \
        -cp "$classes" target.Faulty "${@/%/=$state}"
    local program=$pid
    wait_for 20 grep -q '^UP' "$SCRATCH/program" || return
    sleep 4
    "$mmprof" profile -q -p "$program" -d "$seconds" -o "$SCRATCH/profile" > "$SCRATCH/report" 2>&1
    "$mmprof" report --view findings --csv "$SCRATCH/profile" | tr -d '\r' |
        awk -F , '$1 == "finding" { print $2, $3, $0 }'
    stop "$program"
}

# check NAME...: a line of input for each fault: NAME RULE SUBJECT EVIDENCE.
check() {
    local claim rule subject evidence faulty
    names+=("$@")
    faulty=$(found fault 10 "$@")
    while read -r claim rule subject evidence; do
        matches "$claim: it is found" "$faulty" "^$rule $subject .*$evidence"
        [ "$rule" != allocation ] || rule="$rule .*$evidence" # others may allocate most of their bytes
        rules+=${rules:+|}$rule
    done
}

# Of all that were checked since.
check_others() {
    local state
    for state in mended never; do
        is "${names[*]}: none of them is found when it is '$state'" \
            "$(found $state 6 "${names[@]}" | grep -E "^($rules) ")" ''
    done
    names=() rules='' heap=400m
}

check exceptions huge hash regex << 'END'
exceptions exceptions Faulty\$Parser.number Throwable.<init> \(target.Faulty\$Parser\$NotANumber, stack depth [45]
huge interpreted Faulty\$Huge.all 8[0-9]{3} bytes of bytecode
hash hash Faulty\$Index.count HashMap.TreeNode.*hashCode
regex library Faulty\$Validator.isSentence Matcher.matches.*backtracking
END

check format loading << 'END'
format library Faulty\$Labels.label String.format
loading loading Faulty\$Plugins.pluginClass Class.forName
END
check_others

check boxing << 'END'
boxing allocation Faulty\$Totals.boxed java.lang.Long .boxed numbers
END

heap=150m # so that there are collections enough
check connections holder starved leak << 'END'
holder lock Faulty\$Tariffs.tariff that Faulty\$Tariffs.refresh holds while in Faulty\$Gateway.ask
starved starved Faulty\$Orders.linesOf FutureTask.get
connections pool Faulty\$Connections.query Semaphore.acquire
leak leak Faulty\$Sessions.session mostly byte
END
check_others

done_testing
