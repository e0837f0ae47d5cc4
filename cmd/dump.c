/*
 * mmprof dump: the trace as text.
 *
 *     info    jvm.pid = 4711  # process ID of the JVM
 *     clock   1000 ticks, 5000 ns monotonic_raw, 1700000000000000000 ns realtime
 *     thread  0 main: tid 4712, java, ring
 *     method  7 Main.work(I)V, Main.java:12, 60 bytes, loop
 *              0.250 us  main                 enter  Main.work(I)V
 *              0.900 us  main                 exit  Main.work(I)V
 *     2 records, 0 kernel events, 1 threads, 1 methods
 */
#include "cmd/dump.h"

#include "cmd/commands.h"
#include "cmd/terminal.h"
#include "cmd/trace_argument.h"

#include "core/base/xalloc.h"
#include "core/trace/recording_info.h"

#include <sys/stat.h>

struct dump {
    FILE *out;
    const struct trace_reader *reader;
    bool with_events;
    double ns_per_tick;
    struct arena jit_arena;
    const char **jit_names; /* by the number in JIT events; owned, NULL before the first */
    uint64_t n_records, n_kernel, n_readings, n_ip_samples, n_samples, n_waits, n_allocations;
};

static void put_text(FILE *out, const char *text)
{
    terminal_text(out, text, strlen(text));
}

static void put_moment(FILE *out, const char *what, uint64_t ticks)
{
    if (ticks != TRACE_UNKNOWN)
        fprintf(out, ", %s %" PRIu64, what, ticks);
}

/* "info    readings.cpu_ms = 12.5  # ms: CPU time that reading them took" */
static void dump_info(void *context, const char *key, const char *value)
{
    const struct dump *dump = context;
    enum info_key row = info_find(key);
    fputs("info    ", dump->out);
    put_text(dump->out, key);
    fputs(" = ", dump->out);
    put_text(dump->out, value);
    if (row != INFO_N_KEYS)
        fprintf(dump->out, "  # %s%s%s", info_unit(row), info_unit(row)[0] == '\0' ? "" : ": ", info_help(row));
    fputc('\n', dump->out);
}

static void dump_clock(void *context, uint64_t ticks, uint64_t monotonic_ns, uint64_t realtime_ns)
{
    const struct dump *dump = context;
    fprintf(dump->out, "clock   %" PRIu64 " ticks, %" PRIu64 " ns monotonic_raw, %" PRIu64 " ns realtime\n", ticks,
            monotonic_ns, realtime_ns);
}

static void dump_counter(void *context, const struct trace_counter *counter)
{
    const struct dump *dump = context;
    fputs("counter ", dump->out);
    put_text(dump->out, counter->name);
    if (counter->in_records)
        fputs(", in records", dump->out);
    if (counter->kind != TRACE_COUNTER_EVENT || counter->group > 0)
        fprintf(dump->out, ", group %" PRIu32, counter->group);
    if (counter->why[0] != '\0') {
        fputs(", not counted: ", dump->out);
        put_text(dump->out, counter->why);
    }
    fputc('\n', dump->out);
}

static void dump_thread(void *context, const struct trace_thread *thread)
{
    const struct dump *dump = context;
    fprintf(dump->out, "thread  %" PRIu32 " ", thread->index);
    put_text(dump->out, thread->name);
    fprintf(dump->out, ": tid %" PRId32 ", ", thread->tid);
    put_text(dump->out, thread->comm);
    if (thread->has_ring)
        fputs(", ring", dump->out);
    put_moment(dump->out, "start", thread->start_ticks);
    put_moment(dump->out, "end", thread->end_ticks);
    if (thread->n_lost > 0)
        fprintf(dump->out, ", %" PRIu64 " calls lost", thread->n_lost);
    fputc('\n', dump->out);
}

static void dump_charge(void *context, const struct trace_thread *thread)
{
    const struct dump *dump = context;
    const struct trace_cpu_time *cpu_time = &thread->cpu_time;
    fprintf(dump->out,
            "cpu time of thread %" PRIu32 ": %" PRIu64 " ns of CPU time, %" PRIu64 " ns on CPUs in %" PRIu64
            " run slices\n",
            thread->index, cpu_time->accounted_ns, cpu_time->slices_ns, cpu_time->n_slices);
}

/* Main.work(I)V */
static void put_method(FILE *out, const struct trace_method *method)
{
    put_text(out, method->names.class_name);
    fputc('.', out);
    put_text(out, method->names.method);
    put_text(out, method->names.descriptor);
}

static void dump_method(void *context, const struct trace_method *method)
{
    const struct dump *dump = context;
    fprintf(dump->out, "method  %" PRIu32 " ", method->id);
    put_method(dump->out, method);
    if (method->source[0] != '\0') {
        fputs(", ", dump->out);
        put_text(dump->out, method->source);
        fprintf(dump->out, ":%" PRIu32, method->first_line);
    }
    fprintf(dump->out, ", %" PRIu32 " bytes%s\n", method->code_bytes, method->has_loop ? ", loop" : "");
}

/* "value   9 of 7 /orders" */
static void dump_value(void *context, const struct trace_value *value)
{
    const struct dump *dump = context;
    fprintf(dump->out, "value   %" PRIu32 " of %" PRIu32 " ", value->id, value->method);
    put_text(dump->out, trace_value_text(value));
    fputc('\n', dump->out);
}

static void put_time(const struct dump *dump, uint64_t ticks)
{
    uint64_t start = trace_start_ticks(dump->reader);
    bool before = ticks < start;
    uint64_t distance = before ? start - ticks : ticks - start;
    if (dump->ns_per_tick > 0)
        fprintf(dump->out, "%14.3f us  ", (before ? -1 : 1) * (double)distance * dump->ns_per_tick / 1000);
    else
        fprintf(dump->out, "%20" PRIu64 "  ", ticks);
}

static void put_thread(const struct dump *dump, uint32_t index)
{
    const struct trace_thread *thread = trace_thread(dump->reader, index);
    char number[32];
    snprintf(number, sizeof number, "thread %" PRIu32, index);
    const char *name = thread == NULL || thread->name[0] == '\0' ? number : thread->name;
    put_text(dump->out, name);
    int n = (int)strnlen(name, 20);
    fprintf(dump->out, "%*s ", 20 - n, "");
}

static void put_subject(const struct dump *dump, const struct trace_event *event)
{
    const struct trace_method *method = trace_method(dump->reader, event->method);
    fputs("  ", dump->out);
    if (method != NULL)
        put_method(dump->out, method);
    else
        fprintf(dump->out, "method %" PRIu32, event->method);
    if (event->value != 0)
        fprintf(dump->out, "  value %" PRIu32, event->value);
}

static void put_counters(const struct dump *dump, const uint64_t *values)
{
    for (size_t i = 0, used = 0; i < trace_n_counters(dump->reader); i++) {
        const struct trace_counter *counter = trace_counter(dump->reader, i);
        if (!counter->in_records)
            continue;
        fputs("  ", dump->out);
        put_text(dump->out, counter->name);
        if (values[used] == TRACE_NOT_COUNTED)
            fputs("=-", dump->out);
        else
            fprintf(dump->out, "=%" PRIu64, values[used]);
        used++;
    }
}

static void dump_event(struct dump *dump, const struct trace_event *event)
{
    static const char *const kinds[] = {
        [TRACE_ENTER] = "enter",         [TRACE_EXIT] = "exit",
        [TRACE_UNWIND] = "unwind",       [TRACE_RESUME] = "resume",
        [TRACE_OPEN] = "open",           [TRACE_MOUNT] = "mount",
        [TRACE_UNMOUNT] = "unmount",     [TRACE_GAP] = "gap",
        [TRACE_CPU_IN] = "runs",         [TRACE_CPU_OUT] = "waits",
        [TRACE_CPU_PREEMPTED] = "out",   [TRACE_PAGE_FAULT] = "fault",
        [TRACE_THREAD_START] = "starts", [TRACE_THREAD_END] = "ends",
        [TRACE_KERNEL_LOST] = "lost",    [TRACE_COUNTS] = "counts",
        [TRACE_ENABLED] = "enabled",     [TRACE_DISABLED] = "disabled",
        [TRACE_PAUSE] = "pause",         [TRACE_RECOVERED] = "recovered",
        [TRACE_IP_SAMPLE] = "is",        [TRACE_KERNEL_IP_SAMPLE] = "is in the kernel",
    };
    dump->n_records += event->kind <= TRACE_GAP;
    dump->n_kernel += event->kind > TRACE_GAP && event->kind <= TRACE_KERNEL_LOST;
    dump->n_readings += event->kind == TRACE_COUNTS;
    dump->n_ip_samples += event->kind >= TRACE_IP_SAMPLE;
    if (!dump->with_events)
        return;
    put_time(dump, event->ticks);
    if (event->kind == TRACE_KERNEL_LOST || (event->kind >= TRACE_ENABLED && event->kind <= TRACE_RECOVERED))
        fprintf(dump->out, "%-20s ", event->kind == TRACE_KERNEL_LOST ? "(kernel)" : "(mmprof)");
    else
        put_thread(dump, event->thread);
    fputs(kinds[event->kind], dump->out);
    if (event->kind <= TRACE_OPEN || event->kind == TRACE_ENABLED || event->kind == TRACE_DISABLED)
        put_subject(dump, event);
    if ((event->kind == TRACE_MOUNT || event->kind == TRACE_UNMOUNT) && event->count != 0)
        fprintf(dump->out, "  ticket %" PRIu64, event->count);
    if (event->kind == TRACE_GAP)
        fprintf(dump->out, "  %" PRIu64 " calls not recorded", event->count);
    if (event->kind == TRACE_KERNEL_LOST)
        fprintf(dump->out, "  %" PRIu64 " events", event->count);
    if (event->kind == TRACE_COUNTS)
        fprintf(dump->out, "  series %" PRIu64, event->count);
    if (event->kind == TRACE_PAUSE || event->kind == TRACE_RECOVERED)
        fprintf(dump->out, "  %.3f ms", (double)event->count / 1e6);
    if (event->kind >= TRACE_IP_SAMPLE)
        fprintf(dump->out, "  at location %" PRIu64, event->count);
    if (event->counters != NULL)
        put_counters(dump, event->counters);
    fputc('\n', dump->out);
}

/* ---- what the JIT compiler did ---- */

static void name_jit_method(struct dump *dump, const struct jit_event *event)
{
    if (dump->jit_names == NULL)
        dump->jit_names = xcalloc(JIT_MAX_METHODS, sizeof *dump->jit_names);
    dump->jit_names[event->method] =
        arena_printf(&dump->jit_arena, "%.*s.%.*s%.*s", (int)event->class_name.n, event->class_name.at,
                     (int)event->name.n, event->name.at, (int)event->descriptor.n, event->descriptor.at);
}

static void put_jit_method(const struct dump *dump, uint32_t number)
{
    if (dump->jit_names == NULL || dump->jit_names[number] == NULL)
        fprintf(dump->out, "method %" PRIu32, number);
    else
        put_text(dump->out, dump->jit_names[number]);
}

/* "jit     1000 ticks, compiled Main.work(I)V, 800 bytes: inlined Main.step()V in Main.work(I)V" */
static void dump_jit(void *context, const struct jit_event *event)
{
    static const char *const kinds[] = {
        [JIT_COMPILED] = "compiled ", [JIT_DISCARDED] = "discarded ", [JIT_WATCHED] = "gets probes: "
    };
    struct dump *dump = context;
    if (event->kind == JIT_METHOD) {
        name_jit_method(dump, event);
        return;
    }
    fprintf(dump->out, "jit     %" PRIu64 " ticks, %s", event->ticks,
            event->kind == JIT_COMPILED && (event->flags & JIT_WAS_THERE) ? "there was " : kinds[event->kind]);
    put_jit_method(dump, event->method);
    if (event->kind == JIT_COMPILED)
        fprintf(dump->out, ", %" PRIu32 " bytes", event->code_bytes);
    for (uint32_t i = 0; i < event->n_inlined; i++) {
        fputs(i == 0 ? ": inlined " : ", ", dump->out);
        put_jit_method(dump, event->inlined[i].method);
        fputs(" in ", dump->out);
        put_jit_method(dump, event->inlined[i].caller);
    }
    fputs(event->flags & JIT_IS_CUT ? ", and more\n" : "\n", dump->out);
}

static void dump_collection(void *context, const struct trace_collection *collection)
{
    const struct dump *dump = context;
    fputs("collection ", dump->out);
    put_text(dump->out, collection->name);
    put_moment(dump->out, "start", collection->start_ticks);
    fprintf(dump->out, ", %" PRIu64 " ns", collection->ns);
    if (collection->cause[0] != '\0') {
        fputs(", ", dump->out);
        put_text(dump->out, collection->cause);
    }
    if (collection->n_missed > 0)
        fprintf(dump->out, ", %" PRIu64 " before it not seen", collection->n_missed);
    fputc('\n', dump->out);
}

static void dump_sampled_method(void *context, uint32_t number, const struct trace_sampled_method *method)
{
    const struct dump *dump = context;
    dump_samples_method(dump->out, number, method);
}

static void dump_context(void *context, uint32_t number, const struct trace_context *node)
{
    const struct dump *dump = context;
    dump_samples_context(dump->out, number, node);
}

static void dump_sample(void *context, const struct trace_sample *sample)
{
    struct dump *dump = context;
    dump->n_samples += sample->n;
    if (dump->with_events)
        dump_samples_sample(dump->out, sample);
}

static void dump_wait(void *context, const struct trace_wait *wait)
{
    struct dump *dump = context;
    dump->n_waits += wait->n;
    if (dump->with_events)
        dump_samples_wait(dump->out, wait);
}

static void dump_virtual(void *context, const struct trace_virtual_wait *wait)
{
    struct dump *dump = context;
    if (dump->with_events)
        dump_samples_virtual(dump->out, wait);
}

static void dump_allocation(void *context, const struct trace_allocation *allocation)
{
    struct dump *dump = context;
    dump->n_allocations++;
    if (dump->with_events)
        dump_samples_allocation(dump->out, allocation);
}

static void dump_heap_event(void *context, const struct trace_heap_event *event)
{
    const struct dump *dump = context;
    if (dump->with_events)
        dump_samples_heap_event(dump->out, event);
}

static void dump_pressure(void *context, const struct trace_pressure *pressure)
{
    const struct dump *dump = context;
    if (dump->with_events)
        dump_samples_pressure(dump->out, pressure);
}

static void dump_code(void *context, const struct trace_code_change *change)
{
    const struct dump *dump = context;
    if (dump->with_events)
        dump_samples_code(dump->out, change);
}

static void dump_location(void *context, const struct location_entry *entry)
{
    const struct dump *dump = context;
    dump_locations(dump->out, entry);
}

static void dump_miss(void *context, const struct miss_entry *entry)
{
    const struct dump *dump = context;
    dump_misses(dump->out, entry);
}

/* Without a moment: it comes with those IP samples of the clock that were written with it. */
static void dump_event_sample(void *context, const struct trace_event_sample *sample)
{
    struct dump *dump = context;
    dump->n_ip_samples++;
    if (!dump->with_events)
        return;
    put_thread(dump, sample->thread);
    fprintf(dump->out, "event %" PRIu32 "%s at location %" PRIu32 ": %" PRIu64 " of it\n", sample->event,
            sample->in_kernel ? " in the kernel" : "", sample->location, sample->weight);
}

static void put_totals(const struct dump *dump)
{
    uint32_t n_threads = 0, n_methods = 0;
    for (uint32_t i = 0; i < trace_n_threads(dump->reader); i++)
        n_threads += trace_thread(dump->reader, i) != NULL;
    for (uint32_t i = 0; i < trace_n_methods(dump->reader); i++)
        n_methods += trace_method(dump->reader, i) != NULL;
    fprintf(dump->out, "%" PRIu64 " records, %" PRIu64 " kernel events, ", dump->n_records, dump->n_kernel);
    if (dump->n_readings > 0)
        fprintf(dump->out, "%" PRIu64 " counter reads, ", dump->n_readings);
    if (dump->n_samples > 0)
        fprintf(dump->out, "%" PRIu64 " samples, ", dump->n_samples);
    if (dump->n_waits > 0)
        fprintf(dump->out, "%" PRIu64 " waits, ", dump->n_waits);
    if (dump->n_allocations > 0)
        fprintf(dump->out, "%" PRIu64 " allocations, ", dump->n_allocations);
    if (dump->n_ip_samples > 0)
        fprintf(dump->out, "%" PRIu64 " IP samples, ", dump->n_ip_samples);
    fprintf(dump->out, "%" PRIu32 " threads, %" PRIu32 " methods\n", n_threads, n_methods);
}

int dump_trace(FILE *out, struct trace_reader *reader, bool with_events, double ns_per_tick, struct err *err)
{
    struct dump dump = { .out = out, .reader = reader, .with_events = with_events, .ns_per_tick = ns_per_tick };
    /* clang-format off */
    const struct trace_listener listener = {
        &dump,     dump_info,       dump_clock,      dump_counter,  dump_thread,         dump_charge,       dump_method,
        dump_jit,  dump_location,   dump_collection, dump_miss,     dump_sampled_method, dump_context,      dump_sample,
        dump_wait, dump_virtual,    dump_allocation, dump_heap_event, dump_pressure,   dump_code,           dump_value,
        dump_event_sample, NULL
    };
    /* clang-format on */
    static const struct trace_listener nobody;
    struct trace_event event;
    int rc;
    trace_listen(reader, &listener);
    while ((rc = trace_next(reader, &event, err)) > 0)
        dump_event(&dump, &event);
    trace_listen(reader, &nobody);
    free(dump.jit_names);
    arena_free(&dump.jit_arena);
    if (rc < 0)
        return -1;
    put_totals(&dump);
    return 0;
}

/*
 * The clock points lie apart in the file, so the file is read once before: but not a pipe, nor what is damaged (the
 * second reading says so); then times are in ticks.
 */
static double read_ns_per_tick(const char *path, bool salvage)
{
    struct stat status;
    struct trace_reader *reader;
    struct trace_event event;
    struct err ignored;
    if (stat(path, &status) < 0 || !S_ISREG(status.st_mode) || trace_open(&reader, path, salvage, &ignored) < 0)
        return 0;
    while (trace_next(reader, &event, &ignored) > 0)
        continue;
    double ns_per_tick = trace_ns_per_tick(reader);
    trace_close(reader);
    return ns_per_tick;
}

static void warn(const struct trace_reader *reader, const char *path)
{
    uint64_t n_damaged = trace_damaged_chunks(reader);
    fflush(stdout);
    if (n_damaged > 0)
        fprintf(stderr, "mmprof dump: '%s': damage was skipped in %" PRIu64 " places\n", path, n_damaged);
    if (trace_is_cut(reader))
        fprintf(stderr, "mmprof dump: '%s' has no end: the recorder did not finish, or the file is cut\n", path);
}

static int dump_path(const char *path, bool has_events, bool salvage, struct display *display, struct err *err)
{
    struct trace_reader *reader;
    double ns_per_tick = read_ns_per_tick(path, salvage);
    if (trace_open(&reader, path, salvage, err) < 0)
        return -1;
    int rc = display_open(display, err);
    if (rc == 0)
        rc = display_close(display, dump_trace(stdout, reader, has_events, ns_per_tick, err), err);
    if (rc == 0)
        warn(reader, path);
    trace_close(reader);
    return rc;
}

int command_dump(int argc, char **argv, struct err *err)
{
    bool salvage = false, tables = false, done;
    struct display display = DISPLAY_OF_PAGES;
    const struct options_row rows[] = {
        { 0, "salvage", NULL, OPTION_FLAG, &salvage, "skip damaged parts and print the rest" },
        { 0, "tables", NULL, OPTION_FLAG, &tables, "print what the trace defines, not its events" },
        DISPLAY_PAGER_ROW(&display),
        { 0, NULL, NULL, OPTION_FLAG, NULL, NULL },
    };
    const char *path;
    if (command_parse_trace("dump [OPTIONS] [TRACE]",
                            "Print a trace (trace.dat) as text: what it defines and one line for each event.", rows,
                            argc, argv, &path, &done, err) < 0)
        return -1;
    if (done)
        return 0;
    struct arena arena = { NULL, 0 };
    int rc = trace_argument_one(&arena, &path, err);
    if (rc == 0)
        rc = dump_path(path, !tables, salvage, &display, err);
    arena_free(&arena);
    return rc;
}
