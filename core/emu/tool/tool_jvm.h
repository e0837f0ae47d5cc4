/*
 * The emulated JVM, for tools: where its heap and its code are, the classes of objects, and which line of Java an
 * instruction is from.
 */
#ifndef CORE_EMU_TOOL_TOOL_JVM_H
#define CORE_EMU_TOOL_TOOL_JVM_H

#include "core/base/map.h"
#include "core/emu/plugin/vm_memory.h"
#include "core/emu/tool/mmprof_tool.h"
#include "core/hotspot/stack_walk.h"
#include "core/hotspot/vm_threads.h"
#include "core/recorder/code_map.h"

/* ---- Classes, methods and lines of them, as tools see them: one of each, with a number, for good ---- */

struct tool_method_text {
    const char *class_name, *name, *descriptor, *source;
};

/* What a map's numbers are of. */
struct tool_list {
    struct map map;
    void **items; /* owned; what they lead to is the arena's */
    uint32_t n, room;
};

struct tool_names {
    struct arena arena;
    struct tool_list classes, methods, locations;
};

void tool_names_init(struct tool_names *names);

/* Each is made when it is new. */
struct mmprof_class *tool_names_class(struct tool_names *names, const char *name);
struct mmprof_method *tool_names_method(struct tool_names *names, const struct tool_method_text *text);
struct mmprof_location *tool_names_location(struct tool_names *names, struct mmprof_method *method, uint32_t line);

/*
 * The calls that a thread is in, as far as objects were created in them: which call an object comes from, and which
 * call is the innermost one that has lasted from an object's creation to its last use, its lowest common caller
 * (thesis §A.4).
 *
 * A stack is walked when an object is created, and not in between: a call is over when the stack pointer comes back to
 * where it began, and what is over stays so.  So the lowest common caller is the innermost call of the object's that is
 * not over at its last use.  Calls that compiled code has inlined begin and end without the stack pointer: these are
 * compared by where the code was.
 *
 * The caller's lock guards all of it.
 */

#define TOOL_FRAMES_MAX 1024u

/* A frame of a stack.  Inlined ones have the limit of the compiled one that they are in. */
struct tool_frame {
    struct mmprof_method *method;
    int32_t index;   /* of the bytecode that it is at; -1: not known */
    uint64_t limit;  /* it is over when the stack pointer is here, or above */
    uint64_t own_sp; /* where the stack pointer is while it calls; 0: not known */
    bool is_compiled, is_by_c2;
};

struct tool_call {
    struct tool_call *caller; /* NULL: the outermost, or not known */
    struct mmprof_method *method;
    uint64_t limit;
    int32_t call_index; /* of the caller's bytecode that called it */
    bool is_over, is_compiled, is_by_c2;
    uint32_t n_users;
    uint64_t began, n_bytes; /* when it was seen first; of objects created in it, and in calls from it that are over */
};

/* Those of a thread that are not over, the outermost first. */
struct tool_calls {
    struct tool_call **all; /* owned */
    uint32_t n, room;
};

/* Hears of a call that is over, when 'all' still has it. */
struct tool_calls_listener {
    void (*over)(const struct tool_call *call, uint32_t depth, uint64_t time, void *context);
    void *context;
};

/* The stack is this now, the outermost frame first. */
void tool_calls_enter(struct tool_calls *calls, const struct tool_frame *frames, uint32_t n, uint64_t time,
                      const struct tool_calls_listener *listener);

/* Only the outermost n are left. */
void tool_calls_leave(struct tool_calls *calls, uint32_t n, uint64_t time, const struct tool_calls_listener *listener);

/* An object of n_bytes is created in the innermost one.  Returns that one, to be released, or NULL: none is known. */
struct tool_call *tool_calls_create(struct tool_calls *calls, uint64_t n_bytes);

void tool_call_release(struct tool_call *call);

/* The innermost one, of this and its callers, that is not over; NULL: none, or not known. */
static inline struct tool_call *tool_call_lasting(struct tool_call *call)
{
    while (call != NULL && call->is_over)
        call = call->caller;
    return call;
}

/*
 * Of a call that compiled code may have inlined, or one of its callers: the innermost that the code is still in.  now:
 * what is inlined where the code is, the outermost first, with the bytecodes that these are at; no frames: not known.
 */
const struct tool_call *tool_call_inlined(const struct tool_call *call, const struct tool_frame *now, uint32_t n);

/* All of a thread are over. */
void tool_calls_free(struct tool_calls *calls, uint64_t time, const struct tool_calls_listener *listener);

/* The Java frames of a thread of the emulated JVM that is in the JVM or in native code: from where it left Java on. */

struct tool_stack {
    struct stack_walker *walker; /* owned; NULL: none is known */
    struct tool_names *names;    /* borrowed */
    struct vm_thread_list list;
    uint64_t anchor;                /* in a JavaThread */
    struct mmprof_method **methods; /* owned: by the number that a known_method has */
    uint32_t n_methods, methods_room;
    struct java_stack stack; /* the one that was walked last */
};

/* Of the JVM that vm_memory_use has opened.  Returns 0, or -1: its layout is not known. */
int tool_stack_open(struct tool_stack *stack, struct tool_names *names);

/* Code or classes may have changed. */
void tool_stack_round(struct tool_stack *stack);

/* A thread's JavaThread by its number in the system; 0: not known. */
uint64_t tool_stack_thread(const struct tool_stack *stack, int32_t tid);

/* Where its stack pointer was when it left Java; 0: not known. */
uint64_t tool_stack_sp(const struct tool_stack *stack, uint64_t java_thread);

/*
 * Its frames, the outermost first; of more than TOOL_FRAMES_MAX, none.  end: behind its stack's last byte.  Returns how
 * many, 0: not known.
 */
uint32_t tool_stack_read(struct tool_stack *stack, uint64_t java_thread, uint64_t end,
                         struct tool_frame frames[TOOL_FRAMES_MAX]);

/*
 * Objects of the emulated JVM whose creation was told: which one an address is in, where each is after a collection,
 * and which are dead.
 *
 * Of each there is a weak global reference, which the JVM's own collectors keep right, whatever they are: when a
 * collection is over they are read.  An object that a collection did not look at (it is old, the collection was of the
 * young ones) counts as there, as it does for the JVM.
 *
 * The caller's lock guards all of it.
 */

struct tool_object {
    struct mmprof_object object;
    uint64_t reference;
    uint32_t next_free; /* plus 1 */
    bool is_there;
    /* For tools that want_callers: */
    struct tool_call *call;    /* that created it, to be released; NULL: not known */
    struct tool_call *lasting; /* the innermost call that was not over at its latest use */
    uint64_t last_pc;          /* where this one was then, if it may be in what it has inlined; 0 */
};

struct tool_objects {
    uint64_t heap, heap_end;
    uint32_t *map;               /* mapped: for each 8 bytes of heap the object's index plus 1 */
    struct tool_object *objects; /* mapped */
    uint32_t n, first_free;      /* plus 1 */
    uint64_t n_created;
    uint64_t *gone; /* mapped: references to be deleted */
    uint32_t n_gone;
};

struct tool_objects_listener {
    void (*moved)(struct mmprof_object *object, uint64_t from);
    void (*died)(struct mmprof_object *object, bool has_died);
};

void tool_objects_open(struct tool_objects *all, uint64_t heap, uint64_t heap_end);

/*
 * A new one, at the address that its reference points to, to be filled in but for address, bytes and number.  What was
 * there before is dead.  NULL: there is no room, and the reference is to be deleted.
 */
struct mmprof_object *tool_objects_add(struct tool_objects *all, uint64_t reference, uint64_t address, uint64_t bytes,
                                       const struct tool_objects_listener *listener);

/* The object that an address is in, or NULL. */
static inline struct mmprof_object *tool_objects_find(const struct tool_objects *all, uint64_t address)
{
    if (address < all->heap || address >= all->heap_end)
        return NULL;
    uint32_t index = all->map[(address - all->heap) >> 3];
    return index == 0 ? NULL : &all->objects[index - 1].object;
}

/* A collection is over: tell of what has moved and died. */
void tool_objects_collect(struct tool_objects *all, const struct tool_objects_listener *listener);

/* The program ends: tell of all that are there. */
void tool_objects_end(struct tool_objects *all, const struct tool_objects_listener *listener);

/* Up to n references of dead objects, that nobody uses any more; returns how many. */
uint32_t tool_objects_take_gone(struct tool_objects *all, uint64_t *references, uint32_t n);

struct tool_location_kept {
    uint64_t where; /* an instruction's or a bytecode's address; 0: none */
    struct mmprof_location *location;
};

struct tool_jvm {
    struct tool_names names;
    struct vm_tables tables;
    struct vm_classes classes;
    struct vm_metadata metadata;
    struct code_map code;
    uint64_t heap, heap_end, java, java_end; /* java: the code cache */
    uint64_t interpreter, interpreter_end;
    struct mmprof_location **sites; /* owned: by the agent's number */
    uint32_t n_sites, sites_room;
    struct tool_location_kept *kept; /* mapped */
    uint64_t told_bytes;             /* of the log of code, that the tool has heard of */
    uint32_t n_pieces_told;
    const char *why; /* the JVM cannot be looked into */
    bool has_code;
};

void tool_jvm_init(struct tool_jvm *jvm);

/* Where its tables are: SIM_TELL_TABLES.  Returns 0, or -1 with jvm->why set. */
int tool_jvm_open(struct tool_jvm *jvm, const uint64_t *symbols);

/* The agent tells of a location by its number, and where it tells of code. */
void tool_jvm_site(struct tool_jvm *jvm, uint32_t number, const struct tool_method_text *text, uint32_t line);
void tool_jvm_log(struct tool_jvm *jvm, int fd);

/* What was told of code by now: pieces up to jvm->code.n_pieces. */
void tool_jvm_read_code(struct tool_jvm *jvm);

/* The tool hears what was compiled and discarded since the last call.  Returns whether something was compiled. */
bool tool_jvm_tell_code(struct tool_jvm *jvm, const struct mmprof_tool *tool, uint64_t (*time_now)(void));

/* By the number that it has in the log of code; NULL: not known. */
struct mmprof_method *tool_jvm_code_method(struct tool_jvm *jvm, uint32_t number);

/* Is an instruction in code that a compiler made of a method? */
bool tool_jvm_is_compiled(const struct tool_jvm *jvm, uint64_t instruction);

/* Classes may have gone. */
void tool_jvm_forget(struct tool_jvm *jvm);

/* An object's class and bytes; NULL: there is none. */
struct mmprof_class *tool_jvm_class(struct tool_jvm *jvm, uint64_t object, uint64_t *n_bytes);

/* bytecode: the one that the thread fetched last, or 0.  NULL: not known. */
struct mmprof_location *tool_jvm_location(struct tool_jvm *jvm, uint64_t instruction, uint64_t bytecode);

#endif
