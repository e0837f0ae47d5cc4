/*
 * Where in the program a thread waits, by the calling contexts of a trace: phases/samples/wait_search.h.
 */
#ifndef REPORT_WAIT_SITES_H
#define REPORT_WAIT_SITES_H

#include "core/trace/trace.h"
#include "phases/samples/wait_search.h"
#include "report/folding.h"

/*
 * libraries  classes that are not the program's own (report/folding.h); NULL: only the JDK's are not
 * context    number of a calling context, the innermost call; 0: none
 *
 * The names are the reader's.
 */
struct wait_site wait_site_of(const struct trace_reader *reader, const struct folding_list *libraries,
                              uint32_t context);

#endif
