/* mmprof profile: one live recording, and the report; or record, select the phases, record these again, report. */
#include "cmd/output_file.h"
#include "cmd/phases_run.h"
#include "cmd/program.h"
#include "cmd/recording.h"
#include "cmd/report_run.h"
#include "cmd/terminal.h"
#include "core/base/call_argument.h"
#include "core/base/xalloc.h"
#include "core/recorder/clock.h"
#include "phases/live/live_session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#define DEFAULT_DIRECTORY       "mmprof-profile"
#define DEFAULT_DURATION_S      60.0 /* of a running JVM: the budget of less pays for few phases */
#define DEFAULT_DURATION_EACH_S 10.0 /* with --two-runs */
#define FIRST_NS                UINT64_C(5000000000)
#define AGAIN_NS                1e9 /* at least between two times */
/* Of the budget, that reading may take; but the time is never more than doubled in between. */
#define READS_PART 0.5
#define UNGIVEN    (-1.0)

struct profile {
    struct recording recording;
    const char *directory;
    double weight, grain, budget; /* UNGIVEN, or a fraction */
    bool two_runs;
    char directory_name[PATH_MAX], trace[PATH_MAX], phases[PATH_MAX], phases_trace[PATH_MAX];
    uint32_t n_separate; /* traces of the phases, one for each group of events; 0: one of all */
};

static int check(const struct profile *p, struct err *err)
{
    if (p->recording.simulate != NULL && p->recording.pid != 0) {
        err_set(err, "--simulate runs a program from its start, and JVM %" PRIu64 " runs already", p->recording.pid);
        return err_next(err, "start it with 'mmprof profile --simulate -- java ...'");
    }
    if (!p->two_runs && strcmp(p->recording.groups, "separate") == 0) {
        err_set(err, "--groups separate needs several recordings, and a live recording is only one");
        return err_next(err, "add --two-runs");
    }
    if (!p->two_runs && p->budget == 0) {
        err_set(err, "a budget of 0 allows no probes");
        return err_next(err, "give a share of the program's CPU time, such as --budget 1%%");
    }
    return 0;
}

static int parse(int argc, char **argv, struct profile *p, bool *done, struct err *err)
{
    struct recording_rows common;
    const struct options_row rows[] = {
        OPTIONS_GROUP("Target, duration"),
        OPTIONS_ROWS(common.target),
        OPTIONS_GROUP("Phases"),
        { 0, "budget", "SHARE", OPTION_FRACTION, &p->budget,
          "limit on overhead, a share of the program's CPU time (1%)" },
        { 0, "two-runs", NULL, OPTION_FLAG, &p->two_runs, "record all methods first, and the phases in a second run" },
        { 0, "weight", "SHARE", OPTION_FRACTION, &p->weight,
          "a phase has at least this share of the time in all its calls together" },
        { 0, "grain", "SHARE", OPTION_FRACTION, &p->grain, "a phase has at least this share of the time in one call" },
        { 0, "recompile", "TIME", OPTION_SECONDS, &p->recording.recompile_s,
          "let the JVM discard its code if compiling it took less than TIME (the budget)" },
        OPTIONS_GROUP("Methods"),
        OPTIONS_ROWS(common.methods),
        OPTIONS_GROUP("Counters"),
        OPTIONS_ROWS(common.counters),
        OPTIONS_GROUP("Samples"),
        OPTIONS_ROWS(common.samples),
        OPTIONS_GROUP("Simulation"),
        OPTIONS_ROWS(common.simulation),
        OPTIONS_GROUP("Output"),
        { 'o', "output", "DIR", OPTION_TEXT, &p->directory, "write the traces and the phases to DIR (mmprof-profile)" },
        OPTIONS_ROWS(common.output),
        { 0 },
    };
    recording_rows(&p->recording, &common);
    if (target_argument_parse(
            "profile [OPTIONS] JVM | [OPTIONS] -- COMMAND ...",
            "Records a JVM (a running one for a minute without -d), finds its phases meanwhile, counts events\n"
            "in them, and prints the report. With --two-runs, COMMAND is run twice, or two intervals are recorded.",
            rows, argc, argv, &p->recording.target, done, err) < 0)
        return -1;
    if (*done)
        return 0;
    return recording_target(&p->recording, "profile", err) < 0 ? -1 : check(p, err);
}

static int make_directory(struct profile *p, struct err *err)
{
    const struct {
        char *path;
        const char *name;
    } files[] = { { p->trace, "trace.dat" }, { p->phases, "phases.json" }, { p->phases_trace, "phases.dat" } };
    if (output_file_name(p->directory, "-o", p->recording.target.pid, p->directory_name, err) < 0)
        return -1;
    p->directory = p->directory_name;
    const char *here = p->directory[0] == '-' ? "./" : ""; /* no option of the report that follows */
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        int n = snprintf(files[i].path, PATH_MAX, "%s%s/%s", here, p->directory, files[i].name);
        if (n < 0 || n >= PATH_MAX)
            return err_set(err, "the name of the directory is too long");
    }
    if (mkdir(p->directory, 0777) == 0 || errno == EEXIST)
        return 0;
    err_set(err, "cannot make the directory '%s': %s", p->directory, strerror(errno));
    return err_next(err, "choose another one with -o");
}

static void step(const struct profile *p, int number, const char *what)
{
    if (!p->recording.quiet)
        fprintf(stderr, "mmprof: step %d of 3: %s\n", number, what);
}

/* The first pass.  Returns 0, or -1 with *err set. */
static int record_all(struct profile *p, struct recorder_summary *summary, struct err *err)
{
    struct recording first = p->recording;
    first.output = p->trace;
    first.events = NULL;
    first.window = first.sets = NULL;
    first.simulate = NULL; /* time selects the phases, and an emulator's is no measure */
    step(p, 1, "recording all methods that are large or have a loop");
    if (recording_run(&first, summary, err) < 0)
        return -1;
    recording_wait(&first, summary, NULL);
    return 0;
}

/* The first pass counts nothing; that the second one does adds to the cost of each of its calls. */
static int measure_reads(const struct profile *p, uint64_t *read_cost_ns, struct err *err)
{
    struct arena arena = { NULL, 0 };
    struct recording_counters counters;
    const struct recording *r = &p->recording;
    *read_cost_ns = 0;
    if (r->simulate != NULL)
        return 0; /* such counters are read for nothing */
    int rc = recording_choose(r->events, true, r->read, (pid_t)r->pid, false, &arena, &counters, err);
    if (rc == 0) {
        double n_at_a_time = strcmp(r->groups, "separate") == 0 ? counters.layout.n_groups : 1;
        *read_cost_ns = (uint64_t)(recording_read_cost(&counters) / (n_at_a_time > 0 ? n_at_a_time : 1) + 0.5);
    }
    arena_free(&arena);
    return rc;
}

static int select_phases(const struct profile *p, const char *trace, uint64_t read_cost_ns, struct err *err)
{
    struct display display = DISPLAY_PLAIN;
    struct phases_options options = PHASES_OPTIONS(&display);
    options.path = trace;
    options.output = p->phases;
    options.weight = p->weight;
    options.grain = p->grain;
    options.budget = p->budget < 0 ? options.budget : p->budget;
    options.read_cost_ns = read_cost_ns;
    options.quiet = true;
    options.progress = !p->recording.quiet;
    return phases_run(&options, err);
}

static int record_phases(struct profile *p, const struct recorder_summary *first, struct recorder_summary *summary,
                         struct err *err)
{
    struct recording second = p->recording;
    second.alone_cpu_s = first->cpu_s;
    second.output = p->phases_trace;
    second.phases = p->phases;
    step(p, 3, "recording the phases");
    int rc = recording_run(&second, summary, err);
    p->n_separate = second.n_separate;
    return rc;
}

/* A trace, or those of its groups. */
static int report(const char *trace, uint32_t n_separate, struct err *err)
{
    char paths[COUNTERS_GROUPS_MAX][PATH_MAX];
    char *words[2 + COUNTERS_GROUPS_MAX] = { (char[]){ "report" }, (char[]){ "--no-pager" } };
    int n = 2;
    for (uint32_t i = 0; i < n_separate || i == 0; i++) {
        recording_trace_name(trace, n_separate == 0 ? 0 : i + 1, paths[i], sizeof paths[i]);
        words[n++] = paths[i];
    }
    return command_report(n, words, err);
}

/* Below the report, the calls that were told apart: a method of which none was recorded is no error. */
static int report_by(const struct profile *p, const char *trace, struct err *err)
{
    for (size_t i = 0; i < p->recording.by.n; i++) {
        struct call_argument argument;
        struct err none = { "" };
        char name[PATH_MAX],
            *words[] = { (char[]){ "report" }, (char[]){ "--no-pager" }, (char[]){ "--by" }, argument.methods, name };
        if (call_argument_parse(&argument, p->recording.by.items[i]) < 0)
            return err_set(err, "bad value '%s' of option --argument", p->recording.by.items[i]);
        for (char *at = argument.methods; (at = strchr(at, '/')) != NULL;)
            *at = '.';
        recording_trace_name(trace, p->n_separate == 0 ? 0 : 1, name, sizeof name);
        putchar('\n');
        fflush(stdout);
        command_report((int)(sizeof words / sizeof *words), words, &none); /* the recording said why there is none */
    }
    return 0;
}

/* What a recording found. */
static int report_all(const struct profile *p, const char *trace, uint32_t n_separate, struct err *err)
{
    return report(trace, n_separate, err) < 0 ? -1 : report_by(p, trace, err);
}

static int run_twice(struct profile *p, struct err *err)
{
    struct recorder_summary first, second;
    uint64_t read_cost_ns;
    if (measure_reads(p, &read_cost_ns, err) < 0 || record_all(p, &first, err) < 0)
        return -1;
    step(p, 2, "selecting the phases");
    if (select_phases(p, p->trace, read_cost_ns, err) < 0)
        return -1;
    if (p->recording.command == NULL && first.end == RECORDER_ENDED_WITH_TARGET) {
        fprintf(stderr, "mmprof: the JVM has ended; this is the first recording's report\n");
        return report(p->trace, 0, err);
    }
    if (record_phases(p, &first, &second, err) < 0)
        return -1;
    int rc = report_all(p, p->phases_trace, p->n_separate, err);
    fflush(stdout);
    int status = recording_wait(&p->recording, &second, NULL);
    return rc < 0 ? -1 : status != 0 ? status : first.command_status;
}

/* ---- one run ---- */

static int refuse_short(const struct recorder_summary *summary, struct err *err)
{
    err_set(err, "the program ended after %.1f s, before its phases were found", summary->seconds);
    return err_next(err, "add --two-runs, which records two whole runs");
}

/* The program was idle, or the budget of so short a time allows no probes. */
static void tell_empty(const struct profile *p)
{
    fprintf(stderr,
            "mmprof: no call was recorded, so there are no phases; this is what samples found\n"
            "  next: record for longer (-d), while the program is busy, or with a --budget of more than %.2g%%\n",
            (p->budget < 0 ? LIVE_BUDGET : p->budget) * 100);
}

/* What a live recording found, and below it what it could not measure.  Returns 0, or -1 with *err set. */
static int report_live(struct profile *p, const struct recorder_summary *summary, const struct live_session *session,
                       struct err *err)
{
    bool has_samples = live_session_has_samples_only(session), is_empty = !has_samples && summary->n_records == 0;
    if (is_empty && summary->end == RECORDER_ENDED_WITH_TARGET)
        return refuse_short(summary, err);
    if (!has_samples && !is_empty && select_phases(p, p->phases_trace, 0, err) < 0)
        return -1;
    int rc = report_all(p, p->phases_trace, 0, err);
    fflush(stdout);
    bool is_priced = !p->recording.quiet && session->live != NULL && session->live->chooser.n_over_budget > 0;
    if (is_empty && !is_priced)
        tell_empty(p);
    else if (!p->recording.quiet)
        recording_tell_limits(session);
    return rc;
}

/* ---- what was found so far ---- */

/*
 * For who waits at a terminal: the findings of the trace that is being written, drawn over and over.  A thread of its
 * own reads it, so that the recorder never waits; its CPU time is mmprof's, and the larger it is, the rarer it is
 * spent.
 */
struct profile_progress {
    FILE *out;                  /* borrowed; NULL: nobody waits */
    const char *trace;          /* borrowed */
    unsigned n_lines;           /* that are shown */
    uint64_t begin_ns, next_ns; /* by CLOCK_MONOTONIC_RAW; next: when the trace is read next */
    pthread_t reader;
    bool is_reading;     /* the thread was started, and not joined */
    atomic_bool is_read; /* the thread has set what follows */
    char *text;          /* owned: what was found; NULL: nothing could be read */
    uint64_t read_ns;    /* CPU time that it took */
    size_t columns;      /* of the terminal */
};

/* out: a terminal, or else nothing is shown.  The first findings are, five seconds after the session has begun. */
static void begin_progress(struct profile_progress *progress, const char *trace, FILE *out)
{
    memset(progress, 0, sizeof *progress);
    progress->trace = trace;
    progress->out = terminal_is_one(out) ? out : NULL;
}

static void wipe_progress(struct profile_progress *progress)
{
    if (progress->out != NULL)
        terminal_draw_over(progress->out, "", &progress->n_lines);
}

/* Wait for the thread, and take its text. */
static char *join_reader(struct profile_progress *progress)
{
    if (progress->is_reading)
        pthread_join(progress->reader, NULL);
    progress->is_reading = false;
    char *text = progress->text;
    progress->text = NULL;
    return text;
}

static void end_progress(struct profile_progress *progress)
{
    free(join_reader(progress));
    wipe_progress(progress);
}

static void *read_trace(void *context)
{
    struct profile_progress *progress = context;
    struct err ignored; /* there is a next time */
    const struct table_look look = { progress->columns, false };
    uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    progress->text = report_findings_of(progress->trace, &look, &ignored);
    progress->read_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
    atomic_store(&progress->is_read, true);
    return NULL;
}

static void start_reading(struct profile_progress *progress)
{
    progress->columns = terminal_columns(progress->out);
    atomic_store(&progress->is_read, false);
    progress->is_reading = pthread_create(&progress->reader, NULL, read_trace, progress) == 0;
}

/* When to read again: the time has grown by so much, or what reading takes is a small part of what the program does. */
static uint64_t next_ns(const struct profile_progress *progress, const struct live_session *session)
{
    uint64_t now_ns = session->status.monotonic_ns;
    double elapsed_ns = (double)(now_ns - progress->begin_ns);
    double cpus = (double)session->status.process_cpu_ns / elapsed_ns;
    double wait_ns = cpus <= 0 ? elapsed_ns : (double)progress->read_ns / (READS_PART * session->options.budget * cpus);
    wait_ns = wait_ns > elapsed_ns ? elapsed_ns : wait_ns;
    return now_ns + (uint64_t)(wait_ns < AGAIN_NS ? AGAIN_NS : wait_ns);
}

static void draw_found(struct profile_progress *progress, const char *found, double elapsed_s)
{
    char *text = NULL;
    size_t n = 0;
    const struct table_look look = { progress->columns, false };
    FILE *out = xopen_memstream(&text, &n);
    char head[128];
    snprintf(head, sizeof head, "%s in the first %.0f s (Ctrl-C: end, and print the report)",
             found == NULL || found[0] == '\0' ? "Nothing that costs much was found" : "Found", elapsed_s);
    table_print_words("", head, 0, &look, out);
    fprintf(out, "\n%s", found == NULL ? "" : found);
    xclose_memstream(out);
    terminal_draw_over(progress->out, text, &progress->n_lines);
    free(text);
}

/* A session's view (live_view_fn): context is the progress. */
static int show_progress(void *context, struct live_session *session, struct recorder_link *link, struct err *err)
{
    struct profile_progress *progress = context;
    uint64_t now = session->status.monotonic_ns;
    (void)err;
    if (progress->out == NULL)
        return 0;
    if (link == NULL) {
        wipe_progress(progress);
        return 0;
    }
    if (progress->begin_ns == 0) {
        progress->begin_ns = now;
        progress->next_ns = now + FIRST_NS;
    }
    if (!progress->is_reading && now >= progress->next_ns)
        start_reading(progress);
    if (!progress->is_reading || !atomic_load(&progress->is_read))
        return 0;
    char *found = join_reader(progress);
    progress->next_ns = next_ns(progress, session);
    draw_found(progress, found, (double)(now - progress->begin_ns) / 1e9);
    free(found);
    return 0;
}

/* ---- a live recording ---- */

static int run_live(struct profile *p, struct err *err)
{
    struct recorder_summary summary;
    struct live_options options = LIVE_OPTIONS;
    struct live_session session;
    struct recording live = p->recording;
    struct profile_progress progress;
    options.budget = p->budget < 0 ? options.budget : p->budget;
    options.weight = p->weight < 0 ? options.weight : p->weight;
    options.grain = p->grain < 0 ? options.grain : p->grain;
    options.recompile_s = p->recording.recompile_s;
    live_session_init(&session, &options);
    live.output = p->phases_trace;
    live.live = &session;
    live.is_reported = true;
    /* Not where a started command writes its own lines. */
    bool is_shown = !live.quiet && (live.command == NULL || !isatty(STDOUT_FILENO));
    begin_progress(&progress, p->phases_trace, stderr);
    if (is_shown) {
        session.view = show_progress;
        session.view_context = &progress;
    }
    int rc = recording_run(&live, &summary, err);
    end_progress(&progress);
    bool is_recorded = rc == 0;
    if (is_recorded)
        rc = report_live(p, &summary, &session, err);
    live_session_free(&session);
    if (!is_recorded)
        return -1;
    fflush(stdout);
    int status = recording_wait(&p->recording, &summary, NULL);
    return rc < 0 ? -1 : status;
}

int command_profile(int argc, char **argv, struct err *err)
{
    struct profile *p = &(struct profile){ .recording = RECORDING_DEFAULTS,
                                           .directory = DEFAULT_DIRECTORY,
                                           .weight = UNGIVEN,
                                           .grain = UNGIVEN,
                                           .budget = UNGIVEN };
    bool done;
    if (parse(argc, argv, p, &done, err) < 0)
        return -1;
    if (done)
        return 0;
    if (recording_is_elsewhere(&p->recording))
        return program_become("lab", argc, argv, err);
    if (p->recording.command == NULL && p->recording.duration_s == 0)
        p->recording.duration_s = p->two_runs ? DEFAULT_DURATION_EACH_S : DEFAULT_DURATION_S;
    if (make_directory(p, err) < 0)
        return -1;
    return p->two_runs || p->recording.simulate != NULL ? run_twice(p, err) : run_live(p, err);
}
