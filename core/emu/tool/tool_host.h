/*
 * What runs a tool: threads' accesses come in, the agent's news of the JVM too, and the tool hears of both.
 *
 * Each thread keeps its accesses until it has no room left, or an object comes or is about to move; then the tool hears
 * of them, under the one lock of all.  While objects move, the accesses to them are told without.
 *
 * What the JVM does to tell of an object is not the program's: the accesses of its library, of libc and of the stubs
 * that call it to allocate, between those of Java or other code before and behind, are left out, if they are not more
 * than HotSpot needs for that.  An object's creation ends where the code that asked for it goes on.
 */
#ifndef CORE_EMU_TOOL_TOOL_HOST_H
#define CORE_EMU_TOOL_TOOL_HOST_H

#include "core/emu/tool/mmprof_tool.h"
#include "core/emu/tool/tool_jvm.h"

#include <stdatomic.h>

/*
 * The simulated caches that a tool may call (mmprof_tool.h), which are those of 'mmprof record --simulate'
 * (core/emu/model/sim_machine.h).
 */

extern const struct mmprof_model tool_model;

#define TOOL_KEPT 4096u

/*
 * Accesses of HotSpot's call to allocate an object, before it tells and behind: 704 to 832, and 384 to 447, of each of
 * 200,000 objects of JDK 17 and 25, and up to 40 of a stub.  In a longer call the JVM does more, as loading a class.
 */
#define TOOL_BEFORE 1024u
#define TOOL_BEHIND 512u

enum tool_code { TOOL_OTHER, TOOL_JAVA, TOOL_VM, TOOL_LIBC, TOOL_CALLS_OVER };

struct tool_kept {
    uint64_t instruction, address, bytecode, time;
    uint64_t call_pc; /* struct tool_thread's */
    uint32_t info;    /* QEMU's; CALLS_OVER: how many calls are left */
    uint8_t code;     /* that it is by: enum tool_code */
    bool is_collecting;
};

/* A thread of the program. */
struct tool_thread {
    struct tool_thread *before, *next;
    struct mmprof_thread *thread; /* stays when this one goes */
    _Atomic uint32_t is_paused;   /* the agent works in it, not the program */
    _Atomic bool is_locked;       /* what follows is being changed */
    bool has_begun;               /* the tool knows it */
    uint64_t time, others;        /* its own data accesses in Java code; those of all others, as it last heard */
    uint64_t bytecode;            /* that it fetched last */
    uint32_t left_out;            /* it comes back from telling of an object: so many accesses may be of that */
    struct tool_calls calls;      /* as the tool knows them; the lock of all guards them */
    struct tool_frame *frames;    /* owned, by the thread itself: those, and which of them are not over by now */
    uint32_t n_frames;
    uint64_t over_at, own_sp;         /* of the innermost; 0: there is none, or it is not known */
    uint64_t call_pc;                 /* where that one calls, as long as it does; 0: it does not, or it is not known */
    uint64_t java_thread, stack_end;  /* 0: not known yet */
    struct mmprof_location *location; /* the latest that was known */
    uint32_t n;
    struct tool_kept kept[TOOL_KEPT];
};

struct tool_library {
    uint64_t start, end;
    enum tool_code code;
};

#define TOOL_LIBRARIES_MAX 8
#define TOOL_STUBS_MAX     64

/* Where Java code is, and what is wanted: read by every access. */
struct tool_wanted {
    struct tool_library libraries[TOOL_LIBRARIES_MAX]; /* set before the two below */
    uint32_t n_libraries;
    _Atomic uint64_t java, java_bytes;         /* 0: not known yet, nothing is kept */
    uint64_t heap, heap_bytes;                 /* set before that */
    struct tool_library stubs[TOOL_STUBS_MAX]; /* that allocate: more may come, counted when they are there */
    _Atomic uint32_t n_stubs;
    _Atomic uint64_t stubs_start, stubs_end; /* around all of them */
    uint64_t interpreter, interpreter_bytes; /* set as the heap */
    bool accesses;                           /* the tool hears of them; else only those to objects are kept */
    bool callers;                            /* calls are followed */
    _Atomic bool is_collecting;
    bool vm_threads;
};

extern struct tool_wanted tool_wanted;

/*
 * Load a tool and let it begin: out is a file's path or NULL; argument: the tool's.  Returns NULL, or why not, in a
 * text that stays.
 */
const char *tool_host_open(const char *library, const char *argument, const char *out, uint64_t interval_bytes);

/* A thread, zeroed, comes, and goes: nothing of it is used then. */
void tool_host_begin(struct tool_thread *thread);
void tool_host_end(struct tool_thread *thread);
void tool_host_flush(struct tool_thread *thread);

/* What the agent tells; and at last: the program ends. */
void tool_host_hear(struct tool_thread *thread, uint64_t what, uint64_t argument);
void tool_host_finish(void);

/* In a forked child: nothing more is told. */
void tool_host_before_fork(void);
void tool_host_in_parent(void);
void tool_host_in_child(void);

/* Is code of the JVM's, in the code cache, a stub that allocates? */
static inline bool tool_is_stub(uint64_t instruction)
{
    if (instruction < atomic_load_explicit(&tool_wanted.stubs_start, memory_order_relaxed) ||
        instruction >= atomic_load_explicit(&tool_wanted.stubs_end, memory_order_relaxed))
        return false;
    uint32_t n = atomic_load_explicit(&tool_wanted.n_stubs, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++)
        if (instruction >= tool_wanted.stubs[i].start && instruction < tool_wanted.stubs[i].end)
            return true;
    return false;
}

/* Whose code an instruction is. */
static inline enum tool_code tool_code_of(uint64_t instruction, uint64_t n_java)
{
    if (instruction - atomic_load_explicit(&tool_wanted.java, memory_order_relaxed) < n_java)
        return tool_is_stub(instruction) ? TOOL_VM : TOOL_JAVA;
    for (uint32_t i = 0; i < tool_wanted.n_libraries; i++)
        if (instruction >= tool_wanted.libraries[i].start && instruction < tool_wanted.libraries[i].end)
            return tool_wanted.libraries[i].code;
    return TOOL_OTHER;
}

static inline bool tool_is_library(enum tool_code code)
{
    return code == TOOL_VM || code == TOOL_LIBC;
}

/*
 * A thread that has not run Java code yet is in the code cache: does it now?  The JVM's own threads, too, call stubs
 * that are there.
 */
bool tool_host_runs_java(struct tool_thread *thread, uint64_t instruction);

/* The stack pointer comes to where a call of the thread's began: that call is over, and those from it. */
void tool_host_leave(struct tool_thread *thread, uint64_t sp);

/* A call pushes its return address. */
static inline void tool_host_call(struct tool_thread *thread, uint64_t instruction, uint64_t address)
{
    if (address + 8 == thread->own_sp)
        thread->call_pc = instruction;
}

/* A word is taken off the stack. */
static inline void tool_host_pop(struct tool_thread *thread, uint64_t address)
{
    uint64_t sp = address + 8;
    if (sp == thread->own_sp)
        thread->call_pc = 0;
    if (sp > thread->over_at - 1 && sp <= thread->stack_end)
        tool_host_leave(thread, sp);
}

/* Keep an access: of a thread that is not paused, in a host that has begun.  Returns whether there is no room left. */
static inline bool tool_host_keep(struct tool_thread *thread, const struct tool_kept *access)
{
    while (atomic_exchange_explicit(&thread->is_locked, true, memory_order_acquire))
        continue;
    struct tool_kept *kept = &thread->kept[thread->n++];
    thread->time += access->code == TOOL_JAVA;
    *kept = *access;
    kept->time = thread->time + thread->others;
    bool is_full = thread->n == TOOL_KEPT;
    atomic_store_explicit(&thread->is_locked, false, memory_order_release);
    return is_full;
}

/* Who uses an object last, and what the creator and he have in common (thesis §A.4): for tools that want_callers. */

/* A thread has created it: the call is the innermost one of thread->calls from now on. */
void tool_uses_begin(struct tool_stack *stack, struct tool_thread *thread, struct tool_object *object,
                     const struct tool_calls_listener *listener);

/* The stack pointer comes to where calls began: which are left, in the thread itself. */
void tool_uses_leave(struct tool_thread *thread, uint64_t sp);

/* A thread that runs Java code uses it. */
void tool_uses_take(struct tool_jvm *jvm, struct tool_thread *thread, const struct tool_kept *kept,
                    struct tool_object *object);

/* It has died: what is known is set, and its call is released. */
void tool_uses_end(struct tool_jvm *jvm, struct tool_object *object);

#endif
