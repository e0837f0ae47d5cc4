#include "core/agent/control/agent_lab.h"

#include <stddef.h>

const struct agent_lab agent_lab = { .enter = NULL };
