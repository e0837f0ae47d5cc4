/*
 * mmprof top: the phases of a running JVM, now.
 *
 *     JVM 4711: 12.0 s, 1.82 CPUs, measuring
 *     24 methods measured, 3 switched off; probes 0.05 %, mmprof 0.21 % of the CPU time
 *     by time; keys: t time, c calls, p time per call, i CPI, n name, q quit
 *
 *     Time (%)  Calls/s  Time/call    CPI   Calls     Time  Phase
 *     -----------------------------------------------------------
 *        61.20     0.20     4.91 s  1.213       2   9.82 s  JavaCompiler.compile
 *
 *     methods without probes, from 83 samples in 12.1 s:
 *
 *     Time (%)  at least  at most  Own (%)  Method     Not instrumented because
 *     ---------------------------------------------------------------------------------
 *        30.12     21.31    40.69     1.20  Gen.genDef  over budget: recompilation would take 59.9 ms
 */
#include "cmd/output_file.h"
#include "cmd/recording.h"
#include "cmd/terminal.h"
#include "cmd/top_table.h"
#include "core/base/xalloc.h"
#include "report/view/sampled.h"
#include "symbolize/java_names.h"

#define ROWS_MAX  12u                   /* of methods that samples found */
#define SETTLE_NS UINT64_C(20000000000) /* what has no phases by then is shown without */

struct top {
    struct top_table table;
    struct terminal terminal;
    bool is_screen;
    double interval_s;
    uint64_t n_wanted, n_shown; /* tables; n_wanted 0: until the user quits */
    uint64_t first_ns;          /* when the session began */
    struct top_sampled sampled; /* what has no probes; its text is owned */
};

/* ---- methods that samples found, and that have no probes ---- */

struct top_sampled_row {
    double share, low, high, self_share;
    const char *label, *why;
};

static const struct table_column columns[] = {
    { "share", "Time (%)", TABLE_SHARE, FROM(struct top_sampled_row, share) },
    { "share_low", "at least", TABLE_SHARE, FROM(struct top_sampled_row, low) },
    { "share_high", "at most", TABLE_SHARE, FROM(struct top_sampled_row, high) },
    { "self_share", "Own (%)", TABLE_SHARE, FROM(struct top_sampled_row, self_share) },
    { "method", "Method", TABLE_TEXT, FROM(struct top_sampled_row, label) },
    { "reason", "Not instrumented because", TABLE_TEXT, FROM(struct top_sampled_row, why) },
};

/* Returns the table for free(), or NULL with *err set. */
static char *text_of(const struct live_sampled *all, size_t n, struct arena *arena, struct err *err)
{
    struct table table;
    struct method_name *names = arena_alloc(arena, n * sizeof *names);
    for (size_t i = 0; i < n; i++)
        names[i] = all[i].found->names;
    const char **labels = java_names_labels(arena, names, n);
    table_begin(&table, arena);
    TABLE_COLUMNS(&table, columns, 0);
    for (size_t i = 0; i < n; i++) {
        const struct candidate *of = all[i].found;
        const char *why = sampled_why_text(all[i].why, all[i].recompilation_ns, arena);
        const struct top_sampled_row row = { of->share, of->share_low, of->share_high, of->self_share, labels[i], why };
        table_add(&table, "sampled", &row);
    }
    return table_text(&table, err);
}

/* Take what is known now.  Not while samples are taken. */
static int take_samples(struct top_sampled *sampled, struct live_session *session, struct err *err)
{
    struct arena arena = { NULL, 0 };
    struct live_sampled *all;
    char *text = NULL;
    size_t n = live_sampled_list(session, &arena, &all);
    int rc = n > 0 && (text = text_of(all, n < ROWS_MAX ? n : ROWS_MAX, &arena, err)) == NULL ? -1 : 0;
    arena_free(&arena);
    if (rc < 0)
        return -1;
    free(sampled->text);
    *sampled = (struct top_sampled){ text, n == 0 ? 0 : candidates_n_samples(session->candidates),
                                     session->status.monotonic_ns - session->sampled_since_ns };
    return 0;
}

/* The table below a line that says how many samples it is by, and in how much time; "": there is nothing to show. */
static const char *below_text(const struct top_sampled *sampled, struct arena *arena)
{
    if (sampled->text == NULL)
        return "";
    return arena_printf(arena,
                        "methods without probes, from %" PRIu64 " samples in %.1f s:\n"
                        "\n"
                        "%s",
                        sampled->n_samples, (double)sampled->ns / 1e9, sampled->text);
}

/* While samples are taken they stay as they were. */
static int sample_anew(struct top_sampled *sampled, struct live_session *session, struct err *err)
{
    return session->live->stage == LIVE_CHOOSING ? 0 : take_samples(sampled, session, err);
}

/*
 * Both tables, of the interval that ends now, and of what samples know.  Returns the text, for free(), or NULL with
 * *err set.
 */
static char *top_text(struct top_table *table, struct top_sampled *sampled, struct live_session *session,
                      struct err *err)
{
    struct arena arena = { NULL, 0 };
    char *phases = sample_anew(sampled, session, err) < 0 ? NULL : top_table_text(table, session, err), *text = NULL;
    if (phases != NULL) {
        const char *below = below_text(sampled, &arena);
        text = xasprintf("%s%s%s", phases, below[0] == '\0' ? "" : "\n", below);
    }
    free(phases);
    arena_free(&arena);
    return text;
}

/* ---- the command ---- */

static void take_keys(struct top *top, struct recorder_link *link, bool *again)
{
    int key;
    while (top->is_screen && (key = terminal_key(&top->terminal)) != 0) {
        const char text[2] = { (char)key, '\0' };
        if (key == 'q')
            recorder_end(link);
        else if (top_sort_parse(text, &top->table.sort) == 0)
            *again = true;
    }
}

static int show(struct top *top, struct live_session *session, struct err *err)
{
    char *text = top_text(&top->table, &top->sampled, session, err);
    if (text == NULL)
        return -1;
    if (top->is_screen)
        terminal_draw(&top->terminal, text);
    else
        printf("%s%s", top->n_shown == 0 ? "" : "\n", text);
    free(text);
    top->n_shown++;
    return output_check(err);
}

/* Plain tables begin when there is something to see; the screen shows what goes on. */
static bool is_worth_showing(struct top *top, const struct live_session *session)
{
    if (top->is_screen || top->n_shown > 0)
        return true;
    if (session->live->stage == LIVE_WATCHING &&
        (live_methods_have_figures(&session->live->methods) || live_session_has_samples_only(session)))
        return true;
    return session->status.monotonic_ns - top->first_ns > SETTLE_NS;
}

/* The first plain table is of the time since calls count. */
static bool has_begun(const struct live_session *session)
{
    return session->live->methods.n > 0 && !session->live->methods.is_frozen;
}

/* The session's view: called in each round; NULL for the link when it is over. */
static int on_round(void *context, struct live_session *session, struct recorder_link *link, struct err *err)
{
    struct top *top = context;
    bool again = false;
    if (link == NULL) {
        terminal_leave(&top->terminal);
        return 0;
    }
    if (top->first_ns == 0) {
        top->first_ns = session->status.monotonic_ns;
        top_table_begin(&top->table, session);
        if (top->is_screen)
            terminal_enter(&top->terminal, stdout);
        top->table.has_keys = top->terminal.has_keys;
        again = top->is_screen;
    }
    take_keys(top, link, &again);
    if (!is_worth_showing(top, session)) {
        if (!has_begun(session))
            top_table_begin(&top->table, session);
        return 0;
    }
    double passed_s = (double)(session->status.monotonic_ns - top->table.before_ns) / 1e9;
    if (!again && passed_s < top->interval_s)
        return 0;
    if (show(top, session, err) < 0)
        return -1;
    if (top->n_wanted > 0 && top->n_shown >= top->n_wanted)
        recorder_end(link);
    return 0;
}

static int run(struct top *top, const struct recording *recording, const struct live_options *options, struct err *err)
{
    struct recorder_summary summary;
    struct live_session session;
    live_session_init(&session, options);
    session.view = on_round;
    session.view_context = top;
    struct recording live = *recording;
    live.live = &session;
    int rc = recording_run(&live, &summary, err);
    terminal_leave(&top->terminal);
    top_table_free(&top->table);
    free(top->sampled.text);
    live_session_free(&session);
    if (rc == 0 && summary.end == RECORDER_ENDED_WITH_TARGET)
        fprintf(stderr, "mmprof: the JVM has ended\n");
    return rc < 0 ? -1 : 0;
}

int command_top(int argc, char **argv, struct err *err)
{
    struct recording recording = RECORDING_DEFAULTS;
    struct live_options options = LIVE_OPTIONS;
    struct top top = { .interval_s = 1, .is_screen = terminal_is_one(stdout) };
    const char *sort = "time";
    bool once = false, done;
    recording.output = "/dev/null";
    recording.max_bytes = recording.ip_samples_hz = 0;
    recording.quiet = true;
    const struct options_row rows[] = {
        { 'p', "pid", "JVM", OPTION_TEXT, &recording.target.name, TARGET_ARGUMENT_HELP },
        { 'i', "interval", "TIME", OPTION_SECONDS, &top.interval_s, "refresh after this time (1)" },
        { 's', "sort", "COLUMN", OPTION_TEXT, &sort, "by time, calls, call (time per call), cpi or name (time)" },
        { 'n', "count", "N", OPTION_NUMBER, &top.n_wanted, "end after N tables, printed as plain text" },
        { 0, "once", NULL, OPTION_FLAG, &once, "print one table; the same as --count 1" },
        { 'e', "events", "LIST", OPTION_TEXT, &recording.events,
          "with cycles and instructions: CPI (where they count)" },
        { 0, "budget", "SHARE", OPTION_FRACTION, &options.budget,
          "limit on overhead, a share of the program's CPU time (1%)" },
        { 0, "weight", "SHARE", OPTION_FRACTION, &options.weight,
          "show phases with at least this share of the time (1%)" },
        { 0, "recompile", "TIME", OPTION_SECONDS, &options.recompile_s,
          "let the JVM discard its code if compiling it took less than TIME (the budget)" },
        { 0 },
    };
    if (target_argument_parse(
            "top [OPTIONS] JVM",
            "Shows the phases of a running JVM and what they do now, until q or Ctrl-C. Nothing is saved.", rows, argc,
            argv, &recording.target, &done, err) < 0)
        return -1;
    if (done)
        return 0;
    if (top_sort_parse(sort, &top.table.sort) < 0) {
        err_set(err, "there is no column '%s' to sort by", sort);
        return err_next(err, "give one of time, calls, call, cpi and name");
    }
    if (once)
        top.n_wanted = 1;
    top.is_screen = top.is_screen && top.n_wanted == 0;
    if (recording_target(&recording, "watch", err) < 0)
        return -1;
    if (recording.command != NULL) {
        err_set(err, "'%s': only a running JVM can be watched", recording.command[0]);
        return err_next(err, "start it, and give its name or PID: mmprof top PID");
    }
    return run(&top, &recording, &options, err);
}
