/*
 * The log of a session's code (core/wire/code_log.h), for those that tell of it.  Entries are buffered, and written in
 * large pieces: a write costs as much as an entry.
 *
 * Whoever has the lock waits for nothing but a write and the JVM's tables of methods.
 */
#ifndef CORE_AGENT_CODE_OUT_H
#define CORE_AGENT_CODE_OUT_H

#include "core/agent/codecache/codecache.h"
#include "core/agent/codecache/perf_file.h"
#include "core/agent/control/jvmti_env.h"
#include "core/base/hash.h"
#include "core/hotspot/nmethod.h"
#include "core/hotspot/vm_methods.h"
#include "core/wire/code_log.h"
#include "core/wire/jit_events.h"

#include <pthread.h>

/* Is there a session?  Without the lock it may end at once. */
bool code_out_is_open(void);
void code_out_lock(void);
void code_out_unlock(void);

/* With the lock: a session begins (the descriptor is borrowed), or ends. */
void code_out_open(int fd);
void code_out_close(void);

/*
 * With the lock, in a session.  One that is too long is left out; after CODE_LOG_BYTES (of
 * which CODE_LOG_UNREAD_BYTES may wait for the recorder), or if a write fails, all.
 */
void code_out_put(const struct code_entry *entry);
void code_out_flush(void);

/* Without the lock, for an entry each; nothing without a session.  The last one is followed by an end. */
void code_out_tell(const struct code_entry *entry);
void code_out_end(void);

/* ---- all that the room writes to, by the file that does ---- */

struct code_out_state {
    pthread_mutex_t lock; /* guards all but the atomic, and what is pending */
    _Atomic bool is_open;
    int fd; /* borrowed */
    uint64_t n_logged;
    size_t n_pending; /* bytes of whole entries */
    uint8_t pending[2 * CODE_LOG_ENTRY_BYTES];
};

/*
 * 'lock' guards it.  Only the agent's own threads take it; the log's lock, for which a thread of
 * the application may wait, is taken for an entry at a time.
 */
struct code_asked_state {
    pthread_mutex_t lock;
    bool is_on, has_all_points;
    struct nmethod nmethod;
    struct hash_set told;    /* by where code begins: the compilation; 'second' is 1 while it is there */
    struct hash_set numbers; /* by what a method is called, and its lines: its number plus 1 */
    struct hash_set known;   /* by what tells methods from others at their addresses: the same */
    struct hash_set here;    /* by the method's address, while a question is answered: the same */
    uint32_t n_numbers;
    struct vm_method method;
    uint8_t points[CODE_LOG_ENTRY_BYTES];
};

#define CODE_DEPENDENT_CLASSES_MAX 1024u /* of one piece of code */

/* Code that was told: a compilation. */
struct told_code {
    uint64_t header, start;
    uint32_t number; /* of the compilation */
    uint32_t walk;   /* the last one that found it; 0: it is gone */
};

/* Some that a walk has found, and their lists, one behind the other. */
struct dependents_group {
    struct nmethod all[NMETHODS_MAX];
    size_t n;
    uint64_t *lists; /* owned */
    size_t from[NMETHODS_MAX + 1];
};

struct code_dependents_state {
    pthread_mutex_t lock; /* guards it; only the agent's own threads take it */
    bool is_on;
    struct told_code *told; /* owned */
    size_t n_told, room;
    uint32_t walk;
    struct hash_set starts;  /* by where code begins: the index in 'told' of the latest there, plus 1 */
    struct hash_set classes; /* by name: the number, plus 1 */
    uint32_t n_classes;
    /*
     * By address: the number of its class, plus 1; 0: it has none.  A method's was true in the walk 'flags', and is for
     * as long as code that has the method is there: 'second' is that code's index in 'told', plus 1.  A pool's is
     * forgotten after the walk.
     */
    struct hash_set methods, pools;
    uint64_t headers[NMETHODS_MAX];
    size_t n_headers;
    struct dependents_group group;
    struct nmethod after[NMETHODS_MAX]; /* those of the group that are still there */
    uint8_t bytes[CODE_DEPENDENT_CLASSES_MAX * 5];
};

/* The log's lock guards it. */
struct code_events_state {
    struct events_env env;
    uint64_t spent_ns;
    uint32_t n_sessions;
    struct hash_set numbers; /* by jmethodID: value is the number plus 1 */
    struct hash_set coarse;  /* addresses of code from before the first session, kept for ever */
    bool has_all_points;     /* whoever listens: the JVM was started so */
    bool knows_coarse;       /* they are all there: what else there is, was compiled while somebody listened */
    uint32_t n_numbers;
    struct code_line lines[CODE_LINES_MAX];
    uint8_t points[CODE_LOG_ENTRY_BYTES];
};

typedef jboolean JNICALL enqueue_fn(JNIEnv *jni, jobject unused, jobject method, jint tier, jint bytecode);
typedef jboolean JNICALL may_compile_fn(JNIEnv *jni, jobject unused, jobject method, jint tier, jboolean in_loop);
typedef jboolean JNICALL is_queued_fn(JNIEnv *jni, jobject unused, jobject method);
typedef jint JNICALL tier_fn(JNIEnv *jni, jobject unused, jobject method, jboolean in_loop);
typedef jint JNICALL register_fn(JNIEnv *jni, jclass class_ref, const JNINativeMethod *methods, jint n);

/* Once found, they stay for ever. */
struct whitebox {
    jclass class_ref;        /* a global reference; NULL: not made yet */
    register_fn *registered; /* RegisterNatives as it was */
    enqueue_fn *enqueue;
    may_compile_fn *may_compile;
    is_queued_fn *is_queued;
    tier_fn *tier;
};

/* 'lock' guards all but the atomic. */
struct jit_log_state {
    pthread_mutex_t lock;
    _Atomic bool active;
    JavaVM *vm;
    int fd; /* owned; -1: none */
    size_t n_logged;
    struct hash_set watched; /* by names */
    struct hash_set numbers; /* by names: value is the number plus 1 */
    struct hash_set ids;     /* by jmethodID: value is an index into keys */
    uint64_t *keys;          /* owned; hashes of names */
    uint32_t n_keys, n_keys_room, n_numbers;
    struct jit_event event;
    uint8_t bytes[JIT_ENTRY_BYTES];
};

/*
 * 'lock' guards file and control.  Whoever holds it waits for nothing but a write: never for the JVM, which may be
 * waiting for a thread that is here.
 */
struct perf_map_state {
    pthread_mutex_t lock;
    _Atomic bool active;
    struct events_env env;
    const struct control *control;
    struct perf_file file;
};

struct codecache {
    struct code_out_state out;
    struct code_asked_state asked;
    struct code_dependents_state dependents;
    struct code_events_state events;
    struct whitebox whitebox;
    struct jit_log_state jit;
    struct perf_map_state perf;
};

extern struct codecache codecache;

#endif
