/*
 * Figures that are worth keeping from one run to the next: $XDG_CACHE_HOME/mmprof, or ~/.cache/mmprof, a file each.
 *
 * Only files of this user in a folder of this user count, and only those of this very program.  What is damaged, old or
 * somebody else's is as if it was not there; what cannot be written is not kept.
 */
#ifndef CORE_BASE_OWN_CACHE_H
#define CORE_BASE_OWN_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#define OWN_CACHE_DAY_S 86400

/* name: letters, digits, '-', '.' and '_'.  Returns false where there is none, or it is older than max_s. */
bool own_cache_get(const char *name, int64_t max_s, uint64_t *value);
void own_cache_put(const char *name, uint64_t value);

#endif
