/* From files to profiles. */
#include "core/base/xalloc.h"
#include "core/trace/format.h"
#include "phases/tree/calltree.h"
#include "report/diff/compare.h"
#include "symbolize/java_names.h"
#include "symbolize/vm_parts.h"

/* Samples in a calling context of the JVM's own threads. */
struct jvm_samples {
    uint64_t n, ns;
};

/* A profile on its way in. */
struct compare_reading {
    const char *path;
    struct profile_set *set;
    uint32_t profile;
    struct arena arena; /* names */
    uint32_t *contexts; /* owned; in the set, by the trace's */
    const struct trace_reader *reader;
    struct jvm_samples *jvm; /* owned; by the trace's contexts, below jvm_room */
    uint32_t jvm_room;
    bool tells_overloads; /* names have descriptors */
};

/* The method's name in the set. */
static const char *name_of(struct compare_reading *r, const struct method_name *method)
{
    const struct method_name name = { method->class_name, method->method, "" };
    const char *text = java_names_display(&r->arena, &name, JAVA_NAMES_FULL);
    if (!r->tells_overloads || method->descriptor == NULL)
        return text;
    return arena_printf(&r->arena, "%s%s", text, method->descriptor);
}

static uint32_t call(struct compare_reading *r, uint32_t parent, const struct method_name *method)
{
    const char *text = name_of(r, method);
    return profile_set_call(r->set, parent, text, strlen(text));
}

/* ---- samples of a trace ---- */

static void hear_sample(void *context, const struct trace_sample *sample)
{
    struct compare_reading *r = context;
    const struct trace_thread *thread = trace_thread(r->reader, sample->thread);
    if (thread == NULL || vm_part_of(thread->comm) == VM_PART_APPLICATION)
        return;
    xgrow_zeroed(r->jvm, r->jvm_room, (size_t)sample->context + 1);
    r->jvm[sample->context].n += sample->n;
    r->jvm[sample->context].ns += sample->weight_ns;
}

/* The application's samples: those of the JVM's own threads, which may run Java methods, too, are left out. */
static void take_samples(struct compare_reading *r, const struct trace_reader *reader, uint64_t *n)
{
    uint32_t n_contexts = trace_n_contexts(reader);
    r->contexts = xcalloc((size_t)n_contexts + 1, sizeof *r->contexts);
    for (uint32_t i = 1; i <= n_contexts; i++) {
        const struct trace_context *context = trace_context(reader, i);
        const struct trace_sampled_method *method = trace_sampled_method(reader, context->method);
        const struct jvm_samples jvm = i < r->jvm_room ? r->jvm[i] : (struct jvm_samples){ 0 };
        r->contexts[i] = call(r, r->contexts[context->parent], &method->names);
        profile_set_add(r->set, r->profile, r->contexts[i], (double)(context->own_ns - jvm.ns));
        *n += context->n_own - jvm.n;
    }
}

/* ---- recorded calls of a trace ---- */

/* What had probes, called or not. */
static void mark_probed(struct compare_reading *r, const struct trace_reader *reader)
{
    for (uint32_t i = 0; i < trace_n_methods(reader); i++) {
        const struct trace_method *method = trace_method(reader, i);
        if (method == NULL)
            continue;
        const char *text = name_of(r, &method->names);
        profile_set_mark(r->set, text, strlen(text));
    }
}

/* The nodes of other parts' threads than the application's are in no context; folded ones are in their caller's. */
static void take_calls(struct compare_reading *r, const struct trace_reader *reader, const struct calltree *tree,
                       uint64_t *n)
{
    r->contexts = xreallocarray(NULL, (size_t)tree->n_nodes + 1, sizeof *r->contexts);
    mark_probed(r, reader);
    for (uint32_t i = 0; i < tree->n_nodes; i++)
        r->contexts[i] = PROFILE_SET_NONE;
    for (uint32_t i = 0; i < tree->n_roots; i++)
        if (tree->roots[i].part == VM_PART_APPLICATION)
            r->contexts[tree->roots[i].node] = 0;
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        const struct calltree_node *node = &tree->nodes[i];
        uint32_t parent = r->contexts[node->parent];
        if (node->parent == i || parent == PROFILE_SET_NONE)
            continue;
        const struct trace_method *method = node->method == CALLTREE_FOLDED ? NULL : trace_method(reader, node->method);
        r->contexts[i] = method == NULL ? parent : call(r, parent, &method->names);
        double ns = (double)node->cpu_ticks * tree->ns_per_tick;
        profile_set_add(r->set, r->profile, r->contexts[i], ns);
        *n += calltree_calls(tree, i);
    }
}

static int take_trace(struct compare_reading *r, const struct trace_reader *reader, const struct calltree *tree,
                      const struct compare_options *options, struct compare_profile *result, struct err *err)
{
    bool has_samples = trace_n_contexts(reader) > 0;
    if (options->from == COMPARE_SAMPLES && !has_samples) {
        err_set(err, "'%s' has no stack samples", r->path);
        return err_next(err, "compare its calls (--from calls), or record with 'mmprof sample -o FILE'");
    }
    bool by_samples = has_samples && options->from != COMPARE_CALLS;
    result->what = by_samples ? "samples" : "calls";
    if (by_samples)
        take_samples(r, reader, &result->n);
    else
        take_calls(r, reader, tree, &result->n);
    if (result->n > 0)
        return 0;
    err_set(err, "'%s' has neither calls nor stack samples of Java methods", r->path);
    return err_next(err, "record the program while it is busy; 'mmprof dump' prints the trace");
}

static int read_trace(struct compare_reading *r, const struct compare_options *options, struct compare_profile *result,
                      struct err *err)
{
    struct trace_reader *reader = NULL;
    struct calltree tree = { .n_nodes = 0 };
    int rc = trace_open(&reader, r->path, options->salvage, err);
    r->reader = reader;
    if (rc == 0)
        trace_listen(reader, &(struct trace_listener){ .context = r, .sample = hear_sample });
    if (rc == 0)
        rc = calltree_build(reader, &(struct calltree_options){ .max_nodes = 0 }, &tree, err);
    if (rc == 0)
        rc = take_trace(r, reader, &tree, options, result, err);
    calltree_free(&tree);
    trace_close(reader);
    return rc;
}

/* ---- folded stacks ---- */

/* "A.main;A.run 17": returns false where it is none. */
static bool take_line(struct compare_reading *r, char *line, uint64_t *n)
{
    char *weight = strrchr(line, ' '), *end = NULL;
    uint64_t value = weight == NULL ? 0 : strtoull(weight + 1, &end, 10);
    if (weight == NULL || weight == line || end == weight + 1 || (*end != '\n' && *end != '\r' && *end != '\0'))
        return false;
    *weight = '\0';
    uint32_t context = 0;
    for (char *frame = line; frame != NULL;) {
        char *next = strchr(frame, ';');
        context = profile_set_call(r->set, context, frame, next == NULL ? strlen(frame) : (size_t)(next - frame));
        frame = next == NULL ? NULL : next + 1;
    }
    *n += value;
    profile_set_add(r->set, r->profile, context, (double)value);
    return true;
}

static int read_folded(struct compare_reading *r, FILE *in, struct compare_profile *result, struct err *err)
{
    char *line = NULL;
    size_t room = 0, n_lines = 0;
    bool is_folded = true;
    result->what = "folded stacks";
    while (is_folded && getline(&line, &room, in) > 0) {
        n_lines++;
        is_folded = take_line(r, line, &result->n);
    }
    free(line);
    if (is_folded && n_lines > 0)
        return 0;
    err_set(err, "'%s' is neither a trace nor folded stacks: line %zu is not 'A.main;A.run 17'", r->path,
            n_lines == 0 ? 1 : n_lines);
    return err_next(err, "give traces of 'mmprof record' or 'mmprof sample -o FILE', or folded stacks");
}

/* ---- any file ---- */

static bool is_trace_file(FILE *in)
{
    char magic[FILE_MAGIC_BYTES] = "";
    bool is_trace = fread(magic, 1, sizeof magic, in) == sizeof magic && memcmp(magic, FILE_MAGIC, sizeof magic) == 0;
    rewind(in);
    return is_trace;
}

bool compare_is_trace(const char *path)
{
    FILE *in = fopen(path, "r");
    bool is_trace = in != NULL && is_trace_file(in);
    if (in != NULL)
        fclose(in);
    return is_trace;
}

int compare_read(const char *path, const struct compare_options *options, struct profile_set *set, uint32_t profile,
                 struct compare_profile *result, struct err *err)
{
    struct compare_reading r = {
        .path = path, .set = set, .profile = profile, .tells_overloads = options->tells_overloads
    };
    *result = (struct compare_profile){ .path = path };
    FILE *in = fopen(path, "r");
    if (in == NULL) {
        err_set(err, "cannot open '%s': %s", path, strerror(errno));
        return err_next(err, "give traces of 'mmprof record' or 'mmprof sample'");
    }
    int rc = is_trace_file(in) ? read_trace(&r, options, result, err) : read_folded(&r, in, result, err);
    fclose(in);
    free(r.contexts);
    free(r.jvm);
    arena_free(&r.arena);
    return rc;
}
