/*
 * Source: "Trace Event Format", the Chrome project, 2016; complete events ("X") and metadata ("M"); export_profile.c
 * adds stack samples ("P").
 */
#include "core/base/text.h"
#include "core/base/xalloc.h"
#include "core/trace/recording_info.h"
#include "report/export/export.h"
#include "report/export/export_tree.h"

/* Durations are counted in eight classes for each power of two. */
#define CLASS_BITS 3
#define N_CLASSES  ((64 - CLASS_BITS + 1) << CLASS_BITS)

/* Above the kernel's highest thread id: for a thread whose id another one had before. */
#define FREE_TID (UINT32_C(1) << 22)

struct chrome {
    const struct trace_reader *reader; /* all of it was read */
    struct arena arena;
    double ns_per_tick;
    uint64_t start_ticks, limit_ticks;
    uint64_t classes[N_CLASSES]; /* how many slices have such a duration */
    const char **labels;         /* by method; NULL: nobody knows it */
    uint32_t n_methods;
    uint32_t *tids;
    bool *has_slices; /* by thread: there are some that were written */
    struct trace_samples samples;
    FILE *out;
    struct export_slices slices;
};

/* ---- the first reading: how long slices are, and whose ---- */

static size_t class_of(uint64_t ticks)
{
    if (ticks < 1u << CLASS_BITS)
        return (size_t)ticks;
    int shift = 63 - __builtin_clzll(ticks) - CLASS_BITS;
    return ((size_t)shift << CLASS_BITS) + (size_t)(ticks >> shift);
}

/* The shortest duration of a class. */
static uint64_t class_ticks(size_t class)
{
    if (class < 2u << CLASS_BITS)
        return class;
    size_t shift = (class >> CLASS_BITS) - 1;
    return ((UINT64_C(1) << CLASS_BITS) + (class & ((1u << CLASS_BITS) - 1))) << shift;
}

static void hear_sample(void *context, const struct trace_sample *sample)
{
    struct chrome *c = context;
    trace_samples_add(&c->samples, sample);
}

static void count_slice(void *context, const struct slice *slice)
{
    struct chrome *c = context;
    c->classes[class_of(slice->end_ticks - slice->start_ticks)]++;
}

static void find_limit(struct chrome *c, const struct export_chrome_options *options)
{
    uint64_t n = 0;
    c->limit_ticks = 0;
    if (options->limit_ns >= 0) {
        c->limit_ticks = (uint64_t)(options->limit_ns / c->ns_per_tick);
        return;
    }
    for (size_t class = N_CLASSES; class -- > 0;) {
        n += c->classes[class];
        if (n > options->max_slices) {
            c->limit_ticks = class_ticks(class + 1);
            return;
        }
    }
}

/* ---- names ---- */

static void make_labels(struct chrome *c)
{
    size_t n = 0;
    c->n_methods = trace_n_methods(c->reader);
    struct method_name *names = arena_alloc(&c->arena, ((size_t)c->n_methods + 1) * sizeof *names);
    c->labels = arena_alloc(&c->arena, ((size_t)c->n_methods + 1) * sizeof *c->labels);
    for (uint32_t i = 0; i < c->n_methods; i++) {
        const struct trace_method *method = trace_method(c->reader, i);
        if (method != NULL)
            names[n++] = method->names;
    }
    const char **labels = java_names_labels(&c->arena, names, n);
    n = 0;
    for (uint32_t i = 0; i < c->n_methods; i++)
        if (trace_method(c->reader, i) != NULL)
            c->labels[i] = text_clean(&c->arena, labels[n++]);
}

/* A track for each thread: its id, but each only once. */
static void find_tids(struct chrome *c)
{
    uint32_t n = trace_n_threads(c->reader);
    bool *is_used = xcalloc(FREE_TID, sizeof *is_used);
    c->tids = arena_alloc(&c->arena, ((size_t)n + 1) * sizeof *c->tids);
    c->has_slices = arena_alloc(&c->arena, ((size_t)n + 1) * sizeof *c->has_slices);
    for (uint32_t i = 0; i < n; i++) {
        const struct trace_thread *thread = trace_thread(c->reader, i);
        uint32_t tid = thread == NULL || thread->tid <= 0 ? FREE_TID : (uint32_t)thread->tid;
        bool is_free = tid < FREE_TID && !is_used[tid];
        c->tids[i] = is_free ? tid : FREE_TID + i;
        if (is_free)
            is_used[tid] = true;
    }
    free(is_used);
}

static void print_name(struct chrome *c, const char *what, uint32_t tid, const char *name, bool is_first)
{
    fprintf(c->out, "%s{\"ph\":\"M\",\"pid\":1,\"tid\":%u,\"name\":\"%s\",\"args\":{\"name\":", is_first ? "" : ",\n",
            tid, what);
    text_print_string(c->out, text_clean(&c->arena, name));
    fputs("}}", c->out);
}

static void print_names(struct chrome *c)
{
    const char *program = info_text(c->reader, INFO_JVM_COMMAND);
    print_name(c, "process_name", 0, program == NULL ? "java" : program, true);
    for (uint32_t i = 0; i < trace_n_threads(c->reader); i++) {
        const struct trace_thread *thread = trace_thread(c->reader, i);
        if (thread != NULL)
            print_name(c, "thread_name", c->tids[i], thread->name, false);
    }
}

/* ---- the second reading: slices ---- */

/* In us, with three decimals, as the format has it. */
static void print_us(const struct chrome *c, const char *key, uint64_t ticks)
{
    double ns = (double)ticks * c->ns_per_tick;
    fprintf(c->out, ",\"%s\":%.3f", key, ns / 1000);
}

static void print_slice(void *context, const struct slice *slice)
{
    struct chrome *c = context;
    uint64_t start = slice->start_ticks < c->start_ticks ? c->start_ticks : slice->start_ticks;
    uint64_t end = slice->end_ticks < start ? start : slice->end_ticks;
    if (end - start < c->limit_ticks) {
        c->slices.n_left_out++;
        return;
    }
    bool is_cpu = slice->method == SLICE_ON_CPU;
    const char *label = is_cpu                         ? vm_part_name(slice->part)
                        : slice->method < c->n_methods ? c->labels[slice->method]
                                                       : NULL;
    c->slices.n_written++;
    c->has_slices[slice->thread] = true;
    fprintf(c->out, ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":%u,\"cat\":\"%s\",\"name\":", c->tids[slice->thread],
            is_cpu ? "cpu" : "method");
    text_print_string(c->out, label == NULL ? "(unknown method)" : label);
    print_us(c, "ts", start - c->start_ticks);
    print_us(c, "dur", end - start);
    if (slice->is_found)
        fputs(",\"args\":{\"note\":\"this call was running when its method got probes: it began before this slice, and "
              "may have ended before its end\"}",
              c->out);
    fputc('}', c->out);
}

static void print_end(struct chrome *c, const char *path)
{
    fputs("\n],\n\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"exporter\":\"mmprof " MMPROF_VERSION "\",\"trace\":",
          c->out);
    text_print_string(c->out, text_clean(&c->arena, path));
    fprintf(c->out,
            ",\"slices\":\"%" PRIu64 "\",\"slices_left_out\":\"%" PRIu64
            "\",\"shortest_slice_us\":\"%.3f\",\"samples\":\"%" PRIu64 "\"}}\n",
            c->slices.n_written, c->slices.n_left_out, c->slices.limit_ns / 1000, c->slices.n_samples);
}

static void print_samples(struct chrome *c)
{
    const struct export_profile profile = { &c->samples,    c->tids,   c->has_slices, c->start_ticks,
                                            c->ns_per_tick, &c->arena, c->out };
    c->slices.n_samples = export_profile_print(&profile);
}

/* ---- the whole ---- */

/* Read the trace once more, or for the first time. */
static int read_slices(struct chrome *c, const struct export_chrome_options *options, struct trace_reader *first,
                       void (*take)(void *context, const struct slice *slice), struct err *err)
{
    struct trace_reader *reader = first;
    if (first == NULL && trace_open(&reader, options->path, options->salvage, err) < 0)
        return -1;
    int rc = slices_read(reader, first == NULL ? c->reader : NULL, c->limit_ticks, take, c, err);
    if (first == NULL)
        trace_close(reader);
    return rc;
}

static int prepare(struct chrome *c, const struct export_chrome_options *options, struct err *err)
{
    c->ns_per_tick = trace_ns_per_tick(c->reader);
    c->start_ticks = trace_start_ticks(c->reader);
    if (!(c->ns_per_tick > 0)) {
        err_set(err, "%s: the trace has fewer than two clock points, so its times are unknown", options->path);
        return err_next(err, "record again, and let the recording end normally");
    }
    find_limit(c, options);
    c->slices.limit_ns = (double)c->limit_ticks * c->ns_per_tick;
    make_labels(c);
    find_tids(c);
    return 0;
}

int export_chrome(const struct export_chrome_options *options, FILE *out, struct export_slices *slices, struct err *err)
{
    struct chrome *c = xcalloc(1, sizeof *c);
    struct trace_reader *reader = NULL;
    int rc = -1;
    c->out = out;
    if (trace_open(&reader, options->path, options->salvage, err) < 0)
        goto out;
    c->reader = reader;
    trace_listen(reader, &(struct trace_listener){ .context = c, .sample = hear_sample });
    trace_samples_open(&c->samples, reader);
    if (read_slices(c, options, reader, count_slice, err) < 0 || prepare(c, options, err) < 0)
        goto out;
    trace_samples_end(&c->samples);
    fputs("{\"traceEvents\":[\n", out);
    print_names(c);
    if (read_slices(c, options, NULL, print_slice, err) < 0)
        goto out;
    print_samples(c);
    print_end(c, options->path);
    *slices = c->slices;
    rc = ferror(out) ? err_set(err, "cannot write the time line") : 0;
out:
    trace_samples_close(&c->samples);
    trace_close(reader);
    arena_free(&c->arena);
    free(c);
    return rc;
}
