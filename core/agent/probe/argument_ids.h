/*
 * What tells the calls of a method apart: the value of an argument.
 *
 * The probe of such a method is given the argument before it records the entry, and turns the method's token into that
 * of the value: an id out of a range that belongs to the method.  So the entry, the exit, and all that virtual threads
 * and exceptions make of a call carry the value, and no other probe knows of it.
 *
 * This probe alone may take a lock and write a line to the method log: at the first call with a value.  It runs code of
 * the program where a method is called on the argument; what that throws is kept from the program.
 */
#ifndef CORE_AGENT_ARGUMENT_IDS_H
#define CORE_AGENT_ARGUMENT_IDS_H

#include "core/base/err.h"
#include "core/wire/protocol.h"

#include <jvmti.h>

/* ---- argument_ids ---- */

#define ARGUMENT_VALUES_MAX  1000u /* of a method; others are one */
#define ARGUMENT_IDS         1024u /* that a method takes, for these and the kinds without a text */
#define ARGUMENT_METHODS_MAX 64u

/* A session begins: values go to its method log.  Returns 0, or -1 with *err set: the JVM lacks what is needed. */
int argument_ids_begin(jvmtiEnv *jvmti, JNIEnv *jni, uint32_t epoch, int methods_fd, struct err *err);

/* No value is told of any more; threads may still ask. */
void argument_ids_end(void);

/*
 * The calls of a method are told apart from now on, by ids from first_id on.
 *
 * type      of the argument, as rewrite_argument_type says
 * accessor  the method that is called on it, or NULL
 *
 * Returns false: there is no room.
 */
bool argument_ids_add(uint32_t method, uint32_t first_id, char type, const char *accessor);

/* Are a method's calls told apart? */
bool argument_ids_has(uint32_t method);

/* The method that a value is of; any other id is its own. */
uint32_t argument_ids_method(uint32_t id);

/* ---- value_text ---- */

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
