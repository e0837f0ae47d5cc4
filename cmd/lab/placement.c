/*
 * mmprof placement: what placing objects otherwise would change in a Java program's cache and TLB misses, simulated.
 *
 *     Policy     Memory            Objects  L1D misses  Change (%)  L2 misses  Change (%)  DTLB misses  Change (%)
 *     ------------------------------------------------------------------------------------------------------------
 *     as it is   all memory         80,000   6,411,022           -  2,905,170           -       88,013           -
 *     hot-cold   all memory         80,000   5,802,119       -9.50  2,401,033      -17.35       70,020      -20.44
 */
#include "cmd/commands.h"
#include "cmd/lab/lab_command.h"
#include "cmd/tables_page.h"
#include "core/recorder/launch.h"
#include "core/recorder/recorder.h"
#include "core/emu/run/simulation_run.h"
#include "report/view/placement_table.h"

#define PLUGIN_LIBRARY   "libmmprof-placement.so"
#define RUNS_MAX         100
#define OPTIONS_MAX      8
#define OPTION_BYTES     ((size_t)PATH_MAX + 16)
#define FILE_BYTES_MAX   ((size_t)256 << 20)
#define ALL_POLICIES     "hot-cold,children,fields"
#define INTERVAL_OF_NONE INT32_MAX /* bytes: no object is followed */

struct placement_options {
    struct lab_output output;
    const char *policies, *event, *model;
    uint64_t period, runs, top;
    bool hindsight, quiet;
    char agent[PATH_MAX];
    char *const *argv;
    struct arena arena;
    int status; /* of the command's last run that did not end with 0 */
};

static int parse(int argc, char **argv, struct placement_options *o, int *n_parsed, bool *done, struct err *err)
{
    const struct options_row rows[] = {
        { 0, "policy", "LIST", OPTION_TEXT, &o->policies,
          "hot-cold, children, fields or identity, or several with commas (" ALL_POLICIES ")" },
        { 0, "hindsight", NULL, OPTION_FLAG, &o->hindsight,
          "also place by the heat of a whole run, which is made before: a bound" },
        { 'e', "event", "EVENT", OPTION_TEXT, &o->event, "sample misses of l1d, l2 or dtlb for heat (l2)" },
        { 'c', "period", "N", OPTION_NUMBER, &o->period, "sample one miss in N on average (100)" },
        { 0, "model", "MODEL", OPTION_TEXT, &o->model, "the processor to simulate: 'mmprof list --models' (zen4)" },
        { 0, "runs", "N", OPTION_NUMBER, &o->runs, "run the command N times; from 3 on, with an interval of 95 % (1)" },
        { 0, "top", "N", OPTION_NUMBER, &o->top, "the N classes with most misses; 0: all (5)" },
        { 'q', "quiet", NULL, OPTION_FLAG, &o->quiet, "do not say which run is made" },
        LAB_OUTPUT_ROWS(&o->output),
        { 0 },
    };
    return command_parse("placement [OPTIONS] -- COMMAND",
                         "Runs a Java program in an emulator and says how many cache and TLB misses it would have if\n"
                         "a collector placed objects otherwise.",
                         rows, argc, argv, n_parsed, done, err);
}

/* ---- what is asked for ---- */

static int refuse_policy(const char *name, size_t n, struct err *err)
{
    err_set(err, "there is no policy '%.*s'", (int)n, name);
    return err_next(err, "give --policy hot-cold, children, fields or identity, or several with commas");
}

/* The plugin's: "hot-cold+children+hot-cold!"; identity has no heat to be hindsight of. */
static int make_policies(const struct placement_options *o, bool has_hindsight, char *text, size_t room,
                         struct err *err)
{
    size_t n = (size_t)snprintf(text, room, "policies="), n_policies = 0;
    for (int pass = 0; pass < 1 + has_hindsight; pass++)
        for (const char *at = o->policies; *at != '\0'; at += *at == ',') {
            size_t length = strcspn(at, ",");
            enum placement_kind kind;
            if (!placement_kind_parse(at, length, &kind))
                return refuse_policy(at, length, err);
            bool is_left_out = pass == 1 && kind == PLACEMENT_IDENTITY;
            if (!is_left_out && n < room)
                n += (size_t)snprintf(text + n, room - n, "%s%.*s%s", n_policies++ == 0 ? "" : "+", (int)length, at,
                                      pass == 1 ? "!" : "");
            at += length;
        }
    if (n_policies > 0 && n_policies <= PLACEMENT_MAX && n < room)
        return 0;
    err_set(err, "'%s' is not a policy, or lists more than %d", o->policies, PLACEMENT_MAX);
    return err_next(err, "give --policy hot-cold, children, fields or identity, each once");
}

static int check(const struct placement_options *o, struct err *err)
{
    char text[OPTION_BYTES];
    enum placement_event event;
    struct sim_model model;
    if (tables_page_check(o->output.html, o->output.csv, o->output.json, err) < 0)
        return -1;
    if (o->runs < 1 || o->runs > RUNS_MAX) {
        err_set(err, "this number of runs is not possible");
        return err_next(err, "give --runs 1 to %d", RUNS_MAX);
    }
    if (!placement_event_parse(o->event, &event)) {
        err_set(err, "misses of '%s' are not simulated", o->event);
        return err_next(err, "give --event l1d, l2 or dtlb");
    }
    if (o->period < 1 || o->period > UINT32_MAX) {
        err_set(err, "the period is to be 1 or more misses");
        return err_next(err, "give --period 100");
    }
    return sim_model_load(o->model, &model, err) < 0 ? -1 : make_policies(o, o->hindsight, text, sizeof text, err);
}

/* ---- a run ---- */

/* The text of a run's result; NULL with *err set: there is none. */
static char *read_text(struct placement_options *o, const struct memory_file *file, size_t *n, struct err *err)
{
    char *text =
        memory_file_read(file, FILE_BYTES_MAX, &o->arena, n, o->argv[0], "nothing of a JVM was simulated", err);
    if (text == NULL)
        err_next(err, "see the messages above; give a command that starts a JVM (HotSpot 17 to 26)");
    return text;
}

/* Run the command.  heat: an earlier result, or NULL: without hindsight. */
static int run_once(struct placement_options *o, const char *path, const char *heat, struct err *err)
{
    char policies[OPTION_BYTES];
    char real[PATH_MAX];
    int status = 0;
    /* A model's file by its own path: the command may go elsewhere. */
    const char *model = strchr(o->model, '/') != NULL && realpath(o->model, real) != NULL ? real : o->model;
    if (make_policies(o, heat != NULL, policies, sizeof policies, err) < 0)
        return -1;
    const char *const options[OPTIONS_MAX] = { arena_printf(&o->arena, "model=%s", model), policies,
                                               arena_printf(&o->arena, "event=%s", o->event),
                                               arena_printf(&o->arena, "period=%" PRIu64, o->period),
                                               heat == NULL ? NULL : arena_printf(&o->arena, "heat=%s", heat) };
    const struct tool_run_plan plan = { .argv = o->argv,
                                        .agent = o->agent,
                                        .argument = "",
                                        .output = path,
                                        .interval_bytes = INTERVAL_OF_NONE,
                                        .plugin = PLUGIN_LIBRARY,
                                        .options = options };
    int saved = launch_output_to_error(err); /* the standard output is for the table */
    if (saved < 0)
        return -1;
    int rc = tool_run(&plan, &status, err);
    launch_output_back(saved);
    o->status = rc == 0 && status != 0 ? status : o->status;
    return rc;
}

static int measure(struct placement_options *o, size_t number, const char *heat, struct placement_result *result,
                   struct err *err)
{
    struct memory_file file;
    size_t n;
    int rc = memory_file_open(&file, "mmprof-placement", &o->arena, err);
    if (!o->quiet)
        fprintf(stderr, "mmprof: run %zu of %" PRIu64 "\n", number + 1, o->runs);
    if (rc == 0 && (rc = run_once(o, file.path, heat, err)) == 0) {
        const char *text = read_text(o, &file, &n, err);
        rc = text == NULL ? -1 : placement_result_read(text, n, file.path, &o->arena, result, err);
    }
    memory_file_close(&file);
    return rc;
}

/* The run whose heat is hindsight; its own misses are not told. */
static int look_ahead(struct placement_options *o, struct memory_file *heat, struct err *err)
{
    size_t n;
    int rc = memory_file_open(heat, "mmprof-placement", &o->arena, err);
    if (!o->quiet)
        fprintf(stderr, "mmprof: a run for hindsight\n");
    return rc < 0 || run_once(o, heat->path, NULL, err) < 0 || read_text(o, heat, &n, err) == NULL ? -1 : 0;
}

static int print_results(struct placement_options *o, const struct placement_result *results, struct err *err)
{
    static const struct html_part part = {
        HTML_PART_TABLE,
        "misses",
        "Misses by placement",
        "Simulated misses of the program as it is, and with its objects in other places.",
        "it does not apply, or there were too few runs",
        NULL
    };
    struct table table;
    placement_table(results, o->runs, o->top, &o->arena, &table);
    return lab_print(&o->output, &table, "Placement of objects", tables_page_command(&o->arena, o->argv), &part, err);
}

static int measure_all(struct placement_options *o, struct err *err)
{
    struct placement_result *results = arena_alloc(&o->arena, o->runs * sizeof *results);
    struct memory_file heat = { .fd = -1 };
    int rc = o->hindsight ? look_ahead(o, &heat, err) : 0;
    for (size_t i = 0; rc == 0 && i < o->runs; i++)
        rc = measure(o, i, heat.path, &results[i], err);
    memory_file_close(&heat);
    return rc < 0 ? -1 : print_results(o, results, err);
}

int command_placement(int argc, char **argv, struct err *err)
{
    struct placement_options o = { .output.display = DISPLAY_PLAIN,
                                   .policies = ALL_POLICIES,
                                   .event = placement_event_names[PLACEMENT_L2],
                                   .model = SIM_MODEL_DEFAULT,
                                   .period = 100,
                                   .runs = 1,
                                   .top = 5 };
    bool done;
    int i;
    if (parse(argc, argv, &o, &i, &done, err) < 0 || done)
        return done ? 0 : -1;
    if (lab_need_command("placement", argc, argv, i, err) < 0)
        return -1;
    o.argv = argv + i;
    if (check(&o, err) < 0 || recorder_find_lab_agent(o.agent, sizeof o.agent, err) < 0)
        return -1;
    int rc = measure_all(&o, err);
    arena_free(&o.arena);
    return rc < 0 ? -1 : o.status;
}
