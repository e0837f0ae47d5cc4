/* Whether a class may be changed: for the sake of the JVM, of debuggers and of JFR. */
#ifndef CORE_AGENT_CLASS_CHECK_H
#define CORE_AGENT_CLASS_CHECK_H

#include "core/wire/ring.h"
#include "core/wire/wire_text.h"

#include <jvmti.h>

/* ---- class_archive ---- */

/*
 * Whether the JVM writes an archive of its classes when it ends (CDS, the AOT cache), or may be asked for one.
 *
 * Such a JVM must not have a changed class.  HotSpot dies when it writes the archive, whether the class was changed
 * back or not, and whatever the agent: JDK 17 of a class of the program's own, too, JDK 25 of those of the JDK (SIGSEGV
 * in SystemDictionaryShared, ConstMethod, ArchiveBuilder, MethodTrainingData).  Where it does not, changed classes and
 * the lambdas in them are missing in the archive.  That it uses an archive, or that 'jcmd VM.cds static_dump' has
 * another JVM write one, does no harm.
 */

/* The option that says so, such as "-XX:ArchiveClassesAtExit=app.jsa", wherever it was given; NULL: it does not. */
const char *class_archive_option(void);

/* ---- breakpoints ---- */

/*
 * Has a class breakpoints?  class_ref: a local reference; name: in internal form.  Where the JVM's structures cannot be
 * read, each class counts as one that has, if a debugger's agent (libjdwp.so) is loaded.
 */
bool breakpoints_are_in(jclass class_ref, struct wire_text name);

/* ---- event_class ---- */

/*
 * Classes of JFR's events, which are left alone: JFR writes code into them itself, and where another agent changes one
 * after JFR was used, the JVM says so on the program's output (JDK 25: "Unexpected error when adding instrumentation to
 * event class").
 */

/* Is a loaded class one, the program's own included?  No class is loaded for that. */
bool event_class_is(jvmtiEnv *jvmti, JNIEnv *jni, jclass class_ref);

/*
 * Is a name (internal form) that of the base of all of them?  Of a class that is being loaded only the class above is
 * known: one with a base of the program's own is found when it is loaded.
 */
bool event_class_is_base(const char *name, size_t n);

/* ---- retained ---- */

/* A session begins, which may take so much metaspace (UINT64_MAX: any). */
void retained_begin(uint64_t metaspace_bytes);

/*
 * May a loaded class get probes, or would the JVM retain too much of its versions, or have too little metaspace then?
 * Named: the user, or what it was told, wants this very class.  Returns what the refusal counts as; SEGMENT_N_COUNTS:
 * it may.
 */
enum segment_count retained_refusal(jvmtiEnv *jvmti, jclass class_ref, bool is_named);

#endif
