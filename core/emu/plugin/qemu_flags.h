/*
 * Two translations of each block of instructions, a light one and a heavy one, between which a thread changes without
 * anything being thrown away: what plugins of QEMU 7.2 officially cannot have.
 *
 * QEMU finds a block's translation by the block's address and some of the processor's flags.  One of them, of x86-64,
 * is AC (bit 18 of EFLAGS: 'alignment check'), which QEMU's user mode does not otherwise heed: with it set, a program
 * does what it does without, and QEMU translates it once more.  So AC means here: the heavy translation.
 *
 * Where a thread's flags are, nobody tells a plugin.  The code that QEMU (7.2, on x86-64) makes has the address of its
 * struct CPUX86State in rbp when it calls a plugin, whose beginning, in all versions so far, is
 *
 *     0    rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15, 8 bytes each
 *     128  rip
 *     136  eflags; carry, sign and the like may be elsewhere at the time, AC is not
 *
 * That is believed when it was seen: at a system call, of which QEMU tells the plugin number and arguments, the
 * registers must have these, rip be behind a syscall instruction, and eflags what flags can be.  Nothing is written
 * before; where it never holds, there is one translation as before.
 *
 * Blocks that jump to each other directly do not ask for flags again: a thread that has changed them comes to its other
 * translations at the next indirect jump, call or return.  A loop without any is left as QEMU itself leaves one when
 * it wants a thread's attention: each block begins by testing whether a number just below the struct is negative,
 *
 *     8b 5d f8 / 85 db / 0f 8c rel32    mov -8(%rbp),%ebx; test %ebx,%ebx; jl out
 *     8b 7d b0                          mov -0x50(%rbp),%edi    the thread's number for the plugin
 *     48 be imm64 / e8 rel32            the call of the plugin
 *
 * of which QEMU sets the upper half to -1, and back to 0 on its way.  That it is so is seen, again, before it is used.
 *
 * The program can see AC (pushf, a signal's context), and set it (popf, sigreturn).  Neither does harm: who finds
 * himself in the wrong translation asks for the other one.  Old programs' test for a 486, which is whether AC can be
 * changed, has no indirect jump in it, before which nothing is changed.
 */
#ifndef CORE_EMU_PLUGIN_QEMU_FLAGS_H
#define CORE_EMU_PLUGIN_QEMU_FLAGS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define QEMU_FLAGS_RIP    128
#define QEMU_FLAGS_EFLAGS 136
#define QEMU_FLAGS_AC     (UINT64_C(1) << 18)

/* A thread's. */
struct qemu_flags {
    uint8_t *state;       /* QEMU's; NULL: not known */
    int32_t attention_at; /* of the number that a block tests, from there; 0: not known */
    bool is_seen;         /* it is the thread's state */
};

/* A system call, as QEMU tells a plugin of it. */
struct qemu_flags_call {
    int64_t number;
    uint64_t arguments[6];
};

/*
 * A callback NAME of QEMU's, to be registered for the execution of blocks, that hands on to
 *
 *     void TO(unsigned vcpu, void *context, void *state, const uint8_t *returns_to)
 *
 * what is in rbp, and where in QEMU's code it returns to; NULL where none of this is known.
 */
#define QEMU_FLAGS_HANDLER(to) \
    __attribute__((visibility("hidden"))) void to(unsigned vcpu, void *context, void *state, const uint8_t *returns_to)
#if defined(__x86_64__)
#define QEMU_FLAGS_CALLBACK(name, to)                                                            \
    QEMU_FLAGS_HANDLER(to);                                                                      \
    void name(unsigned vcpu, void *context);                                                     \
    __asm__(".text\n.type " #name ", @function\n.hidden " #name "\n.globl " #name "\n" #name ":" \
            "\n\tmov %rbp, %rdx\n\tmov (%rsp), %rcx\n\tjmp " #to "\n.size " #name ", . - " #name)
#else
#define QEMU_FLAGS_CALLBACK(name, to)        \
    QEMU_FLAGS_HANDLER(to);                  \
    void name(unsigned vcpu, void *context); \
    void name(unsigned vcpu, void *context)  \
    {                                        \
        to(vcpu, context, NULL, NULL);       \
    }                                        \
    void name(unsigned vcpu, void *context)
#endif

/* A thread begins, in a callback as above.  Nothing is written. */
void qemu_flags_begin(struct qemu_flags *flags, unsigned vcpu, void *state, const uint8_t *returns_to);

/* It makes a system call (a program for x86-64).  Returns whether its state is seen, from now on or already. */
bool qemu_flags_see(struct qemu_flags *flags, const struct qemu_flags_call *call);

/* Does the thread look for heavy translations?  false where the state is not seen. */
static inline bool qemu_flags_are_heavy(const struct qemu_flags *flags)
{
    uint64_t eflags = 0;
    if (flags->is_seen)
        memcpy(&eflags, flags->state + QEMU_FLAGS_EFLAGS, sizeof eflags);
    return (eflags & QEMU_FLAGS_AC) != 0;
}

/* From the next indirect jump on, it shall.  In a callback of the thread's own; where the state is not seen: nothing.
 */
void qemu_flags_choose(const struct qemu_flags *flags, bool is_heavy);

/* From the next block on, it shall look again: likewise. */
void qemu_flags_look_again(const struct qemu_flags *flags);

#endif
