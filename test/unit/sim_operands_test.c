#include "core/emu/model/sim_foreseen.h"

#include "test/unit/tap.h"

#include <inttypes.h>
#include <stdio.h>

#define AT 0x1000 /* where the instruction is */

/* As text: 'load 8 [3+5*4+16]; store 8 [4-8]; writes 10; 4 = 4-8', registers by their numbers, those written as hex. */
static void print_operands(const struct sim_operands *o, char *text, size_t n)
{
    size_t used = 0;
    text[0] = '\0';
    if (!o->is_known)
        used += (size_t)snprintf(text, n, "not known; ");
    for (uint32_t i = 0; i < o->n_accesses; i++) {
        const struct sim_operand *one = &o->accesses[i];
        used += (size_t)snprintf(text + used, n - used, "%s %u [", one->is_store ? "store" : "load", one->n_bytes);
        if (one->addressing.base != SIM_NO_REGISTER)
            used += (size_t)snprintf(text + used, n - used, "%u", one->addressing.base);
        if (one->addressing.index != SIM_NO_REGISTER)
            used +=
                (size_t)snprintf(text + used, n - used, "+%u*%u", one->addressing.index, 1u << one->addressing.shift);
        used += (size_t)snprintf(text + used, n - used, "%+" PRId64 "]; ", one->addressing.offset);
    }
    used += (size_t)snprintf(text + used, n - used, "writes %x", (unsigned)o->written);
    if (o->to != SIM_NO_REGISTER && o->from != SIM_NO_REGISTER)
        snprintf(text + used, n - used, "; %u = %u%+" PRId64, o->to, o->from, o->plus);
    else if (o->to != SIM_NO_REGISTER)
        snprintf(text + used, n - used, "; %u = %+" PRId64, o->to, o->plus);
}

struct row {
    const char *claim;
    uint8_t bytes[16];
    size_t n;
    const char *operands;
};

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct sim_operands operands;
        char text[300];
        sim_operands_x86(rows[i].bytes, rows[i].n, AT, &operands);
        print_operands(&operands, text, sizeof text);
        CHECK_TEXT(rows[i].claim, text, rows[i].operands);
    }
}

static void test_places(void)
{
    static const struct row rows[] = {
        { "mov (%rax), %ecx", { 0x8b, 0x08 }, 2, "load 4 [0+0]; writes 2" },
        { "mov 16(%rbx,%rbp,4), %rax", { 0x48, 0x8b, 0x44, 0xab, 0x10 }, 5, "load 8 [3+5*4+16]; writes 1" },
        { "mov %ax, -8(%r12)", { 0x66, 0x41, 0x89, 0x44, 0x24, 0xf8 }, 6, "store 2 [12-8]; writes 0" },
        { "mov %r9d, (%r13)", { 0x45, 0x89, 0x4d, 0x00 }, 4, "store 4 [13+0]; writes 0" },
        { "mov %al, 0x100(%rsp,%r12)", { 0x42, 0x88, 0x84, 0x24, 0, 1, 0, 0 }, 8, "store 1 [4+12*1+256]; writes 0" },
        { "mov 8(,%rcx,8), %eax", { 0x8b, 0x04, 0xcd, 8, 0, 0, 0 }, 7, "load 4 [+1*8+8]; writes 1" },
        { "mov 16(%rip), %eax: from behind it", { 0x8b, 0x05, 0x10, 0, 0, 0 }, 6, "load 4 [+4118]; writes 1" },
        { "cmpl $1, 16(%rip), likewise", { 0x83, 0x3d, 0x10, 0, 0, 0, 1 }, 7, "load 4 [+4119]; writes 0" },
        { "mov %fs:0, %rax is not known, but what it writes is",
          { 0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0 },
          9,
          "not known; writes 1" },
        { "mov (%eax), %ecx likewise", { 0x67, 0x8b, 0x08 }, 3, "not known; writes 2" },
    };
    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void test_general(void)
{
    static const struct row rows[] = {
        { "add %eax, (%rdx) loads and stores", { 0x01, 0x02 }, 2, "load 4 [2+0]; store 4 [2+0]; writes 0" },
        { "cmp %eax, (%rdx) loads", { 0x39, 0x02 }, 2, "load 4 [2+0]; writes 0" },
        { "add %ecx, %edx has none", { 0x01, 0xca }, 2, "writes 4" },
        { "test %eax, (%r10)", { 0x41, 0x85, 0x02 }, 3, "load 4 [10+0]; writes 0" },
        { "movzbl (%rsi), %ebx", { 0x0f, 0xb6, 0x1e }, 3, "load 1 [6+0]; writes 8" },
        { "movslq (%rsi), %r8", { 0x4c, 0x63, 0x06 }, 3, "load 4 [6+0]; writes 100" },
        { "cmovne 8(%rdi), %eax", { 0x0f, 0x45, 0x47, 8 }, 4, "load 4 [7+8]; writes 1" },
        { "sete (%rdi)", { 0x0f, 0x94, 0x07 }, 3, "store 1 [7+0]; writes 0" },
        { "mov $1, %ah writes rax, and rsp for all that it knows", { 0xb4, 1 }, 2, "writes 11" },
        { "divq (%rcx)", { 0x48, 0xf7, 0x31 }, 3, "load 8 [1+0]; writes 5" },
        { "testb $1, (%rcx)", { 0xf6, 0x01, 1 }, 3, "load 1 [1+0]; writes 0" },
        { "negl (%rcx)", { 0xf7, 0x19 }, 2, "load 4 [1+0]; store 4 [1+0]; writes 0" },
        { "incl (%rcx)", { 0xff, 0x01 }, 2, "load 4 [1+0]; store 4 [1+0]; writes 0" },
        { "bt $3, (%rcx)", { 0x0f, 0xba, 0x21, 3 }, 4, "load 4 [1+0]; writes 0" },
        { "popcnt (%rcx), %eax", { 0xf3, 0x0f, 0xb8, 0x01 }, 4, "load 4 [1+0]; writes 1" },
        { "lock incl (%rcx) is not known", { 0xf0, 0xff, 0x01 }, 3, "not known; writes 0" },
        { "lock cmpxchg %ecx, (%rdx) neither; it writes rax", { 0xf0, 0x0f, 0xb1, 0x0a }, 4, "not known; writes 1" },
        { "xchg %eax, (%rdx) neither", { 0x87, 0x02 }, 2, "not known; writes 1" },
        { "rep movsb neither", { 0xf3, 0xa4 }, 2, "not known; writes ffff" },
        { "cpuid neither", { 0x0f, 0xa2 }, 2, "not known; writes ffff" },
        { "nopw 0(%rax,%rax) has none", { 0x66, 0x0f, 0x1f, 0x44, 0, 0 }, 6, "writes 0" },
        { "a cut instruction is not known", { 0x8b, 0x84 }, 2, "not known; writes ffff" },
        { "nothing is not known", { 0 }, 0, "not known; writes ffff" },
    };
    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void test_followed(void)
{
    static const struct row rows[] = {
        { "push %rbp", { 0x55 }, 1, "store 8 [4-8]; writes 10; 4 = 4-8" },
        { "pop %r12", { 0x41, 0x5c }, 2, "load 8 [4+0]; writes 1010; 4 = 4+8" },
        { "pop %rsp leaves nothing known", { 0x5c }, 1, "load 8 [4+0]; writes 10" },
        { "push $3", { 0x6a, 3 }, 2, "store 8 [4-8]; writes 10; 4 = 4-8" },
        { "push 8(%rax)", { 0xff, 0x70, 8 }, 3, "load 8 [0+8]; store 8 [4-8]; writes 10; 4 = 4-8" },
        { "call rel32", { 0xe8, 0, 0, 0, 0 }, 5, "store 8 [4-8]; writes 10; 4 = 4-8" },
        { "call *16(%rax)", { 0xff, 0x50, 16 }, 3, "load 8 [0+16]; store 8 [4-8]; writes 10; 4 = 4-8" },
        { "jmp *(%rax)", { 0xff, 0x20 }, 2, "load 8 [0+0]; writes 0" },
        { "ret", { 0xc3 }, 1, "load 8 [4+0]; writes 10; 4 = 4+8" },
        { "leave", { 0xc9 }, 1, "load 8 [5+0]; writes 30; 4 = 5+8" },
        { "sub $32, %rsp", { 0x48, 0x83, 0xec, 0x20 }, 4, "writes 10; 4 = 4-32" },
        { "add $0x100, %r9", { 0x49, 0x81, 0xc1, 0, 1, 0, 0 }, 7, "writes 200; 9 = 9+256" },
        { "add $1, %eax is not followed", { 0x83, 0xc0, 1 }, 3, "writes 1" },
        { "inc %rax", { 0x48, 0xff, 0xc0 }, 3, "writes 1; 0 = 0+1" },
        { "mov %rsp, %rbp", { 0x48, 0x89, 0xe5 }, 3, "writes 20; 5 = 4+0" },
        { "mov %esp, %ebp is not followed", { 0x89, 0xe5 }, 2, "writes 20" },
        { "mov $-1, %rax", { 0x48, 0xc7, 0xc0, 0xff, 0xff, 0xff, 0xff }, 7, "writes 1; 0 = -1" },
        { "movabs $0x100, %r10", { 0x49, 0xba, 0, 1, 0, 0, 0, 0, 0, 0 }, 10, "writes 400; 10 = +256" },
        { "lea -8(%rcx), %rdx", { 0x48, 0x8d, 0x51, 0xf8 }, 4, "writes 4; 2 = 1-8" },
        { "lea (%rcx,%rax), %rdx is not followed", { 0x48, 0x8d, 0x14, 0x01 }, 4, "writes 4" },
    };
    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void test_vectors(void)
{
    static const struct row rows[] = {
        { "movsd (%rax), %xmm0", { 0xf2, 0x0f, 0x10, 0 }, 4, "load 8 [0+0]; writes 0" },
        { "movss %xmm0, (%rax)", { 0xf3, 0x0f, 0x11, 0 }, 4, "store 4 [0+0]; writes 0" },
        { "movdqu (%rax), %xmm0: 8 bytes twice", { 0xf3, 0x0f, 0x6f, 0 }, 4, "load 8 [0+0]; load 8 [0+8]; writes 0" },
        { "movq (%rax), %xmm0 loads", { 0xf3, 0x0f, 0x7e, 0 }, 4, "load 8 [0+0]; writes 0" },
        { "movd %xmm0, %eax", { 0x66, 0x0f, 0x7e, 0xc0 }, 4, "writes 1" },
        { "cvttsd2si (%rax), %ecx", { 0xf2, 0x0f, 0x2c, 0x08 }, 4, "load 8 [0+0]; writes 2" },
        { "vmovdqu %ymm0, (%rcx): 8 bytes four times",
          { 0xc5, 0xfe, 0x7f, 0x01 },
          4,
          "store 8 [1+0]; store 8 [1+8]; store 8 [1+16]; store 8 [1+24]; writes 0" },
        { "vmovsd (%r8), %xmm1", { 0xc4, 0xc1, 0x7b, 0x10, 0x08 }, 5, "load 8 [8+0]; writes 0" },
        { "a gather is not known, but writes no general register",
          { 0xc4, 0xe2, 0x75, 0x90, 0x04, 0x02 },
          6,
          "not known; writes 0" },
        { "shlx is not known", { 0xc4, 0xe2, 0x71, 0xf7, 0xc2 }, 5, "not known; writes ffff" },
        { "EVEX is not known", { 0x62, 0xf1, 0x7c, 0x48, 0x10, 0x00 }, 6, "not known; writes ffff" },
        { "flds (%rax) is not known", { 0xd9, 0x00 }, 2, "not known; writes 1" },
    };
    check_rows(rows, sizeof rows / sizeof rows[0]);
}

int main(void)
{
    test_places();
    test_general();
    test_followed();
    test_vectors();
    return tap_done();
}
