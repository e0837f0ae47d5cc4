/*
 * Own analyses of a Java program's memory accesses: what 'mmprof memtrace --tool=./my.so' loads.
 *
 *     #include <mmprof_tool.h>
 *     static void on_access(const struct mmprof_access *a) { fprintf(mmprof_out, "%p\n", (void *)a->address); }
 *     MMPROF_TOOL(.access = on_access)
 *
 *     cc -shared -fPIC -o my.so my.c
 *     mmprof memtrace --tool=./my.so -o addresses.txt -- java Main
 *
 * A tool is a table of functions; those that it leaves out are not called.  They are called one at a time, by any
 * thread of the program, in the emulator that the program runs in: they may use the C library, and must not fork or
 * raise signals.  What a pointer leads to lives until the function returns, but for threads, classes, locations and
 * methods, which stay, and objects, which stay until they have died.  Each has a 'user' pointer that is the tool's,
 * NULL at first.
 *
 * Accesses of one thread come in their order, some thousand at a time; those of another may come earlier or later than
 * they were made.  An object's creation comes before accesses to it, its moves and its death after those before them.
 */
#ifndef MMPROF_TOOL_H
#define MMPROF_TOOL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define MMPROF_TOOL_VERSION 4

/*
 * Time is counted in data accesses of Java code (the interpreter, compiled code and the JVM's stubs), of all threads
 * together, since the program's main thread began.  It does not pass in the JVM itself, which works for mmprof when
 * objects are created.  Of other threads that run at the same time, a thread knows it late: by some thousand accesses.
 */

/* "java/lang/String", "[I" */
struct mmprof_class {
    uint32_t number; /* from 0 on, as everywhere */
    const char *name;
    void *user;
};

struct mmprof_method {
    uint32_t number;
    const char *class_name, *name, *descriptor;
    const char *source; /* "Main.java"; "": not known */
    void *user;
};

/* A line of a method. */
struct mmprof_location {
    uint32_t number;
    struct mmprof_method *method;
    uint32_t line; /* 0: not known */
    void *user;
};

struct mmprof_thread {
    uint32_t number;
    int32_t tid;
    const char *name; /* the system's, of 15 characters at most */
    bool is_java;     /* it has run Java code: not a collector's or a compiler's */
    void *user;
};

/* An object whose creation was seen. */
struct mmprof_object {
    uint64_t number;         /* no other object has it */
    uint64_t address, bytes; /* where it is now, header included */
    struct mmprof_class *class_of;
    struct mmprof_location *site; /* that created it; NULL: not known */
    struct mmprof_thread *thread;
    uint64_t created, last_used; /* times; last_used: of its latest access by a thread that is_java, or created */
    uint64_t n_uses;             /* such accesses */
    double stands_for;           /* so many objects like it: more than 1 with --interval */
    /* For tools that want_callers, as it dies: */
    struct mmprof_location *last_site; /* that used it last; NULL: not known, or not used */
    struct mmprof_method *common;      /* the innermost call from its creation to its last use; NULL: not known */
    bool has_changed_thread;           /* it was used last by another thread than created it: nothing is common */
    bool is_by_c2;                     /* it was created in code of the C2 compiler */
    void *user;
};

/* A call in which objects were created, of a thread that lives. */
struct mmprof_call {
    struct mmprof_method *method; /* NULL: not known */
    struct mmprof_thread *thread;
    uint32_t depth;
    uint64_t began, ended; /* times: of the first object that was created in it or in a call from it; of its end */
    uint64_t bytes;        /* of these objects */
};

/* One load or store; of 16 bytes and more: one for each 8 of them. */
struct mmprof_access {
    uint64_t instruction, address; /* instruction: its own address */
    uint32_t bytes;
    bool is_store;
    bool is_java;       /* the instruction is Java code: time passes */
    bool is_vm;         /* it is the JVM's own: in libjvm.so */
    bool is_collecting; /* while a collector moves objects: whose the memory is, is not known */
    bool is_heap;       /* in the Java heap */
    uint64_t time;
    struct mmprof_thread *thread;
    struct mmprof_object *object;     /* that it is in; NULL: none whose creation was seen */
    struct mmprof_location *location; /* that did it, for tools that want_locations; NULL: not known, or no Java code */
};

/* What a compiler made of a method. */
struct mmprof_code {
    uint64_t start, bytes;
    struct mmprof_method *method;
    uint64_t time; /* of the event */
    bool is_by_c2; /* else of a lower tier */
};

/* Caches and TLBs of data of a processor: those of 'mmprof record --simulate', which says what they assume. */
struct mmprof_caches;

/* Of one access: lines that L1D, and L2 behind it, did not have; pages that no level of the TLB had. */
struct mmprof_missed {
    uint64_t l1d, l2, dtlb;
};

/* mmprof_model, from begin on. */
struct mmprof_model {
    /*
     * Empty caches of a processor: a name of 'mmprof list --models', or a file as in mmprof.model(5); NULL: zen4.
     * Returns NULL when there are none, with the reason, and what to do, in 'why' of n bytes.  A tool may have several.
     */
    struct mmprof_caches *(*make)(const char *processor, char *why, size_t n);
    /* A load or store of so many bytes goes through them. */
    struct mmprof_missed (*access)(struct mmprof_caches *caches, uint64_t address, uint32_t bytes, bool is_store);
    void (*discard)(struct mmprof_caches *caches);
};

struct mmprof_tool {
    int version; /* MMPROF_TOOL sets it, out and model */
    FILE **out;  /* the file of 'mmprof memtrace -o', open from begin to end; stdout's place without -o */

    bool want_locations;  /* look up each access' location, which takes time */
    bool want_vm_threads; /* accesses of threads that are not is_java, too */
    bool want_callers;    /* walk the stack at each object's creation (x86-64 only), and look up who uses it */

    /* argument: what stands behind the comma of --tool, "" without.  Returns NULL, or why it cannot begin. */
    const char *(*begin)(const char *argument);
    void (*thread_began)(struct mmprof_thread *thread);
    void (*thread_ended)(struct mmprof_thread *thread);
    void (*access)(const struct mmprof_access *access);
    void (*object_created)(struct mmprof_object *object);
    void (*object_moved)(struct mmprof_object *object, uint64_t from);
    /* has_died: found by a collection; else the program ends, and it is there. */
    void (*object_died)(struct mmprof_object *object, bool has_died);
    /* Before code from it is executed, or some ms later. */
    void (*method_compiled)(const struct mmprof_code *code);
    /* It is no longer in the code cache, as the JVM tells some time after the last call of it. */
    void (*code_discarded)(const struct mmprof_code *code);
    /* And linked, which is when the JVM tells; since main began.  Not told of arrays. */
    void (*class_loaded)(struct mmprof_class *class_of, struct mmprof_thread *thread, uint64_t time);
    void (*call_ended)(const struct mmprof_call *call); /* for tools that want_callers; not those that last */
    void (*collection_began)(uint64_t time);
    void (*collection_ended)(uint64_t time); /* before what it has moved and found dead */
    void (*end)(uint64_t time);              /* once, after all others */

    const struct mmprof_model **model;
};

/* In the one file of the tool that says MMPROF_TOOL: where it writes to, and caches. */
static FILE *mmprof_out __attribute__((unused));
static const struct mmprof_model *mmprof_model __attribute__((unused));

#define MMPROF_TOOL(...)                                                                        \
    __attribute__((visibility("default"))) struct mmprof_tool mmprof_tool = {                   \
        .version = MMPROF_TOOL_VERSION, .out = &mmprof_out, .model = &mmprof_model, __VA_ARGS__ \
    };

#endif
