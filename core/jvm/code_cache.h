/*
 * A JVM's code cache, where its compiled code is: when it is full, HotSpot stops to compile, or throws code out to
 * compile other code.
 */
#ifndef CORE_JVM_CODE_CACHE_H
#define CORE_JVM_CODE_CACHE_H

#include "core/jvm/guest.h"

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

#endif
