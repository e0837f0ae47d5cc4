/* Where in the program threads wait, by the calling contexts of a trace (phases/samples/wait_search.h). */
#ifndef REPORT_WAIT_SITES_H
#define REPORT_WAIT_SITES_H

#include "core/trace/trace.h"
#include "phases/samples/wait_search.h"
#include "report/folding.h"

struct wait_sites;

/*
 * reader     of the trace; borrowed, it may still be reading
 * libraries  classes that are not the program's own (report/folding.h), borrowed; NULL: only the JDK's are not
 */
struct wait_sites *wait_sites_open(const struct trace_reader *reader, const struct folding_list *libraries);

/*
 * context  number of a calling context, the innermost call; 0: none
 *
 * Valid until the next call; the names are the reader's.  A context is looked at once, however many waits have it.
 */
const struct wait_site *wait_sites_find(struct wait_sites *sites, uint32_t context);

void wait_sites_close(struct wait_sites *sites); /* NULL is fine */

#endif
