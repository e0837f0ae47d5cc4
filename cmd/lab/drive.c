/*
 * mmprof drive: stack samples decide which methods the JIT compilers get, besides the JVM's own decisions.  An
 * experiment: no gain was found, as mmprof-figures(7) says.
 *
 *     program  java -cp shop.jar shop.Main
 *     samples  1,377, one for each 4.0 ms of a thread's CPU time, in 402 methods
 *
 *     Tier                     Chosen  Share (%)
 *     ------------------------------------------
 *     3, C1 with profiling         41      71.93
 *     4, C2                        16      28.07
 *     ------------------------------------------
 *     all                          57     100.00
 *
 *     57 methods were chosen of 380 weighed; the JVM took 51.
 */
#include "cmd/lab/lab_command.h"
#include "cmd/tables_page.h"
#include "cmd/target_argument.h"
#include "core/base/xalloc.h"
#include "core/recorder/recorder.h"
#include "phases/compile/compile_choice.h"

#define FREQUENCY      250u /* thesis §4.4.1: its best interval was 4 ms */
#define FREQUENCY_MAX  10000u
#define ROUND_MS       100
#define DECISIONS_MOST 64u /* a round */

struct drive {
    struct target_argument target;
    struct lab_output output;
    uint64_t frequency, seed;
    const char *rule, *trace;
    struct compile_choice choice;
    struct arena arena;
    struct recorder_phase *names; /* owned; by the sampler's number, of those that have samples; the arena's texts */
    size_t names_room;
    uint32_t n_taken;
    double agent_cpu_ms;
    uint64_t own_cpu_ns, jvm_cpu_ns;
};

/* ---- options ---- */

static const char usage[] = "drive [OPTIONS] -- COMMAND ...";
static const char purpose[] =
    "Starts a JVM, samples its stacks, and hands methods to its JIT compilers as soon as their samples\n"
    "say that compiling them saves more time than it takes: an experiment, for which the JVM is started\n"
    "with -XX:+WhiteBoxAPI. Prints how many methods were sampled, weighed and compiled. It has made no\n"
    "program faster that was tried ('man mmprof-figures'); 'mmprof advise' says what may.";

static int check_rule(struct drive *d, struct err *err)
{
    static const char *const names[] = {
        [COMPILE_BY_MODEL] = "model", [COMPILE_RANDOM] = "random", [COMPILE_NOTHING] = "nothing"
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(d->rule, names[i]) == 0) {
            d->choice.rule = (enum compile_rule)i;
            return 0;
        }
    err_set(err, "'%s' is not a way to choose methods", d->rule);
    return err_next(err, "give --compile model, random or nothing");
}

static int check(struct drive *d, struct err *err)
{
    if (d->target.command == NULL) {
        err_set(err, "a running JVM cannot be driven: it needs an option at its start");
        return err_next(err, "start it with 'mmprof drive -- java ...'");
    }
    if (d->frequency == 0 || d->frequency > FREQUENCY_MAX) {
        err_set(err, "%" PRIu64 " samples a second are not possible", d->frequency);
        return err_next(err, "give a frequency of 1 to %u, such as -F %u", FREQUENCY_MAX, FREQUENCY);
    }
    d->choice.period_ns = 1e9 / (double)d->frequency;
    d->choice.random = d->seed * 2 + 1;
    return check_rule(d, err) < 0 ? -1 : tables_page_check(d->output.html, d->output.csv, d->output.json, err);
}

static int parse(int argc, char **argv, struct drive *d, bool *done, struct err *err)
{
    const struct options_row rows[] = {
        { 'F', "frequency", "HZ", OPTION_NUMBER, &d->frequency, "samples per second of a thread's CPU time (250)" },
        { 0, "compile", "RULE", OPTION_TEXT, &d->rule,
          "methods to compile: model, random (as many), or nothing (only sampled) (model)" },
        { 0, "seed", "N", OPTION_NUMBER, &d->seed, "of --compile random (1)" },
        { 'o', "output", "FILE", OPTION_TEXT, &d->trace, "also write the samples to a trace, FILE" },
        LAB_OUTPUT_ROWS(&d->output),
        { 0 },
    };
    if (target_argument_parse(usage, purpose, rows, argc, argv, &d->target, done, err) < 0)
        return -1;
    return *done ? 0 : check(d, err);
}

/* ---- what the recorder tells ---- */

static const char *keep(struct drive *d, const char *text)
{
    return arena_text(&d->arena, text, strlen(text));
}

static void keep_name(struct drive *d, uint32_t method, const struct method_name *name)
{
    xgrow_zeroed(d->names, d->names_room, (size_t)method + 1);
    struct recorder_phase *to = &d->names[method];
    if (to->class_name == NULL)
        *to = (struct recorder_phase){ keep(d, name->class_name), keep(d, name->method), keep(d, name->descriptor) };
}

/* The time counts for the method whose code it is: that in which the innermost ones are inlined. */
static int on_stack(void *context, const struct stack_sample *sample, uint32_t thread, struct err *err)
{
    struct drive *d = context;
    uint32_t at = 0;
    (void)thread, (void)err;
    while (at < sample->n && (sample->frames[at].kind == FRAME_INLINED || sample->frames[at].kind == FRAME_STUB ||
                              sample->frames[at].kind == FRAME_NATIVE))
        at++;
    if (at == sample->n || sample->methods[at] == SAMPLED_UNKNOWN || sample->is_waiting)
        return 0;
    const struct sampled_method *method = &sample->known[sample->methods[at]];
    uint32_t tier = sampled_method_tier(method), of_frame = sample->frames[at].tier;
    tier = tier < COMPILE_TIERS && tier > of_frame ? tier : of_frame;
    compile_choice_add(&d->choice, sample->methods[at], tier, method->code.n_bytes);
    keep_name(d, sample->methods[at], &method->names);
    return 0;
}

static int on_answer(void *context, const struct recorder_answer *answer, struct err *err)
{
    struct drive *d = context;
    if (answer->command != RECORDER_COMPILE)
        return 0;
    if (answer->refused != NULL) {
        err_set(err, "methods cannot be handed to the JIT compilers: %s", answer->refused);
        return err_next(err, "remove -XX:-WhiteBoxAPI, or run another JDK: 17 and 25 are known to work");
    }
    d->n_taken += answer->n_methods;
    d->agent_cpu_ms += answer->cpu_ms;
    return 0;
}

static int on_round(void *context, struct recorder_link *link, const struct recorder_status *status, struct err *err)
{
    struct drive *d = context;
    struct compile_decision decisions[DECISIONS_MOST];
    struct recorder_compile methods[DECISIONS_MOST];
    recorder_pace(link, ROUND_MS);
    d->own_cpu_ns = status->own_cpu_ns;
    d->jvm_cpu_ns = status->process_cpu_ns;
    if (!status->ready || status->busy)
        return 0;
    size_t n = compile_choice_decide(&d->choice, decisions, DECISIONS_MOST);
    for (size_t i = 0; i < n; i++)
        methods[i] = (struct recorder_compile){ d->names[decisions[i].method], decisions[i].tier };
    return n == 0 || d->choice.rule == COMPILE_NOTHING ? 0 : recorder_compile(link, methods, n, err);
}

static int run(struct drive *d, struct recorder_summary *summary, struct err *err)
{
    char agent[PATH_MAX];
    const struct recorder_observer observer = {
        .context = d, .stack = on_stack, .answer = on_answer, .round = on_round
    };
    const struct recorder_plan plan = { .argv = d->target.command,
                                        .output = d->trace != NULL ? d->trace : "/dev/null",
                                        .agent = agent,
                                        .ring_bytes = UINT64_C(1) << 20,
                                        .stacks_hz = (uint32_t)d->frequency,
                                        .hands_to_compilers = true,
                                        .observer = &observer,
                                        .is_live = true };
    int rc = recorder_find_agent(agent, sizeof agent, err);
    if (rc == 0)
        rc = recorder_run(&plan, summary, err);
    return rc;
}

/* ---- the table ---- */

static void add_metadata(const struct drive *d, struct table *t)
{
    const struct compile_choice *c = &d->choice;
    table_metadata_number(t, "samples", (double)c->n_samples,
                          arena_printf(t->arena,
                                       "samples  %" PRIu64 ", one for each %.1f ms of a thread's CPU time, in %" PRIu32
                                       " methods",
                                       c->n_samples, c->period_ns / 1e6, c->n_sampled));
    table_metadata_number(t, "methods_sampled", c->n_sampled, NULL);
    table_metadata_number(t, "methods_proposed", c->n_proposed, NULL);
    table_metadata_number(t, "methods_chosen", c->n_chosen, NULL);
    table_metadata_number(t, "methods_taken", d->n_taken, NULL);
    table_metadata_words(t, "rule", d->rule, NULL);
    table_metadata_number(t, "own_cpu_s", (double)d->own_cpu_ns / 1e9, NULL);
    table_metadata_number(t, "jvm_cpu_s", (double)d->jvm_cpu_ns / 1e9, NULL);
    table_metadata_number(t, "agent_cpu_s", d->agent_cpu_ms / 1e3, NULL);
}

struct drive_row {
    const char *tier;
    uint32_t n;
    double share;
};

static const struct table_column columns[] = {
    { "tier", "Tier", TABLE_TEXT, FROM(struct drive_row, tier) },
    { "methods", "Chosen", TABLE_COUNT, FROM(struct drive_row, n) },
    { "share", "Share (%)", TABLE_SHARE, FROM(struct drive_row, share) },
};

static struct drive_row row_of(const char *tier, uint32_t n, uint32_t all)
{
    return (struct drive_row){ tier, n, all == 0 ? NAN : (double)n / all };
}

static void fill_table(const struct drive *d, struct table *t)
{
    static const char *const tiers[COMPILE_TIERS] = { [3] = "3, C1 with profiling", [4] = "4, C2" };
    const struct compile_choice *c = &d->choice;
    TABLE_COLUMNS(t, columns, 0);
    add_metadata(d, t);
    for (uint32_t tier = 0; tier < COMPILE_TIERS; tier++) {
        const struct drive_row row = row_of(tiers[tier], c->n_by_tier[tier], c->n_chosen);
        if (tiers[tier] != NULL)
            table_add(t, "tier", &row);
    }
    const struct drive_row all = row_of("all", c->n_chosen, c->n_chosen);
    table_add(t, "total", &all)->after_rule = true;
    if (c->rule == COMPILE_NOTHING)
        table_note(t, "mmprof had nothing compiled (--compile nothing)");
    else
        table_note(t, arena_printf(t->arena,
                                   "%" PRIu32 " methods were chosen of %" PRIu32 " weighed; the JVM accepted %" PRIu32
                                   " of them, and had compiled or queued the others",
                                   c->n_chosen, c->n_proposed, d->n_taken));
}

static int print(struct drive *d, struct err *err)
{
    static const struct html_part part = { HTML_PART_TABLE,
                                           "methods",
                                           "Methods that were handed to the JIT compilers",
                                           "By the tier that each was to be compiled at.",
                                           "no method was chosen",
                                           NULL };
    struct table *table = arena_alloc(&d->arena, sizeof *table);
    table_begin(table, &d->arena);
    fill_table(d, table);
    return lab_print(&d->output, table, "Samples that drive the JIT compilers",
                     tables_page_command(&d->arena, d->target.command), &part, err);
}

int command_drive(int argc, char **argv, struct err *err)
{
    struct drive d = { .output.display = DISPLAY_PLAIN,
                       .frequency = FREQUENCY,
                       .seed = 1,
                       .rule = "model",
                       .choice = { .model = &compile_model_measured } };
    struct recorder_summary summary = { .command_status = 0 };
    bool done = false;
    int rc = parse(argc, argv, &d, &done, err);
    if (rc < 0 || done)
        return rc;
    rc = run(&d, &summary, err);
    recorder_wait(&summary, -1);
    if (rc == 0)
        rc = print(&d, err);
    compile_choice_free(&d.choice);
    free(d.names);
    arena_free(&d.arena);
    return rc < 0 ? -1 : summary.command_status;
}
