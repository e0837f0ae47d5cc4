#include "report/html/html_stacks.h"

#include "core/base/map.h"
#include "core/base/text.h"
#include "core/base/vec.h"
#include "symbolize/java_names.h"

#include <string.h>

#define FIRST_SHARE 0.0001
#define NODES_MAX   2000000 /* deeper calls are their callers' from then on: far more than are drawn */
#define ENTRIES_MAX 20000   /* by step; more are merged into longer steps */

struct stacks_frame {
    struct method_name name; /* of a group: only the method, its title */
    enum html_frame kind;
};

struct stacks_node {
    uint32_t parent, frame; /* parent 0: none */
    double own[HTML_STACKS_VALUES], all[HTML_STACKS_VALUES];
};

struct html_stacks {
    struct arena *arena;
    struct map frame_of;         /* by key */
    struct stacks_frame *frames; /* owned */
    uint32_t n_frames, frames_room;
    struct hash_set paths;     /* a parent and a frame: its node */
    struct stacks_node *nodes; /* owned; from 1 on; callers come before callees */
    uint32_t n_nodes, nodes_room;
    double sums[HTML_STACKS_VALUES];
    /* By step of the time line that the last stack had: the number of contexts, in whole units. */
    struct timeline *line;
    struct timeline_given *entries; /* owned */
    size_t n_entries, entries_room;
    uint32_t latest; /* the node of the stack that was added last */
};

const char *html_frame_key(enum html_frame kind)
{
    static const char *const keys[HTML_FRAMES] = {
        [HTML_FRAME_JAVA] = "java", [HTML_FRAME_NATIVE] = "native", [HTML_FRAME_GROUP] = "group"
    };
    return keys[kind];
}

struct html_stacks *html_stacks_new(struct arena *arena)
{
    struct html_stacks *stacks = arena_alloc(arena, sizeof *stacks);
    if (stacks == NULL)
        return NULL;
    *stacks = (struct html_stacks){ .arena = arena, .frame_of = { .arena = arena }, .n_nodes = 1 };
    return stacks;
}

void html_stacks_free(struct html_stacks *stacks)
{
    if (stacks == NULL)
        return;
    map_free(&stacks->frame_of);
    hash_free(&stacks->paths);
    free(stacks->frames);
    free(stacks->nodes);
    free(stacks->entries);
    stacks->entries = NULL;
    stacks->frames = NULL;
    stacks->nodes = NULL;
}

static uint32_t frame_of(struct html_stacks *s, const char *key, const struct stacks_frame *frame)
{
    const uint32_t *known = key == NULL ? NULL : map_get(&s->frame_of, key, strlen(key));
    if (known != NULL)
        return *known;
    if (key == NULL || vec_reserve(s->frames, s->frames_room, s->n_frames + 1) < 0 ||
        map_put(&s->frame_of, key, strlen(key), s->n_frames) < 0)
        return UINT32_MAX;
    s->frames[s->n_frames] = *frame;
    return s->n_frames++;
}

static const char *copy(struct arena *arena, const char *text)
{
    return arena_text(arena, text, strlen(text));
}

uint32_t html_stacks_method(struct html_stacks *s, const struct method_name *name, enum html_frame kind,
                            uint32_t *known)
{
    if (*known != 0)
        return *known - 1;
    const char *text = java_names_display(s->arena, name, JAVA_NAMES_FULL);
    const struct stacks_frame frame = {
        { copy(s->arena, name->class_name), copy(s->arena, name->method), copy(s->arena, name->descriptor) }, kind
    };
    bool is_whole =
        text != NULL && frame.name.class_name != NULL && frame.name.method != NULL && frame.name.descriptor != NULL;
    uint32_t number =
        is_whole ? frame_of(s, arena_printf(s->arena, "%s%s", text, name->descriptor), &frame) : UINT32_MAX;
    *known = number + 1;
    return number;
}

uint32_t html_stacks_group(struct html_stacks *s, const char *title)
{
    const struct stacks_frame frame = { { "", title, "" }, HTML_FRAME_GROUP };
    return frame_of(s, arena_printf(s->arena, "\n%s", title), &frame);
}

/* The parent itself where there are NODES_MAX.  0: no memory. */
static uint32_t node_below(struct html_stacks *s, uint32_t parent, uint32_t frame)
{
    const uint64_t number = (uint64_t)parent << 32 | frame;
    const uint32_t *known = hash_find(&s->paths, number);
    if (known != NULL)
        return *known;
    if (s->n_nodes >= NODES_MAX && parent != 0)
        return parent;
    if (vec_reserve(s->nodes, s->nodes_room, s->n_nodes + 1) < 0)
        return 0;
    s->nodes[s->n_nodes] = (struct stacks_node){ .parent = parent, .frame = frame };
    return hash_store(&s->paths, number, s->n_nodes) < 0 ? 0 : s->n_nodes++;
}

int html_stacks_add(struct html_stacks *s, const uint32_t *frames, size_t n, unsigned value, double number)
{
    uint32_t node = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t caller = node;
        node = frames[i] == UINT32_MAX ? 0 : node_below(s, node, frames[i]);
        if (node == 0)
            return -1;
        if (node == caller)
            break;
        s->nodes[node].all[value] += number;
    }
    s->nodes[node].own[value] += number;
    s->sums[value] += number;
    s->latest = node;
    return 0;
}

static bool add_entry(void *context, uint32_t step, uint64_t amount)
{
    struct html_stacks *s = context;
    if (vec_reserve(s->entries, s->entries_room, s->n_entries + 1) < 0)
        return false;
    s->entries[s->n_entries++] = (struct timeline_given){ s->latest, step, amount };
    return true;
}

int html_stacks_add_between(struct html_stacks *s, const uint32_t *frames, size_t n, double number,
                            struct timeline *line, uint64_t from_ticks, uint64_t to_ticks)
{
    s->line = line;
    bool ok = html_stacks_add(s, frames, n, 0, number) == 0 &&
              (line == NULL || timeline_spread(line, from_ticks, to_ticks, (uint64_t)number, add_entry, s));
    return ok ? 0 : -1;
}

/* ---- what is drawn ---- */

/* Has a context so much of some value? */
static bool is_large(const struct html_stacks *s, uint32_t node, double share)
{
    for (unsigned v = 0; v < HTML_STACKS_VALUES; v++)
        if (s->nodes[node].all[v] > 0 && s->nodes[node].all[v] >= share * s->sums[v])
            return true;
    return false;
}

/* A share that leaves room for all that have as much. */
static double find_share(const struct html_stacks *s)
{
    double share = FIRST_SHARE;
    for (; share < 1; share *= 2) {
        size_t n = 0;
        for (uint32_t i = 1; i < s->n_nodes; i++)
            n += is_large(s, i, share);
        if (n <= HTML_NODES_MAX)
            break;
    }
    return share;
}

static const char *plain_name(const struct html_stacks *s, uint32_t i)
{
    const struct stacks_frame *frame = &s->frames[i];
    return frame->kind == HTML_FRAME_GROUP ? frame->name.method
                                           : java_names_display(s->arena, &frame->name, JAVA_NAMES_FULL);
}

/* Overloaded methods say their parameters. */
static const char *name_of(const struct html_stacks *s, const struct map *seen, uint32_t i)
{
    const char *name = plain_name(s, i);
    const uint32_t *n = name == NULL ? NULL : map_get(seen, name, strlen(name));
    if (n == NULL || *n < 2 || s->frames[i].kind == HTML_FRAME_GROUP)
        return name;
    const char *parameters = java_names_parameters(s->arena, s->frames[i].name.descriptor);
    return parameters == NULL ? NULL : arena_printf(s->arena, "%s%s", name, parameters);
}

static bool put_frame(const struct html_stacks *s, const struct map *seen, uint32_t i, cJSON *lists[3])
{
    bool is_group = s->frames[i].kind == HTML_FRAME_GROUP;
    const char *key = is_group ? "" : method_name_text(s->arena, &s->frames[i].name);
    return key != NULL && html_put(lists[0], NULL, html_text(s->arena, name_of(s, seen, i))) &&
           html_put(lists[1], NULL, html_text(s->arena, key)) &&
           html_put(lists[2], NULL, cJSON_CreateString(html_frame_key(s->frames[i].kind)));
}

static bool put_frames(const struct html_stacks *s, cJSON *json)
{
    cJSON *lists[] = { cJSON_AddArrayToObject(json, "names"), cJSON_AddArrayToObject(json, "keys"),
                       cJSON_AddArrayToObject(json, "kinds") };
    struct map seen = { .arena = s->arena };
    bool ok = true;
    for (uint32_t i = 0; ok && i < s->n_frames; i++) {
        const char *name = plain_name(s, i);
        const uint32_t *n = name == NULL ? NULL : map_get(&seen, name, strlen(name));
        ok = name != NULL && map_put(&seen, name, strlen(name), n == NULL ? 1 : *n + 1) == 0;
    }
    for (uint32_t i = 0; ok && i < s->n_frames; i++)
        ok = put_frame(s, &seen, i, lists);
    map_free(&seen);
    return ok;
}

/* index: by node, its own or that of the caller that is drawn. */
static bool put_contexts(const struct html_stacks *s, cJSON *json, double share, uint32_t *index)
{
    uint32_t n = 0;
    cJSON *parent = cJSON_AddArrayToObject(json, "parent"), *name = cJSON_AddArrayToObject(json, "name");
    bool ok = name != NULL;
    for (uint32_t i = 1; ok && i < s->n_nodes; i++) {
        const struct stacks_node *node = &s->nodes[i];
        index[i] = node->parent == 0 ? CALLTREE_NONE : index[node->parent];
        if (!is_large(s, i, share))
            continue;
        index[i] = n++;
        ok = html_put(parent, NULL, cJSON_CreateNumber(node->parent == 0 ? -1 : (double)index[node->parent])) &&
             html_put(name, NULL, cJSON_CreateNumber(node->frame));
    }
    return ok;
}

/* What is left out is in the value of those that are drawn, and in none of their callees. */
static bool put_value(const struct html_stacks *s, cJSON *values, double share, const char *name, unsigned value)
{
    cJSON *json = cJSON_CreateObject();
    bool ok = html_put(values, NULL, json) && html_put(json, "name", cJSON_CreateString(name));
    cJSON *own = ok ? cJSON_AddArrayToObject(json, "own") : NULL,
          *all = ok ? cJSON_AddArrayToObject(json, "all") : NULL;
    for (uint32_t i = 1; ok && i < s->n_nodes; i++)
        if (is_large(s, i, share))
            ok = html_put(own, NULL, html_number(s->nodes[i].own[value])) &&
                 html_put(all, NULL, html_number(s->nodes[i].all[value]));
    return ok;
}

cJSON *html_stacks_json(const struct html_stacks *s, const char *const *names, unsigned n_values)
{
    cJSON *json = cJSON_CreateObject();
    double share = find_share(s);
    uint32_t *index = arena_alloc(s->arena, ((size_t)s->n_nodes + 1) * sizeof *index);
    const struct html_steps_unit unit = { 1, 1 };
    bool ok = json != NULL && index != NULL && put_frames(s, json) && put_contexts(s, json, share, index);
    if (ok && s->line != NULL)
        ok = html_put(json, "steps",
                      html_steps_json(s->entries, s->n_entries, ENTRIES_MAX, index, timeline_n_steps(s->line), unit));
    cJSON *values = ok ? cJSON_AddArrayToObject(json, "values") : NULL;
    for (unsigned v = 0; ok && v < n_values; v++)
        ok = put_value(s, values, share, names[v], v);
    if (ok && html_put(json, "least_share", html_number(share)) &&
        html_put(json, "contexts", html_number(s->n_nodes - 1.0)))
        return json;
    cJSON_Delete(json);
    return NULL;
}
