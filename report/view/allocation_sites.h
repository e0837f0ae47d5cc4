/*
 * Whose an allocation is: the method of the program that has it made, the one that makes it, and the phase around both.
 */
#ifndef REPORT_VIEW_ALLOCATION_SITES_H
#define REPORT_VIEW_ALLOCATION_SITES_H

#include "core/base/err.h"
#include "core/base/method_name.h"

#define ALLOCATION_NO_METHOD UINT32_MAX

struct trace_reader;
struct view_pass;

/* What is known of methods, by number in the trace; the pass' arena's. */
struct allocation_methods {
    uint32_t *first;                  /* of the same name */
    bool *is_jdk, *is_own, *is_phase; /* own: of the program, not of a framework */
    uint32_t n;
};

/* Methods by number in the trace, the first one of the same name; ALLOCATION_NO_METHOD: there is none. */
struct allocation_site {
    uint32_t method;    /* the innermost one of the program's own, or else of a framework */
    uint32_t allocator; /* the innermost one */
    uint32_t phase;     /* the innermost one that has probes */
};

void allocation_methods_know(const struct view_pass *pass, struct allocation_methods *methods);

/* Of a calling context; 0: none is known. */
struct allocation_site allocation_site_of(const struct allocation_methods *methods, const struct trace_reader *reader,
                                          uint32_t context);

/* Its names are NULL: there is none. */
struct method_name allocation_method_name(const struct trace_reader *reader, uint32_t method);

#endif
