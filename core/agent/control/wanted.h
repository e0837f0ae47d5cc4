/*
 * Which methods the agent would give probes, for the recorder, which chooses among those that it sampled.
 */
#ifndef CORE_AGENT_WANTED_H
#define CORE_AGENT_WANTED_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct wanted;

/* By the configuration that is for the agent (a file's descriptor, borrowed).  NULL with *err set. */
struct wanted *wanted_open(int config_fd, struct err *err);
void wanted_close(struct wanted *wanted); /* NULL is fine */

/* Do the configuration's rules let it have probes?  class_name in internal form; code_bytes of bytecode. */
bool wanted_method(const struct wanted *wanted, const char *class_name, const char *name, const char *descriptor,
                   uint32_t code_bytes, bool has_loop);

#endif
