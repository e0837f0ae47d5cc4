/* Compiled code: what there is, what becomes of it, and methods for the compilers. */
#ifndef CORE_AGENT_CODECACHE_H
#define CORE_AGENT_CODECACHE_H

#include "core/agent/control/control.h"
#include "core/base/err.h"
#include "core/wire/config.h"

#include <jvmti.h>

/* ---- code_asked ---- */

/*
 * What code the JVM has compiled, told only of what is asked for: it is read in place (nmethod.h), and appended to the
 * session's log (code_out.h).  Most compiled code is never asked for, and costs nothing then.
 *
 * While nobody listens to the JVM's compilers they keep less debug information (code_events.c): of such code its method
 * is known, and at calls and loops what is inlined there.
 */

/* Why it cannot be read in this JVM; NULL: it can. */
const char *code_asked_why_not(void);

/* A session begins, or ends: nothing was told in it. */
void code_asked_start(void);
void code_asked_stop(void);

/*
 * Tell of the code at these addresses, unless it was told already; if one is where code that was told begins, and that
 * is gone, of that.  Returns how many are in compiled code.
 */
uint32_t code_asked_tell(const uint64_t *addresses, size_t n);

/* ---- code_dependents ---- */

/*
 * Whose classes' code compiled code has: what the JVM throws away when one of them changes.  HotSpot throws away what
 * has a method of the class in its list of metadata (nmethod::has_evol_metadata), where all methods are that were
 * inlined.  Only those lists are read, of many pieces at once: that takes a small part of what it takes to tell where
 * each piece of them is from (code_asked.c).
 */

/* A session begins, where code can be read (code_asked_why_not), or ends: nothing was told in it. */
void code_dependents_start(void);
void code_dependents_stop(void);

/* Append to the session's log (code_out.h) what has come and gone since the last time; nothing in other sessions. */
void code_dependents_tell(void);

/* ---- code_events ---- */

/*
 * From now on append what code the JVM makes, beginning with what there is, to a memory file (borrowed until
 * code_events_stop), as core/wire/code_log.h says; only_generated: not what it compiles.  Returns 0, or -1 with *err
 * set.
 */
int code_events_start(JNIEnv *jni, int fd, bool only_generated, struct err *err);
void code_events_stop(void);

/* ---- compile_methods ---- */

/*
 * Methods for the JIT compilers, by the JVM's own testing interface (WhiteBox), of a JVM that was started with
 * -XX:+UnlockDiagnosticVMOptions -XX:+WhiteBoxAPI.  Nothing is done before the first of them.
 */

/*
 * Hand n methods to the compilers, each at its tier; it is not waited for their code.  *n_taken: those that the JVM
 * took; not those that are compiled like that already, wait for a compiler, cannot be compiled so, or are not loaded.
 * One thread at a time.
 *
 * Returns 0, or -1 with *err set: the JVM does not offer it.
 */
int compile_methods(jvmtiEnv *jvmti, JNIEnv *jni, const struct agent_compile *methods, size_t n, uint32_t *n_taken,
                    struct err *err);

/* ---- jit_log ---- */

/*
 * From now on append what the JIT compiler does with watched methods to a memory file (taken over), as
 * core/wire/jit_events.h says; none is watched yet.  Returns 0, or -1 with *err set.
 */
int jit_log_start(jvmtiEnv *jvmti, JNIEnv *jni, int fd, struct err *err);

/* Watch the phases of a configuration, too, and log what code there is of them: before they get probes. */
void jit_log_watch(jvmtiEnv *jvmti, const struct agent_config *methods);
void jit_log_stop(jvmtiEnv *jvmti);

void JNICALL jit_log_compiled(jvmtiEnv *jvmti, jmethodID method, jint code_bytes, const void *code, jint n_map,
                              const jvmtiAddrLocationMap *map, const void *compile_info);
void JNICALL jit_log_discarded(jvmtiEnv *jvmti, jmethodID method, const void *code);

/* ---- perf_map ---- */

/*
 * From now on write the names of what the JVM compiles into /tmp/perf-PID.map for perf, beginning with what there is.
 * The recorder hears over the control connection (borrowed until perf_map_stop) where the file is, or why there is
 * none, or no more lines in it.  The file stays when it ends.
 */
void perf_map_start(JNIEnv *jni, const struct control *control);
void perf_map_stop(void);

#endif
