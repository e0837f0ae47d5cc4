#!/bin/bash
# The simulator: fed with the addresses of a small program it counts what cachegrind counts of it; in QEMU it counts the
# same of the program itself.
# beside: yes
# long: yes
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

# ---- a sample of the caches' sets ----

cat > "$SCRATCH/spread.c" << 'END'
#include <string.h>
static int numbers[1 << 20];
int main(void)
{
    unsigned long random = 1;
    for (int i = 0; i < 1 << 20; i += 3)
        numbers[i] += i;
    for (int i = 0; i < 200000; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        numbers[random >> 44] ^= (int)random;
    }
    memcpy((char *)numbers + 1, numbers + (1 << 19), 1 << 20);
    return 0;
}
END
holds "a program with many misses is built" gcc -O1 -static -o "$SCRATCH/spread" "$SCRATCH/spread.c"
for model in zen4 javana; do
    for sets in '' ,sets=1/1 ,sets=1/8; do
        qemu-x86_64 -plugin "$build/libmmprof-sim.so,model=$model$sets,out=$SCRATCH/sets-${sets#,sets=1/}" \
            "$SCRATCH/spread"
    done
    is "$model: a sample of all sets counts what is counted without" "$(cat "$SCRATCH/sets-1")" \
        "$(cat "$SCRATCH/sets-")"
    # Of 8 classes of sets, by their differences: 95 % are within 1 % here.
    is "$model: of an eighth of them misses are estimated, to 2 %; all else is counted" "$(
        cat "$SCRATCH/sets-" "$SCRATCH/sets-8" | awk '
            { for (i = 2; i < NF; i += 2) v[NR, $i] = $(i + 1) }
            function near(name) { d = v[2, name] / v[1, name] - 1; return d != 0 && d < 0.02 && d > -0.02 }
            function same(name) { return v[1, name] == v[2, name] }
            END { print near("l1d-load-misses"), near("l2-load-misses"), same("instructions"), same("l1d-loads"),
                same("l1d-stores"), same("dtlb-misses"), same("tlb2-hits"), same("branch-misses") }'
    )" "1 1 1 1 1 1 1 1"
done

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

# ---- in windows: light and heavy translations ----

# A loop without any jump but its own, behind a system call at which the plugin sees QEMU's flags.
cat > "$SCRATCH/tight.s" << 'END'
        .globl _start
_start: mov $39, %eax
        syscall
        mov $10000000, %ebx
again:  add %rbx, place(%rip)
        dec %ebx
        jnz again
        mov $60, %eax
        xor %edi, %edi
        syscall
        .bss
place:  .space 64
END
# The program's own use of the flag: it sets, reads and clears it; what it finds must be what it did.  Faults whose
# handler jumps elsewhere, so that flags come back from a signal; a child; threads.
cat > "$SCRATCH/flags.c" << 'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static volatile int n_faults;
static sigjmp_buf back;

static unsigned long read_flags(void)
{
    unsigned long flags;
    __asm__ volatile("pushfq; popq %0" : "=r"(flags));
    return flags;
}

static __attribute__((noinline)) int can_change(void)
{
    unsigned long before, after;
    __asm__ volatile("pushfq; popq %0; movq %0, %1; xorq $0x40000, %1; pushq %1; popfq; pushfq; popq %1; pushq %0;"
                     "popfq" : "=&r"(before), "=&r"(after));
    return ((before ^ after) & 0x40000) != 0;
}

static __attribute__((noinline)) void set_it(void)
{
    __asm__ volatile("pushfq; orq $0x40000, (%rsp); popfq");
}

static __attribute__((noinline)) void clear_it(void)
{
    __asm__ volatile("pushfq; andq $~0x40000, (%rsp); popfq");
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    if (++n_faults % 2)
        siglongjmp(back, 1);
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2; /* movb $1, (%rax) is 3 bytes, movl %ecx, (%rax) 2 */
}

static long compute(long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum = sum * 31 + (sum >> 7) + i;
    return sum;
}

static void *in_thread(void *argument)
{
    long sum = 0, n = (long)argument;
    for (long i = 0; i < 200; i++)
        sum += compute(n + i);
    return (void *)sum;
}

int main(void)
{
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER };
    char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t threads[3];
    volatile long sum = 0;
    int n_changed = 0, status = 0;
    sigaction(SIGSEGV, &action, NULL);
    for (volatile int i = 0; i < 3000; i++) {
        n_changed += can_change();
        if (i % 7 == 0)
            set_it();
        if (i % 11 == 0)
            clear_it();
        if (sigsetjmp(back, 0) == 0)
            __asm__ volatile("movl %%ecx, (%%rax)" : : "a"(page), "c"(i) : "memory");
        sum += compute(300);
    }
    if (fork() == 0)
        _exit((int)(compute(100000) & 0x7f));
    wait(&status);
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, in_thread, (void *)(1000 + i));
    for (int i = 0; i < 3; i++) {
        void *result;
        pthread_join(threads[i], &result);
        sum += (long)result;
    }
    printf("%ld %d %d %d %d\n", sum, n_changed, n_faults, WEXITSTATUS(status), (read_flags() & 2) != 0);
    return 0;
}
END
holds "the loop is built" gcc -static -nostdlib -no-pie -o "$SCRATCH/tight" "$SCRATCH/tight.s"
holds "the program with flags is built" gcc -O1 -o "$SCRATCH/flags" "$SCRATCH/flags.c" -lpthread

# windows SIZES PROGRAM: as simulate, with windows.
windows() {
    qemu-x86_64 -plugin "$build/libmmprof-sim.so,model=zen4,window=$1,out=$SCRATCH/out" "$2" > "$SCRATCH/said" 2>&1
    is "$(basename "$2") runs in windows" $? 0
}

# share N LINE: of the instructions of a thread are counted, in per cent, as 'yes' near N.
share() {
    awk -v n="$1" -v line="$2" 'NR == line {
        for (i = 2; i < NF; i += 2) v[$i] = $(i + 1)
        s = 100 * v["instructions"] / v["executed"]
        if (s > n * 0.8 && s < n * 1.2) print "yes"; else print s " %" }' "$SCRATCH/out"
}

windows 20K+20K/200K "$SCRATCH/tight"
is "in windows, all instructions are counted" "$(count executed)" $((3 + 3 * 10000000 + 3))
is "a loop that never jumps elsewhere has its windows" "$(share 10 1)" yes
if [[ $(qemu-x86_64 --version) == *'version 7.2.'* ]]; then
    is "QEMU 7.2's flags are seen: there are light blocks" "$(tail -n 1 "$SCRATCH/out")" "windows light"
else
    skip "there are light blocks" "$(qemu-x86_64 --version | head -n 1)"
fi
windows 20K+20K/200K "$SCRATCH/known"
is "an instruction that QEMU hands over is counted once" "$(count executed)" $((1 + 1000 * 8 + 3))

# Alone, a processor heeds the flag, and libc's accesses that are not aligned fault.
expected=$(qemu-x86_64 "$SCRATCH/flags")
windows 5K+5K/50K "$SCRATCH/flags"
is "a program that changes flags, faults, forks and has threads computes what it does in QEMU alone" \
    "$(cat "$SCRATCH/said")" "$expected"
matches "among it that a flag can be changed, each time" "$expected" '^-?[0-9]+ 3000 3000 '
is "its main thread and three others have their windows, and the child none" \
    "$(share 10 1) $(share 10 2) $(share 10 3) $(share 10 4) $(wc -l < "$SCRATCH/out")" "yes yes yes yes 5"

# ---- lists that QEMU frees too early (core/emu/plugin/qemu_api.h) ----

# Threads have such lists while their blocks are light; another one makes code until QEMU has no room for more of it.
# Without what is tested about half of such runs die (six of ten).
cat > "$SCRATCH/flush.c" << 'END'
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LOADS   500
#define ROUNDS  20000
#define THREADS 5

static atomic_int is_over;
static volatile int is_called;

static void called(void)
{
    is_called = 1;
}

static void (*const table[])(void) = { called };
static void (*const *volatile at)(void) = table;

/* Jumps that QEMU leaves a list behind, and loads by its helper functions. */
static void *in_thread(void *argument)
{
    static volatile long double number = 1;
    if (nice(19) < 0)
        return NULL;
    while (!atomic_load(&is_over)) {
        at[0]();
        number = number;
    }
    return argument;
}

int main(void)
{
    pthread_t threads[THREADS];
    long sum = 0;
    void *self = &self;
    unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < LOADS; i++)
        memcpy(code + 3 * i, "\x48\x8b\x3f", 3);      /* mov (%rdi),%rdi */
    memcpy(code + 3 * LOADS, "\xb8\0\0\0\0\xc3", 6);  /* mov $0,%eax; ret */
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, in_thread, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        const int odd = i & 1;
        memcpy(code + 3 * LOADS + 1, &odd, sizeof odd);
        sum += ((int (*)(void *))(void *)code)(self);
    }
    atomic_store(&is_over, 1);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%ld %d\n", sum, is_called);
    return 0;
}
END
if [[ $(qemu-x86_64 --version) == *'version 7.2.'* ]]; then
    holds "the program that fills QEMU's room is built" gcc -O1 -o "$SCRATCH/flush" "$SCRATCH/flush.c" -lpthread
    G_SLICE=always-malloc MALLOC_PERTURB_=85 windows 5K+5K/20K "$SCRATCH/flush"
    is "it computes what it does alone, though QEMU frees what its threads have" "$(cat "$SCRATCH/said")" "10000 1"
else
    skip "QEMU's freed lists are not called" "$(qemu-x86_64 --version | head -n 1)"
fi

# ---- loads and stores that are foreseen ----

# check NAME COMMAND: all of them are those that QEMU tells of, but those behind a fault in its block: hardly any.
check() {
    local name=$1
    shift
    qemu-x86_64 -plugin "$build/test/emu/libmmprof-sim.so,model=zen4,check=foreseen,out=$SCRATCH/out" "$@" \
        > "$SCRATCH/said" 2>&1
    is "$name runs while what is foreseen is checked" $? 0
    is "$name: some are foreseen, none differs, hardly any is left out" "$(awk '$1 == "foreseen" {
        print ($3 > 1000), $5, ($7 <= 4000 + $3 / 1000) }' "$SCRATCH/out")" "1 0 1"
    echo "# $(grep -v '^thread' "$SCRATCH/out" | tr '\n' ';')"
}

# Records of 50 bytes in a line or two, on a page or two, in no order, some of them in more than one block.
cat > "$SCRATCH/odd.c" << 'END'
static struct __attribute__((packed)) record { char c; long a, b, d, e, f; short g, h, i, k; char l; } records[20000];

__attribute__((noinline)) static long use(struct record *one, unsigned i, long sum)
{
    sum += one->c + one->l + one->g;
    if (i % 3 != 0)
        one->a += one->b;
    if (i % 5 != 0)
        one->d = one->e + one->f;
    if (i % 7 == 0)
        one->k = one->h, one->i = (short)sum;
    return sum;
}

__attribute__((used)) void begin(void)
{
    long sum = 0, ignored;
    __asm__ volatile("syscall" : "=a"(ignored) : "0"(39) : "rcx", "r11", "memory"); /* getpid */
    for (unsigned i = 0, state = 1; i < 200000; i++, state = state * 1664525u + 1013904223u)
        sum = use(&records[state / 16 % (i % 2 == 0 ? 200 : 20000)], i, sum);
    __asm__ volatile("mov $60, %eax; xor %edi, %edi; syscall");
}
__asm__(".globl _start; _start: and $-16, %rsp; call begin");
END
holds "the program of odd records is built" gcc -O1 -static -nostdlib -fno-pie -no-pie -fno-stack-protector \
    -fno-builtin -o "$SCRATCH/odd" "$SCRATCH/odd.c"

if [[ $(qemu-x86_64 --version) == *'version 7.2.'* ]]; then
    check "odd records" "$SCRATCH/odd"
    qemu-x86_64 -plugin "$build/libmmprof-sim.so,model=zen4,out=$SCRATCH/groups" "$SCRATCH/odd"
    is "odd records: done in groups, they count what they count one by one" \
        "$(cat "$SCRATCH/groups")" "$(grep '^thread' "$SCRATCH/out")"
    check "a program with threads" "$SCRATCH/threads"
    check "a program with faults" "$SCRATCH/flags"
    jdk=$(first_jdk)
    if [ -n "$jdk" ]; then
        java=("$jdk/bin/java" -XX:+UseSerialGC -Xmx256m -cp "$classes")
        check "an interpreted program" "${java[@]}" -Xint micro.Locality 300 200
        check "one that C1 and C2 compile" "${java[@]}" micro.Locality 2000 1000
        check "exceptions" "${java[@]}" micro.Exceptions 1000
        check "recursion" "${java[@]}" micro.Recursion 10
    else
        skip "JVMs are checked" "no JDK"
    fi
else
    skip "what is foreseen is checked" "$(qemu-x86_64 --version | head -n 1)"
fi

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
