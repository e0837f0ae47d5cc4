#include "phases/tree/jit_shape.h"

#include "core/base/map.h"
#include "core/base/text.h"
#include "core/base/xalloc.h"

/* What mmprof's own classes begin with. */
#define PROBES     "java/lang/Mmprof"
#define OWN_PROBES "mmprof/"

struct jit_method {
    bool is_known, is_watched, is_probe, had_code;
    uint32_t n_there, n_compiled, n_discarded;
    uint32_t n_since; /* compiled since any method got probes */
};

/* A method that was inlined where another one calls it. */
struct known_pair {
    uint32_t method, caller;
    uint32_t root;      /* whose code it was in before */
    bool before, after; /* one of the two got probes */
};

struct jit_shapes {
    struct arena arena;
    struct map by_name;         /* number of a method */
    struct map by_pair;         /* index of a pair */
    struct jit_method *methods; /* owned, JIT_MAX_METHODS */
    struct known_pair *pairs;   /* owned */
    uint32_t n_pairs, n_pairs_room;
    bool has_watched;
};

struct jit_shapes *jit_shapes_open(void)
{
    struct jit_shapes *s = xcalloc(1, sizeof *s);
    s->by_name.arena = s->by_pair.arena = &s->arena;
    s->methods = xcalloc(JIT_MAX_METHODS, sizeof *s->methods);
    return s;
}

void jit_shapes_close(struct jit_shapes *s)
{
    if (s == NULL)
        return;
    map_free(&s->by_name);
    map_free(&s->by_pair);
    arena_free(&s->arena);
    free(s->methods);
    free(s->pairs);
    free(s);
}

/* ---- events ---- */

/* CLASS;NAME;DESCRIPTOR: a class and a name hold no ';'. */
static char *name_of(struct arena *arena, struct wire_text class_name, struct wire_text name,
                     struct wire_text descriptor)
{
    const char *of = text_utf8(arena, class_name.at, class_name.n), *its = text_utf8(arena, name.at, name.n);
    const char *types = text_utf8(arena, descriptor.at, descriptor.n);
    return arena_printf(arena, "%s;%s;%s", of, its, types);
}

static void add_method(struct jit_shapes *s, const struct jit_event *event)
{
    struct jit_method *method = &s->methods[event->method];
    char *name = name_of(&s->arena, event->class_name, event->name, event->descriptor);
    map_put(&s->by_name, name, strlen(name), event->method);
    method->is_known = true;
    method->is_probe = strncmp(name, PROBES, strlen(PROBES)) == 0 || strncmp(name, OWN_PROBES, strlen(OWN_PROBES)) == 0;
}

static struct known_pair *pair_of(struct jit_shapes *s, const struct jit_inlined *inlined)
{
    const uint32_t key[2] = { inlined->method, inlined->caller };
    const uint32_t *known = map_get(&s->by_pair, key, sizeof key);
    if (known != NULL)
        return &s->pairs[*known];
    map_put(&s->by_pair, key, sizeof key, s->n_pairs);
    struct known_pair *pair = xpush(s->pairs, s->n_pairs_room, s->n_pairs);
    *pair = (struct known_pair){ .method = inlined->method, .caller = inlined->caller };
    return pair;
}

static int add_compiled(struct jit_shapes *s, const struct jit_event *event, struct err *err)
{
    struct jit_method *root = &s->methods[event->method];
    bool was_there = (event->flags & JIT_WAS_THERE) != 0;
    if (!root->is_watched)
        root->n_there += was_there;
    if (!was_there)
        root->n_compiled++;
    root->n_since += !was_there && s->has_watched;
    root->had_code = root->had_code || root->n_since == 0;
    for (uint32_t i = 0; i < event->n_inlined; i++) {
        const struct jit_inlined *inlined = &event->inlined[i];
        if (!s->methods[inlined->method].is_known || !s->methods[inlined->caller].is_known)
            return err_set(err, "the trace's JIT events are damaged: a method without a name");
        struct known_pair *pair = pair_of(s, inlined);
        bool after = s->methods[inlined->method].is_watched || s->methods[inlined->caller].is_watched;
        if (!after) {
            pair->before = true;
            pair->root = event->method;
        } else if (!was_there) { /* old code that still runs proves nothing */
            pair->after = true;
        }
    }
    return 0;
}

/* From here on its code has probes: what was compiled so far counts as before. */
static void add_watched(struct jit_shapes *s, uint32_t method)
{
    s->has_watched = s->methods[method].is_watched = true;
    s->methods[method].n_compiled = s->methods[method].n_discarded = 0;
}

int jit_shapes_add(struct jit_shapes *s, const struct jit_event *event, struct err *err)
{
    if (event->kind == JIT_METHOD) {
        add_method(s, event);
        return 0;
    }
    if (!s->methods[event->method].is_known)
        return err_set(err, "the trace's JIT events are damaged: a method without a name");
    if (event->kind == JIT_COMPILED)
        return add_compiled(s, event, err);
    if (event->kind == JIT_DISCARDED)
        s->methods[event->method].n_discarded++;
    else if (!s->methods[event->method].is_watched)
        add_watched(s, event->method);
    return 0;
}

/* ---- what became of a method ---- */

/* Was it inlined there, and is it not, in code that was compiled since? */
static bool is_lost(const struct jit_shapes *s, const struct known_pair *pair)
{
    return pair->before && !pair->after &&
           (s->methods[pair->root].n_compiled > 0 || s->methods[pair->caller].n_compiled > 0);
}

static unsigned marks_of(const struct jit_shape *shape)
{
    uint32_t usual = shape->n_there > JIT_SHAPE_USUAL ? shape->n_there : JIT_SHAPE_USUAL;
    return (shape->n_callers_lost > 0 ? JIT_SHAPE_NOT_INLINED : 0u) |
           (shape->n_callees_lost > 0 ? JIT_SHAPE_CALLS_OUT : 0u) |
           (shape->n_compiled > usual + JIT_SHAPE_RECOMPILED_MORE_THAN ? JIT_SHAPE_RECOMPILED : 0u);
}

/* NULL: it is not in the events. */
static const uint32_t *number_of(const struct jit_shapes *s, const char *class_name, const char *name,
                                 const char *descriptor)
{
    struct arena scratch = { NULL, 0 };
    char *key = arena_printf(&scratch, "%s;%s;%s", class_name, name, descriptor);
    const uint32_t *number = map_get(&s->by_name, key, strlen(key));
    arena_free(&scratch);
    return number;
}

const char *jit_shapes_call_text(const struct jit_shapes *s, const struct method_name *method,
                                 const struct method_name *caller)
{
    const uint32_t *callee = number_of(s, method->class_name, method->method, method->descriptor);
    const uint32_t *in = number_of(s, caller->class_name, caller->method, caller->descriptor);
    if (callee == NULL || in == NULL || (!s->methods[*callee].is_watched && !s->methods[*in].is_watched))
        return "";
    const uint32_t key[2] = { *callee, *in };
    const uint32_t *index = map_get(&s->by_pair, key, sizeof key);
    const struct known_pair *pair = index == NULL ? NULL : &s->pairs[*index];
    if (pair == NULL || (!pair->before && !pair->after))
        return "";
    if (is_lost(s, pair))
        return "not inlined any more";
    return pair->before ? "inlined, as before" : "inlined since";
}

bool jit_shapes_find(const struct jit_shapes *s, const char *class_name, const char *name, const char *descriptor,
                     struct jit_shape *shape)
{
    const uint32_t *number = number_of(s, class_name, name, descriptor);
    const struct jit_method *method = number == NULL ? NULL : &s->methods[*number];
    memset(shape, 0, sizeof *shape);
    if (method == NULL || !method->is_watched)
        return false;
    shape->n_there = method->n_there;
    shape->n_compiled = method->n_compiled;
    shape->n_discarded = method->n_discarded;
    for (uint32_t i = 0; i < s->n_pairs; i++) {
        const struct known_pair *pair = &s->pairs[i];
        if (s->methods[pair->method].is_probe)
            continue;
        bool lost = is_lost(s, pair);
        shape->n_callers += pair->method == *number && pair->before;
        shape->n_callers_lost += pair->method == *number && lost;
        shape->n_callees += pair->caller == *number && pair->before;
        shape->n_callees_lost += pair->caller == *number && lost;
    }
    shape->marks = marks_of(shape);
    return true;
}

void jit_shapes_summary(const struct jit_shapes *s, struct jit_summary *summary)
{
    memset(summary, 0, sizeof *summary);
    for (uint32_t i = 0; i < JIT_MAX_METHODS; i++) {
        const struct jit_method *method = &s->methods[i];
        bool again = method->had_code && method->n_since > 0;
        summary->n_again += again;
        summary->n_compilations += again ? method->n_since : 0;
    }
}

const char *jit_shape_text(const struct jit_shape *shape, char *text, size_t n)
{
    char inlined[64] = "", out[64] = "", compiled[64] = "";
    if (shape->marks & JIT_SHAPE_NOT_INLINED)
        snprintf(inlined, sizeof inlined, ", not inlined any more (%u of %u callers)", shape->n_callers_lost,
                 shape->n_callers);
    if (shape->marks & JIT_SHAPE_CALLS_OUT)
        snprintf(out, sizeof out, ", inlines less (%u of %u calls)", shape->n_callees_lost, shape->n_callees);
    if (shape->marks & JIT_SHAPE_RECOMPILED)
        snprintf(compiled, sizeof compiled, ", compiled %u times", shape->n_compiled);
    char all[JIT_SHAPE_TEXT_BYTES];
    snprintf(all, sizeof all, "%s%s%s", inlined, out, compiled);
    snprintf(text, n, "%s", all[0] == '\0' ? "" : all + 2);
    return text;
}
