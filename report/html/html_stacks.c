#include "report/html/html_stacks.h"

#include "core/base/map.h"
#include "core/base/xalloc.h"
#include "report/html/html_parts.h"
#include "symbolize/java_names.h"

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
    *stacks = (struct html_stacks){ .arena = arena, .frame_of = { .arena = arena }, .n_nodes = 1 };
    return stacks;
}

void html_stacks_free(struct html_stacks *stacks)
{
    map_free(&stacks->frame_of);
    hash_free(&stacks->paths);
    free(stacks->frames);
    free(stacks->nodes);
    free(stacks->entries);
}

static uint32_t frame_of(struct html_stacks *s, const char *key, const struct stacks_frame *frame)
{
    const uint32_t *known = map_get(&s->frame_of, key, strlen(key));
    if (known != NULL)
        return *known;
    map_put(&s->frame_of, key, strlen(key), s->n_frames);
    *xpush(s->frames, s->frames_room, s->n_frames) = *frame;
    return s->n_frames - 1;
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
    uint32_t number = frame_of(s, arena_printf(s->arena, "%s%s", text, name->descriptor), &frame);
    *known = number + 1;
    return number;
}

uint32_t html_stacks_group(struct html_stacks *s, const char *title)
{
    const struct stacks_frame frame = { { "", title, "" }, HTML_FRAME_GROUP };
    return frame_of(s, arena_printf(s->arena, "\n%s", title), &frame);
}

/* The parent itself where there are NODES_MAX. */
static uint32_t node_below(struct html_stacks *s, uint32_t parent, uint32_t frame)
{
    const uint64_t number = (uint64_t)parent << 32 | frame;
    const uint32_t *known = hash_find(&s->paths, number);
    if (known != NULL)
        return *known;
    if (s->n_nodes >= NODES_MAX && parent != 0)
        return parent;
    xgrow(s->nodes, s->nodes_room, s->n_nodes + 1);
    s->nodes[s->n_nodes] = (struct stacks_node){ .parent = parent, .frame = frame };
    xhash_store(&s->paths, number, s->n_nodes);
    return s->n_nodes++;
}

void html_stacks_add(struct html_stacks *s, const uint32_t *frames, size_t n, unsigned value, double number)
{
    uint32_t node = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t caller = node;
        node = node_below(s, node, frames[i]);
        if (node == caller)
            break;
        s->nodes[node].all[value] += number;
    }
    s->nodes[node].own[value] += number;
    s->sums[value] += number;
    s->latest = node;
}

static bool add_entry(void *context, uint32_t step, uint64_t amount)
{
    struct html_stacks *s = context;
    *xpush(s->entries, s->entries_room, s->n_entries) = (struct timeline_given){ s->latest, step, amount };
    return true;
}

void html_stacks_add_between(struct html_stacks *s, const uint32_t *frames, size_t n, double number,
                             struct timeline *line, uint64_t from_ticks, uint64_t to_ticks)
{
    s->line = line;
    html_stacks_add(s, frames, n, 0, number);
    if (line != NULL)
        timeline_spread(line, from_ticks, to_ticks, (uint64_t)number, add_entry, s);
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
    if (*map_get(seen, name, strlen(name)) < 2 || s->frames[i].kind == HTML_FRAME_GROUP)
        return name;
    return arena_printf(s->arena, "%s%s", name, java_names_parameters(s->arena, s->frames[i].name.descriptor));
}

static void put_frames(struct html_json *json, const struct html_stacks *s)
{
    struct map seen = { .arena = s->arena };
    for (uint32_t i = 0; i < s->n_frames; i++) {
        const char *name = plain_name(s, i);
        const uint32_t *n = map_get(&seen, name, strlen(name));
        map_put(&seen, name, strlen(name), n == NULL ? 1 : *n + 1);
    }
    html_array(json, "names");
    for (uint32_t i = 0; i < s->n_frames; i++)
        html_text(json, NULL, name_of(s, &seen, i));
    html_close(json, ']');
    html_array(json, "keys");
    for (uint32_t i = 0; i < s->n_frames; i++)
        html_text(json, NULL,
                  s->frames[i].kind == HTML_FRAME_GROUP ? "" : method_name_text(s->arena, &s->frames[i].name));
    html_close(json, ']');
    html_array(json, "kinds");
    for (uint32_t i = 0; i < s->n_frames; i++)
        html_text(json, NULL, html_frame_key(s->frames[i].kind));
    html_close(json, ']');
    map_free(&seen);
}

/* Number the contexts that are drawn; another one has the number of the caller that is. */
static uint32_t *number_contexts(const struct html_stacks *s, double share)
{
    uint32_t *index = arena_alloc(s->arena, ((size_t)s->n_nodes + 1) * sizeof *index), n = 0;
    for (uint32_t i = 1; i < s->n_nodes; i++)
        index[i] = is_large(s, i, share) ? n++ : s->nodes[i].parent == 0 ? CALLTREE_NONE : index[s->nodes[i].parent];
    return index;
}

static void put_contexts(struct html_json *json, const struct html_stacks *s, double share, const uint32_t *index)
{
    html_array(json, "parent");
    for (uint32_t i = 1; i < s->n_nodes; i++)
        if (is_large(s, i, share))
            html_exact(json, NULL, s->nodes[i].parent == 0 ? -1 : (double)index[s->nodes[i].parent]);
    html_close(json, ']');
    html_array(json, "name");
    for (uint32_t i = 1; i < s->n_nodes; i++)
        if (is_large(s, i, share))
            html_exact(json, NULL, s->nodes[i].frame);
    html_close(json, ']');
}

/* What is left out is in the value of those that are drawn, and in none of their callees. */
static void put_value(struct html_json *json, const struct html_stacks *s, double share, const char *name,
                      unsigned value)
{
    html_object(json, NULL);
    html_text(json, "name", name);
    html_array(json, "own");
    for (uint32_t i = 1; i < s->n_nodes; i++)
        if (is_large(s, i, share))
            html_number(json, NULL, s->nodes[i].own[value]);
    html_close(json, ']');
    html_array(json, "all");
    for (uint32_t i = 1; i < s->n_nodes; i++)
        if (is_large(s, i, share))
            html_number(json, NULL, s->nodes[i].all[value]);
    html_close(json, ']');
    html_close(json, '}');
}

void html_stacks_put(struct html_json *json, const struct html_stacks *s, const char *const *names, unsigned n_values)
{
    const struct html_steps_unit unit = { 1, 1 };
    double share = find_share(s);
    const uint32_t *index = number_contexts(s, share);
    html_object(json, "tree");
    put_frames(json, s);
    put_contexts(json, s, share, index);
    if (s->line != NULL)
        html_steps_put(json, s->entries, s->n_entries, ENTRIES_MAX, index, timeline_n_steps(s->line), unit);
    html_array(json, "values");
    for (unsigned v = 0; v < n_values; v++)
        put_value(json, s, share, names[v], v);
    html_close(json, ']');
    html_number(json, "least_share", share);
    html_number(json, "contexts", s->n_nodes - 1.0);
    html_close(json, '}');
}
