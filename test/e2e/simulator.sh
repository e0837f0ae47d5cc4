#!/bin/bash
# The simulator: fed with the addresses of a small program it counts what cachegrind counts of it; in QEMU it counts the
# same of the program itself.
. "$(dirname "$0")/../lib.sh"

[ "$(uname -m)" = x86_64 ] || skip_all "the small programs are written for x86-64"
has_valgrind=$(command -v valgrind)
has_qemu=$(command -v qemu-x86_64)

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

if [ -n "$has_valgrind" ]; then
    valgrind --tool=lackey --trace-mem=yes --log-file="$SCRATCH/trace" "$SCRATCH/small"
    is "lackey writes its addresses" $? 0
    compare usual 32768 8 32768 8 64 1048576 8 64
    compare javana 32768 4 32768 4 32 1048576 8 128
    compare tiny 1024 1 2048 2 32 16384 4 32
    compare one_set 4096 64 4096 64 64 65536 1 64
else
    skip "misses are cachegrind's" "valgrind is not installed; 'make deps' installs it"
fi

# ---- in QEMU ----

if [ -z "$has_qemu" ]; then
    skip "the plugin counts in QEMU" "qemu-user is not installed; 'make deps' installs it"
    done_testing
fi

# simulate PROGRAM: each thread's counts, a line each, in $SCRATCH/out.
simulate() {
    qemu-x86_64 -plugin "$build/libmmprof-sim.so,model=zen4,out=$SCRATCH/out" "$@" > "$SCRATCH/said" 2>&1
    is "$(basename "$1") runs in QEMU with the plugin" "$?, $(cat "$SCRATCH/said")" "0, "
}

# count NAME [LINE]: of the first thread, or another one.
count() {
    sed -n "${2:-1}p" "$SCRATCH/out" | grep -oE " $1 [0-9]+" | cut -d ' ' -f 3
}

simulate "$SCRATCH/small"
if [ -n "$has_valgrind" ]; then
    is "it executes as many instructions as in valgrind" "$(count instructions)" "$(grep -c '^I' "$SCRATCH/trace")"
    "$build/test/tools/sim_lackey" zen4 < "$SCRATCH/trace" > "$SCRATCH/counts"
    is "and has the misses of its addresses in valgrind" \
        "$(count l1i-misses) $(count l2-code-misses) $(count l1d-load-misses) $(count l1d-store-misses)" \
        "$(awk '$1 == "mmprof" { print $3, $5, $7, $9 }' "$SCRATCH/counts")"
fi

# 'border' is an instruction on the border of two pages: QEMU hands such a one over to the next block.
# A repeated string instruction is one, as in processors' counters, although QEMU makes a block of each iteration.
cat > "$SCRATCH/known.s" << 'END'
        .globl _start
        .text
        .balign 4096
_start: mov $1000, %ebx
again:  mov $100, %ecx
        lea from(%rip), %rsi
        lea to(%rip), %rdi
        rep movsb
        jmp border
        .org _start + 4094
border: mov $1, %eax
        dec %ebx
        jnz again
        mov $60, %eax
        xor %edi, %edi
        syscall
        .bss
from:   .space 128
to:     .space 128
END
holds "the counted program is built" gcc -static -nostdlib -no-pie -o "$SCRATCH/known" "$SCRATCH/known.s"
simulate "$SCRATCH/known"
is "the instructions are counted as by hand" "$(count instructions)" $((1 + 1000 * 8 + 3))
is "the loads are those of the string instruction" "$(count l1d-loads)" 100000
is "a branch that is taken 999 times of 1000 is mispredicted a few times" "$(($(count branch-misses) < 20))" 1

cat > "$SCRATCH/threads.c" << 'END'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static long walked[4][100000];

static void *walk(void *argument)
{
    long *array = argument;
    for (int round = 0; round < 20; round++)
        for (int i = 0; i < 100000; i++)
            array[i] += round;
    return NULL;
}

int main(void)
{
    pthread_t threads[4];
    if (fork() == 0) {
        walk(walked[0]);
        _exit(0);
    }
    wait(NULL);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, walk, walked[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
END
holds "the program with threads is built" gcc -O1 -o "$SCRATCH/threads" "$SCRATCH/threads.c" -lpthread
simulate "$SCRATCH/threads"
is "each of five threads has its counts, the forked child's are nobody's" "$(wc -l < "$SCRATCH/out"), \
$(($(count l1d-load-misses) < 5000))" "5, 1"
for line in 2 3 4 5; do
    misses=$(count l1d-load-misses $line)
    is "thread $line misses once a line of its array" "$((misses >= 20 * 12500 && misses < 20 * 12500 + 500))" 1
done

# A program for aarch64, whose emulator runs here as well.
if command -v qemu-aarch64 > "$SCRATCH/which" && command -v aarch64-linux-gnu-gcc > "$SCRATCH/which"; then
    cat > "$SCRATCH/known64.s" << 'END'
        .globl _start
_start: mov x1, #1000
        adr x2, here
again:  ldr x3, [x2]
        bl here
        subs x1, x1, #1
        b.ne again
        mov x0, #0
        mov x8, #93
        svc #0
here:   ret
END
    holds "the counted program for aarch64 is built" aarch64-linux-gnu-gcc -static -nostdlib -o "$SCRATCH/known64" \
        "$SCRATCH/known64.s"
    qemu-aarch64 -plugin "$build/libmmprof-sim.so,model=neoverse-n1,out=$SCRATCH/out" "$SCRATCH/known64"
    is "for aarch64, instructions are counted as by hand" "$(count instructions)" $((2 + 1000 * 5 + 3))
    is "and loads and branches" "$(count l1d-loads) $(count branches)" "1000 2000"
else
    skip "a program for aarch64 is counted" "qemu-aarch64 or gcc for aarch64 is not installed"
fi

done_testing
