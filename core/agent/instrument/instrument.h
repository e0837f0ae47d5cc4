/* The hook that gives classes their probes as they are loaded or changed. */
#ifndef CORE_AGENT_INSTRUMENT_H
#define CORE_AGENT_INSTRUMENT_H

#include "core/wire/ring.h"
#include "core/wire/wire_text.h"

#include <jvmti.h>

/* ---- instrument ---- */

/* A session begins: its counts go to the segment until instrument_end, where there is nothing instrumented any more. */
void instrument_begin(struct segment *segment);
void instrument_end(void);

/* So many more are counted; how many are there? */
void instrument_count(enum segment_count which, uint32_t n);
uint32_t instrument_counted(enum segment_count which);

/*
 * The same for a class that is left alone, SEGMENT_UNSURE or SEGMENT_REFUSED.  Each class counts once; the recorder
 * hears why the first one is.
 */
void instrument_leave(enum segment_count which, struct wire_text name, const char *why);

/* A class is left alone because it is one of JFR's events: each is counted once. */
void instrument_left_event(const char *name, size_t n);

/* What the recorder says of classes that are loaded. */
enum segment_changes instrument_changes(void);

/* Is no thread in the hook? */
bool instrument_is_idle(void);

/* When the hook was last shown a class that was loaded already, in ticks. */
uint64_t instrument_latest_ticks(void);

/* Has any class ever had probes since instrument_begin? */
bool instrument_had_probes(void);

/* Does a class have probes (name in internal form)?  It is about to lose them; the hook will see those that it keeps.
 */
bool instrument_has_probes(const char *name, size_t n);
void instrument_loses_probes(const char *name, size_t n);

/* A class keeps its probes at the session's end: the next one removes them at its end, if it can. */
void instrument_keeps_probes(const char *name, size_t n);

void JNICALL instrument_class_file(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined, jobject loader, const char *name,
                                   jobject domain, jint n_bytes, const unsigned char *bytes, jint *n_out,
                                   unsigned char **out);

/* ---- priority_boost ---- */

/*
 * The JVM changes the classes of a batch in its VM thread, while the application stands still.  After the last of n
 * classes was shown to the hook, that thread and the calling one go before all others until the end, where the system
 * allows it (root, CAP_SYS_NICE or a limit on niceness).  With three busy threads for each CPU stops took a third of
 * the time then (javac: 12 to 25 ms, not 21 to 104).
 *
 * Before that, the moment is waited for at which the change costs the JIT compiler least (compiling.h).  The VM
 * thread's CPU time from then on is what the change costs: on a busy machine the stop takes many times as long.
 */
struct priority_boost {
    uint32_t n_left;  /* classes to be shown */
    uint32_t wait_ms; /* for that moment at most; given before priority_boost_begin, as the next two are */
    bool (*is_over)(const void *context); /* whether to wait no more; or NULL */
    const void *context;
    double waited_ms;
    pid_t vm_thread; /* 0: not found */
    double vm_ms;    /* its CPU time since the last class was shown */
    pid_t tids[2];   /* the VM thread and the calling one; 0: it is as it was */
    int niceness[2];
};

void priority_boost_begin(struct priority_boost *boost, uint32_t n_classes);
void priority_boost_end(struct priority_boost *boost);

#endif
