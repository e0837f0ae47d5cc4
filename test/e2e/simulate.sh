#!/bin/bash
# mmprof record --simulate: loops whose misses are known, on a simulated processor; the same again; what is refused.
# timeout: 300
# long: yes
# beside: yes
. "$(dirname "$0")/../lib.sh"

jdk=$(first_jdk)
[ -n "$jdk" ] || skip_all "there is no JDK 17 or 25"

# refused WHAT NEXT ARGUMENT...: a recording ends with an error, and a next step.
refused() {
    local what=$1 next=$2
    shift 2
    "$mmprof" record -o "$SCRATCH/refused.dat" "$@" > "$SCRATCH/said" 2>&1
    is "refused: $what" "$?, $(grep -c "next: .*$next" "$SCRATCH/said")" "1, 1"
}

refused "a JVM that runs already" "mmprof record --simulate -- java" --simulate -p $$
refused "a live recording" "mmprof profile --simulate" --simulate --live -- "$jdk/bin/java" -version
refused "a way to read hardware counters" "remove them" --simulate --read syscall -- "$jdk/bin/java" -version
refused "a model that is not known" "mmprof list --models" --simulate=zen0 -- "$jdk/bin/java" -version
refused "a share of sets that there is not" "give 1/2, 1/4, 1/8" --simulate --sets=1/3 -- "$jdk/bin/java" -version
refused "a sample of sets without a simulation" "add --simulate" --sets -- "$jdk/bin/java" -version
refused "an event that is not simulated" "mmprof list --models" --simulate -e stalls -- "$jdk/bin/java" -version

machine=$(uname -m)
command -v "qemu-$machine" > "$SCRATCH/which" || {
    refused "a machine without the emulator" "apt-get install qemu-user" --simulate -- "$jdk/bin/java" -version
    skip "programs run simulated" "qemu-user is not installed; 'make deps' installs it"
    done_testing
}
refused "a command that starts no JVM" "give a command that starts a JVM" --simulate -- true

# record NAME [OPTION...]: one round of target.Walks, interpreted.
record() {
    local name=$1
    shift
    "$mmprof" record -q --simulate "$@" --min-bytecodes 0 --include target/Walks --exclude target/Walks.down \
        -o "$SCRATCH/$name.dat" -- \
        "$jdk/bin/java" -Xint -XX:+UseSerialGC -Xmx256m -cp "$classes" target.Walks > "$SCRATCH/$name.said" 2>&1
    is "$name: the program ends as it should: stack overflows and null pointers, too" \
        "$?, $(cat "$SCRATCH/$name.said")" "0, 0 10 500"
    "$mmprof" report --all --csv "$SCRATCH/$name.dat" > "$SCRATCH/$name.csv" 2> "$SCRATCH/errors"
}

# count NAME METHOD EVENT: of the method, in the CSV file.
count() {
    tr -d '\r' < "$SCRATCH/$1.csv" | awk -F , -v label="Walks.$2" -v key="simulated::$3" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == key) c = i; next }
        $2 == label { printf "%d\n", $c }'
}

# between CLAIM NUMBER LEAST MOST
between() {
    if [ -n "$2" ] && [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; then
        ok "$1: $2"
    else
        not_ok "$1" "is: $2" "expected: $3 to $4"
    fi
}

record first
between "an array of 131,072 lines, walked, misses L1 once a line" "$(count first walk L1-dcache-misses)" 131072 132400
between "and L2, which does not hold it" "$(count first walk L2-data-misses)" 131072 132400
between "and the TLBs once a page" "$(count first walk dTLB-misses)" 2040 2250
between "65,536 lines, jumped about in, miss 99 of 100 times (512 lines in L1)" \
    "$(count first jump L1-dcache-misses)" 64000 66200
between "and three times of four in L2 (16,384 lines), but for what walk left there" \
    "$(count first jump L2-data-misses)" 47000 66200
between "4 KB, read again and again, miss no more than their lines and some of the interpreter's" \
    "$(count first stay L1-dcache-misses)" 0 700
between "but execute instructions" "$(count first stay instructions)" 5000000 20000000

# 3.5 MB of records; an interpreted call writes to 20 pages of the stack (HotSpot looks whether they are there), which
# L1 does not hold at once, but L2 does.
between "20,000 calls with probes in them leave nothing in L2 of what the probes write" \
    "$(count first calls L2-data-misses)" 0 400

"$mmprof" report --notes "$SCRATCH/first.dat" > "$SCRATCH/table" 2>&1
matches "and are in no count: the table says how many they were" "$(cat "$SCRATCH/table")" \
    "mmprof's own code made [0-9.]+ % of all loads and stores"

# ---- windows ----

# estimate NAME METHOD EVENT: its rate and the interval's ends, as '1.47 1.46 1.49'.
estimate() {
    tr -d '\r' < "$SCRATCH/$1.csv" | awk -F , -v label="Walks.$2" -v key="simulated::$3_per_1000_instructions" '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
        NR > 1 && $2 == label { print $column[key], $column[key "_low"], $column[key "_high"] }'
}

refused "windows without a simulation" "add --simulate" --window -- "$jdk/bin/java" -version
refused "a window that does not fit" "a period of" --simulate --window=3M+3M/5M -- "$jdk/bin/java" -version
record windows --window=200K+200K/1M
one=$(count first walk instructions)
between "in windows, all instructions are counted as without" "$(count windows walk instructions)" \
    $((one - one / 100000)) $((one + one / 100000))
for event in L1-dcache-misses L2-data-misses; do
    read -r whole _ < <(estimate first walk $event)
    read -r rate low high < <(estimate windows walk $event)
    # A window's caches are as its warm-up leaves them: 5 % for that, which no interval has.
    is "walk: $event by windows are those of all instructions: $rate ($low to $high), $whole" \
        "$(awk -v w="$whole" -v l="$low" -v h="$high" 'BEGIN { print (h > l && w > l * 0.95 && w < h * 1.05) }')" 1
done
"$mmprof" report --notes "$SCRATCH/windows.dat" > "$SCRATCH/table" 2>&1
matches "the table says that rates are of samples" "$(cat "$SCRATCH/table")" \
    'other events only in windows .*200000\+200000/1000000'

# ---- another model, events by name; where it is said that all this is simulated ----

printf 'like javana\nl2.size 2M # twice\n' > "$SCRATCH/mine.model"
record mine "--simulate=$SCRATCH/mine.model" -e topdown,L1-load-misses,L2-load-misses
between "a model of one's own: twice as many lines of 32 bytes" "$(count mine walk L1-load-misses)" 262144 264800
between "and lines of 128 bytes in L2" "$(count mine walk L2-load-misses)" 65536 66300

# The parts of method $1's cycles in per cent: memory, front end, and all.
parts() {
    tr -d '\r' < "$SCRATCH/mine.csv" | awk -F , -v label="Walks.$1" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        $2 == label { back = $at["backend_bound_share"]; front = $at["frontend_bound_share"]
            all = back + front + $at["retiring_share"] + $at["bad_speculation_share"]
            error = back - $at["simulated::memory-cycles"] / $at["simulated::cycles"]
            printf "%.0f %.0f %.1f %s\n", 100 * back, 100 * front, 100 * all,
                error * error < 1e-10 && $at["core_bound_share"] == "" ? "exact" : "off by " error }'
}
for method in jump stay; do
    read -r memory front all exact < <(parts $method)
    is "$method: top-down parts are the costs' shares, and add up to 100 %" "$all $exact" "100.0 exact"
    between "$method: of code there are few misses: per cent" "$front" 0 5
    case $method in
    jump) between "jump waits for memory: per cent" "$memory" 15 99 ;;
    stay) between "stay does not" "$memory" 0 5 ;;
    esac
done

"$mmprof" report --notes "$SCRATCH/mine.dat" > "$SCRATCH/table" 2>&1
matches "the table says that it is simulated, and the model" "$(cat "$SCRATCH/table")" \
    '^machine  simulated: mine\.model$'
matches "and that times are the emulator's" "$(cat "$SCRATCH/table")" '^note: .*times are the emulator'
"$mmprof" report --json "$SCRATCH/mine.dat" > "$SCRATCH/json" 2>&1
matches "the JSON file does" "$(cat "$SCRATCH/json")" '"simulated":[[:space:]]*"mine\.model"'
matches "the CSV file does, in each event's name" "$(head -n 1 "$SCRATCH/mine.csv")" 'simulated::L1-load-misses'
"$mmprof" report --html "$SCRATCH/page.html" "$SCRATCH/mine.dat" > "$SCRATCH/said" 2>&1
matches "the page does" "$(grep -c '"simulated": *"mine.model"' "$SCRATCH/page.html")" '^[1-9]'

# ---- a script that starts JVMs, not from here and without our descriptors ----

cat > "$SCRATCH/script" << END
#!/bin/bash
cd / || exit 1
for fd in /proc/self/fd/*; do
    fd=\${fd##*/}
    if [ "\$fd" -gt 2 ] && [ "\$fd" -lt 250 ]; then eval "exec \$fd>&-"; fi
done
one() { "$jdk/bin/java" -XX:+UseSerialGC -Xmx256m -cp "$classes" "\$@"; }
one -Xint target.Walks "\$@" && one target.Walks && echo 'and more'
END
chmod +x "$SCRATCH/script"
"$mmprof" record -q --simulate --include target/Walks --exclude target/Walks.down --min-bytecodes 0 \
    -o "$SCRATCH/script.dat" -- "$SCRATCH/script" 1 > "$SCRATCH/said" 2> "$SCRATCH/errors"
is "a script runs to its end" "$?, $(paste -sd, "$SCRATCH/said")" "0, 0 10 500,0 10 500,and more"
"$mmprof" report --all --csv "$SCRATCH/script.dat" > "$SCRATCH/script.csv" 2> "$SCRATCH/errors"
"$mmprof" report --json "$SCRATCH/script.dat" > "$SCRATCH/json" 2>> "$SCRATCH/errors"
between "its first JVM is simulated, and no other: lines of an array walked once miss once" \
    "$(count script walk L1-dcache-misses)" 131072 140000
for method in walk jump stay; do
    one=$(count first $method instructions)
    between "$method: the same instructions as in the first recording" "$(count script $method instructions)" \
        $((one - one / 100000)) $((one + one / 100000))
    one=$(count first $method L1-dcache-misses)
    between "$method: about the same misses" "$(count script $method L1-dcache-misses)" $((one - one / 100 - 100)) \
        $((one + one / 100 + 100))
done
share=$(sed -nE 's/.*"accounted_share":[[:space:]]*([0-9.]+).*/\1/p' "$SCRATCH/json")
between "CPU time of its process, of which it is the second program, is accounted for, in percent" \
    "$(awk -v s="$share" 'BEGIN { printf "%d", s * 100 + 0.5 }')" 95 105

printf 'sleep 2\nexec "%s/bin/java" -cp "%s" target.Walks > "%s"\n' "$jdk" "$classes" "$SCRATCH/late" \
    > "$SCRATCH/script"
"$mmprof" record -q --simulate -o "$SCRATCH/killed.dat" -- sh "$SCRATCH/script" > "$SCRATCH/said" 2>&1 &
sleep 1
kill -9 $!
wait $! 2> "$SCRATCH/errors"
late() { [ -s "$SCRATCH/late" ]; }
wait_for 20 late
is "a JVM that starts when the recorder was killed goes on without" "$(cat "$SCRATCH/late")" "0 10 500"

# ---- how far it is ----

# told FILE TEXT: in what a terminal showed.
told() {
    tr '\r' '\n' < "$1" | grep -aoE -- "$2" | tail -n 1
}

# A started command's own terminal is left alone: its output goes to a file.
program="'$jdk/bin/java' -Xint -XX:+UseSerialGC -Xmx256m -cp '$classes' target.Walks"
script -qfec "'$mmprof' record --simulate --include 'target/*' -o '$SCRATCH/far.dat' -- $program > '$SCRATCH/said'" \
    "$SCRATCH/screen" > "$SCRATCH/output" 2>&1 < /dev/null
progress='[0-9.]+ s, [0-9.]+ G instructions, [0-9.]+ M in a second of CPU time, slowdown -, left -'
matches "progress has instructions, and no slowdown or end that nobody knows" "$(told "$SCRATCH/screen" "$progress")" G
matches "so has the summary" "$(told "$SCRATCH/screen" 'simulated [0-9.]+ G instructions, .*; slowdown -')" \
    'simulated 0*[1-9.]'
script -qfec "'$mmprof' record --simulate -d 1 --include 'target/*' -o '$SCRATCH/far.dat' -- $program \
    > '$SCRATCH/said'" "$SCRATCH/screen" > "$SCRATCH/output" 2>&1 < /dev/null
matches "with a duration, what is left of it" "$(told "$SCRATCH/screen" 'slowdown -, left [0-9.]+ s')" left
"$mmprof" profile --simulate -o "$SCRATCH/profile" -- "$jdk/bin/java" -Xint -XX:+UseSerialGC -Xmx256m -cp "$classes" \
    target.Walks > "$SCRATCH/said" 2> "$SCRATCH/errors"
matches "a profile knows how long it took without: it says the slowdown, and what is compared" \
    "$(grep -E '^mmprof: simulated ' "$SCRATCH/errors")" \
    'slowdown [0-9.]+x: [0-9.]+ s of CPU time; the first recording took [0-9.]+ s$'

done_testing
