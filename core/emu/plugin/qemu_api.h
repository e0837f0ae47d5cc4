/*
 * The part of QEMU's interface for TCG plugins that libmmprof-sim.so uses, version 1 (QEMU 6.0 to 8.2), declared after
 * QEMU's documentation (docs/devel/tcg-plugins): Debian's packages have no header of it.  QEMU itself has the
 * functions.
 */
#ifndef CORE_EMU_PLUGIN_QEMU_API_H
#define CORE_EMU_PLUGIN_QEMU_API_H

#include "core/base/std.h"

#include <stdatomic.h>
#include <sys/uio.h>

#define QEMU_PLUGIN_VERSION 1

typedef uint64_t qemu_plugin_id_t;

struct qemu_plugin_info {
    const char *target_name; /* "x86_64" */
    struct {
        int min, cur;
    } version;
    bool system_emulation;
    struct {
        int smp_vcpus, max_vcpus;
    } system;
};

struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

typedef void qemu_plugin_vcpu_fn(qemu_plugin_id_t id, unsigned vcpu);
typedef void qemu_plugin_simple_fn(qemu_plugin_id_t id);
typedef void qemu_plugin_end_fn(qemu_plugin_id_t id, void *context);
typedef void qemu_plugin_translate_fn(qemu_plugin_id_t id, struct qemu_plugin_tb *block);
typedef void qemu_plugin_execute_fn(unsigned vcpu, void *context);
typedef void qemu_plugin_memory_fn(unsigned vcpu, uint32_t info, uint64_t address, void *context);
typedef void qemu_plugin_syscall_fn(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2,
                                    uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_fn *fn);
void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_fn *fn);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_translate_fn *fn);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, qemu_plugin_syscall_fn *fn);
void qemu_plugin_register_flush_cb(qemu_plugin_id_t id, qemu_plugin_simple_fn *fn);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_end_fn *fn, void *context);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, qemu_plugin_execute_fn *fn,
                                          enum qemu_plugin_cb_flags flags, void *context);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_memory_fn *fn,
                                      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw, void *context);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t i);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
unsigned qemu_plugin_mem_size_shift(uint32_t info);
bool qemu_plugin_mem_is_store(uint32_t info);

/*
 * Memory of QEMU's or of the program's that may not be there, by system call: a fault of ours would be taken for the
 * program's.  Any thread asks, at any time: what vm_get remembers of pages is for one at a time.
 */

/* Each returns whether all n bytes were there. */
static inline bool qemu_read(uint64_t at, void *to, size_t n)
{
    struct iovec here = { to, n }, there = { (void *)(uintptr_t)at, n };
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)n;
}

static inline bool qemu_write(uint64_t at, void *from, size_t n)
{
    struct iovec here = { from, n }, there = { (void *)(uintptr_t)at, n };
    return process_vm_writev(getpid(), &here, 1, &there, 1, 0) == (ssize_t)n;
}

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

/*
 * A list of callbacks that QEMU 7.2 frees while a thread still has it.
 *
 * QEMU's helper functions, which do what no code is made for, call back for an instruction's accesses by a list that
 * the thread has meanwhile: struct CPUState's plugin_mem_cbs.  Behind the instruction it is taken away, but not where
 * that ends its block by an indirect jump, call or return: then the list stays until that of another instruction
 * replaces it.  When there is no room for more translations, QEMU throws all of them away, and frees the lists.  The
 * next helper function that accesses memory then calls what is not there any more, or QEMU ends: 'plugins/core.c:
 * qemu_plugin_vcpu_mem_cb: code should not be reached'.  Seen with a javac of 145 files, whose code takes that much
 * room.  Later versions take the list away whenever a block is left.
 *
 * So when all has been thrown away, while all threads stand, it is taken away here.  Where it is, nobody tells a
 * plugin: it is looked for below the processor's state (see above, on x86-64), as a pointer
 * to a list that has a callback of this plugin's.  That is believed when it was seen; nothing is written before.
 */

/* The functions that the plugin registers for accesses, at most two; before all else. */
void qemu_stale_begin(const void *callback, const void *other);

/* Where the list is, from the state: below 0.  0: not known; above: it cannot be found. */
extern __attribute__((visibility("hidden"))) _Atomic int32_t qemu_stale_at;

void qemu_stale_search(const uint8_t *state);

/* In a callback for an access of a thread, whose state this is; NULL: not known. */
static inline void qemu_stale_look(const uint8_t *state)
{
    if (__builtin_expect(atomic_load_explicit(&qemu_stale_at, memory_order_relaxed) == 0, 0))
        qemu_stale_search(state);
}

/* In the callback for a flush: for each thread.  NULL: nothing. */
void qemu_stale_clear(uint8_t *state);

/* ---- What mmprof's plugins have in common (qemu_plugin.c) ---- */

#define QEMU_VCPUS_MAX 65536

/* What QEMU calls of a plugin. */
struct qemu_calls {
    const char *refusal;                                /* in front of why it cannot begin */
    int (*begin)(bool is_arm64, int argc, char **argv); /* returns 0, or -1 when it said why not */
    void (*thread_ends)(unsigned vcpu);                 /* or another one gets its number; below QEMU_VCPUS_MAX */
    void (*translate)(struct qemu_plugin_tb *block);
    void (*hear)(unsigned vcpu, const struct qemu_flags_call *call); /* before each system call */
    void (*flush)(void);                                             /* or NULL */
    void (*end)(void);
};

/* What QEMU calls of a plugin when it loads it: its qemu_install, with its calls, which stay. */
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_plugin_info *info,
                                                               int argc, char **argv);
int qemu_install(qemu_plugin_id_t id, const struct qemu_plugin_info *info, int argc, char **argv,
                 const struct qemu_calls *calls);

/* Say why it cannot begin.  Returns -1. */
int qemu_refuse(const char *why);

/* KEY=VALUE: what takes the value (as begin), or where a copy of it goes. */
struct qemu_argument {
    const char *key;
    int (*take)(const char *value);
    const char **text;
};

/* Take all arguments, in their order; usage: what it says of one that is not known.  Returns 0, or -1 as begin. */
int qemu_read_arguments(int argc, char **argv, const struct qemu_argument *known, size_t n, const char *usage);

/*
 * QEMU shall tell of all accesses in a block, each by the callback that is chosen for its instruction, and of the
 * block, so that the threads' states (above) are known, by QEMU's number; NULL: not yet, or it is gone.
 */
void qemu_watch_all(struct qemu_plugin_tb *tb, qemu_plugin_memory_fn *(*choose)(struct qemu_plugin_insn *insn));
extern __attribute__((visibility("hidden"))) void *qemu_states[QEMU_VCPUS_MAX];

#endif
