#!/bin/bash
# mmprof memtrace: objects whose lives are known, before and after collections that move them; accesses that are counted
# by hand; a tool of one's own; what is refused.
# timeout: 300
# long: yes
# beside: yes
. "$(dirname "$0")/../lib.sh"

jdk=$(first_jdk)
[ -n "$jdk" ] || skip_all "there is no JDK 17 or 25"

# refused WHAT NEXT ARGUMENT...: it ends with an error, and a next step.
refused() {
    local what=$1 next=$2
    shift 2
    "$mmprof" memtrace "$@" > "$SCRATCH/said" 2>&1
    is "refused: $what" "$?, $(grep -c "next: .*$next" "$SCRATCH/said")" "1, 1"
}

echo "a text of some length" > "$SCRATCH/text"
refused "a file that is none" "memtrace -o FILE" "$SCRATCH/text"
refused "an option of recording without a command" "behind '--'" -o "$SCRATCH/x.dat"
refused "a trace and a command" "behind '--'" "$SCRATCH/text" -- "$jdk/bin/java" -version
refused "printing a command" "record first" --print -- "$jdk/bin/java" -version
refused "what a tool decides itself" "remove" --tool="$SCRATCH/text" --all-threads -- "$jdk/bin/java" -version
refused "a tool that is not there" "build it" --tool="$SCRATCH/none.so" -- "$jdk/bin/java" -version

command -v "qemu-$(uname -m)" > "$SCRATCH/which" || {
    refused "a machine without the emulator" "apt-get install qemu-user" -- "$jdk/bin/java" -version
    skip "programs are followed" "qemu-user is not installed; 'make deps' installs it"
    done_testing
}
refused "a program that starts no JVM" "starts a JVM" -q -o "$SCRATCH/x.dat" -- /bin/true

# record NAME OPTION JAVA OPTION...: objects of target.Follow, and what is printed of them, with classes' names.
record() {
    local name=$1 option=$2 java=$3
    shift 3
    "$mmprof" memtrace -q $option -o "$SCRATCH/$name.dat" -- \
        "$java" -Xint "$@" -Xmn8m -Xmx64m -cp "$classes" target.Follow > "$SCRATCH/said" 2>&1
    is "$name: the program ends as it should" "$?, $(cat "$SCRATCH/said")" "0, 2"
    "$mmprof" memtrace --print "$SCRATCH/$name.dat" > "$SCRATCH/$name.txt"
    is "$name: the trace is whole" $? 0
    # What became of an object, its class, its lifetime, uses, number.
    awk '$1 == "class" { class[$2] = $3 }
        $1 == "die" || $1 == "stay" {
            gsub(/,/, "")
            print $1, class[$5], $10, $12, $3
        }' "$SCRATCH/$name.txt" > "$SCRATCH/$name.lives"
}

# lives NAME CLASS: lines of the class' objects.
lives() {
    awk -v class="target/Follow\$$2" '$2 == class' "$SCRATCH/$1.lives"
}

check() {
    local name=$1
    is "$name: a thousand objects that were dropped are dead" \
        "$(lives "$name" Gone | awk '$1 == "die"' | wc -l), $(lives "$name" Gone | wc -l)" "1000, 1000"
    is "$name: all but the first were used as long as each other, and at once" \
        "$(lives "$name" Gone | sort -n -k 5 | awk 'NR > 1 && $3 < 400 && $4 > 1 { print $3, $4 }' | uniq -c |
            awk '{ print $1 }')" 999
    is "$name: a hundred that are kept are there" \
        "$(lives "$name" Kept | awk '$1 == "stay"' | wc -l), $(lives "$name" Kept | wc -l)" "100, 100"
    is "$name: their last use, behind two loops of 5000 elements and collections that moved them, is found" \
        "$(lives "$name" Kept | awk '$3 < 20000' | wc -l)" 0
    # Each was moved by the collections that the program asks for, or before.
    is "$name: all of them were moved" "$(awk '$1 == "class" { class[$2] = $3 }
        $1 == "create" && class[$6 + 0] == "target/Follow$Kept" { kept[$4] = 1 }
        $1 == "move" && ($3 in kept) { moved[$3] = 1 }
        END { n = 0; for (i in moved) n++; print n }' "$SCRATCH/$name.txt")" 100
    # In the second round all is resolved: each further loop of 5000 elements takes as long as the one before.
    lives "$name" Late | sort -n -k 5 | tail -n 4 > "$SCRATCH/late"
    is "$name: lifetimes grow with the loops before the last use, by the same for each, within 1 %" "$(awk '
        { life[NR] = $3 }
        END {
            step = life[2] - life[1]
            ok = NR == 4 && step >= 10000
            for (i = 3; i <= 4; i++) {
                off = life[i] - life[i - 1] - step
                ok = ok && (off < 0 ? -off : off) * 100 <= step
            }
            print ok ? "yes" : "no: " life[1] " " life[2] " " life[3] " " life[4]
        }' "$SCRATCH/late")" yes
}

record Serial '' "$jdk/bin/java" -XX:+UseSerialGC # accesses, too, which are looked at below
check Serial
record G1 --objects-only "$jdk/bin/java" -XX:+UseG1GC
check G1
latest=$(jdks | tail -n 1)
if [ "$latest" = "$jdk" ]; then
    skip "another JDK does the same" "there is only one"
else
    record latest --objects-only "$latest/bin/java" -XX:+UseParallelGC
    check latest
fi

# ---- lifetimes ----

# exactly NAME JAVA OPTION...: the lifetimes of target.Lives' latest objects: arrays of 1, 2, 3 elements, Box, Longer.
exactly() {
    local name=$1 java=$2
    shift 2
    "$mmprof" memtrace -q -o "$SCRATCH/$name.dat" -- "$java" "$@" -XX:+UseSerialGC -Xbatch -Xmx64m \
        -XX:CompileCommand=quiet -XX:CompileCommand=exclude,target.Lives::main -cp "$classes" target.Lives 600 \
        > "$SCRATCH/said" 2>&1
    "$mmprof" memtrace --print "$SCRATCH/$name.dat" | awk '{ gsub(/,/, "") }
        $1 == "method" { method[$2] = $3 }
        $1 == "location" { of[$2] = method[$4] }
        $1 == "class" { class[$2] = $3 }
        $1 == "create" && of[$NF] ~ /^target\/Lives\./ { known[$4] = 1 }
        ($1 == "die" || $1 == "stay") && $3 in known && $3 >= latest[class[$5]] {
            latest[class[$5]] = $3
            life[class[$5]] = $10
        }
        END { print life["[S"], life["[I"], life["[C"], life["target/Lives$Box"], life["target/Lives$Longer"] }'
}

# Interpreted, a use is as far from the use before as from the creation, and one access that pushes the array.
is "interpreted: a lifetime begins where the next bytecode is fetched" "$(exactly Int "$jdk/bin/java" -Xint |
    awk '{ print ($1 > 3), ($1 - 1 == $2 - $1), ($2 - $1 == $3 - $2) }')" "1 1 1"
is "in C1's code where the allocating stub returns" \
    "$(exactly C1 "$jdk/bin/java" -XX:TieredStopAtLevel=1 | cut -d ' ' -f 4-)" "19 35"
is "in C2's code, too" "$(exactly C2 "$latest/bin/java" -XX:-TieredCompilation -XX:CompileThreshold=200 |
    cut -d ' ' -f 4-)" "19 35"


"$mmprof" memtrace --lifetimes "$SCRATCH/G1.dat" > "$SCRATCH/table"
matches "by class: a thousand were used for less than 1024 accesses" "$(cat "$SCRATCH/table")" \
    '^target\.Follow\$Gone +1,000 +[0-9.]+ +0\.00 +0\.00 +[0-9.]+ +100\.00 +100\.00 +100\.00 '
"$mmprof" memtrace --lifetimes=site "$SCRATCH/G1.dat" --csv | tr -d '"\r' > "$SCRATCH/table"
matches "by the line that created them: a hundred" "$(cat "$SCRATCH/table")" '^site,target\.Follow\.keep:[0-9]+,100,'
"$mmprof" memtrace --lifetimes=distribution --csv "$SCRATCH/G1.dat" | tr -d '"\r' > "$SCRATCH/table"
is "a distribution adds up" "$(tail -n 1 "$SCRATCH/table" | cut -d , -f 5)" 1
is "and has all objects" "$(awk -F , '$1 == "length" { n += $3 } END { print n }' "$SCRATCH/table")" \
    "$(wc -l < "$SCRATCH/G1.lives" | tr -d ' ')"
refused "another way" "ask for --lifetimes=class" --lifetimes=size "$SCRATCH/G1.dat"

# ---- accesses ----

# The array is the first int[] that Follow's initializer creates; its elements begin behind 16 bytes.
awk '
    $1 == "class" { class[$2] = $3 }
    $1 == "method" { gsub(/,/, "", $3); method[$2] = $3 }
    $1 == "location" { gsub(/,/, "", $4); of[$2] = method[$4] }
    $1 == "create" && class[$6 + 0] == "[I" && of[$NF] ~ /^target\/Follow.<clinit>/ { array = $4 }
    $1 == "access" && $7 == "load" && $8 == 4 && $NF == array && / heap object / && $10 == "java" { n++ }
    END { print n + 0 }' "$SCRATCH/Serial.txt" > "$SCRATCH/loads"
# 12 loops of 5000 elements in two rounds, and two of 5000: 70,000, and each looks at the length, too.
is "each element that the loops read is a load of the array, and each check of its bounds" \
    "$(cat "$SCRATCH/loads")" 140000
"$mmprof" memtrace "$SCRATCH/Serial.dat" > "$SCRATCH/sums"
matches "the sums are told" "$(cat "$SCRATCH/sums")" '^objects +[0-9]+ created, moved [0-9]+ times, [0-9]+ died'
size=$(stat -c %s "$SCRATCH/Serial.dat")
n=$(sed -n 's/^trace .*: \([0-9]*\) accesses.*/\1/p' "$SCRATCH/sums")
is "an access takes at most two bytes" "$((size / n < 2))" 1

head -c $((size - 30)) "$SCRATCH/Serial.dat" > "$SCRATCH/cut.dat"
"$mmprof" memtrace "$SCRATCH/cut.dat" > "$SCRATCH/said" 2>&1
is "a trace that is cut is no whole one" "$?, $(grep -c '^  next: ' "$SCRATCH/said")" "1, 1"
{ head -c 5000 "$SCRATCH/Serial.dat" && printf 'xyz' && tail -c +5004 "$SCRATCH/Serial.dat"; } > "$SCRATCH/bad.dat"
"$mmprof" memtrace --print "$SCRATCH/bad.dat" > "$SCRATCH/said" 2>&1
is "neither is one that is damaged" "$?, $(grep -c 'is damaged at byte' "$SCRATCH/said")" "1, 1"

# ---- a tool ----

cat > "$SCRATCH/mine.c" << 'END'
#include <mmprof_tool.h>
static unsigned long n_accesses, n_created, n_lines;
static void on_access(const struct mmprof_access *a)
{
    n_accesses++;
    n_lines += a->location != NULL && a->location->line > 0;
}
static void on_created(struct mmprof_object *object)
{
    n_created += object->class_of->name[0] != 0;
}
static const char *on_begin(const char *argument)
{
    return argument[0] == 'x' ? "it does not want to" : NULL;
}
static void on_end(uint64_t time)
{
    fprintf(mmprof_out, "%d %d %d\n", n_accesses > time, n_created > 1100, n_lines > 100000);
}
MMPROF_TOOL(.want_locations = true, .begin = on_begin, .access = on_access, .object_created = on_created, .end = on_end)
END
holds "a tool is built" "${CC:-cc}" -shared -fPIC -O1 -I"$root/core/emu/tool" -o "$SCRATCH/mine.so" "$SCRATCH/mine.c"
printf 'cd /\n"%s/bin/java" "$@"\n' "$jdk" > "$SCRATCH/script"
(cd "$SCRATCH" && "$mmprof" memtrace --tool=./mine.so -o mine.txt -- \
    sh "$SCRATCH/script" -XX:+UseSerialGC -Xmx64m -cp "$classes" target.Follow > said 2>&1)
is "it runs with the JVM that a script starts, elsewhere" "$?, $(cat "$SCRATCH/mine.txt")" "0, 1 1 1"
"$mmprof" memtrace --tool="$SCRATCH/mine.so" -o "$SCRATCH/mine.txt" -- true > "$SCRATCH/said" 2>&1
is "a command without a JVM is an error" "$?, $(grep -c 'next: .*starts a JVM' "$SCRATCH/said")" "1, 1"
"$mmprof" memtrace --tool="$SCRATCH/mine.so,x" -o "$SCRATCH/mine.txt" -- "$jdk/bin/java" -version > "$SCRATCH/said" 2>&1
is "one that cannot begin says why" "$(grep -c 'the tool cannot begin.*it does not want to' "$SCRATCH/said")" 1

done_testing
