/* All that the room writes to, by the file that does; nobody else includes it. */
#ifndef CORE_AGENT_INSTRUMENT_STATE_H
#define CORE_AGENT_INSTRUMENT_STATE_H

#include "core/agent/instrument/class_check.h"
#include "core/agent/instrument/classes.h"
#include "core/agent/instrument/instrument.h"
#include "core/agent/instrument/methods.h"
#include "core/agent/instrument/retransform.h"
#include "core/hotspot/vm_objects.h"

#include <pthread.h>

/* ---- classes.c ---- */

struct flag_class {
    jclass class_ref; /* a global reference; NULL: not made yet */
    jfieldID fields[CLASSES_FLAGS_PER_CLASS];
};

#define MAX_FLAG_CLASSES ((RING_METHOD_MAX + 1) / CLASSES_FLAGS_PER_CLASS)

#define MAX_BLOCKS ((RING_METHOD_MAX + 1) / CLASSES_FLAGS_PER_BLOCK)

struct class_flags {
    jclass probe_class; /* a global reference, kept for ever, as are those below */
    pthread_mutex_t lock;
    struct flag_class *classes[MAX_FLAG_CLASSES]; /* owned */
    jintArray blocks[MAX_BLOCKS];                 /* NULL: not made yet */
    uint32_t epoch;
    _Atomic uint32_t disabled[(RING_METHOD_MAX + 1) / 32]; /* a bit for each method */
};

/* ---- instrument.c ---- */

/* 'lock' guards all but the atomics. */
struct instrument_state {
    pthread_mutex_t lock;
    _Atomic int n_hooks;           /* threads in the hook */
    _Atomic uint64_t latest_ticks; /* when the hook was done with the latest class that was loaded already */
    struct hash_set classes;       /* value: methods that have probes; second: most of them so far */
    uint32_t counts[SEGMENT_N_COUNTS];
    struct segment *segment; /* where counts are published; borrowed, or NULL */
};

/* ---- methods.c ---- */

/* Of its names, and of its class' name. */
struct method_keys {
    uint64_t method, class_key;
};

/* 'lock' guards all but the atomic. */
struct methods_state {
    pthread_mutex_t lock;
    const struct agent_config *config; /* borrowed */
    const struct control *control;     /* borrowed */
    _Atomic bool active;
    struct hash_set ids;       /* by method: its id; second: the session in which the recorder was told of it; flags */
    struct hash_set named;     /* classes of methods that commands added */
    struct hash_set changed;   /* classes of methods that the latest command named */
    struct hash_set deferred;  /* methods that were added; second: 1 while their classes cannot be changed */
    struct method_keys *known; /* owned, by id */
    uint32_t next_id, n_known, session;
};

/* ---- active_loops.c: one thread at a time ---- */

struct active_loops_state {
    struct hash_set loops;  /* by method; value, second: the class' key */
    struct hash_set names;  /* by the hash of class, name, descriptor: the same */
    struct hash_set others; /* methods that have none of these names */
};

/* ---- class_check.c: the session's threads, one at a time ---- */

struct class_checks {
    pthread_once_t archive_once, fields_once;
    char archive_option[256]; /* or "" */
    struct {
        struct class_layout classes;
        uint64_t breakpoints; /* in an InstanceKlass */
        uint32_t mirror_klass;
        bool is_known;
    } at;
    int java;                 /* the JVM's version; 0: not known yet */
    uint64_t retained_bytes;  /* in all sessions */
    uint64_t metaspace_bytes; /* that the session may still take */
};

struct instrumenting {
    struct class_flags flags;
    struct instrument_state hook;
    struct methods_state methods;
    struct active_loops_state loops;
    struct class_checks checks;
    _Atomic int n_waiting; /* loaders.c: threads that wait for locks of loaders */
    void *changed_page;    /* retransform.c: see mark_changed */
};

extern struct instrumenting instrumenting;

#endif
