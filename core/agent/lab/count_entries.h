/*
 * What the agents that count calls share (count_receivers.h, count_calls.h): of about one call in so many, the stack.
 * For a JVM that only interprets (-Xint): there each call in the bytecode is one, and tells of itself (JVMTI's
 * MethodEntry).
 *
 * Call sites are numbered from 1 on.  What is counted is written at the JVM's end; the file's last line is
 *
 *     end CALLS-SEEN CALLS-TAKEN
 */
#ifndef CORE_AGENT_LAB_COUNT_ENTRIES_H
#define CORE_AGENT_LAB_COUNT_ENTRIES_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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

#endif
