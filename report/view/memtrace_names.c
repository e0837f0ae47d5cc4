#include "report/view/memtrace_names.h"

#include "core/base/text.h"
#include "core/base/xalloc.h"

#define NUMBERS_MAX (UINT32_C(1) << 24)

void *memtrace_list_item(struct memtrace_list *list, uint32_t number, size_t n_bytes)
{
    if (number >= NUMBERS_MAX)
        return NULL;
    xgrow_room(&list->items, n_bytes, &list->n, sizeof list->n, (size_t)number + 1, true);
    return (char *)list->items + number * n_bytes;
}

static bool take_class(struct memtrace_names *names, const struct memtrace_entry *e)
{
    const char **class_name = memtrace_list_item(&names->classes, e->number, sizeof *class_name);
    if (class_name != NULL)
        *class_name = text_utf8(&names->arena, e->name.at, e->name.n);
    return class_name != NULL;
}

static bool take_method(struct memtrace_names *names, const struct memtrace_entry *e)
{
    struct method_name *method = memtrace_list_item(&names->methods, e->number, sizeof *method);
    if (method == NULL)
        return false;
    method->class_name = text_utf8(&names->arena, e->class_name.at, e->class_name.n);
    method->method = text_utf8(&names->arena, e->name.at, e->name.n);
    method->descriptor = text_utf8(&names->arena, e->descriptor.at, e->descriptor.n);
    return true;
}

static bool take_location(struct memtrace_names *names, const struct memtrace_entry *e)
{
    struct memtrace_line *line = memtrace_list_item(&names->locations, e->number, sizeof *line);
    if (line != NULL)
        *line = (struct memtrace_line){ e->method, e->line };
    return line != NULL;
}

bool memtrace_names_take(struct memtrace_names *names, const struct memtrace_entry *entry)
{
    return entry->kind == MEMTRACE_CLASS      ? take_class(names, entry)
           : entry->kind == MEMTRACE_METHOD   ? take_method(names, entry)
           : entry->kind == MEMTRACE_LOCATION ? take_location(names, entry)
                                              : true;
}

void memtrace_names_free(struct memtrace_names *names)
{
    free(names->classes.items);
    free(names->methods.items);
    free(names->locations.items);
    arena_free(&names->arena);
}

const char *memtrace_names_class(const struct memtrace_names *names, uint32_t number, enum java_names_style style,
                                 struct arena *arena)
{
    const char *const *classes = names->classes.items;
    if (number >= names->classes.n || classes[number] == NULL)
        return "a class that is not described";
    const char *name = java_names_class(arena, classes[number]);
    const char *dot = style == JAVA_NAMES_FULL ? NULL : strrchr(name, '.');
    return dot == NULL ? name : dot + 1;
}

const char *memtrace_names_method(const struct memtrace_names *names, uint32_t number, enum java_names_style style,
                                  struct arena *arena)
{
    const struct method_name *methods = names->methods.items;
    if (number >= names->methods.n || methods[number].method == NULL)
        return "a method that is not described";
    return java_names_display(arena, &methods[number], style);
}

const char *memtrace_names_location(const struct memtrace_names *names, uint32_t number, enum java_names_style style,
                                    struct arena *arena)
{
    const struct memtrace_line *lines = names->locations.items;
    if (number >= names->locations.n)
        return "a method that is not described";
    const char *method = memtrace_names_method(names, lines[number].method, style, arena);
    if (lines[number].line == 0)
        return method;
    return arena_printf(arena, "%s:%" PRIu32, method, lines[number].line);
}

uint32_t memtrace_names_method_of(const struct memtrace_names *names, uint32_t location)
{
    const struct memtrace_line *lines = names->locations.items;
    return location < names->locations.n ? lines[location].method : MEMTRACE_NO_NUMBER;
}
