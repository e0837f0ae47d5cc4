#!/bin/bash
# The simulated caches, fed with the addresses of a small program, count what cachegrind counts of it.
. "$(dirname "$0")/../lib.sh"

[ "$(uname -m)" = x86_64 ] || skip_all "the small program is written for x86-64"
command -v valgrind > "$SCRATCH/which" || skip_all "valgrind is not installed; 'make deps' installs it"

# No libc: its start and end differ between valgrind's tools.  An array that is walked, a table that is jumped about in,
# accesses that cross lines, and more code than a small I1 has.
cat > "$SCRATCH/small.c" << 'END'
static int walked[20000];
static char table[1 << 20];

#define STEP(n) state = (state << 1 ^ state >> 3) * 2654435761u + n; table[state % sizeof table] += (char)n;
#define FOUR(n) STEP(n) STEP(n + 1) STEP(n + 2) STEP(n + 3)
#define MANY(n) FOUR(n) FOUR(n + 4) FOUR(n + 8) FOUR(n + 12) FOUR(n + 16) FOUR(n + 20) FOUR(n + 24) FOUR(n + 28)

__attribute__((used)) void begin(void)
{
    unsigned state = 1;
    long sum = 0;
    for (int i = 0; i < 20000; i++)
        walked[i] = i;
    for (int i = 0; i < 20000; i += 3)
        sum += walked[i];
    for (int i = 0; i < 40; i++) {
        MANY(1) MANY(33) MANY(65) MANY(97)
    }
    for (unsigned i = 0; i < 3000; i++) {
        state = state * 1664525u + 1013904223u;
        *(volatile long *)(table + state % (sizeof table - 8)) += sum;
    }
    __asm__ volatile("mov $60, %eax; xor %edi, %edi; syscall");
}
__asm__(".globl _start; _start: and $-16, %rsp; call begin");
END
holds "the small program is built" gcc -O1 -static -nostdlib -fno-pie -no-pie -fno-stack-protector -fno-builtin \
    -o "$SCRATCH/small" "$SCRATCH/small.c"

valgrind --tool=lackey --trace-mem=yes --log-file="$SCRATCH/trace" "$SCRATCH/small"
is "lackey writes its addresses" $? 0

# compare NAME SIZE1I WAYS1I SIZE1D WAYS1D LINE SIZE2 WAYS2 LINE2
compare() {
    local cg own both
    valgrind --tool=cachegrind --cache-sim=yes --I1="$2,$3,$6" --D1="$4,$5,$6" --LL="$7,$8,$9" \
        --cachegrind-out-file="$SCRATCH/cg" "$SCRATCH/small" > "$SCRATCH/said" 2>&1
    printf '%s\n' 'like zen4' 'l2.inclusion independent' "l1i.size $2" "l1i.ways $3" "l1i.line $6" "l1d.size $4" \
        "l1d.ways $5" "l1d.line $6" "l2.size $7" "l2.ways $8" "l2.line $9" > "$SCRATCH/$1.model"
    "$build/test/tools/sim_lackey" "$SCRATCH/$1.model" < "$SCRATCH/trace" > "$SCRATCH/counts"
    # events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw
    cg=$(awk '$1 == "summary:" { print "I1", $3, "LLi", $4, "D1r", $6, "D1w", $9, "LLdr", $7, "LLdw", $10 }' \
        "$SCRATCH/cg")
    is "$1: misses counted by cachegrind's rules are cachegrind's" \
        "$(sed -n 's/^cachegrind *//p' "$SCRATCH/counts")" "$cg"
    own=$(awk '$1 == "mmprof" { print $3, $7 + $9 }' "$SCRATCH/counts")
    both=$(awk '$1 == "cachegrind" { i = $3; d = $7 + $9 } $1 == "both" { print i + $3, d + $5 }' "$SCRATCH/counts")
    is "$1: mmprof's own count of L1 has one more for each access that crosses two lines that both miss" "$own" "$both"
    echo "# $(tail -n 1 "$SCRATCH/counts")"
}

compare usual 32768 8 32768 8 64 1048576 8 64
compare javana 32768 4 32768 4 32 1048576 8 128
compare tiny 1024 1 2048 2 32 16384 4 32
compare one_set 4096 64 4096 64 64 65536 1 64

done_testing
