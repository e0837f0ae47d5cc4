#!/bin/bash
# Virtual threads that wait, seen from outside: how many wait where, against a program that knows it; each JDK from 21
# on, collectors that move objects meanwhile, and JVMs that do not keep track of their virtual threads or have none.
# timeout: 600
# long: yes
. "$(dirname "$0")/../lib.sh"

newest=$(jdks | tail -n 1)
[ "$(jdk_version "$newest")" -ge 21 ] || skip_all "virtual threads need JDK 21 or later"
"$newest/bin/javac" --release 21 -d "$SCRATCH/classes" "$root/test/java/virtual/Parked.java" 2> "$SCRATCH/errors"
is "the program is compiled" "$?$(cat "$SCRATCH/errors")" 0

# begin THREADS HOW OPTIONS: starts it on the newest JDK, and waits until all of them wait.
begin() {
    local n=$1 how=$2
    shift 2
    start "$SCRATCH/out" "$newest/bin/java" -Xmx1500m "$@" -cp "$SCRATCH/classes" virtual.Parked "$n" ${how:+"$how"}
    wait_for 100 grep -q '^READY' "$SCRATCH/out"
}

# look SECONDS: samples it, and what is said of its virtual threads.
look() {
    "$mmprof" sample --wall -d "$1" -o "$SCRATCH/wall.dat" "$pid" > "$SCRATCH/wall" 2>&1
    "$mmprof" report --view waits --csv --all "$SCRATCH/wall.dat" > "$SCRATCH/waits.csv" 2> "$SCRATCH/errors"
}

# threads KIND: of the rows of a kind, in all.
threads() {
    awk -F '"?,"?' -v kind="^$1\$" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "threads") at = i }
        $1 ~ kind { gsub(/"[^"]*"/, "x"); split($0, c, ","); n += c[at] } END { printf "%d", n }' "$SCRATCH/waits.csv"
}

# places: how many sleep, take and lock, and where.
places() {
    grep -o '^virtual_[a-z]*,"[^"]*",Parked[.a-z]*,[A-Za-z.]*' "$SCRATCH/waits.csv" | sed 's/"[^"]*",//' | sort |
        tr '\n' ' '
    echo "$(threads virtual_sleep) $(threads virtual_park) $(threads virtual_lock)"
}

known='virtual_lock,Parked.locks,ReentrantLock.lock virtual_park,Parked.takes,LinkedBlockingQueue.take '
known+='virtual_sleep,Parked.sleeps,Thread.sleep'

# ---- 100,000 of them ----

begin 100000 ''
TIMEFORMAT='%U %S'
times=''
for _ in 1 2 3; do
    times+=$({ time "$mmprof" sample --wall -d 0.5 -o "$SCRATCH/wall.dat" "$pid" > "$SCRATCH/wall" 2>&1; } 2>&1)' '
done
"$mmprof" report --view waits --csv --all "$SCRATCH/wall.dat" > "$SCRATCH/waits.csv"
is "each of 100,000 is counted where it waits" "$(places)" "$known 50000 30000 20000"
holds "in less than a second of CPU time, at best of three times (user and system: $times)" awk -v t="$times" \
    'BEGIN { split(t, s); exit !(s[1] + s[2] < 1 || s[3] + s[4] < 1 || s[5] + s[6] < 1) }'
matches "'sample --wall' prints them" "$(cat "$SCRATCH/wall")" \
    'virtual, sleep +Parked.sleeps +Thread.sleep +[0-9.]+ s +50,000'
"$mmprof" report --view waits --json "$SCRATCH/wall.dat" > "$SCRATCH/json"
matches "JSON has them" "$(tr -d ' \n\t' < "$SCRATCH/json")" '"kind":"virtual_sleep".*"threads":50000'
"$mmprof" sample --wall -d 0.5 --html "$SCRATCH/page.html" "$pid" > "$SCRATCH/ignored" 2>&1
matches "a page has them" "$(grep -c 'virtual, sleep' "$SCRATCH/page.html")" '^[1-9]'
matches "the lock's class is told" "$(grep '^virtual_lock' "$SCRATCH/waits.csv")" 'ReentrantLock[$]NonfairSync'

# ---- a recording, which sees some of them ----

# about CLAIM ESTIMATE TRUTH: to a quarter, four standard deviations of 12 looks at 180 threads each.
about() {
    holds "$1 ($2 of $3)" awk -v a="$2" -v b="$3" 'BEGIN { exit !(a > 0.75 * b && a < 1.25 * b) }'
}

"$mmprof" profile -q -d 12 -o "$SCRATCH/profile" "$pid" > "$SCRATCH/profile.out" 2>&1
is "a profile of it is taken" $? 0
"$mmprof" report --view waits --csv --all "$SCRATCH/profile/phases.dat" > "$SCRATCH/waits.csv"
"$mmprof" report --html "$SCRATCH/page.html" "$SCRATCH/profile/phases.dat"
matches "its page has them" "$(grep -c '"virtual_threads":.*virtual, sleep' "$SCRATCH/page.html")" '^[1-9]'
about "it estimates how many sleep" "$(threads virtual_sleep)" 50000
about "how many take from a queue" "$(threads virtual_park)" 30000
about "how many want a lock" "$(threads virtual_lock)" 20000
matches "a note says that some were looked at" "$("$mmprof" report --view waits "$SCRATCH/profile/phases.dat")" \
    'virtual threads without a carrier are in no share: [0-9]+ on average, by [0-9]+ looks at all or some of them'
stop "$pid"

# ---- other ways to start them, and to collect ----

begin 2000 executor
look 0.5
is "those of an executor are counted" "$(places)" "$known 1000 600 400"
stop "$pid"
begin 2000 '' -Xcomp
look 0.5
is "all of it compiled" "$(places)" "$known 1000 600 400"
stop "$pid"

# moved CLAIM: none is there twice, or elsewhere; and those that could not be read are counted: means, each rounded.
moved() {
    local sleep park lock lost
    sleep=$(threads virtual_sleep) park=$(threads virtual_park) lock=$(threads virtual_lock)
    lost=$(threads virtual_other)
    holds "$1 ($sleep $park $lock, $lost not read)" awk -v s="$sleep" -v p="$park" -v l="$lock" -v o="$lost" \
        'BEGIN { n = s + p + l + o; exit !(s > 0 && s <= 5000 && p <= 3000 && l <= 2000 && n > 9996 && n < 10004) }'
}

for options in '-XX:+UseSerialGC' '-XX:+UseParallelGC' '-XX:+UseG1GC' '-XX:+UseG1GC -XX:-UseCompressedOops' \
    '-XX:+UseG1GC -XX:+UseCompactObjectHeaders'; do
    # shellcheck disable=SC2086  # options are words
    begin 10000 churn $options -Xmn64m
    look 0.5
    moved "while $options works"
    stop "$pid"
done
begin 2000 '' -XX:+UseZGC
look 0.5
is "ZGC's coloured pointers are read" "$(places)" "$known 1000 600 400"
stop "$pid"

# ---- where there are none, or none is known ----

begin 100 '' -Djdk.trackAllThreads=false
look 0.5
matches "a JVM that does not keep track of them says so" "$("$mmprof" report --view waits "$SCRATCH/wall.dat")" \
    'virtual threads were not looked at: the JVM does not keep track of them \(-Djdk.trackAllThreads=false\)'
stop "$pid"
begin 0 ''
look 0.5
is "without virtual threads there is no row" "$(threads 'virtual.*') $(grep -c 'virtual,' "$SCRATCH/wall")" "0 0"
stop "$pid"

# ---- each release ----

# begin_there VERSION: in a root of other JDKs, as releases.sh does it.
begin_there() {
    local inside
    inside=$(cd "${MMPROF_JDK_ROOT:-/nowhere}" 2> "$SCRATCH/ignored" &&
        find usr/lib/jvm -maxdepth 1 -name "java-$1-openjdk-*" -type d | head -n 1)
    [ -n "$inside" ] && unshare -m true 2> "$SCRATCH/ignored" || return 1
    folder=$(mktemp -d "$MMPROF_JDK_ROOT/tmp/mmprof-test.XXXXXX")
    cp -r "$SCRATCH"/classes/* "$folder"
    chmod 755 "$folder"
    # shellcheck disable=SC2016  # sh expands it
    start "$SCRATCH/out" unshare -m sh -c 'mount --bind /proc "$0/proc" && exec chroot "$0" "$@"' "$MMPROF_JDK_ROOT" \
        "/$inside/bin/java" -cp "${folder#"$MMPROF_JDK_ROOT"}" virtual.Parked 1000
    wait_for 100 grep -q '^READY' "$SCRATCH/out"
}

for version in 21 25 26 27 28; do
    if ! begin_there "$version"; then
        skip "JDK $version" "there is none; 'make jdks' gets it, and MMPROF_JDK_ROOT names its root"
        continue
    fi
    look 0.5
    is "JDK $version: all are counted" "$(places)" "$known 500 300 200"
    stop "$pid"
    rm -rf "$folder"
done
done_testing
