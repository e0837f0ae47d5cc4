/*
 * HotSpot tells of each object that is allocated (SampledObjectAlloc, JDK 11 and later; interval 0: of all), in the
 * thread that allocates, when the object is there and before the program has it.  While the interval is 0 no thread
 * allocates inline: compiled code calls the JVM for each object.  Objects that escape analysis has removed are none.
 */
#ifndef CORE_AGENT_LAB_ALL_OBJECTS_H
#define CORE_AGENT_LAB_ALL_OBJECTS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * In VMInit, when the event is on: a thread goes on in the buffer that it has, unwatched, until that is used up, and
 * this is the program's main thread.  Make arrays until *has_told says that the JVM has told of one.
 */
void all_objects_wear_out_buffer(JNIEnv *jni, const bool *has_told);

/* The line of a method's bytecode; 0: not known. */
uint32_t all_objects_line(jvmtiEnv *jvmti, jmethodID method, jlocation location);

#endif
