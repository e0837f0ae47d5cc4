/* The text of an argument's value: of an object, or of what one of its methods returns. */
#ifndef CORE_AGENT_VALUE_TEXT_H
#define CORE_AGENT_VALUE_TEXT_H

#include "core/base/err.h"
#include "core/wire/protocol.h"

#include <jvmti.h>

#define VALUE_ROOM (3 * VALUE_BYTES + 1) /* what the JVM may write */

struct value_text {
    enum value_kind kind;
    size_t n; /* VALUE_BYTES at most */
    char text[VALUE_ROOM];
};

/* Find what is needed of the JDK, once in the life of a JVM.  Returns 0, or -1 with *err set.  jvmti: kept for ever. */
int value_text_prepare(jvmtiEnv *jvmti, JNIEnv *jni, struct err *err);

/*
 * accessor  a method without arguments that is called on the object: what it returns is the value; or NULL: a String, a
 *           number, an enum's name, or else the name of the object's class.
 *
 * No exception is left, and local references are the caller's frame's.
 */
void value_text_of_object(JNIEnv *jni, jobject object, const char *accessor, struct value_text *value);

/* type: as in a descriptor. */
void value_text_of_integer(int64_t number, char type, struct value_text *value);
void value_text_of_real(double number, struct value_text *value);

#endif
