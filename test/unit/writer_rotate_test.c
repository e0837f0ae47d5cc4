/*
 * A recording in several files: each is read alone, and what they say adds up to what one file says.
 */
#include "core/trace/recording_info.h"
#include "phases/tree/calltree.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"
#include "test/unit/trace_model.h"

#include <signal.h>
#include <sys/resource.h>

#define N_METHODS 12
#define N_THREADS 3
#define N_STEPS   4000
#define DEPTH_MAX 30

/* What a recording says, summed over its files. */
struct sums {
    uint64_t calls[N_METHODS], unwinds[N_METHODS], cpu[N_METHODS + 1], wall[N_METHODS + 1], switches, faults, slices,
        lost;
    uint64_t counts[N_METHODS + 1], n_samples, samples_ns, n_waits, waits_ns, allocated, n_hits, n_read_lost, n_changes;
    uint64_t accounted_ns, slices_ns;
    uint64_t lost_samples;
    bool all_known; /* all that is named is described */
    int n_files;
};

/* ---- a program ---- */

struct program {
    uint64_t random, ticks;
    struct {
        uint32_t open[DEPTH_MAX];
        uint32_t depth;
        bool is_on;
        uint64_t count;
    } threads[N_THREADS];
    uint32_t n_contexts;
};

static struct err err;

static void begin(struct maker *m, const char *name, bool keeps)
{
    memset(m, 0, sizeof *m);
    memcpy(m->path, name, strlen(name) + 1);
    maker_must(m, trace_writer_open(&m->writer, m->path, &m->err));
    maker_must(m, trace_write_clock(m->writer, 1000, 1000, 1000000, &m->err));
    if (keeps)
        trace_writer_keep(m->writer);
    GROUPS(m, "cycles");
    maker_info(m, "host", "here");
    for (uint32_t i = 0; i < N_METHODS; i++)
        maker_method(m, i, "some/Class", (const char[]){ (char)('a' + i), '\0' }, "()V");
    for (uint32_t i = 0; i < N_THREADS; i++)
        maker_thread(m, i, "worker", true);
}

/* One thing that a program does, told to both. */
static void step(struct program *p, struct maker *m)
{
    uint32_t thread = (uint32_t)(random_next(&p->random) % N_THREADS), what = (uint32_t)(random_next(&p->random) % 16);
    uint32_t *depth = &p->threads[thread].depth, *open = p->threads[thread].open;
    p->ticks += 1 + random_next(&p->random) % 50;
    if (what == 0 || !p->threads[thread].is_on) {
        p->threads[thread].is_on = !p->threads[thread].is_on;
        KERNEL(m, AT(p->threads[thread].is_on ? TRACE_CPU_IN
                     : p->ticks % 2 == 0      ? TRACE_CPU_OUT
                                              : TRACE_CPU_PREEMPTED,
                     thread, p->ticks));
        return;
    }
    p->threads[thread].count += random_next(&p->random) % 1000;
    if (what == 1) {
        KERNEL(m, AT(TRACE_PAGE_FAULT, thread, p->ticks));
    } else if (what == 2) {
        STEPS(m, thread, GAP(3, p->ticks, p->threads[thread].count));
    } else if (what < 9 && *depth < DEPTH_MAX) {
        uint32_t method = (uint32_t)(random_next(&p->random) % N_METHODS);
        open[(*depth)++] = method;
        STEPS(m, thread, ENTER(method, p->ticks, p->threads[thread].count));
    } else if (*depth > 0) {
        uint32_t method = open[--*depth];
        if (what == 15)
            STEPS(m, thread, UNWIND(method, p->ticks, p->threads[thread].count));
        else
            STEPS(m, thread, EXIT(method, p->ticks, p->threads[thread].count));
    }
}

/* Stack samples, waits, allocations and IP samples, in contexts that are met. */
static void sample(struct program *p, struct maker *m)
{
    static const struct trace_sampled_method named = { { "some/Sampled", "m", "()V" }, "S.java", 0, NULL, 0, NULL };
    uint32_t thread = (uint32_t)(random_next(&p->random) % N_THREADS);
    if (p->n_contexts < 40) {
        const struct trace_context context = {
            .parent = p->n_contexts / 2, .call_site = -1, .method = p->n_contexts, .named = &named
        };
        maker_must(m, trace_write_context(m->writer, &context, &m->err));
        const struct location_entry method = { .kind = LOCATION_METHOD,
                                               .number = p->n_contexts,
                                               .class_name = wire_text("C"),
                                               .name = wire_text("m"),
                                               .descriptor = wire_text("()V"),
                                               .source = wire_text("") };
        struct location_entry at = { .kind = LOCATION_IN_CODE,
                                     .number = p->n_contexts,
                                     .code = LOCATION_COMPILED,
                                     .name = wire_text(""),
                                     .n_frames = 1 };
        at.frames[0] = (struct location_frame){ p->n_contexts, 7 };
        maker_must(m, trace_write_location(m->writer, &method, &m->err));
        maker_must(m, trace_write_location(m->writer, &at, &m->err));
        p->n_contexts++;
    }
    uint32_t context = 1 + (uint32_t)(random_next(&p->random) % p->n_contexts);
    const struct trace_sample taken = {
        .ticks = p->ticks, .thread = thread, .context = context, .index = -1, .n = 1, .weight_ns = 10
    };
    const struct trace_wait wait = { .ticks = p->ticks,
                                     .thread = thread,
                                     .cause = TRACE_CAUSE_MONITOR,
                                     .context = context,
                                     .index = -1,
                                     .n = 1,
                                     .weight_ns = 20,
                                     .lock_class = context % 2 == 0 ? "some/Lock" : "other/Lock",
                                     .owner = (thread + 1) % N_THREADS,
                                     .owner_context = 1 };
    const struct trace_event hit = {
        .kind = TRACE_IP_SAMPLE, .thread = thread, .ticks = p->ticks, .count = context - 1
    };
    maker_must(m, trace_write_sample(m->writer, &taken, &m->err));
    maker_must(m, trace_write_wait(m->writer, &wait, &m->err));
    maker_must(m, trace_write_code(m->writer, &(struct trace_code_change){ p->ticks, context, "null_check", context },
                                   &m->err));
    maker_must(m, trace_write_ip_samples(m->writer, &hit, 1, &m->err));
}

/* ---- what files say ---- */

static void take_sample(void *context, const struct trace_sample *sample)
{
    struct sums *s = context;
    s->n_samples += sample->n;
    s->samples_ns += sample->weight_ns;
}

static void take_code(void *context, const struct trace_code_change *change)
{
    struct sums *s = context;
    s->n_changes += change->n;
}

static void take_wait(void *context, const struct trace_wait *wait)
{
    struct sums *s = context;
    s->n_waits += wait->n;
    s->waits_ns += wait->weight_ns;
    s->all_known = s->all_known && strstr(wait->lock_class, "/Lock") != NULL;
}

static void take_hit(void *context, const struct trace_event *event)
{
    struct sums *s = context;
    s->n_hits += event->kind == TRACE_IP_SAMPLE;
}

static uint32_t n_locations;

static void take_location(void *context, const struct location_entry *entry)
{
    (void)context;
    n_locations += entry->kind == LOCATION_IN_CODE;
}

static void add_tree(struct sums *s, const struct calltree *tree)
{
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        const struct calltree_node *node = &tree->nodes[i];
        uint32_t at = node->method < N_METHODS ? node->method : N_METHODS;
        const uint64_t *metrics = calltree_metrics(tree, i);
        if (at < N_METHODS) {
            s->calls[at] += calltree_calls(tree, i);
            s->unwinds[at] += calltree_row(tree, i)[ROW_UNWINDS];
        }
        s->cpu[at] += node->cpu_ticks;
        s->wall[at] += calltree_wall_ticks(tree, i);
        if (tree->n_metrics > 0) {
            s->faults += metrics[CALLTREE_FAULTS];
            s->switches += metrics[CALLTREE_SWITCHES];
            s->counts[at] += metrics[CALLTREE_COUNTERS];
        }
    }
    s->lost += tree->n_lost;
    for (uint32_t i = 0; i < tree->n_threads; i++)
        s->slices += tree->threads[i].n_slices;
}

static void add_file(struct sums *s, const char *path)
{
    struct trace_reader *reader = NULL;
    struct calltree tree = { .n_nodes = 0 };
    const struct trace_listener listener = { .context = s,
                                             .sample = take_sample,
                                             .wait = take_wait,
                                             .code = take_code,
                                             .ip_sample = take_hit,
                                             .location = take_location };
    int rc = trace_open(&reader, path, false, &err);
    if (rc == 0)
        trace_listen(reader, &listener);
    rc = rc < 0 ? rc : calltree_build(reader, &(struct calltree_options){ 0 }, &tree, &err);
    CHECK("a file is read alone", rc == 0);
    if (rc < 0) {
        printf("# %s: %s\n", path, err.text);
        return;
    }
    add_tree(s, &tree);
    s->n_files++;
    s->all_known = s->all_known && !trace_is_cut(reader) && tree.n_stray == 0 && tree.n_unmatched_exits == 0 &&
                   tree.n_missing_exits == 0 && trace_method(reader, N_METHODS - 1) != NULL;
    for (uint32_t i = 0; i < N_THREADS; i++) {
        const struct trace_thread *thread = trace_thread(reader, i);
        s->all_known = s->all_known && thread != NULL && strcmp(thread->name, "worker") == 0;
        s->n_read_lost += thread == NULL ? 0 : thread->n_lost;
        s->accounted_ns += thread == NULL ? 0 : thread->cpu_time.accounted_ns;
        s->slices_ns += thread == NULL ? 0 : thread->cpu_time.slices_ns;
    }
    double lost = info_number(reader, INFO_SAMPLE_LOST);
    s->lost_samples += lost < 0 ? 0 : (uint64_t)lost;
    const char *host = info_text(reader, INFO_HOST);
    s->all_known = s->all_known && host != NULL && strcmp(host, "here") == 0;
    calltree_free(&tree);
    trace_close(reader);
}

/* The same program: a new file at each of some moments, or never. */
static void tell_thread(struct maker *m, uint32_t i, uint64_t n)
{
    struct trace_thread thread = { .index = i,
                                   .tid = 100 + (int32_t)i,
                                   .has_ring = true,
                                   .name = "worker",
                                   .comm = "worker",
                                   .start_ticks = TRACE_UNKNOWN,
                                   .end_ticks = TRACE_UNKNOWN,
                                   .n_lost = n,
                                   .cpu_time = { true, 1000 * n, 900 * n, n } };
    maker_must(m, trace_write_thread(m->writer, &thread, &m->err));
}

static void end_of_file(struct maker *m, uint64_t n)
{
    trace_writer_ends(m->writer);
    for (uint32_t i = 0; i < N_THREADS; i++)
        tell_thread(m, i, n);
    maker_must(m, info_write_count(m->writer, INFO_SAMPLE_LOST, 10 * n, &m->err));
}

static struct sums record(uint64_t seed, uint32_t each, bool with_samples)
{
    struct program p = { .random = seed, .ticks = 1000 };
    struct sums s = { .all_known = true };
    struct maker m;
    char path[200], next[250];
    struct err why;
    int n_files = 0;
    snprintf(path, sizeof path, "%s/rotate.%d", getenv("SCRATCH") == NULL ? "/tmp" : getenv("SCRATCH"), (int)getpid());
    snprintf(next, sizeof next, "%s.0", path);
    begin(&m, next, each > 0);
    for (uint32_t i = 0; i < N_THREADS; i++)
        p.threads[i].is_on = true;
    for (uint32_t i = 1; i <= N_STEPS; i++) {
        step(&p, &m);
        if (with_samples && i % 7 == 0)
            sample(&p, &m);
        if (each == 0 || i % each != 0)
            continue;
        const uint64_t clock[3] = { p.ticks, p.ticks, 1000000 + p.ticks };
        end_of_file(&m, i);
        snprintf(next, sizeof next, "%s.%d", path, ++n_files);
        maker_must(&m, trace_writer_rotate(m.writer, next, clock, &why, &m.err));
    }
    p.ticks++;
    end_of_file(&m, N_STEPS);
    maker_must(&m, trace_write_clock(m.writer, p.ticks, p.ticks, 1000000 + p.ticks, &m.err));
    maker_close(&m, p.ticks);
    for (int i = 0; i <= n_files; i++) {
        snprintf(next, sizeof next, "%s.%d", path, i);
        add_file(&s, next);
        unlink(next);
    }
    return s;
}

static bool same(const char *what, const uint64_t *a, const uint64_t *b, size_t n)
{
    bool is_same = true;
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i]) {
            printf("# %s %zu: %" PRIu64 " in the files, %" PRIu64 " in one\n", what, i, a[i], b[i]);
            is_same = false;
        }
    return is_same;
}

static void compare(uint64_t seed, uint32_t each)
{
    struct sums one = record(seed, 0, true), all = record(seed, each, true);
    printf("# seed %" PRIu64 ", a file each %u steps: %d\n", seed, each, all.n_files);
    CHECK("each file has all that it names, is whole and well nested", all.all_known && all.n_files > 1);
    CHECK("calls add up", same("calls", all.calls, one.calls, N_METHODS));
    CHECK("calls left by an exception do", same("unwinds", all.unwinds, one.unwinds, N_METHODS));
    CHECK("CPU time does, to the tick", same("cpu", all.cpu, one.cpu, N_METHODS + 1));
    CHECK("time by the clock does", same("wall", all.wall, one.wall, N_METHODS));
    CHECK("counts of events do", same("counts", all.counts, one.counts, N_METHODS + 1));
    CHECK("page faults do", same("faults", &all.faults, &one.faults, 1));
    CHECK("switches do", same("switches", &all.switches, &one.switches, 1));
    CHECK("run slices do", same("slices", &all.slices, &one.slices, 1));
    CHECK("calls that were not recorded do",
          same("lost", &all.lost, &one.lost, 1) && same("told lost", &all.n_read_lost, &one.n_read_lost, 1));
    CHECK("CPU time by the kernel's books does", same("accounted", &all.accounted_ns, &one.accounted_ns, 1) &&
                                                     same("in slices", &all.slices_ns, &one.slices_ns, 1));
    CHECK("stack samples do",
          same("samples", &all.n_samples, &one.n_samples, 1) && same("of ns", &all.samples_ns, &one.samples_ns, 1));
    CHECK("what became of code does", same("changes", &all.n_changes, &one.n_changes, 1));
    CHECK("waits do", same("waits", &all.n_waits, &one.n_waits, 1) && same("of ns", &all.waits_ns, &one.waits_ns, 1));
    CHECK("IP samples do", same("hits", &all.n_hits, &one.n_hits, 1));
    CHECK("sums in the metadata do", same("lost samples", &all.lost_samples, &one.lost_samples, 1));
}

/* A file that finds no room is lost, what goes on is not: the next one begins with its calls. */
static void check_no_room(void)
{
    struct maker m;
    struct err why;
    char path[200], next[250];
    struct sums s = { .all_known = true };
    const uint64_t first[3] = { 9000, 9000, 1009000 }, second[3] = { 9500, 9500, 1009500 };
    snprintf(path, sizeof path, "%s/room.%d", getenv("SCRATCH") == NULL ? "/tmp" : getenv("SCRATCH"), (int)getpid());
    begin(&m, path, true);
    signal(SIGXFSZ, SIG_IGN);
    STEPS(&m, 0, ENTER(1, 1100));
    /* The test's own output may be a file, too: nothing is said meanwhile. */
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 20, RLIM_INFINITY });
    bool goes_on = trace_writer_flush(m.writer, &m.err) == 0;
    const struct err *failure = trace_writer_failure(m.writer);
    bool says_why = failure != NULL && strstr(failure->text, "File too large") != NULL;
    STEPS(&m, 0, ENTER(2, 1200));
    bool still_goes_on = trace_writer_flush(m.writer, &m.err) == 0;
    snprintf(next, sizeof next, "%s.none/a", path);
    bool rotates = trace_writer_rotate(m.writer, next, first, &why, &m.err) == 0 && why.text[0] != '\0';
    bool loses_next = trace_writer_failure(m.writer) != NULL;
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){ RLIM_INFINITY, RLIM_INFINITY });
    CHECK("a file without room is no error", goes_on);
    CHECK("the writer says why", says_why);
    CHECK("it goes on", still_goes_on);
    CHECK("so it does to the next one, of which it is said why that before is not whole", rotates);
    CHECK("one that cannot be made is lost, too", loses_next);
    STEPS(&m, 0, EXIT(2, 9100));
    snprintf(next, sizeof next, "%s.2", path);
    CHECK("the one after it is whole",
          trace_writer_rotate(m.writer, next, second, &why, &m.err) == 0 && trace_writer_failure(m.writer) == NULL);
    for (uint32_t i = 0; i < N_THREADS; i++)
        tell_thread(&m, i, 0);
    STEPS(&m, 0, ENTER(3, 9600), EXIT(3, 9700), EXIT(1, 9800));
    maker_must(&m, trace_write_clock(m.writer, 9900, 9900, 1009900, &m.err));
    maker_close(&m, 9900);
    add_file(&s, next);
    CHECK("and begins in the call that goes on", s.all_known && s.calls[3] == 1 && s.calls[1] == 0 && s.wall[1] == 200);
    unlink(path);
    unlink(next);
}

int main(void)
{
    check_no_room();
    compare(1, 1000);
    compare(2, 97);
    compare(3, 13);
    return tap_done();
}
