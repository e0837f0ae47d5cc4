/* Memory of a JVM that mmprof takes, too: its code cache and its metaspace. */
#ifndef CORE_JVM_JVM_MEMORY_H
#define CORE_JVM_JVM_MEMORY_H

#include "core/jvm/guest.h"

/*
 * A JVM's code cache, where its compiled code is: when it is full, HotSpot stops to compile, or throws code out to
 * compile other code.
 */

/* The fullest of its heaps that have compiled code; of a JVM with one heap, that. */
struct jvm_code_cache {
    uint64_t size_bytes, most_bytes; /* reserved; used, at most so far */
    uint64_t n_stopped;              /* how often all compilation stopped because of it, so far */
};

/* Read what the diagnostic command Compiler.codecache says.  Returns 0, or -1: it is not that. */
int jvm_code_cache_parse(const char *report, struct jvm_code_cache *cache);

/* Was it full?  HotSpot keeps 500 kB of it free (CodeCacheMinimumFreeSpace). */
bool jvm_code_cache_is_full(const struct jvm_code_cache *cache);

/* Ask a JVM; guest is its /tmp.  Returns 0, or -1 with *err set: it does not answer, or not that (before JDK 9). */
int jvm_code_cache_ask(const struct jvm_process *process, struct guest *guest, struct jvm_code_cache *cache,
                       struct err *err);

/*
 * A JVM's metaspace: what its classes take.  Changing a class takes some, too, which comes back late, after two garbage
 * collections, and then only to classes of the same loader: mmprof must not use up what the program will need.
 */

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
