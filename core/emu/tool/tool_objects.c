#include "core/emu/tool/tool_jvm.h"

#include "core/base/text.h"
#include "core/base/xalloc.h"
#include "core/emu/model/sim_machine.h"
#include "core/emu/plugin/vm_memory.h"

#define OBJECTS_MAX    (1u << 26)
#define REFERENCE_TAGS UINT64_C(7) /* what JNI marks handles with */

void tool_objects_open(struct tool_objects *all, uint64_t heap, uint64_t heap_end)
{
    *all = (struct tool_objects){ .heap = heap, .heap_end = heap_end };
    all->map = sim_map((size_t)((heap_end - heap) / 8) * sizeof *all->map);
    all->objects = sim_map((size_t)OBJECTS_MAX * sizeof *all->objects);
    all->gone = sim_map((size_t)OBJECTS_MAX * sizeof *all->gone);
}

/* ---- the map ---- */

static uint32_t index_of(const struct tool_objects *all, const struct tool_object *object)
{
    return (uint32_t)(object - all->objects) + 1;
}

static void clear(struct tool_objects *all, const struct tool_object *object)
{
    uint64_t first = (object->object.address - all->heap) >> 3, n = object->object.bytes >> 3;
    uint32_t index = index_of(all, object);
    for (uint64_t i = first; i < first + n; i++)
        if (all->map[i] == index)
            all->map[i] = 0;
}

static void enter(struct tool_objects *all, const struct tool_object *object)
{
    uint64_t first = (object->object.address - all->heap) >> 3, n = object->object.bytes >> 3;
    uint32_t index = index_of(all, object);
    for (uint64_t i = first; i < first + n; i++)
        all->map[i] = index;
}

static bool fits(const struct tool_objects *all, uint64_t address, uint64_t bytes)
{
    return address >= all->heap && address < all->heap_end && address % 8 == 0 && bytes % 8 == 0 && bytes > 0 &&
           bytes <= all->heap_end - address;
}

/* ---- births and deaths ---- */

static void bury(struct tool_objects *all, struct tool_object *object, const struct tool_objects_listener *listener)
{
    clear(all, object);
    listener->died(&object->object, true);
    if (all->n_gone < OBJECTS_MAX)
        all->gone[all->n_gone++] = object->reference;
    object->is_there = false;
    object->next_free = all->first_free;
    all->first_free = index_of(all, object);
}

static struct tool_object *take_object(struct tool_objects *all)
{
    if (all->first_free != 0) {
        struct tool_object *object = &all->objects[all->first_free - 1];
        all->first_free = object->next_free;
        return object;
    }
    return all->n < OBJECTS_MAX ? &all->objects[all->n++] : NULL;
}

struct mmprof_object *tool_objects_add(struct tool_objects *all, uint64_t reference, uint64_t address, uint64_t bytes,
                                       const struct tool_objects_listener *listener)
{
    struct tool_object *object = fits(all, address, bytes) ? take_object(all) : NULL;
    if (object == NULL) {
        if (all->n_gone < OBJECTS_MAX)
            all->gone[all->n_gone++] = reference;
        return NULL;
    }
    for (uint64_t i = (address - all->heap) >> 3; i < (address + bytes - all->heap) >> 3; i++)
        if (all->map[i] != 0)
            bury(all, &all->objects[all->map[i] - 1], listener);
    *object = (struct tool_object){ .reference = reference, .is_there = true };
    object->object.number = all->n_created++;
    object->object.address = address;
    object->object.bytes = bytes;
    enter(all, object);
    return &object->object;
}

uint32_t tool_objects_take_gone(struct tool_objects *all, uint64_t *references, uint32_t n)
{
    uint32_t taken = 0;
    while (taken < n && all->n_gone > 0)
        references[taken++] = all->gone[--all->n_gone];
    return taken;
}

/* ---- collections ---- */

/* Where a reference says that its object is; 0: it is dead. */
static uint64_t address_now(const struct tool_object *object)
{
    return vm_pointer(object->reference & ~REFERENCE_TAGS);
}

/* What moves leaves its place first, so that others may come there. */
void tool_objects_collect(struct tool_objects *all, const struct tool_objects_listener *listener)
{
    for (uint32_t i = 0; i < all->n; i++) {
        struct tool_object *object = &all->objects[i];
        if (!object->is_there)
            continue;
        uint64_t now = address_now(object);
        if (!fits(all, now, object->object.bytes))
            bury(all, object, listener);
        else if (now != object->object.address)
            clear(all, object);
    }
    for (uint32_t i = 0; i < all->n; i++) {
        struct tool_object *object = &all->objects[i];
        uint64_t now = object->is_there ? address_now(object) : 0, from = object->object.address;
        if (!object->is_there || now == from)
            continue;
        object->object.address = now;
        enter(all, object);
        listener->moved(&object->object, from);
    }
}

void tool_objects_end(struct tool_objects *all, const struct tool_objects_listener *listener)
{
    for (uint32_t i = 0; i < all->n; i++) {
        struct tool_object *object = &all->objects[i];
        if (object->is_there)
            listener->died(&object->object, false);
        object->is_there = false;
    }
}

/* ---- names ---- */

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
    void *item = arena_alloc(&names->arena, n_bytes);
    map_put(&list->map, key, n, list->n);
    *xpush(list->items, list->room, list->n) = item;
    return item;
}

struct mmprof_class *tool_names_class(struct tool_names *names, const char *name)
{
    struct mmprof_class *known = find_item(&names->classes, name, strlen(name));
    if (known != NULL)
        return known;
    const char *text = text_utf8(&names->arena, name, strlen(name));
    struct mmprof_class *made = add_item(names, &names->classes, name, strlen(name), sizeof *made);
    made->number = names->classes.n - 1;
    made->name = text;
    return made;
}

static const char *keep(struct tool_names *names, const char *text)
{
    return text_utf8(&names->arena, text, strlen(text));
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
    location->number = names->locations.n - 1;
    location->method = method;
    location->line = line;
    return location;
}
