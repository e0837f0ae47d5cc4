/*
 * A JVM's metaspace: what its classes take.  Changing a class takes some, too, which comes back late, after two garbage
 * collections, and then only to classes of the same loader: mmprof must not use up what the program will need.
 */
#ifndef CORE_JVM_METASPACE_H
#define CORE_JVM_METASPACE_H

#include "core/jvm/guest.h"

#define METASPACE_ANY UINT64_MAX

struct jvm_metaspace {
    uint64_t max_bytes; /* -XX:MaxMetaspaceSize, or METASPACE_ANY */
    uint64_t committed_bytes;
    uint64_t free_bytes; /* of them: came back from classes, for others of the same loader */
};

/* Read what the diagnostic command VM.metaspace says.  Returns 0, or -1: it is not that. */
int jvm_metaspace_parse(const char *report, struct jvm_metaspace *metaspace);

/*
 * What may be used up of it: a quarter of its maximum is the program's; of what came back, half may be used up to the
 * last eighth, since new classes fit into it by and by only.
 */
uint64_t jvm_metaspace_room(const struct jvm_metaspace *metaspace);

/*
 * Ask a JVM; guest is its /tmp.  One that does not say it, is taken to have no maximum.  Returns 0, or -1 with *err
 * set: it does not answer.
 */
int jvm_metaspace_ask(const struct jvm_process *process, struct guest *guest, struct jvm_metaspace *metaspace,
                      struct err *err);

#endif
