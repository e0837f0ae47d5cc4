/* What the agents that count share. */
#ifndef CORE_AGENT_LAB_COUNT_ENTRIES_H
#define CORE_AGENT_LAB_COUNT_ENTRIES_H

#include "core/base/std.h"

#include <jvmti.h>

/* ---- count_entries ---- */

/*
 * What the agents that count calls share (lab.h): of about one call in so many, the stack.
 * For a JVM that only interprets (-Xint): there each call in the bytecode is one, and tells of itself (JVMTI's
 * MethodEntry).
 *
 * Call sites are numbered from 1 on.  What is counted is written at the JVM's end; the file's last line is
 *
 *     end CALLS-SEEN CALLS-TAKEN
 */

#define ENTRY_FRAMES_MAX 20

/* A bytecode that a method is called at, or that has the JVM call one, as that of an initializer. */
struct call_site {
    char *text;      /* owned: "CLASS METHOD DESCRIPTOR BYTECODE LINE"; NULL: not asked for, or no memory */
    uint8_t opcode;  /* 0: not known, as in native code */
    int32_t ordinal; /* among the calls in the method's bytecode, from 0 on; -1: it is no call */
};

struct count_entries_kind {
    const char *first_line;    /* of the file, with a line feed */
    jint n_frames;             /* of stacks: ENTRY_FRAMES_MAX at most */
    bool has_receivers;        /* it asks for them (GetLocalInstance) */
    bool (*wants)(uint8_t op); /* of calls at an instruction */
    /*
     * Count a call: frames are the method's that is called, and those around it, at least 2; site: of frames[1].
     * Without the lock.  Returns whether it was counted.
     */
    bool (*take)(jvmtiEnv *jvmti, JNIEnv *jni, const jvmtiFrameInfo *frames, jint n, uint32_t site);
    void (*write)(FILE *out); /* all but the first and the last line; with the lock */
};

/* At the JVM's start; path as count_objects_start has it.  interval: of calls, 1: all. */
void count_entries_start(JavaVM *vm, const struct count_entries_kind *kind, const char *path, uint32_t interval);

void count_entries_lock(void);
void count_entries_unlock(void);

/* With the lock: the number of a frame's bytecode; 0: no memory. */
uint32_t call_site_number(jvmtiEnv *jvmti, const jvmtiFrameInfo *frame);
const struct call_site *call_site_at(uint32_t number);

/* The same: its text, made of the frame if need be; NULL: no memory, or the method has gone. */
const char *call_site_text(jvmtiEnv *jvmti, JNIEnv *jni, const jvmtiFrameInfo *frame, uint32_t number);

/* ---- counted_file ---- */

/*
 * Take an empty file, and write its first line, with a line feed.  Returns a descriptor to append to, or -1: another
 * JVM has it or had it, or it cannot be written.
 */
int counted_file_take(const char *path, const char *first_line);

/* A word (core/base/words.h) and a blank; "-" for an empty one.  Returns where they end. */
char *counted_file_word(char *to, const char *word);

/* "Ljava/lang/String;" as "java/lang/String", in place; arrays and primitive types stay. */
void counted_file_plain_class(char *signature);

/* ---- all_objects ---- */

/*
 * HotSpot tells of each object that is allocated (SampledObjectAlloc, JDK 11 and later; interval 0: of all), in the
 * thread that allocates, when the object is there and before the program has it.  While the interval is 0 no thread
 * allocates inline: compiled code calls the JVM for each object.  Objects that escape analysis has removed are none.
 */

/*
 * In VMInit, when the event is on: a thread goes on in the buffer that it has, unwatched, until that is used up, and
 * this is the program's main thread.  Make arrays until *has_told says that the JVM has told of one.
 */
void all_objects_wear_out_buffer(JNIEnv *jni, const bool *has_told);

/* The line of a method's bytecode; 0: not known. */
uint32_t all_objects_line(jvmtiEnv *jvmti, jmethodID method, jlocation location);

/* ---- count_window ---- */

/*
 * A part of a run: from a method's call number N to the next call of it, or to the JVM's end, as of an iteration of a
 * benchmark.  The method has a breakpoint at its beginning (JVMTI): it is interpreted from then on, and no other one
 * is.
 */

/* What is done at its beginning and its end, in the thread that calls the method. */
struct count_window_user {
    void (*open)(jvmtiEnv *jvmti, JNIEnv *jni);
    void (*close)(jvmtiEnv *jvmti, JNIEnv *jni);
};

/*
 * At the JVM's start: set what it needs in 'wanted' and 'callbacks'.  method: a pattern (core/base/pattern.h); nth:
 * from 1 on.  Returns false: that is no pattern.
 */
bool count_window_start(const char *method, uint32_t nth, const struct count_window_user *user,
                        jvmtiCapabilities *wanted, jvmtiEventCallbacks *callbacks);

/* In VMInit: from now on calls of the method count. */
void count_window_listen(jvmtiEnv *jvmti, JNIEnv *jni);

#endif
