#!/bin/bash
# Objects that only pass something on, in programs where they were planted; and live bytes of a program in phases.
# timeout: 300
# beside: yes
# long: yes
. "$(dirname "$0")/../lib.sh"

jdk=$(first_jdk)
[ -n "$jdk" ] || skip_all "there is no JDK 17 or 25"
[ "$(uname -m)" = x86_64 ] || skip_all "who uses an object last is known on x86-64 only"
command -v "qemu-$(uname -m)" > "$SCRATCH/which" || skip_all "qemu-user is not installed; 'make deps' installs it"

# record NAME ARGUMENT...: of target.ShortLived.
record() {
    local name=$1
    shift
    "$mmprof" memtrace -q --last-uses -o "$SCRATCH/$name.dat" -- \
        "$jdk/bin/java" -XX:+UseSerialGC -Xmn4m -cp "$classes" target.ShortLived "$@" > "$SCRATCH/said" 2>&1
    is "$name: the program ends as it should" "$?, $(wc -l < "$SCRATCH/said")" "0, 1"
    "$mmprof" memtrace --last-uses --csv "$SCRATCH/$name.dat" | tr -d '"\r' > "$SCRATCH/$name.csv"
}

# planted NAME CREATED USED COMMON: is it the first cluster?
planted() {
    matches "$1: what was planted is first" "$(sed -n 2p "$SCRATCH/$1.csv")" "^cluster,$2,[^,]*,$3,$4,"
}

for what in boxed iterator builder; do
    record $what $what
    record $what-fixed $what fixed
    before=$(awk -F , '$1 == "total" { print $7 }' "$SCRATCH/$what.csv")
    after=$(awk -F , '$1 == "total" { print $7 }' "$SCRATCH/$what-fixed.csv")
    is "$what: without them, a quarter of the bytes and more are not created" "$((4 * after < 3 * before))" 1
done
planted boxed 'Integer\.valueOf:[0-9]+' 'Integer\.intValue:[0-9]+' 'ShortLived\.sumPrices'
planted iterator 'ShortLived\$[A-Za-z]+\.iterator:[0-9]+' 'ShortLived\$Cells\.[a-zA-Z]+:[0-9]+' 'ShortLived\.countCells'
planted builder '[A-Za-z.$<>]+:[0-9]+' '[A-Za-z.$<>]+:[0-9]+' 'ShortLived\.measureTexts'

# All of it as a page.
"$mmprof" memtrace --html "$SCRATCH/page.html" "$SCRATCH/boxed.dat" > "$SCRATCH/said" 2>&1
is "a page is written, and nothing is printed" "$?, $(cat "$SCRATCH/said")" "0, "
is "it has all tables" "$(grep -oE '"id":"[a-z-]+"' "$SCRATCH/page.html" | xargs)" \
    "id:objects id:points id:live-bytes id:lifetimes"
python3 "$root/test/tools/browser.py" "$SCRATCH/page.html" > "$SCRATCH/said" 2>&1
case $? in
    2) skip "it has no error in a browser" "there is no Chromium; Debian's package is 'chromium'" ;;
    *) is "it has no error in a browser" "$(cat "$SCRATCH/said")" "" ;;
esac
"$mmprof" memtrace --html "$SCRATCH/none.html" --last-uses "$SCRATCH/boxed.dat" > "$SCRATCH/said" 2>&1
matches "one table and a page are two commands" "$? $(tr '\n' ' ' < "$SCRATCH/said")" \
    "^1 .*next: run 'mmprof memtrace' once for each"

done_testing
