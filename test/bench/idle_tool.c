/*
 * A tool of 'mmprof memtrace' that does nothing at each access: what telling of it takes is the rest (thesis, Figure
 * 2.3).  'idle_tool.so,lines' has the line of Java of each access looked up.
 */
#include "core/emu/tool/mmprof_tool.h"

#include <string.h>

extern struct mmprof_tool mmprof_tool;

static const char *on_begin(const char *argument)
{
    mmprof_tool.want_locations = strcmp(argument, "lines") == 0;
    return NULL;
}

static void on_access(const struct mmprof_access *access)
{
    (void)access;
}

MMPROF_TOOL(.begin = on_begin, .access = on_access)
