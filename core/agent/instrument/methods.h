/* Which methods get probes, and their ids. */
#ifndef CORE_AGENT_METHODS_H
#define CORE_AGENT_METHODS_H

#include "core/wire/config.h"
#include "core/agent/control/control.h"

#include <jvmti.h>

/*
 * Begin a session: its methods are those that the configuration wants (in live mode: none), those added, and not those
 * removed.  Both are borrowed.
 */
void methods_begin(const struct agent_config *config, const struct control *control);

/* From now on no method is chosen.  No code is left that reads a flag: ids may be given again when they run short. */
void methods_end(void);
void methods_forget_ids(void);

/* Does the session want any method from the start?  Are most chosen only by commands? */
bool methods_want_any(void);
bool methods_are_chosen_later(void);

/* May a class have methods of the session (name in internal form)?  Does it have one of those added or removed last? */
bool methods_want_class(const char *name, size_t n);
bool methods_changed_class(const char *name, size_t n);
bool methods_changed_key(uint64_t class_key); /* the hash of its name */
uint32_t methods_n_changed(void);             /* such classes */

/* Is it one of the session's?  Could methods of the class be, by the configuration's rules? */
bool methods_want(const struct protocol_method *method);
bool methods_may_want_class(const char *name, size_t n);

/*
 * The id of a method of the session, which the recorder knows then; 0: it is none, or there is no room.  *argument:
 * that by which its calls are told apart, or REWRITE_NO_ARGUMENT.
 */
uint32_t methods_choose(const struct protocol_method *method, int16_t *argument);

/*
 * Add the phases of a configuration; their flags are enabled.  Remove methods by their ids; those that no method has
 * are counted.  Both return 0, or -1 with *err set.
 */
int methods_add(JNIEnv *jni, const struct agent_config *phases, struct err *err);
uint32_t methods_count(const struct agent_config *phases); /* of them that have probes */

/*
 * A phase's class may not be changed now: the recorder is told of it, by an id without code, and it gets its probes as
 * soon as another 'add' comes and the class may be changed.
 */
void methods_defer(const struct agent_phase *phase);
int methods_remove(const uint32_t *ids, size_t n, uint32_t *n_unknown, struct err *err);

/* Does the recorder know this id? */
bool methods_has_id(uint32_t id);

/* The id of a method that has probes, else 0.  Any thread. */
uint32_t methods_id(struct wire_text class_name, struct wire_text name, struct wire_text descriptor);

#endif
