/* Settings for the agent (core/wire/setting.h), line by line. */
#ifndef CORE_RECORDER_SETTING_LINES_H
#define CORE_RECORDER_SETTING_LINES_H

#include "core/recorder/link.h"
#include "core/wire/setting.h"

/* Zero at first. */
struct setting_lines {
    char *text; /* owned; ends with a NUL; NULL: nothing was added */
    size_t n, room;
};

void setting_lines_add(struct setting_lines *lines, const struct setting *setting);

/* Of n methods each: SETTING_PHASE or SETTING_LOOP. */
void setting_lines_add_methods(struct setting_lines *lines, enum setting_kind kind,
                               const struct recorder_phase *methods, size_t n);

#endif
