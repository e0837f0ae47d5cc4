#include "phases/live/live_session.h"

#include "core/base/xalloc.h"
#include "core/pmu/event_roles.h"
#include "core/trace/recording_info.h"

void live_session_free(struct live_session *session)
{
    live_close(session->live);
    live_samples_close(session->samples);
    session->samples = NULL;
    arena_free(&session->arena);
    arena_free(&session->first_arena);
    free(session->first);
    session->first = NULL;
    session->live = NULL;
    session->candidates = NULL;
}

void live_session_events(struct live_session *session, const struct counter_set *events,
                         const struct counter_layout *layout)
{
    static const enum event_role roles[] = { EVENT_CYCLES, EVENT_INSTRUCTIONS };
    struct live_tree_options *tree = &session->options.tree;
    uint32_t found[2] = { UINT32_MAX, UINT32_MAX };
    for (uint32_t slot = 0; layout->n_groups > 0 && slot < layout->first[1]; slot++) {
        const char *heading;
        enum event_role role = event_role_of(events->specs[layout->event[slot]].name, &heading);
        for (size_t k = 0; k < 2; k++)
            if (role == roles[k])
                found[k] = slot;
    }
    session->has_cpi = found[0] != UINT32_MAX && found[1] != UINT32_MAX;
    tree->n_tracked = session->has_cpi ? 2 : 0;
    memcpy(tree->tracked, found, sizeof found);
}

/* ---- what the recorder tells ---- */

/* A copy, for when the decisions begin: of a method that the user named, which has probes from the start. */
static void note_method(struct live_session *session, const struct trace_method *method)
{
    struct arena *arena = &session->first_arena;
    const struct method_name *names = &method->names;
    *xpush(session->first, session->first_room, session->n_first) = (struct trace_method){
        .id = method->id,
        .code_bytes = method->code_bytes,
        .names = { arena_text(arena, names->class_name, strlen(names->class_name)),
                   arena_text(arena, names->method, strlen(names->method)),
                   arena_text(arena, names->descriptor, strlen(names->descriptor)) },
    };
}

static void hear_method(void *context, const struct trace_method *method)
{
    struct live_session *session = context;
    if (session->live == NULL)
        note_method(session, method);
    else
        live_methods_add(&session->live->methods, method, session->live->now.now_ns);
}

static void hear_records(void *context, uint32_t thread, const uint64_t *words, size_t n_words, uint64_t now)
{
    struct live_session *session = context;
    if (session->live != NULL)
        live_tree_records(session->live->methods.tree, thread, words, n_words, now);
}

static void hear_kernel(void *context, const struct trace_event *events, size_t n)
{
    struct live_session *session = context;
    if (session->live != NULL)
        live_tree_kernel(session->live->methods.tree, events, n);
}

static struct live_samples *samples_of(struct live_session *session)
{
    if (session->samples == NULL)
        session->samples = live_samples_open();
    return session->samples;
}

/* The JVM's own threads are nobody's calls. */
static int hear_stack(void *context, const struct stack_sample *sample, uint32_t thread, struct err *err)
{
    struct live_session *session = context;
    (void)err;
    if (vm_part_of(sample->thread_name) != VM_PART_APPLICATION)
        return 0;
    session->n_samples++;
    live_samples_add(samples_of(session), sample, thread);
    return 0;
}

static void hear_wait(void *context, const struct stack_wait *wait, uint32_t thread)
{
    struct live_session *session = context;
    if (vm_part_of(wait->sample.thread_name) == VM_PART_APPLICATION)
        live_samples_add_wait(samples_of(session), wait, thread);
}

static void hear_forget(void *context, uint32_t thread)
{
    struct live_session *session = context;
    if (session->live != NULL)
        live_tree_forget(session->live->methods.tree, thread);
    if (session->samples != NULL)
        live_samples_forget(session->samples, thread);
}

#define LOOPS_MAX 64

/* Numbers for their classes, of which there are names in the order of these.  Returns how many. */
static size_t number_classes(struct live_candidate *found, size_t n, const char **names)
{
    size_t n_classes = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t number = 0;
        while (number < n_classes && strcmp(names[number], found[i].class_name) != 0)
            number++;
        if (number == n_classes && n_classes < RECOMPILATION_CLASSES)
            names[n_classes++] = found[i].class_name;
        found[i].class_number = number;
    }
    return n_classes;
}

static void give_candidates(struct live_session *session, struct live_candidate *found, size_t n)
{
    const char *names[RECOMPILATION_CLASSES];
    struct recompilation_costs costs;
    if (n == 0) {
        live_chooser_candidates(&session->live->chooser, NULL, 0, NULL);
        return;
    }
    recorder_recompilation_costs(session->link, names, number_classes(found, n, names), &costs);
    live_chooser_candidates(&session->live->chooser, found, n, &costs);
    recompilation_costs_free(&costs);
}

/* What the records taught of calls is not to be asked again: nor is what those call. */
static void tell_short(struct live_session *session)
{
    const struct live_method *methods = session->live->methods.all;
    struct candidates *all[] = { session->candidates, live_samples_wall(session->samples) };
    for (size_t i = 0; i < session->live->methods.n; i++)
        for (size_t k = 0; methods[i].why == LIVE_TOO_SHORT && k < sizeof all / sizeof *all; k++)
            candidates_too_short(all[k], methods[i].class_name, methods[i].name, methods[i].descriptor);
}

/* What is worth probes, by CPU time and on the wall clock?  No sample at all is no error: the program may be idle. */
static int list_candidates(struct live_session *session, struct candidate_list *list, struct candidate_list *wall,
                           struct err *err)
{
    struct candidates_criteria criteria = CANDIDATES_CRITERIA;
    struct err ignored; /* the program did nothing */
    criteria.weight = session->options.weight;
    if (session->samples == NULL)
        return 0;
    const struct agent_config *rules = recorder_rules(session->link, err);
    if (rules == NULL)
        return -1;
    session->candidates = live_samples_candidates(session->samples, rules, session->status.jvm_cpu_ns);
    tell_short(session);
    candidates_choose(session->candidates, &criteria, &session->arena, list, &ignored);
    candidates_choose(live_samples_wall(session->samples), &criteria, &session->arena, wall, &ignored);
    return 0;
}

/* What it costs to compile classes again is known now. */
static int choose(struct live_session *session, struct err *err)
{
    struct candidate_list list = { 0 }, wall = { 0 };
    struct live_candidate *found = NULL;
    size_t n = 0;
    if (list_candidates(session, &list, &wall, err) < 0)
        return -1;
    if (list.n + wall.n > 0) {
        found = arena_alloc(&session->arena, (list.n_all + wall.n) * sizeof *found);
        n = live_candidates_join(&list, &wall, found);
    }
    give_candidates(session, found, n);
    arena_free(&session->arena);
    return 0;
}

static int hear_answer(void *context, const struct recorder_answer *answer, struct err *err)
{
    struct live_session *session = context;
    session->rewriting_ms += answer->cpu_ms;
    if (answer->refused != NULL)
        snprintf(session->refused, sizeof session->refused, "%s", answer->refused);
    if (session->live == NULL)
        return 0;
    switch (answer->command) {
    case RECORDER_DEPENDENTS:
        return choose(session, err);
    case RECORDER_REMOVE:
        if (answer->refused == NULL)
            live_removed(session->live, answer->ids, answer->n_ids);
        live_batch_done(session->live, answer->n_classes);
        return 0;
    case RECORDER_INSTRUMENT:
        live_batch_done(session->live, answer->n_classes);
        return 0;
    default:
        return 0;
    }
}

/* ---- what is decided ---- */

/* At once: who reads it may end the recording and have what is missing. */
static void tell_spared(struct live_session *session)
{
    if (session->spares != NULL && !session->has_told && session->live->chooser.skipped_ns > 0) {
        session->has_told = true;
        session->spares(session);
    }
}

/* Before it happens. */
static void tell_discard(struct live_session *session)
{
    const struct live *live = session->live;
    if (session->discards != NULL && live->budget.n_batches == 1 && live->window.discarded_ns > 0)
        session->discards(live->window.discarded_ns);
}

static int give(struct live_session *session, struct recorder_link *link, const struct live_orders *orders,
                struct err *err)
{
    struct arena *arena = &session->arena;
    recorder_pace(link, orders->round_ms);
    if (orders->begins_anew) {
        session->sampled_since_ns = session->status.monotonic_ns;
        session->candidates = NULL;
        if (session->samples != NULL)
            live_samples_begin(session->samples);
    }
    recorder_disable(link, orders->disable, orders->n_disable);
    recorder_enable(link, orders->enable, orders->n_enable);
    recorder_remove(link, orders->remove, orders->n_remove);
    if (orders->asks)
        recorder_dependents(link);
    else if (orders->chooses && choose(session, err) < 0)
        return -1;
    if (orders->n_instrument == 0)
        return 0;
    tell_discard(session);
    struct recorder_phase *methods = arena_alloc(arena, orders->n_instrument * sizeof *methods), loops[LOOPS_MAX];
    size_t n_loops = session->samples == NULL ? 0 : live_samples_loops(session->samples, loops, LOOPS_MAX);
    for (size_t i = 0; i < orders->n_instrument; i++)
        methods[i] = (struct recorder_phase){ orders->instrument[i].class_name, orders->instrument[i].name,
                                              orders->instrument[i].descriptor };
    return recorder_instrument(link, methods, orders->n_instrument, loops, n_loops, err);
}

/* The columns are known only now, and hardly a record has come yet: nothing has probes that nobody named. */
static int begin(struct live_session *session, struct recorder_link *link, const struct recorder_status *status,
                 struct err *err)
{
    session->options.tree.n_columns = status->n_columns;
    if (status->n_columns == 0) { /* they are read from outside only */
        session->options.tree.n_tracked = 0;
        session->has_cpi = false;
    }
    session->compilers.pid = status->pid;
    session->sampled_since_ns = status->start_ns;
    session->options.samples_only = status->archive != NULL;
    snprintf(session->archive, sizeof session->archive, "%s", status->archive == NULL ? "" : status->archive);
    if (session->logs_jit && recorder_jit(link, err) < 0)
        return -1;
    session->live = live_open(&session->options);
    for (size_t i = 0; i < session->n_first; i++)
        live_methods_add(&session->live->methods, &session->first[i], status->monotonic_ns);
    return 0;
}

/* Seldom where it does not matter: each reading is a file per thread, and costs as much as the rest of a round. */
static uint64_t compilers_ns(struct live_session *session, uint64_t now_ns)
{
    enum live_stage stage = session->live->stage;
    uint64_t period_ns = stage == LIVE_RECOMPILING ? UINT64_C(50000000)
                         : stage == LIVE_WATCHING  ? UINT64_C(2000000000)
                                                   : UINT64_C(500000000);
    if (session->compilers_read_ns != 0 && now_ns - session->compilers_read_ns < period_ns)
        return session->compilers_ns;
    session->compilers_read_ns = now_ns;
    return session->compilers_ns = jvm_compilers_cpu_ns(&session->compilers, now_ns);
}

/* Of each recompilation window that is over. */
static int tell_windows(struct live_session *session, struct recorder_link *link, double ns_per_tick, struct err *err)
{
    const struct live_window *window = &session->live->window;
    for (; session->n_windows < window->n; session->n_windows++) {
        const struct live_recompilation *one = &window->all[session->n_windows];
        uint64_t ns = (uint64_t)((double)(one->end_ticks - one->start_ticks) * ns_per_tick);
        if (recorder_window_ended(link, one->end_ticks, ns, err) < 0)
            return -1;
    }
    return 0;
}

static int on_round(void *context, struct recorder_link *link, const struct recorder_status *status, struct err *err)
{
    struct live_session *session = context;
    struct live_orders orders;
    session->status = *status;
    session->link = link;
    if (!status->ready)
        return 0;
    if (session->live == NULL && begin(session, link, status, err) < 0)
        return -1;
    struct live_status now = { .now_ns = status->monotonic_ns,
                               .ticks = status->ticks,
                               .ns_per_tick = status->ns_per_tick,
                               .cpu_ns = status->process_cpu_ns,
                               .own_cpu_ns = status->own_cpu_ns,
                               .jit_cpu_ns = compilers_ns(session, status->monotonic_ns),
                               .pair_ns = (status->inside_ticks + status->outside_ticks) * status->ns_per_tick,
                               .pauses_ms = status->pauses_ms,
                               .sampling_ns = (double)(status->polling_cpu_ns + status->allocations_cpu_ns +
                                                       status->ip_samples_cpu_ns),
                               .rewriting_ns = session->rewriting_ms * 1e6,
                               .n_classes = status->n_classes,
                               .n_samples = session->n_samples,
                               .n_waits = session->samples == NULL ? 0 : live_samples_n_waits(session->samples),
                               .start_ns = status->start_ns,
                               .is_changing = status->busy };
    live_round(session->live, &now, &orders);
    tell_spared(session);
    if (give(session, link, &orders, err) < 0 || tell_windows(session, link, status->ns_per_tick, err) < 0)
        return -1;
    return session->view == NULL ? 0 : session->view(session->view_context, session, link, err);
}

/* ---- the end ---- */

/* mmprof.trace(5) describes these. */
static int write_method(struct live_session *session, struct recorder_link *link, struct live_method *method,
                        struct err *err)
{
    uint64_t enabled_ns = method->enabled_ns;
    if (live_method_is_on(method))
        enabled_ns += session->status.monotonic_ns - method->enabled_since_ns;
    uint64_t ns = enabled_ns - method->told_ns; /* in this file */
    method->told_ns = enabled_ns;
    const struct info_live_method told = { live_state_name(method->state), (double)ns / 1e9, method->calls_per_s,
                                           method->call_ns, live_why_text(method->why) };
    return info_write(recorder_trace(link), INFO_LIVE_METHOD, method->id, &told, INFO_ALL_FIELDS, err);
}

/* What was counted, and what it cost: each number by its key. */
static int write_totals(const struct live_session *session, const struct recorder_status *status,
                        struct trace_writer *writer, struct err *err)
{
    const struct live *live = session->live;
    const struct live_cost cost = live_cost(live);
    const struct info_live_samples samples = { session->n_samples, (double)status->polling_cpu_ns / 1e6 };
    const struct {
        enum info_key key;
        double ms;
        bool is_left_out;
    } times[] = {
        { INFO_LIVE_BUDGET, session->options.budget, false },
        { INFO_LIVE_PAUSES_MS, status->pauses_ms, false },
        { INFO_LIVE_LONGEST_PAUSE_MS, status->longest_pause_ms, false },
        { INFO_LIVE_WINDOWS_MS, (double)live->window.ns / 1e6, false },
        { INFO_LIVE_RECOMPILING_MS, (double)cost.recompiling_ns / 1e6, cost.recompiling_ns == LIVE_UNKNOWN },
        { INFO_LIVE_COMPILING_MS, cost.compiling_ns / 1e6, false },
        { INFO_LIVE_FORGOTTEN_MS, (double)live->window.discarded_ns / 1e6, live->window.discarded_ns == 0 },
        { INFO_LIVE_SPARED_MS, (double)live->chooser.skipped_ns / 1e6, live->chooser.skipped_ns == 0 },
        { INFO_LIVE_REWRITING_MS, session->rewriting_ms, false },
        { INFO_LIVE_PROBES_MS, live->budget.probes_ns / 1e6, false },
        { INFO_LIVE_DISABLED_MS, live->budget.disabled_ns / 1e6, live->budget.disabled_ns <= 0 },
        { INFO_LIVE_OWN_CPU_MS, (double)cost.own_cpu_ns / 1e6, false },
    };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (!times[i].is_left_out && info_write_real(writer, times[i].key, times[i].ms, err) < 0)
            return -1;
    if (info_write_count(writer, INFO_LIVE_BATCHES, status->n_pauses, err) < 0 ||
        info_write_count(writer, INFO_LIVE_PUT_OFF, live->chooser.n_over_budget, err) < 0 ||
        (live->window.is_cut && info_write_count(writer, INFO_LIVE_WINDOW_IS_CUT, 1, err) < 0))
        return -1;
    return info_write(writer, INFO_LIVE_SAMPLES, 0, &samples, INFO_ALL_FIELDS, err);
}

/* Those that went on in this file. */
static int write_windows(struct live_session *session, struct recorder_link *link, struct err *err)
{
    const struct live_window *window = &session->live->window;
    uint32_t n = 0;
    for (size_t i = 0; i < window->n; i++) {
        const struct info_window told = { window->all[i].start_ticks, window->all[i].end_ticks };
        if (told.end_ticks > session->file_ticks &&
            info_write(recorder_trace(link), INFO_LIVE_WINDOW, n++, &told, INFO_ALL_FIELDS, err) < 0)
            return -1;
    }
    return 0;
}

static int on_file(void *context, struct recorder_link *link, const struct recorder_status *status, struct err *err)
{
    struct live_session *session = context;
    session->status = *status;
    if (session->live == NULL)
        return 0;
    if (write_windows(session, link, err) < 0)
        return -1;
    for (size_t i = 0; i < session->live->methods.n; i++)
        if (write_method(session, link, &session->live->methods.all[i], err) < 0)
            return -1;
    session->file_ticks = status->ticks;
    return live_sampled_write(session, link, err) < 0 ? -1 : write_totals(session, status, recorder_trace(link), err);
}

static int on_finish(void *context, struct recorder_link *link, const struct recorder_status *status, struct err *err)
{
    struct live_session *session = context;
    session->status = *status;
    if (session->view != NULL && session->view(session->view_context, session, NULL, err) < 0)
        return -1;
    if (session->live != NULL)
        live_finish(session->live);
    return on_file(context, link, status, err);
}

void live_session_init(struct live_session *session, const struct live_options *options)
{
    memset(session, 0, sizeof *session);
    session->options = *options;
    session->observer = (struct recorder_observer){ .context = session,
                                                    .method = hear_method,
                                                    .records = hear_records,
                                                    .kernel = hear_kernel,
                                                    .stack = hear_stack,
                                                    .wait = hear_wait,
                                                    .forget = hear_forget,
                                                    .answer = hear_answer,
                                                    .round = on_round,
                                                    .file = on_file,
                                                    .finish = on_finish };
}

bool live_session_has_samples_only(const struct live_session *session)
{
    return session->options.samples_only || (session->live != NULL && session->live->chooser.skipped_ns > 0);
}
