#include "core/agent/control/agent_lab.h"

const struct agent_lab agent_lab = { .enter = NULL };
