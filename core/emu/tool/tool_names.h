/*
 * Classes, methods and lines of them, as tools see them: one of each, with a number, for good.
 */
#ifndef CORE_EMU_TOOL_TOOL_NAMES_H
#define CORE_EMU_TOOL_TOOL_NAMES_H

#include "core/base/map.h"
#include "core/emu/tool/mmprof_tool.h"

struct tool_method_text {
    const char *class_name, *name, *descriptor, *source;
};

/* What a map's numbers are of. */
struct tool_list {
    struct map map;
    void **items; /* owned; what they lead to is the arena's */
    uint32_t n, room;
};

struct tool_names {
    struct arena arena;
    struct tool_list classes, methods, locations;
};

void tool_names_init(struct tool_names *names);

/* Each is made when it is new; NULL: no memory. */
struct mmprof_class *tool_names_class(struct tool_names *names, const char *name);
struct mmprof_method *tool_names_method(struct tool_names *names, const struct tool_method_text *text);
struct mmprof_location *tool_names_location(struct tool_names *names, struct mmprof_method *method, uint32_t line);

#endif
