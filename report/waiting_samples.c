#include "report/waiting_samples.h"

#include "report/some_threads.h"

#define PIECES_OF_ALL 64.0 /* of the recording: the blocks of time that intervals come from are longer */

struct making_waiting {
    const struct trace_samples *from;
    const struct trace_reader *reader;
    struct wait_sites *sites;
    struct trace_samples *made;
    uint32_t n_threads;
    /* The arena's, by thread. */
    struct trace_thread_waits *waits;
    uint64_t *cpu_ns, *ready_ns;
    double ns_a_piece; /* of a wait that went on */
};

/* ---- waits ---- */

static bool is_wait(const struct making_waiting *m, const struct trace_wait *wait)
{
    return wait->cause != TRACE_CAUSE_ON_CPU && wait->weight_ns > 0 && wait->thread < m->n_threads &&
           trace_thread(m->reader, wait->thread) != NULL && threads_count_wait(m->reader, wait);
}

static bool is_idle(const struct making_waiting *m, const struct trace_wait *wait)
{
    return trace_cause_may_be_idle(wait->cause) && wait_sites_find(m->sites, wait->context)->is_idle;
}

/* What goes on for several visits is in the blocks of all of them. */
static uint64_t pieces_of(const struct making_waiting *m, const struct trace_wait *wait)
{
    double most = m->ns_a_piece > 0 ? 1 + (double)wait->weight_ns / m->ns_a_piece : 1;
    uint64_t n = wait->n > 1 && !is_idle(m, wait) ? wait->n : 1;
    return (double)n < most ? n : (uint64_t)most;
}

static void keep(struct making_waiting *m, const struct trace_kept_sample *sample)
{
    m->made->kept[m->made->n_kept++] = *sample;
    if (sample->thread >= m->n_threads)
        return;
    m->waits[sample->thread].seen_ns += sample->weight_ns + sample->ready_ns;
    m->waits[sample->thread].idle_ns += sample->is_idle ? sample->weight_ns : 0;
}

static void add_wait(struct making_waiting *m, const struct trace_wait *wait)
{
    uint64_t n = pieces_of(m, wait), n_done = 0, ns_done = 0;
    double ns_per_tick = trace_ns_per_tick(m->reader),
           ticks = (double)wait->weight_ns / (ns_per_tick > 0 ? ns_per_tick : 1);
    for (uint64_t i = 1; i <= n; i++) {
        struct trace_kept_sample piece = { .ticks = wait->ticks - (uint64_t)(ticks * (double)(n - i) / (double)n),
                                           .weight_ns = wait->weight_ns * i / n - ns_done,
                                           .n = wait->n * i / n - n_done,
                                           .thread = wait->thread,
                                           .context = wait->context,
                                           .is_waiting = true,
                                           .is_idle = is_idle(m, wait) };
        ns_done += piece.weight_ns;
        n_done += piece.n;
        keep(m, &piece);
    }
}

/* ---- samples on a CPU ---- */

static void sum_cpu(struct making_waiting *m)
{
    for (size_t i = 0; i < m->from->n_kept; i++)
        if (m->from->kept[i].thread < m->n_threads)
            m->cpu_ns[m->from->kept[i].thread] += m->from->kept[i].weight_ns;
}

static void add_running(struct making_waiting *m)
{
    for (size_t i = 0; i < m->from->n_kept; i++) {
        struct trace_kept_sample sample = m->from->kept[i];
        uint64_t cpu_ns = sample.thread < m->n_threads ? m->cpu_ns[sample.thread] : 0;
        if (cpu_ns > 0)
            sample.ready_ns =
                (uint64_t)((double)m->ready_ns[sample.thread] * ((double)sample.weight_ns / (double)cpu_ns));
        keep(m, &sample);
    }
    for (uint32_t i = 0; i < m->n_threads; i++)
        if (m->ready_ns[i] > 0 && m->cpu_ns[i] == 0)
            keep(m, &(struct trace_kept_sample){
                        .ticks = TRACE_UNKNOWN, .ready_ns = m->ready_ns[i], .n = 1, .thread = i });
}

/* ---- the whole ---- */

static void make_room(struct making_waiting *m, size_t n_kept, struct arena *arena)
{
    m->made = arena_alloc(arena, sizeof *m->made);
    m->waits = arena_alloc(arena, ((size_t)m->n_threads + 1) * sizeof *m->waits);
    m->cpu_ns = arena_alloc(arena, ((size_t)m->n_threads + 1) * sizeof *m->cpu_ns);
    m->ready_ns = arena_alloc(arena, ((size_t)m->n_threads + 1) * sizeof *m->ready_ns);
    *m->made = *m->from;
    m->made->waits = m->waits;
    m->made->n_kept = 0;
    m->made->kept = arena_alloc(arena, (n_kept + 1) * sizeof *m->made->kept);
}

struct trace_samples *waiting_samples(const struct trace_samples *samples, const struct trace_wait *waits, size_t n,
                                      struct wait_sites *sites, struct arena *arena)
{
    const struct trace_reader *reader = samples->reader;
    double ticks = (double)(trace_end_ticks(reader) - trace_start_ticks(reader));
    struct making_waiting m = { .from = samples,
                                .reader = reader,
                                .sites = sites,
                                .n_threads = trace_n_threads(reader),
                                .ns_a_piece = ticks * trace_ns_per_tick(reader) / PIECES_OF_ALL };
    size_t n_kept = samples->n_kept + m.n_threads;
    for (size_t i = 0; i < n; i++)
        n_kept += is_wait(&m, &waits[i]) ? pieces_of(&m, &waits[i]) : 0;
    make_room(&m, n_kept, arena);
    sum_cpu(&m);
    for (size_t i = 0; i < n; i++) {
        if (!is_wait(&m, &waits[i]))
            continue;
        m.waits[waits[i].thread].waited_ns += waits[i].weight_ns;
        if (waits[i].cause == TRACE_CAUSE_READY)
            m.ready_ns[waits[i].thread] += waits[i].weight_ns;
        else
            add_wait(&m, &waits[i]);
    }
    add_running(&m);
    return m.made;
}
