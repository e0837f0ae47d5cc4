/* The hook that gives classes their probes as they are loaded or changed. */
#ifndef CORE_AGENT_INSTRUMENT_H
#define CORE_AGENT_INSTRUMENT_H

#include "core/wire/ring.h"

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

/* Of the session so far. */
struct instrument_counts {
    uint32_t n_classes, n_methods, n_skipped_too_large, n_skipped_limits, n_skipped_unusual, n_failed_classes,
        n_left_classes, n_no_room_classes, n_event_classes, n_late_classes, n_loader_classes;
};

void instrument_begin(void);
void instrument_end(void);
void instrument_failed(uint32_t n_classes);

/*
 * A class is left alone: its versions would be retained, or there is no metaspace for it (retained.c), or no way from
 * its class loader to the probes (loaders.h).
 */
enum instrument_left { INSTRUMENT_LEFT_NATIVES, INSTRUMENT_LEFT_METASPACE, INSTRUMENT_LEFT_LOADER };
void instrument_left_alone(enum instrument_left why);

/* A class is left alone because it is one of JFR's events: each is counted once. */
void instrument_left_event(const char *name, size_t n);
/* So many classes are left alone, for the recorder has said that it is enough. */
void instrument_left_late(uint32_t n_classes);
bool instrument_is_enough(void);

void instrument_counts(struct instrument_counts *counts);

/* Keep the recorder informed, from now on, by these counts in the segment; NULL: no more. */
void instrument_publish(struct segment *segment);

/* Is no thread in the hook? */
bool instrument_is_idle(void);

/* When the hook was last shown a class that was loaded already, in ticks. */
uint64_t instrument_latest_ticks(void);

/* Does a class have probes (name in internal form)?  It is about to lose them; the hook will see those that it keeps.
 */
bool instrument_has_probes(const char *name, size_t n);
void instrument_loses_probes(const char *name, size_t n);

void JNICALL instrument_class_file(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined, jobject loader, const char *name,
                                   jobject domain, jint n_bytes, const unsigned char *bytes, jint *n_out,
                                   unsigned char **out);

#endif
