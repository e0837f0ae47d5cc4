/* Frames of native code: from an instruction to the callers, through a signal handler too, by call frame information.
 */
#include "core/hotspot/stack_walk_internal.h"
#include "core/hotspot/vm_state.h"
#include "core/jvm/elf_file.h"

#include "test/unit/tap.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define CALLS_MAX 64

struct state {
    uint64_t pc, sp, fp;
};

static struct {
    uint64_t calls[CALLS_MAX]; /* where each function goes on, the innermost first */
    int n, n_signals;
    enum native_kind end;
} found;

static struct vm vm;
static struct native_frames *native;

static uint64_t word(uint64_t address)
{
    uint64_t value;
    memcpy(&value, (const void *)(uintptr_t)address, sizeof value);
    return value;
}

static uint64_t address_of(const struct native_location *location, const struct state *state, uint64_t cfa)
{
    uint64_t address = location->base == NATIVE_SP ? state->sp : location->base == NATIVE_FP ? state->fp : cfa;
    address += (uint64_t)location->offset;
    return location->is_behind_word ? word(address) : address;
}

static void unwind(struct state state)
{
    bool is_exact = true;
    memset(&found, 0, sizeof found);
    while (found.n < CALLS_MAX) {
        const struct native_rule *rule = native_frames_at(native, is_exact ? state.pc : state.pc - 1);
        found.end = rule->kind;
        found.calls[found.n++] = state.pc;
        if (rule->kind <= NATIVE_OUTERMOST || rule->is_linked)
            return;
        found.n_signals += rule->kind == NATIVE_SIGNAL;
        is_exact = rule->kind == NATIVE_SIGNAL;
        uint64_t cfa = address_of(&rule->cfa, &state, 0);
        state.pc = word(address_of(&rule->return_to, &state, cfa));
        state.fp = rule->has_fp ? word(address_of(&rule->fp, &state, cfa)) : state.fp;
        state.sp = cfa;
    }
}

static struct state state_of(const ucontext_t *context)
{
#ifdef __x86_64__
    const greg_t *r = context->uc_mcontext.gregs;
    return (struct state){ (uint64_t)r[REG_RIP], (uint64_t)r[REG_RSP], (uint64_t)r[REG_RBP] };
#else
    return (struct state){ context->uc_mcontext.pc, context->uc_mcontext.sp, context->uc_mcontext.regs[29] };
#endif
}

static void here(void)
{
    ucontext_t context;
    /* cppcheck-suppress getcontextCalled; there is no other way to have one's own registers */
    getcontext(&context);
    unwind(state_of(&context));
}

/* On aarch64 the kernel describes a handler's caller like any other: where it was called, not where interrupted. */
#ifdef __aarch64__
#define SIGNALS_TOLD 0
#else
#define SIGNALS_TOLD 1
#endif

static void on_signal(int number)
{
    (void)number;
    here();
}

static int compare(const void *a, const void *b)
{
    here();
    return *(const int *)a - *(const int *)b;
}

static bool has_call(const void *function, size_t n)
{
    for (int i = 0; i < found.n; i++)
        if (found.calls[i] - (uint64_t)(uintptr_t)function < n)
            return true;
    return false;
}

/* ---- the parts that are read of a library say what all of it does ---- */

#define PLACES 2000u

struct compared {
    const Dl_info *library;
    uint32_t n, n_known, n_different;
};

/* The whole file has the CFA at such an offset from a register there. */
static bool is_same(Dwarf_CFI *whole, uint64_t at, const struct native_rule *rule, bool *is_known)
{
    Dwarf_Frame *frame = NULL;
    Dwarf_Op *ops;
    size_t n = 0;
    *is_known = dwarf_cfi_addrframe(whole, at, &frame) == 0 && dwarf_frame_cfa(frame, &ops, &n) == 0 && n == 1 &&
                (ops[0].atom == DW_OP_bregx || ops[0].atom <= DW_OP_breg31);
    bool is_alike =
        *is_known ? rule->kind != NATIVE_UNKNOWN &&
                        (uint64_t)rule->cfa.offset == (ops[0].atom == DW_OP_bregx ? ops[0].number2 : ops[0].number)
                  : frame != NULL || rule->kind == NATIVE_UNKNOWN;
    free(frame);
    return is_alike;
}

static int compare_library(struct dl_phdr_info *its, size_t n_bytes, void *context)
{
    struct compared *c = context;
    (void)n_bytes;
    if (its->dlpi_addr != (uintptr_t)c->library->dli_fbase)
        return 0;
    struct elf_file file;
    if (elf_file_open(&file, open(c->library->dli_fname, O_RDONLY | O_CLOEXEC)) < 0)
        return -1;
    Dwarf_CFI *whole = dwarf_getcfi_elf(file.elf);
    for (int i = 0; i < its->dlpi_phnum; i++)
        for (uint64_t k = 0; (its->dlpi_phdr[i].p_flags & PF_X) != 0 && k < PLACES; k++) {
            uint64_t at = its->dlpi_phdr[i].p_vaddr + its->dlpi_phdr[i].p_memsz / PLACES * k;
            bool is_known;
            c->n_different += !is_same(whole, at, native_frames_at(native, its->dlpi_addr + at), &is_known);
            c->n_known += is_known;
            c->n++;
        }
    dwarf_cfi_end(whole);
    elf_file_close(&file);
    return 1;
}

static void test_parts(void)
{
    Dl_info library;
    struct compared c = { .library = &library };
    const void *function = (const void *)(uintptr_t)qsort;
    CHECK("libc is a file", dladdr(function, &library) != 0 && dl_iterate_phdr(compare_library, &c) == 1);
    CHECK_NUMBER("2,000 places of it have a rule as the whole file says", c.n_different, 0);
    CHECK("most of them have one", c.n >= PLACES && c.n_known > c.n / 2);
}

int main(void)
{
    static int numbers[2] = { 2, 1 };
    vm_init(&vm, &(struct vm_library){ .pid = getpid() });
    native = native_frames_open(&vm);
    native_frames_round(native);
    qsort(numbers, 2, sizeof *numbers, compare);
    CHECK("through a function of libc", found.n >= 5 && has_call((const void *)(uintptr_t)compare, 64));
    CHECK("to the caller of that", has_call((const void *)(uintptr_t)main, 2048));
    CHECK_NUMBER("and to the outermost one", found.end, NATIVE_OUTERMOST);
    CHECK_NUMBER("none was called by the kernel", found.n_signals, 0);
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    CHECK("through a signal's handler to what was interrupted", has_call((const void *)(uintptr_t)main, 2048));
    CHECK_NUMBER("which the kernel has called", found.n_signals, SIGNALS_TOLD);
    CHECK_NUMBER("memory that is no code has no rule", native_frames_at(native, (uint64_t)(uintptr_t)numbers)->kind,
                 NATIVE_UNKNOWN);
    CHECK_NUMBER("nor has address 0", native_frames_at(native, 0)->kind, NATIVE_UNKNOWN);
    test_parts();
    native_frames_close(native);
    return tap_done();
}
