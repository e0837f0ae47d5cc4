/* Which patterns of --include have matched something. */
#ifndef CORE_AGENT_INCLUDED_H
#define CORE_AGENT_INCLUDED_H

#include "core/agent/rewrite/rewrite.h"
#include "core/base/pattern.h"
#include "core/wire/ring.h"

/* Where to tell which patterns of --include match; NULL: nowhere any more. */
void included_begin(struct segment *segment);

/* What was compared with pattern i; of a method only if its class matches.  wanted: it gets probes. */
void included_class(const struct pattern *pattern, size_t i, const char *name, size_t n, bool matches);
void included_method(const struct pattern *pattern, size_t i, const struct rewrite_method *method, bool matches,
                     bool wanted);

#endif
