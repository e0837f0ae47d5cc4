#!/bin/bash
# A service with eight faults: after 'profile' each is the subject of a finding on the first screen, and of none when it
# is mended.  With FAULTS_LONG on four JDKs, else on one.
# timeout: 900
# long: yes
. "$(dirname "$0")/../lib.sh"
needs_command profile

mkdir -p "$SCRATCH/classes"
"$(first_jdk)/bin/javac" -nowarn --release 8 -g -d "$SCRATCH/classes" "$root/test/java/target/Depot.java" \
    > "$SCRATCH/javac" 2>&1 || cat "$SCRATCH/javac"

# screen HOME ROOT FIXED SECONDS: what stands above the phases.
screen() {
    start_java "$SCRATCH/service" "$1" "$2" "$SCRATCH/classes" -Xmx600m "-Dfixed=$3" target.Depot
    local service=$pid
    wait_for 30 grep -q '^UP' "$SCRATCH/service" || return
    sleep 4
    "$mmprof" profile -q -p "$service" -d "$4" -o "$SCRATCH/profile" > "$SCRATCH/report" 2>&1
    stop "$service"
    [ -z "$2" ] || rm -rf "$java_folder"
    grep '^\*' "$SCRATCH/report"
}

# What tells of each fault.  On JDK 8 the JVM samples no objects: boxing is CPU time there, and a leak is the heap's.
faults='Depot\$Rates\.rate waits for a monitor \(Depot\$Rates\) that Depot\$Rates\.refresh holds
Depot\$Orders\.sumOf spends .* in Throwable\.<init> \(java\.util\.NoSuchElementException, stack depth
Depot\$Labels\.label spends .* in SimpleDateFormat\.<init>: it is made each time
Depot\$Import\.fieldsOf spends .* in String\.split: it compiles a pattern each time
Depot\$Stock\.boxedSum (allocates .* mostly java\.lang\.Long \(boxed|spends .* in Long\.valueOf|.* uses .* CPU time)
Depot\$Shelves\.find spends .* in HashMap\$TreeNode\.find.*: many keys have the same hash code
(Depot\$Sessions\.(begin|open)|the heap) may leak memory
Depot\$Carriers\.ask waits for a queue or pool that is empty \(Semaphore\.acquire\)'

while read -r version home in; do
    case $version in 17) ;; 8 | 21 | 25) [ -n "${FAULTS_LONG-}" ] || continue ;; *) continue ;; esac
    case " ${tested-} " in *" $version "*) continue ;; esac
    tested="${tested-} $version"
    faulty=$(screen "$home" "$in" '' 40 < /dev/null)
    while read -r fault; do
        matches "JDK $version: the first screen says: ${fault:0:40}" "$faulty" "^\* $fault"
    done <<< "$faults"
    is "JDK $version: it has eight lines at most" "$([ "$(grep -c . <<< "$faulty")" -le 8 ] || echo "$faulty")" ''
    mended=$(screen "$home" "$in" lock,exception,date,split,boxing,hash,leak,pool 20 < /dev/null)
    is "JDK $version: when they are mended there is none of them" \
        "$(grep -E "^\* ($(tr '\n' '|' <<< "$faults" | sed 's/|$//'))" <<< "$mended")" ''
done < <(all_jdks)

done_testing
