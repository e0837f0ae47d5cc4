/*
 * Where in this process the code of libraries is.
 */
#ifndef CORE_EMU_TOOL_TOOL_LIBRARIES_H
#define CORE_EMU_TOOL_TOOL_LIBRARIES_H

#include "core/emu/tool/tool_host.h"

/* All mappings of files whose path ends so are added to wanted->libraries, as long as there is room. */
void tool_libraries_find(struct tool_wanted *wanted, const char *suffix, enum tool_code code);

#endif
