#include "core/recorder/metadata.h"

#include "core/base/xalloc.h"

void setting_lines_add(struct setting_lines *lines, const struct setting *setting)
{
    xgrow(lines->text, lines->room, lines->n + setting_room(setting) + 1);
    lines->n += setting_encode(setting, lines->text + lines->n);
    memcpy(lines->text + lines->n++, "\n", 2);
}

void setting_lines_add_methods(struct setting_lines *lines, enum setting_kind kind,
                               const struct recorder_phase *methods, size_t n)
{
    for (size_t i = 0; i < n; i++)
        setting_lines_add(lines, &(struct setting){ .kind = kind,
                                                    .class_name = methods[i].class_name,
                                                    .name = methods[i].name,
                                                    .descriptor = methods[i].descriptor });
}
