#include "core/agent/lab/lab.h"

#include "core/emu/run/simulated_read.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>

/*
 * QEMU 7.2 begins a signal handler with a stack that is not aligned to 16 bytes (x86-64), and does enforce the
 * alignment of movaps: HotSpot's handler for SIGSEGV then dies itself, and with it each JVM that throws a
 * StackOverflowError, or a NullPointerException by an implicit check.
 */
#if defined(__x86_64__)

#define N_SIGNALS 65

typedef void handler_fn(int signal, siginfo_t *info, void *context);

static handler_fn *_Atomic handlers[N_SIGNALS];

__attribute__((force_align_arg_pointer)) static void aligned(int signal, siginfo_t *info, void *context)
{
    handler_fn *handler = signal > 0 && signal < N_SIGNALS ? atomic_load(&handlers[signal]) : NULL;
    if (handler != NULL)
        handler(signal, info, context);
}

void emulated_align_handlers(void)
{
    for (int signal = 1; signal < N_SIGNALS; signal++) {
        struct sigaction action;
        if (sigaction(signal, NULL, &action) < 0 || action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN ||
            action.sa_sigaction == aligned)
            continue;
        /* One that takes the number only finds it in the same register. */
        atomic_store(&handlers[signal], action.sa_sigaction);
        action.sa_sigaction = aligned;
        sigaction(signal, &action, NULL);
    }
}

#else

void emulated_align_handlers(void)
{
}

#endif

void emulated_tell_tables(void)
{
    static const char *const names[SIM_N_SYMBOLS] = SIM_SYMBOL_NAMES;
    uint64_t symbols[SIM_N_SYMBOLS];
    void *library = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL)
        return;
    for (int i = 0; i < SIM_N_SYMBOLS; i++)
        symbols[i] = (uint64_t)(uintptr_t)dlsym(library, names[i]);
    dlclose(library);
    simulated_tell(SIM_TELL_TABLES, symbols);
}

/* Keep where the code is of the object that this function is in.  Returns whether it is this object. */
static int find_own_code(struct dl_phdr_info *object, size_t n_bytes, void *context)
{
    uintptr_t self = (uintptr_t)emulated_tell_own;
    uint64_t *code = context;
    (void)n_bytes;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0 || self - start >= part->p_memsz)
            continue;
        code[0] = start;
        code[1] = start + part->p_memsz;
        return 1;
    }
    return 0;
}

void emulated_tell_own(void)
{
    uint64_t code[2];
    if (dl_iterate_phdr(find_own_code, code) != 0)
        simulated_tell(SIM_TELL_OWN, code);
}

void JNICALL emulated_collection_start(jvmtiEnv *jvmti)
{
    (void)jvmti;
    simulated_tell(SIM_TELL_MOVE, NULL);
}

void JNICALL emulated_collection_end(jvmtiEnv *jvmti)
{
    (void)jvmti;
    simulated_tell(SIM_TELL_MOVED, NULL);
}

void emulated_tell_end(void)
{
    simulated_tell(SIM_TELL_END, NULL);
}
