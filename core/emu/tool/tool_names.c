#include "core/emu/tool/tool_jvm.h"

#include "core/base/text.h"
#include "core/base/vec.h"

#include <stdlib.h>
#include <string.h>

#define KEY_BYTES 4096

void tool_names_init(struct tool_names *names)
{
    memset(names, 0, sizeof *names);
    names->classes.map.arena = names->methods.map.arena = names->locations.map.arena = &names->arena;
}

static void *find_item(const struct tool_list *list, const void *key, size_t n)
{
    const uint32_t *index = map_get(&list->map, key, n);
    return index == NULL ? NULL : list->items[*index];
}

/* A new one, zeroed, whose number is list->n - 1. */
static void *add_item(struct tool_names *names, struct tool_list *list, const void *key, size_t n, size_t n_bytes)
{
    if (vec_reserve(list->items, list->room, list->n + 1) < 0)
        return NULL;
    void *item = arena_alloc(&names->arena, n_bytes);
    if (item == NULL || map_put(&list->map, key, n, list->n) < 0)
        return NULL;
    list->items[list->n++] = item;
    return item;
}

struct mmprof_class *tool_names_class(struct tool_names *names, const char *name)
{
    struct mmprof_class *known = find_item(&names->classes, name, strlen(name));
    if (known != NULL)
        return known;
    const char *text = text_utf8(&names->arena, name, strlen(name));
    struct mmprof_class *made =
        text == NULL ? NULL : add_item(names, &names->classes, name, strlen(name), sizeof *made);
    if (made == NULL)
        return NULL;
    made->number = names->classes.n - 1;
    made->name = text;
    return made;
}

static const char *keep(struct tool_names *names, const char *text)
{
    const char *kept = text_utf8(&names->arena, text, strlen(text));
    return kept == NULL ? "" : kept;
}

struct mmprof_method *tool_names_method(struct tool_names *names, const struct tool_method_text *text)
{
    char key[KEY_BYTES];
    size_t n = 0;
    const char *const parts[] = { text->class_name, text->name, text->descriptor };
    for (size_t i = 0; i < 3; i++) {
        size_t length = strlen(parts[i]) + 1, room = sizeof key - n;
        memcpy(key + n, parts[i], length < room ? length : room);
        n += length < room ? length : room;
    }
    struct mmprof_method *method = find_item(&names->methods, key, n);
    if (method != NULL)
        return method;
    method = add_item(names, &names->methods, key, n, sizeof *method);
    if (method == NULL)
        return NULL;
    method->number = names->methods.n - 1;
    method->class_name = keep(names, text->class_name);
    method->name = keep(names, text->name);
    method->descriptor = keep(names, text->descriptor);
    method->source = keep(names, text->source);
    return method;
}

struct mmprof_location *tool_names_location(struct tool_names *names, struct mmprof_method *method, uint32_t line)
{
    const uint32_t key[2] = { method->number, line };
    struct mmprof_location *location = find_item(&names->locations, key, sizeof key);
    if (location != NULL)
        return location;
    location = add_item(names, &names->locations, key, sizeof key, sizeof *location);
    if (location == NULL)
        return NULL;
    location->number = names->locations.n - 1;
    location->method = method;
    location->line = line;
    return location;
}
