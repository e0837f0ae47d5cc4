#include "report/trace_samples.h"

#include "core/base/text.h"
#include "core/base/xalloc.h"
#include "core/hotspot/stack_walk.h"
#include "report/some_threads.h"
#include "core/trace/recording_info.h"
#include "symbolize/vm_parts.h"

#define BLOCK      UINT64_C(1000000) /* ticks */
#define TREE_BYTES (UINT64_C(256) << 20)

void trace_samples_open(struct trace_samples *samples, struct trace_reader *reader)
{
    memset(samples, 0, sizeof *samples);
    samples->reader = reader;
    samples->is_open = true;
    sample_profile_open(&samples->profile, BLOCK, TREE_BYTES);
    samples->profile.rest = TRACE_SAMPLES_OTHER;
}

void trace_samples_close(struct trace_samples *samples)
{
    if (samples->is_open)
        sample_profile_free(&samples->profile);
    hash_free(&samples->by_name);
    free(samples->first_of);
    free(samples->kept);
    free(samples->held);
    free(samples->held_counters);
    samples->first_of = NULL;
    samples->kept = NULL;
    samples->held = NULL;
    samples->held_counters = NULL;
    samples->is_open = false;
}

static void know(struct trace_samples *samples, uint32_t method)
{
    while (samples->n_known <= method) {
        xgrow(samples->first_of, samples->room, samples->n_known + 1);
        const struct trace_sampled_method *of = trace_sampled_method(samples->reader, samples->n_known);
        struct hash_slot *slot = xhash_put(&samples->by_name, method_name_hash(&of->names));
        slot->value = slot->value == 0 ? samples->n_known + 1 : slot->value;
        samples->first_of[samples->n_known++] = slot->value - 1;
    }
}

uint32_t trace_samples_method(const struct trace_samples *samples, uint32_t method)
{
    return method < samples->n_known ? samples->first_of[method] : method;
}

const char **trace_samples_labels(const struct trace_samples *samples, struct arena *arena)
{
    uint32_t n_all = trace_n_sampled_methods(samples->reader), n = 0;
    struct method_name *names = arena_alloc(arena, ((size_t)n_all + 1) * sizeof *names);
    uint32_t *numbers = arena_alloc(arena, ((size_t)n_all + 1) * sizeof *numbers);
    const char **all = arena_alloc(arena, ((size_t)n_all + 1) * sizeof *all);
    for (uint32_t i = 0; i < n_all; i++) {
        if (trace_samples_method(samples, i) != i)
            continue;
        numbers[n] = i;
        names[n++] = trace_sampled_method(samples->reader, i)->names;
    }
    const char **labels = java_names_labels(arena, names, n);
    for (uint32_t i = 0; i < n; i++)
        all[numbers[i]] = labels[i];
    return all;
}

/* The frames of a context, innermost first.  Returns how many. */
static uint32_t take_frames(struct trace_samples *samples, const struct trace_sample *sample)
{
    uint32_t n = 0;
    int32_t bytecode = sample->index;
    for (uint32_t node = sample->context; node != 0; n++) {
        const struct trace_context *context = trace_context(samples->reader, node);
        know(samples, context->method);
        samples->methods[n] = trace_samples_method(samples, context->method);
        samples->bytecodes[n] = bytecode;
        bytecode = context->call_site;
        node = context->parent;
    }
    return n;
}

static void keep(struct trace_samples *samples, const struct trace_sample *sample)
{
    xgrow(samples->kept, samples->kept_room, samples->n_kept + 1);
    samples->kept[samples->n_kept++] = (struct trace_kept_sample){ .ticks = sample->ticks,
                                                                   .weight_ns = sample->weight_ns,
                                                                   .n = sample->n,
                                                                   .thread = sample->thread,
                                                                   .context = sample->context,
                                                                   .frame = (uint8_t)sample->frame,
                                                                   .tier = sample->tier,
                                                                   .is_waiting = sample->is_waiting };
}

static uint32_t group_of(const struct trace_samples *samples, const struct trace_sample *sample)
{
    enum vm_part part = threads_part(samples->reader, sample->thread);
    if (part != VM_PART_APPLICATION)
        return part;
    if (sample->is_waiting && threads_wait_for_end(samples->reader, sample->thread, sample->context))
        return VM_PART_OTHER;
    return threads_match(trace_thread(samples->reader, sample->thread), samples->only_threads) ? part
                                                                                               : TRACE_SAMPLES_OTHER;
}

static void take_sample(struct trace_samples *samples, const struct trace_sample *sample)
{
    samples->profile.is_halved = samples->profile.is_halved || info_text(samples->reader, INFO_SAMPLE_HALVES) != NULL;
    struct profile_sample add = { .time_ns = sample->ticks == TRACE_UNKNOWN
                                                 ? 0
                                                 : sample->ticks, /* for blocks of time ns do not matter */
                                  .group = group_of(samples, sample),
                                  .ns = sample->weight_ns,
                                  .is_waiting = sample->is_waiting,
                                  .methods = samples->methods,
                                  .bytecodes = samples->bytecodes,
                                  .n_counters = sample->n_counters,
                                  .counters = sample->counters };
    /* What others than the application wait is in no share: phases/samples/sample_profile.h. */
    bool is_ours = add.group == VM_PART_APPLICATION || add.group == TRACE_SAMPLES_OTHER;
    if ((is_ours || !sample->is_waiting))
        keep(samples, sample);
    add.n = take_frames(samples, sample);
    samples->n_by_end[sample->end] += sample->n;
    samples->has_waiting = samples->has_waiting || sample->is_waiting;
    add.n_alike = sample->n - 1;
    if (sample->n > 0)
        sample_profile_add(&samples->profile, &add);
}

void trace_samples_add(struct trace_samples *samples, const struct trace_sample *sample)
{
    size_t n = samples->n_held_counters + sample->n_counters;
    if (samples->only_threads == NULL && threads_are_named(samples->reader, sample->thread)) {
        take_sample(samples, sample);
        return;
    }
    xgrow(samples->held, samples->held_room, samples->n_held + 1);
    xgrow(samples->held_counters, samples->held_counters_room, n);
    samples->held[samples->n_held++] = *sample;
    if (sample->n_counters > 0)
        memcpy(samples->held_counters + samples->n_held_counters, sample->counters,
               sample->n_counters * sizeof(uint64_t));
    samples->n_held_counters = n;
}

void trace_samples_end(struct trace_samples *samples)
{
    const uint64_t *counters = samples->held_counters;
    for (size_t i = 0; i < samples->n_held; i++) {
        samples->held[i].counters = counters;
        if (samples->held[i].n_counters > 0) /* else there may be none at all */
            counters += samples->held[i].n_counters;
        take_sample(samples, &samples->held[i]);
    }
    samples->n_held = 0;
}

struct method_name *trace_samples_names(const struct trace_reader *reader, struct arena *arena)
{
    uint32_t n = trace_n_sampled_methods(reader);
    struct method_name *names = arena_alloc(arena, ((size_t)n + 1) * sizeof *names);
    for (uint32_t i = 0; i < n; i++) {
        const struct trace_sampled_method *method = trace_sampled_method(reader, i);
        names[i] = method->names;
    }
    return names;
}

bool trace_samples_are_all(const struct trace_reader *reader)
{
    const char *mode = info_text(reader, INFO_RECORDING_MODE);
    return mode != NULL && strcmp(mode, "samples") == 0;
}

static uint64_t number_of(const struct trace_reader *reader, enum info_key key)
{
    const char *text = info_text(reader, key);
    return text == NULL ? 0 : strtoull(text, NULL, 10);
}

#define EVENTS (TRACE_SAMPLE_COUNTERS_MAX + 1)

/* What took the samples, and what was counted with them.  Returns how many. */
static uint32_t events_of(const struct trace_samples *samples, struct arena *arena, const char **events)
{
    const char *all = info_text(samples->reader, INFO_SAMPLE_EVENTS);
    char *rest, *text = arena_text(arena, all == NULL ? "" : all, all == NULL ? 0 : strlen(all));
    uint32_t n = 0;
    for (char *word = strtok_r(text, " ", &rest); word != NULL && n < EVENTS; word = strtok_r(NULL, " ", &rest))
        events[n++] = word;
    return n;
}

static int make_source(struct trace_samples *samples, struct arena *arena, struct sample_ratio_kind *kinds,
                       struct samples_source *source, struct err *err)
{
    const char *events[EVENTS], *program = info_text(samples->reader, INFO_JVM_COMMAND);
    uint32_t n_events = events_of(samples, arena, events);
    int n_kinds = n_events > 1 ? sample_ratio_kinds(events, n_events, arena, kinds) : 0;
    struct method_name *names = trace_samples_names(samples->reader, arena);
    *source =
        (struct samples_source){ .profile = &samples->profile,
                                 .names = names,
                                 .n_names = trace_n_sampled_methods(samples->reader),
                                 .program = program == NULL ? "" : program,
                                 .period_ns = number_of(samples->reader, INFO_SAMPLE_PERIOD_NS),
                                 .cpu_ns = samples->waits != NULL ? 0 : number_of(samples->reader, INFO_SAMPLE_CPU_NS),
                                 .event = n_events == 0 ? NULL : events[0],
                                 .is_wall = samples->has_waiting,
                                 .is_polled = info_text(samples->reader, INFO_SAMPLE_MECHANISM) != NULL,
                                 .ratios = kinds,
                                 .n_ratios = (uint32_t)n_kinds };
    samples->profile.is_of_blocks = source->is_wall || source->is_polled;
    if (samples->profile.n_samples > 0)
        return 0;
    err_set(err, "the trace has no stack samples");
    return err_next(err, "record the program while it is busy; 'mmprof dump' prints the trace");
}

int trace_samples_table(struct trace_samples *samples, const struct samples_options *options, struct arena *arena,
                        struct table *table, struct err *err)
{
    struct sample_ratio_kind kinds[EVENTS];
    struct samples_source source;
    if (make_source(samples, arena, kinds, &source, err) < 0)
        return -1;
    samples_table_make(&source, options, arena, table);
    for (enum stack_end end = STACK_WHOLE + 1; end < STACK_ENDS; end++)
        if (samples->n_by_end[end] > 0 && end != STACK_NO_JAVA)
            table_doubt(table,
                        arena_printf(arena, "%" PRIu64 " stack%s without outer methods: %s", samples->n_by_end[end],
                                     text_plural(samples->n_by_end[end]), stack_end_name(end)));
    double ticks = (double)(trace_end_ticks(samples->reader) - trace_start_ticks(samples->reader));
    table_metadata_number(table, "duration_ns", ticks * trace_ns_per_tick(samples->reader), NULL);
    if (source.period_ns > 0 && !source.is_wall)
        table_metadata_number(table, "cpu_ns", (double)sample_profile_weight(&samples->profile), NULL);
    table_metadata_words(table, "clock", source.is_wall ? "wall" : "cpu", NULL);
    uint64_t n_lost = number_of(samples->reader, INFO_SAMPLE_LOST);
    samples_tell_coverage(&source, table);
    if (n_lost > 0)
        table_doubt(table, arena_printf(arena, "%" PRIu64 " samples were lost: perf's buffers were full", n_lost));
    return 0;
}
