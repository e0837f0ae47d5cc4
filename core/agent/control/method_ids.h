/*
 * The ids of methods that are changed while calls of them are under way.
 *
 * To the JVM the code that such a call goes on in is a method of its own, which gets its jmethodID when somebody asks
 * for a stack with it.  For that it makes a class' table of ids larger, and frees the old one; until JDK 21 other
 * threads may just be reading that one, for InstanceKlass::get_jmethod_id fetches its address before it takes the
 * lock (JDK-8313332, in 22, makes the table larger while all threads stand still).  What they find there is taken for
 * a method, and the JVM dies of it.  The JVM itself reads these tables whenever it tells of compiled code.
 *
 * So after each batch of changed classes the stacks of all threads are asked for while the threads stand still: then
 * there is an id for each of these methods, and no table has to grow later.  In between nobody else asks for stacks.
 * What remains: classes that other agents change, frames further out than METHOD_IDS_FRAMES, and, in 21, virtual
 * threads that are on no carrier.
 */
#ifndef CORE_AGENT_METHOD_IDS_H
#define CORE_AGENT_METHOD_IDS_H

#include "core/base/std.h"

#include <jvmti.h>

#define METHOD_IDS_FRAMES 1024 /* nobody may ask for more of a stack */

/*
 * Around the calls that change classes; where the JVM does not need it, nothing is blocked and nothing is walked.
 * method_ids_make stops the application, for as long as stacks are walked.
 */
void method_ids_block(jvmtiEnv *jvmti);
void method_ids_make(jvmtiEnv *jvmti, JNIEnv *jni);
void method_ids_unblock(void);

/* Around what asks for a stack.  Returns false, and nothing is to be done: not now, classes are being changed. */
bool method_ids_enter(void);
void method_ids_leave(void);

#endif
