/* Whether the JVM's code cache was full at the end of a recording. */
#ifndef REPORT_CODE_CACHE_H
#define REPORT_CODE_CACHE_H

#include "report/source.h"

/*
 * "the code cache is full (2.6 of 3.0 MB): ...", in the source's arena.  NULL: it had room, or that is not known
 * (*is_known says which), or there is no memory.
 */
const char *report_full_code_cache(const struct report_source *source, bool *is_known);

#endif
