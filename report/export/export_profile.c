/*
 * Source: "Trace Event Format", the Chrome project, 2016; the nodes are those of the DevTools protocol's Profiler
 * domain, each with its parent, as V8 streams them.
 */
#include "report/export/export_tree.h"

#include "core/base/text.h"
#include "core/trace/recording_info.h"
#include "symbolize/vm_parts.h"

#define CATEGORY      "disabled-by-default-v8.cpu_profiler"
#define OWN_CLASSES   "java/lang/Mmprof" /* the probes' own frames are no one's calls */
#define PERIODS_APART 2                  /* samples that are further apart have the thread idle between them */

/* Nodes of a thread's profile; a context has its number behind these. */
enum { NODE_ROOT = 1, NODE_IDLE, NODE_NO_METHOD, NODE_CONTEXTS = NODE_NO_METHOD };

struct printing {
    const struct export_profile *profile;
    const struct trace_reader *reader;
    const struct trace_kept_sample **order; /* by thread and time */
    size_t n;
    const char **labels;   /* by sampled method */
    uint32_t *seen;        /* by context: the latest thread that it was printed for, from 1 on */
    bool is_time, is_idle; /* samples stand for time; the thread has gaps */
};

static double us_of(const struct export_profile *profile, uint64_t ticks)
{
    return ticks < profile->start_ticks ? 0 : (double)(ticks - profile->start_ticks) * profile->ns_per_tick / 1e3;
}

/* ---- what is printed ---- */

/* A sample in a probe is its method's.  Returns the context outside of the probe; 0: there is none. */
static uint32_t leave_probe(const struct printing *p, uint32_t context)
{
    for (uint32_t i = context; i != 0;) {
        const struct trace_context *node = trace_context(p->reader, i);
        const char *class_name = trace_sampled_method(p->reader, node->method)->names.class_name;
        i = node->parent;
        if (strncmp(class_name, OWN_CLASSES, strlen(OWN_CLASSES)) == 0)
            context = i;
    }
    return context;
}

static int by_thread_and_time(const void *a, const void *b)
{
    const struct trace_kept_sample *x = *(const struct trace_kept_sample *const *)a,
                                   *y = *(const struct trace_kept_sample *const *)b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

static void choose(struct printing *p)
{
    const struct trace_samples *samples = p->profile->samples;
    p->order = arena_alloc(p->profile->arena, (samples->n_kept + 1) * sizeof *p->order);
    struct trace_kept_sample *all = arena_alloc(p->profile->arena, (samples->n_kept + 1) * sizeof *all);
    for (size_t i = 0; i < samples->n_kept; i++) {
        const struct trace_kept_sample *sample = &samples->kept[i];
        all[i] = *sample;
        all[i].context = leave_probe(p, sample->context);
        if (sample->ticks != TRACE_UNKNOWN && sample->thread < trace_n_threads(p->reader) &&
            trace_thread(p->reader, sample->thread) != NULL && (all[i].context != 0 || sample->context == 0))
            p->order[p->n++] = &all[i];
    }
    qsort(p->order, p->n, sizeof *p->order, by_thread_and_time);
}

/* A method whose class was changed has another number, and the same label. */
static void make_labels(struct printing *p)
{
    struct arena *arena = p->profile->arena;
    uint32_t n = trace_n_sampled_methods(p->reader), n_named = 0;
    struct method_name *all = trace_samples_names(p->reader, arena),
                       *names = arena_alloc(arena, ((size_t)n + 1) * sizeof *names);
    p->labels = arena_alloc(arena, ((size_t)n + 1) * sizeof *p->labels);
    for (uint32_t i = 0; i < n; i++)
        if (trace_samples_method(p->profile->samples, i) == i)
            names[n_named++] = all[i];
    const char **labels = java_names_labels(arena, names, n_named);
    n_named = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t first = trace_samples_method(p->profile->samples, i);
        p->labels[i] = first == i ? text_clean(arena, labels[n_named++]) : p->labels[first];
    }
}

/* ---- a thread ---- */

static void print_begin(const struct printing *p, uint32_t thread, const char *name, double us)
{
    uint32_t tid = p->profile->tids[thread];
    fprintf(p->profile->out,
            ",\n{\"ph\":\"P\",\"pid\":1,\"tid\":%u,\"id\":\"0x%x\",\"cat\":\"" CATEGORY
            "\",\"name\":\"%s\",\"ts\":%.3f,\"args\":{\"data\":{",
            tid, tid, name, us);
}

static void print_node(const struct printing *p, uint32_t id, uint32_t parent, const char *name)
{
    FILE *out = p->profile->out;
    fprintf(out, "%s{\"id\":%u,", id == NODE_ROOT ? "" : ",", id);
    if (parent != 0)
        fprintf(out, "\"parent\":%u,", parent);
    fputs("\"callFrame\":{\"functionName\":", out);
    text_print_string(out, name);
    fputs(",\"scriptId\":0,\"url\":\"\",\"lineNumber\":-1,\"columnNumber\":-1}}", out);
}

/* Contexts come callers first, and so do their numbers. */
static void print_nodes(struct printing *p, const struct trace_kept_sample *const *samples, size_t n)
{
    const struct trace_thread *thread = trace_thread(p->reader, samples[0]->thread);
    enum vm_part part = vm_part_of(thread->comm == NULL ? "" : thread->comm);
    uint32_t mark = samples[0]->thread + 1;
    print_node(p, NODE_ROOT, 0, "(root)");
    if (p->is_idle)
        print_node(p, NODE_IDLE, NODE_ROOT, "(idle)");
    print_node(p, NODE_NO_METHOD, NODE_ROOT, part == VM_PART_APPLICATION ? "(no Java method)" : vm_part_name(part));
    for (size_t i = 0; i < n; i++)
        for (uint32_t c = samples[i]->context; c != 0 && p->seen[c] != mark; c = trace_context(p->reader, c)->parent)
            p->seen[c] = mark;
    for (uint32_t c = 1; c <= trace_n_contexts(p->reader); c++) {
        const struct trace_context *context = trace_context(p->reader, c);
        if (p->seen[c] == mark)
            print_node(p, NODE_CONTEXTS + c, context->parent == 0 ? NODE_ROOT : NODE_CONTEXTS + context->parent,
                       p->labels[context->method]);
    }
}

/* When the time ends that a sample stands for, or the trace, if that is long before the next sample; else 0. */
static double idle_from(const struct printing *p, const struct trace_kept_sample *const *samples, size_t n, size_t i)
{
    double us = us_of(p->profile, samples[i]->ticks), length = (double)samples[i]->weight_ns / 1e3;
    bool is_last = i + 1 == n;
    double next = is_last ? 0 : us_of(p->profile, samples[i + 1]->ticks);
    if (!p->is_time || (!is_last && next <= us + PERIODS_APART * length))
        return 0;
    double end = us_of(p->profile, trace_end_ticks(p->reader));
    return us + length < end ? us + length : us < end ? end : us;
}

/* The nodes in which the thread was found, or the whole us that passed before each. */
static void print_list(const struct printing *p, const struct trace_kept_sample *const *samples, size_t n, bool is_time)
{
    FILE *out = p->profile->out;
    uint64_t before = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t us = (uint64_t)us_of(p->profile, samples[i]->ticks), idle = (uint64_t)idle_from(p, samples, n, i);
        fprintf(out, "%s%" PRIu64, i == 0 ? "" : ",",
                is_time ? us - before : NODE_CONTEXTS + (uint64_t)samples[i]->context);
        before = us;
        if (idle == 0)
            continue;
        fprintf(out, ",%" PRIu64, is_time ? idle - before : NODE_IDLE);
        before = idle;
    }
}

/*
 * A slice from each sample that follows a gap to the end of the one in front of the next gap; in whole us, as samples
 * are, so that none is outside.
 */
static void print_stretches(const struct printing *p, const struct trace_kept_sample *const *samples, size_t n)
{
    const struct export_profile *profile = p->profile;
    const struct trace_thread *thread = trace_thread(p->reader, samples[0]->thread);
    const char *name = vm_part_name(vm_part_of(thread->comm == NULL ? "" : thread->comm));
    uint64_t start = (uint64_t)us_of(profile, samples[0]->ticks);
    for (size_t i = 0; i < n; i++) {
        double end = idle_from(p, samples, n, i);
        if (end <= 0 && i + 1 < n)
            continue;
        end = end > 0 ? end : us_of(profile, samples[i]->ticks);
        fprintf(profile->out,
                ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":%u,\"cat\":\"samples\",\"name\":\"%s\",\"ts\":%" PRIu64
                ",\"dur\":%" PRIu64 "}",
                profile->tids[samples[0]->thread], name, start, (uint64_t)end - start);
        start = i + 1 < n ? (uint64_t)us_of(profile, samples[i + 1]->ticks) : 0;
    }
}

static void print_thread(struct printing *p, const struct trace_kept_sample *const *samples, size_t n)
{
    FILE *out = p->profile->out;
    p->is_idle = false;
    for (size_t i = 0; i < n; i++)
        p->is_idle = p->is_idle || idle_from(p, samples, n, i) > 0;
    print_begin(p, samples[0]->thread, "Profile", 0);
    fputs("\"startTime\":0}}}", out);
    print_begin(p, samples[0]->thread, "ProfileChunk", us_of(p->profile, samples[n - 1]->ticks));
    fputs("\"cpuProfile\":{\"nodes\":[", out);
    print_nodes(p, samples, n);
    fputs("],\"samples\":[", out);
    print_list(p, samples, n, false);
    fputs("]},\"timeDeltas\":[", out);
    print_list(p, samples, n, true);
    fputs("]}}}", out);
    if (!p->profile->has_slices[samples[0]->thread])
        print_stretches(p, samples, n);
}

uint64_t export_profile_print(const struct export_profile *profile)
{
    struct printing p = { .profile = profile, .reader = profile->samples->reader };
    const char *period = info_text(p.reader, INFO_SAMPLE_PERIOD_NS);
    p.is_time = !trace_samples_are_all(p.reader) || (period != NULL && strtod(period, NULL) > 0);
    p.seen = arena_alloc(profile->arena, ((size_t)trace_n_contexts(p.reader) + 1) * sizeof *p.seen);
    choose(&p);
    make_labels(&p);
    for (size_t i = 0, end; i < p.n; i = end) {
        for (end = i + 1; end < p.n && p.order[end]->thread == p.order[i]->thread;)
            end++;
        print_thread(&p, p.order + i, end - i);
    }
    return p.n;
}
