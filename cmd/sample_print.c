/* What mmprof sample prints. */
#include "cmd/sample_run.h"

#include "cmd/output_file.h"
#include "cmd/tables_page.h"
#include "cmd/trace_argument.h"
#include "core/base/text.h"
#include "core/perf/perf_rings.h"
#include "report/view/tables.h"

/* The events are of CPU time. */
static bool is_clock(const struct sample_run *run)
{
    return run->events.n == 0 || run->events.specs[0].kind == COUNTER_TIME;
}

/* An interrupt comes some instructions behind its event, which matters where instructions are told apart. */
static bool is_late(const struct sample_run *run)
{
    const struct counter_spec *spec = &run->events.specs[0];
    return (run->options->by_bytecode || run->options->fields != NULL) && run->events.n > 0 &&
           spec->kind == COUNTER_HARDWARE && spec->precise == 0;
}

static void add_late_note(const struct counter_spec *spec, struct table *table)
{
    const char *next = trigger_can_be_precise(spec)
                           ? arena_printf(table->arena, "'-e %s:pp' is more precise", spec->name)
                           : "this PMU cannot sample it precisely";
    table_note(table, arena_printf(table->arena, "samples show an instruction some cycles after the event: %s", next));
}

uint64_t sample_run_period_ns(const struct sample_run *run)
{
    const struct sample_options *o = run->options;
    if (!is_clock(run))
        return 0;
    return o->period != 0 ? o->period : UINT64_C(1000000000) / o->frequency;
}

static int refuse_empty(const struct sample_run *run, struct err *err)
{
    if (run->n_others > 0) {
        err_set(err, "none of %" PRIu64 " samples is of a thread '%s'", run->n_others, run->options->thread);
        return err_next(err, "'*' matches any characters; other threads had samples, such as '%s'", run->other);
    }
    if (is_clock(run) && run->state.cpu_ns >= sample_run_period_ns(run)) {
        err_set(err, "process %d used %.3f s of CPU time and has no sample: its threads used less than %.3f s each",
                (int)run->process.pid, (double)run->state.cpu_ns / 1e9, (double)sample_run_period_ns(run) / 1e9);
        return err_next(err, "sample more often (-F), or as root, which samples CPUs in place of threads");
    }
    if (is_clock(run))
        err_set(err, "process %d used no CPU time", (int)run->process.pid);
    else if (run->options->period != 0)
        err_set(err, "process %d had fewer than %" PRIu64 " %s on each CPU", (int)run->process.pid,
                run->options->period, run->events.specs[0].name);
    else
        err_set(err, "process %d had no %s", (int)run->process.pid, run->events.specs[0].name);
    return err_next(err, "sample it while it works, or for longer (-d)%s",
                    run->options->period != 0 ? ", or give a smaller -c" : "");
}

/* What is in no share. */
static void add_wait_notes(const struct sample_run *run, const struct stack_sampler_state *state, struct table *table)
{
    uint64_t idle_ns = 0;
    char idle[64], ready[64];
    for (uint32_t i = 0; i < SAMPLE_GROUPS; i++)
        idle_ns += run->profile.idle_ns[i];
    table_format_ns((double)idle_ns, idle, sizeof idle);
    table_format_ns((double)state->waits.ready_ns, ready, sizeof ready);
    table_metadata_number(table, "jvm_waiting_ns", (double)idle_ns, NULL);
    table_metadata_number(table, "ready_ns", (double)state->waits.ready_ns, NULL);
    table_note(table, arena_printf(table->arena,
                                   "the shares exclude %s in which the JVM's own threads waited, and %s in which "
                                   "threads were ready to run, but had no CPU",
                                   idle, ready));
}

/* Of stacks that lack something, and of contexts. */
static void add_stack_notes(const struct sample_run *run, struct table *table)
{
    const struct stack_sampler_state *state = &run->state;
    const struct context_tree *tree = &run->profile.tree;
    uint64_t n_java = state->n_samples - state->n_by_end[STACK_NO_JAVA];
    table_metadata_number(table, "java_stacks", (double)n_java, NULL);
    if (n_java > 0)
        table_metadata_number(table, "whole_stacks_share", (double)state->n_by_end[STACK_WHOLE] / (double)n_java, NULL);
    bytecode_kinds_tell(&run->kinds, table);
    for (enum stack_end end = STACK_WHOLE + 1; end < STACK_ENDS; end++)
        if (state->n_by_end[end] > 0 && end != STACK_NO_JAVA)
            table_note(table,
                       arena_printf(table->arena, "%" PRIu64 " stack%s without outer methods: %s", state->n_by_end[end],
                                    text_plural(state->n_by_end[end]), stack_end_name(end)));
    if (tree->n_purged > 0)
        table_note(table, arena_printf(table->arena,
                                       "%" PRIu64 " calling contexts with %" PRIu64 " samples were purged: the tree "
                                       "was full, and --tree and --folded count these samples for their callers "
                                       "(--tree-size)",
                                       tree->n_purged, tree->purged.n_samples));
}

/* What was asked for, and what that left out. */
static void add_choice_notes(const struct sample_run *run, struct table *table)
{
    const struct sample_options *o = run->options;
    if (o->thread != NULL)
        table_note(table, arena_printf(table->arena,
                                       "shares are of threads '%s' only; %" PRIu64 " samples of others are left out",
                                       o->thread, run->n_others));
    if (o->depth < STACK_FRAMES_MAX)
        table_note(table, arena_printf(table->arena, "stacks have their %" PRIu64 " innermost frames only", o->depth));
    if (o->until > 0 && !(run->widest <= o->until))
        table_note(table,
                   isnan(run->widest)
                       ? arena_printf(table->arena, "there are too few samples for intervals: sample for longer (-d)")
                       : arena_printf(table->arena,
                                      "the widest interval is \302\261%.1f %%, not yet \302\261%.1f %%: sample for "
                                      "longer (-d), or more often (-F)",
                                      100 * run->widest, 100 * o->until));
}

static void add_notes(const struct sample_run *run, const struct samples_source *source, struct table *table)
{
    const struct stack_sampler_state *state = &run->state;
    add_choice_notes(run, table);
    samples_tell_coverage(source, table);
    if (!run->engine->is_polling)
        table_metadata_words(table, "sampling_scope", state->has_cpus ? "cpus" : "threads", NULL);
    add_stack_notes(run, table);
    if (run->options->is_wall)
        add_wait_notes(run, state, table);
    if (state->finds_threads_late)
        table_note(table, "new threads are sampled from up to 0.1 s after their start: before Linux 6.12 they cannot "
                          "inherit samples with several events; give only one event (-e) to get all samples");
    if (run->engine->is_polling)
        table_note(
            table,
            "an agent in the JVM took the stacks at safepoints: a sample shows the next safepoint after its time");
    else if (!state->has_kernel && is_clock(run))
        table_note(table, "the kernel is not sampled, so shares are of time in user space: run 'sysctl "
                          "kernel.perf_event_paranoid=1', or mmprof as root");
    sample_budget_tell(&run->budget, table);
    if (is_late(run))
        add_late_note(&run->events.specs[0], table);
    if (state->n_lost > 0)
        table_note(table, arena_printf(table->arena,
                                       "%" PRIu64 " samples were lost: perf's buffers were full: take fewer (%s), "
                                       "or copy less of each stack (--stack-size)",
                                       state->n_lost, run->options->period != 0 ? "a larger -c" : "a smaller -F"));
}

static int write_folded(const struct samples_source *source, struct arena *arena, const char *path, struct err *err)
{
    struct output_file file;
    if (output_file_open(&file, path, "--folded", err) < 0)
        return -1;
    return output_file_close(&file, samples_write_folded(source, arena, file.out, err), err);
}

static int find_ratios(struct sample_run *run, struct sample_ratio_kind *kinds)
{
    const char *names[COUNTERS_GROUP_MAX];
    uint32_t n = run->events.n > 1 ? (uint32_t)run->events.n : 0;
    for (uint32_t i = 0; i < n; i++)
        names[i] = run->events.specs[i].name;
    return sample_ratio_kinds(names, n, &run->arena, kinds);
}

/* Virtual threads that wait: a table of its own, which a trace (-o) has for 'report --view waits', too. */
static bool make_virtual(struct sample_run *run, struct table *table)
{
    const struct stack_virtual_state *state = &run->state.virtuals;
    struct virtual_waits waits;
    virtual_waits_end(&run->virtuals, (double)run->duration_ns, &run->arena, &waits);
    return virtual_waits_table(&waits, run->options->min_share,
                               state->n_whole == state->n_visits ? "all of them" : "all or some of them", &run->arena,
                               table);
}

static int print_page(struct sample_run *run, const struct samples_source *source, const struct table *table,
                      struct err *err)
{
    struct table virtuals;
    const struct html_part parts[] = {
        { HTML_PART_TABLE, "samples", "Samples",
          source->is_wall         ? "Shares of the threads' time, on a CPU or not."
          : source->period_ns > 0 ? "Shares of the threads' CPU time."
                                  : "Shares of the events counted.",
          "not applicable, or unknown", table },
        { HTML_PART_TABLE, "virtual_threads", "Virtual threads", "Where virtual threads without a carrier wait.",
          "not applicable, or unknown", &virtuals },
    };
    size_t n = run->options->is_wall && make_virtual(run, &virtuals) ? 2 : 1;
    return tables_page_write(&(struct html_tables){ "Samples of stacks", "", parts, n, &run->arena },
                             run->options->html, err);
}

/* In text, behind the samples. */
static int print_virtual(struct sample_run *run, struct err *err)
{
    const struct sample_options *o = run->options;
    struct table table;
    struct display display = o->display;
    if (!o->is_wall || o->csv || o->json || !make_virtual(run, &table))
        return 0;
    putchar('\n');
    return command_print_table(&table, false, false, &display, err);
}

/* The tree, or a table of methods, of kinds of bytecode or of fields. */
static int print_table(struct sample_run *run, const struct samples_source *source, struct table *table,
                       struct err *err)
{
    const struct sample_options *o = run->options;
    const struct samples_options options = { o->min_share, o->top, o->by_self, o->call_sites, !o->csv && !o->json };
    struct display display = o->display;
    if (o->tree)
        samples_tree_table(source, &options, &run->arena, table);
    else if (o->by_bytecode || o->fields != NULL)
        bytecode_kinds_table(&run->kinds, source, &options, &run->arena, table);
    else
        samples_table_make(source, &options, &run->arena, table);
    add_notes(run, source, table);
    if (o->html != NULL)
        return print_page(run, source, table, err);
    return command_print_table(table, o->csv, o->json, &display, err) < 0 ? -1 : print_virtual(run, err);
}

int sample_print(struct sample_run *run, struct err *err)
{
    const struct sample_options *o = run->options;
    struct sample_ratio_kind kinds[COUNTERS_GROUP_MAX];
    int n_kinds = find_ratios(run, kinds);
    struct table *table = arena_alloc(&run->arena, sizeof *table);
    const struct samples_source source = { .profile = &run->profile,
                                           .names = run->names,
                                           .n_names = run->n_names,
                                           .program = run->process.command,
                                           .period_ns = sample_run_period_ns(run),
                                           .event = o->events == NULL ? NULL : run->events.specs[0].name,
                                           .period = o->period,
                                           .hz = o->frequency,
                                           .is_wall = o->is_wall,
                                           .is_polled = run->engine->is_polling,
                                           .cpu_ns = o->thread == NULL ? run->state.cpu_ns : 0,
                                           .knows_calls = !run->engine->is_polling,
                                           .ratios = kinds,
                                           .n_ratios = (uint32_t)n_kinds };
    if (run->profile.n_samples == 0)
        return refuse_empty(run, err);
    if (o->folded != NULL && write_folded(&source, &run->arena, o->folded, err) < 0)
        return -1;
    return print_table(run, &source, table, err);
}
