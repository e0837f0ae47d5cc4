/* Source: https://www.speedscope.app/file-format-schema.json */
#include "core/base/text.h"
#include "core/base/xalloc.h"
#include "report/export/export_tree.h"

struct speedscope {
    const struct export_tree *tree;
    uint64_t *total;   /* by node: of what is written */
    uint32_t *frames;  /* by method: its number among those that are written; the arena's */
    uint32_t n_frames; /* of methods; the roots' come next, then that of the folded calls */
    FILE *out;
};

static uint32_t frame_of(const struct speedscope *s, uint32_t node)
{
    const struct calltree *tree = s->tree->source->tree;
    uint32_t method = tree->nodes[node].method;
    if (method < tree->n_methods)
        return s->frames[method];
    return s->n_frames + export_root(s->tree, node);
}

static void print_frame(const struct speedscope *s, const char *name, const struct trace_method *method)
{
    fputs("{\"name\":", s->out);
    text_print_string(s->out, name);
    if (method != NULL && method->source[0] != '\0') {
        fputs(",\"file\":", s->out);
        text_print_string(s->out, text_clean(s->tree->source->arena, method->source));
        if (method->first_line > 0)
            fprintf(s->out, ",\"line\":%u", method->first_line);
    }
    fputc('}', s->out);
}

static void print_frames(const struct speedscope *s)
{
    const struct calltree *tree = s->tree->source->tree;
    fputs("\"shared\":{\"frames\":[\n", s->out);
    for (uint32_t i = 0; i < tree->n_methods; i++) {
        if (s->tree->names[i] == NULL)
            continue;
        print_frame(s, s->tree->names[i], trace_method(s->tree->source->reader, i));
        fputs(",\n", s->out);
    }
    for (uint32_t i = 0; i < tree->n_roots; i++) {
        print_frame(s, s->tree->root_names[i], NULL);
        fputs(",\n", s->out);
    }
    print_frame(s, EXPORT_FOLDED_NAME, NULL);
    fputs("\n]}", s->out);
}

static void print_event(const struct speedscope *s, char what, uint32_t node, uint64_t at, bool *is_first)
{
    fprintf(s->out, "%s{\"type\":\"%c\",\"frame\":%u,\"at\":%" PRIu64 "}", *is_first ? "" : ",\n", what,
            frame_of(s, node), at);
    *is_first = false;
}

/* A context's own value comes first, then its callees'. */
static void print_events(const struct speedscope *s, uint32_t root)
{
    struct calltree_walk walk = calltree_walk_from(s->tree->source->tree, root);
    uint64_t at = 0;
    bool is_first = true;
    while (calltree_walk(&walk)) {
        uint32_t node = walk.node;
        if (s->tree->owner[node] != node || s->total[node] == 0)
            continue;
        print_event(s, walk.is_leaving ? 'C' : 'O', node, at, &is_first);
        if (!walk.is_leaving)
            at += s->tree->self[node];
    }
}

static void print_profile(const struct speedscope *s, size_t root)
{
    uint32_t node = s->tree->source->tree->roots[root].node;
    bool is_time = strcmp(s->tree->value.unit, "nanoseconds") == 0;
    fputs("{\"type\":\"evented\",\"name\":", s->out);
    text_print_string(s->out, s->tree->root_names[root]);
    fprintf(s->out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64 ",\"events\":[\n",
            is_time ? "nanoseconds" : "none", s->total[node]);
    print_events(s, node);
    fputs("\n]}", s->out);
}

static void print_all(const struct speedscope *s)
{
    const struct report_source *source = s->tree->source;
    const char *name = arena_printf(source->arena, "%s: %s", source->path, s->tree->value.name);
    fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"exporter\":\"mmprof " MMPROF_VERSION
          "\",\n\"name\":",
          s->out);
    text_print_string(s->out, text_clean(source->arena, name));
    fputs(",\n\"activeProfileIndex\":0,\n", s->out);
    print_frames(s);
    fputs(",\n\"profiles\":[\n", s->out);
    bool is_first = true;
    for (size_t i = 0; i < source->tree->n_roots; i++) {
        if (s->total[source->tree->roots[i].node] == 0)
            continue;
        fputs(is_first ? "" : ",\n", s->out);
        print_profile(s, i);
        is_first = false;
    }
    fputs("\n]}\n", s->out);
}

/* Callers come before callees in the array. */
static uint64_t *sum_up(const struct calltree *tree, const uint64_t *self)
{
    uint64_t *total = xreallocarray(NULL, (size_t)tree->n_nodes + 1, sizeof *total);
    memcpy(total, self, (size_t)tree->n_nodes * sizeof *total);
    for (uint32_t i = tree->n_nodes; i-- > 1;)
        if (tree->nodes[i].parent != i)
            total[tree->nodes[i].parent] += total[i];
    return total;
}

/* Methods without a context are not written. */
static void number_frames(struct speedscope *s)
{
    uint32_t n = s->tree->source->tree->n_methods;
    s->frames = arena_alloc(s->tree->source->arena, ((size_t)n + 1) * sizeof *s->frames);
    for (uint32_t i = 0; i < n; i++)
        if (s->tree->names[i] != NULL)
            s->frames[i] = s->n_frames++;
}

int export_speedscope(const struct export_tree *tree, FILE *out, struct err *err)
{
    struct speedscope s = { .tree = tree, .out = out, .total = sum_up(tree->source->tree, tree->self) };
    (void)err;
    number_frames(&s);
    print_all(&s);
    free(s.total);
    return 0;
}
