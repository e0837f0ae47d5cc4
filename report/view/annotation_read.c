/* From a trace to a method's locations: the first pass finds the method, the second one counts its samples. */
#include "report/view/annotation.h"
#include "report/some_threads.h"

#include "core/base/xalloc.h"
#include "core/hotspot/bytecodes.h"
#include "core/trace/recording_info.h"
#include "symbolize/java_names.h"

#define BLOCK_NS   UINT64_C(100000000)
#define TREE_BYTES CONTEXT_TREE_MIN_BYTES
#define PATH_MAX_N 4096u

/* ---- which method ---- */

static bool is_named(const char *pattern, const struct trace_sampled_method *method, struct arena *arena)
{
    return java_names_is(arena, &method->names, pattern);
}

/* By method: the samples with it on the stack.  Recursion counts once for each call. */
static uint64_t *weigh(const struct trace_reader *reader)
{
    uint64_t *weights = xcalloc((size_t)trace_n_sampled_methods(reader) + 1, sizeof *weights);
    for (uint32_t i = 1; i <= trace_n_contexts(reader); i++) {
        const struct trace_context *context = trace_context(reader, i);
        uint64_t n = context->n_own;
        for (uint32_t at = i; n > 0 && at != 0; at = context->parent) {
            context = trace_context(reader, at);
            weights[context->method] += n;
        }
    }
    return weights;
}

static int refuse(const struct trace_reader *reader, const char *path, const char *pattern, struct err *err)
{
    if (trace_n_contexts(reader) == 0) {
        err_set(err, "'%s' has no stack samples", path);
        return err_next(err, "record some with 'mmprof sample -o FILE -p PID'");
    }
    err_set(err, "no sample of '%s' is in a method '%s'", path, pattern);
    return err_next(err, "give Class.method as 'mmprof sample' prints it; 'mmprof dump %s' lists all sampled methods",
                    path);
}

static const char *label_of(struct arena *arena, const struct trace_sampled_method *method)
{
    const struct method_name name = method->names;
    const char *full = java_names_display(arena, &name, JAVA_NAMES_FULL);
    const char *parameters = java_names_parameters(arena, method->names.descriptor);
    return arena_printf(arena, "%s%s", full, parameters);
}

/* A class that was changed, as by a recording's probes, has its methods once more. */
static bool is_version(const struct trace_sampled_method *a, const struct trace_sampled_method *b)
{
    return method_name_equals(&a->names, &b->names);
}

/* By method: is it a version of this one?  In the arena. */
static bool *find_versions(struct arena *arena, const struct trace_reader *reader, uint32_t of)
{
    uint32_t n = trace_n_sampled_methods(reader);
    bool *versions = arena_alloc(arena, n);
    for (uint32_t i = 0; i < n; i++)
        versions[i] = is_version(trace_sampled_method(reader, i), trace_sampled_method(reader, of));
    return versions;
}

/* Of those that the pattern fits the one with the most samples.  Returns 0, or -1 with *err set. */
static int choose(struct annotation *a, const struct trace_reader *reader, const char *path, const char *pattern,
                  uint32_t *chosen, struct err *err)
{
    uint64_t *weights = weigh(reader);
    uint32_t best = UINT32_MAX, second = UINT32_MAX;
    for (uint32_t i = 0; i < trace_n_sampled_methods(reader); i++) {
        if (weights[i] == 0 || !is_named(pattern, trace_sampled_method(reader, i), a->arena))
            continue;
        best = best == UINT32_MAX || weights[i] > weights[best] ? i : best;
    }
    a->versions = best == UINT32_MAX ? NULL : find_versions(a->arena, reader, best);
    for (uint32_t i = 0; a->versions != NULL && i < trace_n_sampled_methods(reader); i++)
        if (weights[i] > 0 && !a->versions[i] && is_named(pattern, trace_sampled_method(reader, i), a->arena)) {
            a->n_others++;
            second = second == UINT32_MAX || weights[i] > weights[second] ? i : second;
        }
    free(weights);
    if (best == UINT32_MAX)
        return refuse(reader, path, pattern, err);
    *chosen = best;
    a->label = label_of(a->arena, trace_sampled_method(reader, best));
    a->other = second == UINT32_MAX ? "" : label_of(a->arena, trace_sampled_method(reader, second));
    return 0;
}

/* ---- its locations ---- */

static void *copy(struct arena *arena, const void *bytes, size_t n)
{
    void *to = bytes == NULL ? NULL : arena_alloc(arena, n + 1);
    return to == NULL || n == 0 ? to : memcpy(to, bytes, n);
}

/* What it is, for when the trace is closed. */
static void keep_method(struct annotation *a, const struct trace_sampled_method *method)
{
    a->method =
        (struct trace_sampled_method){ .names.class_name = arena_text(a->arena, method->names.class_name,
                                                                      strlen(method->names.class_name)),
                                       .source = arena_text(a->arena, method->source, strlen(method->source)),
                                       .code_bytes = method->code_bytes,
                                       .lines = copy(a->arena, method->lines, method->n_lines * sizeof *method->lines),
                                       .n_lines = method->n_lines,
                                       .code = copy(a->arena, method->code, method->code_bytes) };
}

static int by_line(const void *x, const void *y)
{
    const struct annotation_location *a = x, *b = y;
    return a->line != b->line ? (a->line < b->line ? -1 : 1) : (a->index > b->index) - (a->index < b->index);
}

/* Each line once, in their order; 0 is none. */
static void fill_lines(struct annotation *a)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->method.n_lines; i++)
        a->locations[i] = (struct annotation_location){ a->method.lines[i].line, (int32_t)a->method.lines[i].index };
    qsort(a->locations, a->method.n_lines, sizeof *a->locations, by_line);
    for (uint32_t i = 0; i < a->method.n_lines; i++)
        if (a->locations[i].line > 0 && (n == 0 || a->locations[n - 1].line != a->locations[i].line))
            a->locations[n++] = a->locations[i];
    a->n_locations = n;
    for (uint32_t i = 0; i < a->n_indexes; i++) {
        const struct annotation_location key = { trace_sampled_line(&a->method, i), 0 };
        uint32_t at = 0;
        while (at < n && a->locations[at].line != key.line)
            at++;
        a->location_of[i] = at;
    }
}

/* Each instruction; where the code is not known, each index. */
static void fill_bytecodes(struct annotation *a)
{
    size_t length = 1;
    for (size_t at = 0; at < a->n_indexes; at += length) {
        length = a->method.code == NULL ? 1 : bytecodes_length(a->method.code, a->n_indexes, at);
        length = length == 0 ? 1 : length; /* damaged from here on */
        a->locations[a->n_locations] =
            (struct annotation_location){ trace_sampled_line(&a->method, (uint32_t)at), (int32_t)at };
        for (size_t i = 0; i < length; i++)
            a->location_of[at + i] = a->n_locations;
        a->n_locations++;
    }
}

static void fill_rows(struct annotation *a)
{
    a->n_indexes = a->method.code_bytes <= BYTECODES_MAX ? a->method.code_bytes : 0;
    size_t room = (size_t)a->n_indexes + a->method.n_lines + 2;
    a->locations = arena_alloc(a->arena, room * sizeof *a->locations);
    a->location_of = arena_alloc(a->arena, room * sizeof *a->location_of);
    if (a->by_bytecode)
        fill_bytecodes(a);
    else
        fill_lines(a);
    a->locations[a->n_locations++] = (struct annotation_location){ 0, -1 };
}

/* ---- its samples ---- */

struct annotation_counting {
    struct annotation *annotation;
    const struct trace_reader *reader;
    uint32_t method;
    double ns_per_tick;
    uint32_t rows[PATH_MAX_N]; /* of the profile, the innermost first */
};

/* Versions of the method have other bytecodes, and the same lines. */
static uint32_t row_of(const struct annotation_counting *c, uint32_t method, int32_t index)
{
    const struct annotation *a = c->annotation;
    uint32_t unknown = a->n_locations - 1, location = unknown;
    if (method == c->method && index >= 0 && (uint32_t)index < a->n_indexes) {
        location = a->location_of[index];
    } else if (method != c->method && index >= 0 && !a->by_bytecode) {
        uint32_t line = trace_sampled_line(trace_sampled_method(c->reader, method), (uint32_t)index);
        for (location = 0; location < unknown && a->locations[location].line != line;)
            location++;
    }
    return 1 + (location < unknown ? location : unknown);
}

/* The method's calls on the stack, and what they call as one. */
static uint32_t find_rows(struct annotation_counting *c, const struct trace_sample *sample)
{
    int32_t index = sample->index;
    uint32_t n = 0;
    for (uint32_t at = sample->context; at != 0 && n < PATH_MAX_N; n++) {
        const struct trace_context *context = trace_context(c->reader, at);
        bool is_it = c->annotation->versions[context->method];
        c->rows[n] = is_it ? row_of(c, context->method, index) : n == 0 ? 0 : CONTEXT_NONE;
        index = context->call_site;
        at = context->parent;
    }
    return n;
}

static void take_sample(void *context, const struct trace_sample *sample)
{
    struct annotation_counting *c = context;
    bool is_launcher = sample->is_waiting && threads_wait_for_end(c->reader, sample->thread, sample->context);
    const struct profile_sample add = {
        .time_ns = sample->ticks == TRACE_UNKNOWN ? 0 : (uint64_t)((double)sample->ticks * c->ns_per_tick),
        .group = is_launcher ? VM_PART_OTHER : threads_part(c->reader, sample->thread),
        .ns = sample->weight_ns,
        .is_waiting = sample->is_waiting,
        .n = find_rows(c, sample),
        .methods = c->rows,
        .n_counters = sample->n_counters,
        .counters = sample->counters,
    };
    c->annotation->profile.is_halved = info_text(c->reader, INFO_SAMPLE_HALVES) != NULL;
    sample_profile_add(&c->annotation->profile, &add);
}

static int read_to_end(struct trace_reader *reader, struct err *err)
{
    struct trace_event event;
    int rc;
    while ((rc = trace_next(reader, &event, err)) > 0)
        continue;
    return rc;
}

static int count(struct annotation_counting *c, const char *path, bool salvage, struct err *err)
{
    struct trace_reader *reader = NULL;
    sample_profile_open(&c->annotation->profile, BLOCK_NS, TREE_BYTES);
    if (trace_open(&reader, path, salvage, err) < 0)
        return -1;
    c->reader = reader;
    trace_listen(reader, &(struct trace_listener){ .context = c, .sample = take_sample });
    int rc = read_to_end(reader, err);
    c->annotation->profile.is_of_blocks =
        c->annotation->profile.is_of_blocks || info_text(reader, INFO_SAMPLE_MECHANISM) != NULL;
    trace_close(reader);
    return rc;
}

/* ---- all of it ---- */

static void find_ratios(struct annotation *a, const struct trace_reader *reader)
{
    const char *events = info_text(reader, INFO_SAMPLE_EVENTS), *period = info_text(reader, INFO_SAMPLE_PERIOD_NS);
    char *words = events == NULL ? NULL : arena_text(a->arena, events, strlen(events)), *rest = words;
    const char *names[TRACE_SAMPLE_COUNTERS_MAX];
    uint32_t n = 0;
    for (const char *word; n < TRACE_SAMPLE_COUNTERS_MAX && (word = strsep(&rest, " ")) != NULL;)
        names[n++] = word;
    a->is_time = period == NULL || strcmp(period, "0") != 0;
    a->n_ratios = n < 2 ? 0 : (uint32_t)sample_ratio_kinds(names, n, a->arena, a->ratios);
}

int annotation_read(struct annotation *a, const char *path, const struct annotation_options *options,
                    struct arena *arena, struct err *err)
{
    struct annotation_counting *counting = arena_alloc(arena, sizeof *counting);
    struct trace_reader *reader = NULL;
    memset(a, 0, sizeof *a);
    a->arena = arena;
    memset(counting, 0, sizeof *counting);
    counting->annotation = a;
    int rc = trace_open(&reader, path, options->salvage, err);
    if (rc == 0)
        rc = read_to_end(reader, err);
    if (rc == 0)
        rc = choose(a, reader, path, options->method, &counting->method, err);
    if (rc == 0) {
        keep_method(a, trace_sampled_method(reader, counting->method));
        find_ratios(a, reader);
    }
    counting->ns_per_tick = rc == 0 ? trace_ns_per_tick(reader) : 0;
    trace_close(reader);
    a->by_bytecode = options->by_bytecode || a->method.n_lines == 0;
    if (rc < 0)
        return -1;
    fill_rows(a);
    return count(counting, path, options->salvage, err);
}

void annotation_free(struct annotation *annotation)
{
    sample_profile_free(&annotation->profile);
}
