/*
 * mmprof check-jit: tests of what the JIT compilers made of a program, read from its compiled code.
 *
 *     Result  Rule                                          Why
 *     -----------------------------------------------------------------------------------------------------
 *     holds   Price.cents is inlined into PriceList.total   inlined at 1, called at 0 (C2, compilation 57)
 *     broken  Log.debug is inlined into PriceList.total     called in PriceList.total, line 31; inlined at 0, ...
 */
#include "cmd/output_file.h"
#include "cmd/target_argument.h"
#include "cmd/trace_argument.h"
#include "core/hotspot/vm_process.h"
#include "core/jvm/started.h"
#include "core/recorder/launch.h"
#include "report/jit/jit_verdicts.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define LOOK_MS    100  /* between two looks */
#define LOOK_PARTS 20   /* a look may take this part of the time */
#define START_MS   10   /* between two questions whether there is a JVM already */
#define ENDING_MS  200  /* that a command may take to end when looking is over, */
#define ENDED_MS   5000 /* and after its JVM's end: on a busy machine that takes a while */

struct check_jit {
    const char *path, *junit;
    double seconds; /* 0: one look, or until the command ends */
    bool csv, json;
    struct display display;
    struct target_argument target;
    struct jit_rules rules;
    struct jit_codes codes;
    struct jit_judge judge;
    bool has_jvm, has_ended;
    struct launch launch;
    pid_t command; /* that was started; 0: none */
    int status;    /* of it, when it has ended */
};

/* ---- options ---- */

static const char usage[] = "check-jit [OPTIONS] FILE JVM | FILE -- COMMAND";
static const char purpose[] = "Tests what the JIT compilers made of a program: FILE has a rule a line, as\n"
                              "'shop.Price.cents is inlined into shop.PriceList.total'. The status is 0 if all hold.";

static int parse_check(int argc, char **argv, struct check_jit *c, bool *done, struct err *err)
{
    const struct options_row rows[] = {
        { 'p', "pid", "JVM", OPTION_TEXT, &c->target.name, TARGET_ARGUMENT_HELP },
        { 'd', "duration", "TIME", OPTION_SECONDS, &c->seconds,
          "look for TIME (a running JVM: once; a command: until it ends)" },
        { 0, "junit", "FILE", OPTION_TEXT, &c->junit, "write the results to FILE as JUnit's XML" },
        { 0, "csv", NULL, OPTION_FLAG, &c->csv, "print the table as CSV" },
        { 0, "json", NULL, OPTION_FLAG, &c->json, "print the table as JSON" },
        DISPLAY_ROW(&c->display),
        { 0 },
    };
    int i;
    if (command_parse(usage, purpose, rows, argc, argv, &i, done, err) < 0 || *done)
        return *done ? 0 : -1;
    if (i == argc || strcmp(argv[i - 1], "--") == 0) {
        err_set(err, "there is no file of rules");
        return err_next(err, "write one: 'man mmprof-check-jit' has an example; then 'mmprof check-jit FILE -p PID'");
    }
    c->path = argv[i];
    if (target_argument_parse(usage, purpose, rows, argc - i, argv + i, &c->target, done, err) < 0 || *done)
        return *done ? 0 : -1;
    return target_argument_find(&c->target, "check", err);
}

static int read_rules(struct check_jit *c, struct err *err)
{
    FILE *in = fopen(c->path, "re");
    if (in == NULL) {
        err_set(err, "cannot open '%s': %s", c->path, strerror(errno));
        return err_next(err, "name a file of rules, then the JVM");
    }
    int rc = jit_rules_read(&c->rules, in, c->path, err);
    fclose(in);
    return rc;
}

/* ---- looking ---- */

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int open_jvm(struct check_jit *c, pid_t pid, struct err *err)
{
    if (vm_process_open(pid, err) < 0 || jit_codes_open(&c->codes, jit_judge_wants, &c->rules, err) < 0)
        return -1;
    c->has_jvm = true;
    return jit_judge_open(&c->judge, &c->rules, &c->codes, err);
}

/* Until when not to look again, in *next_ms. */
static int look_once(struct check_jit *c, uint64_t *next_ms, struct err *err)
{
    uint64_t begin = now_ms();
    int rc = jit_codes_look(&c->codes, err);
    uint64_t end = now_ms(), rest = (end - begin) * LOOK_PARTS;
    if (rc > 0)
        jit_judge_look(&c->judge);
    c->has_ended = rc == 0;
    *next_ms = end + (rest > LOOK_MS ? rest : LOOK_MS);
    return rc < 0 ? -1 : 0;
}

/* For some time, or until the command ends.  Returns whether it has, or, without one, after that time. */
static bool pause_until(struct check_jit *c, uint64_t ms)
{
    uint64_t now = now_ms();
    int left = ms > now ? (int)(ms - now) : 0;
    const struct timespec rest = { left / 1000, (long)(left % 1000) * 1000000 };
    if (c->command != 0)
        return launch_wait(c->command, left, &c->status);
    nanosleep(&rest, NULL);
    return false;
}

static int look_into_jvm(struct check_jit *c, struct err *err)
{
    uint64_t end = now_ms() + (uint64_t)(c->seconds * 1000), next;
    if (open_jvm(c, c->target.pid, err) < 0)
        return -1;
    do {
        if (look_once(c, &next, err) < 0)
            return -1;
        pause_until(c, next < end ? next : end);
    } while (now_ms() < end && !c->has_ended);
    return 0;
}

static int find_jvm(struct check_jit *c, uint64_t *next, struct err *err)
{
    pid_t pid = jvm_started(c->command);
    *next = now_ms() + START_MS;
    return pid == 0 ? 0 : open_jvm(c, pid, err);
}

static int look_into_command(struct check_jit *c, struct err *err)
{
    uint64_t end = c->seconds > 0 ? now_ms() + (uint64_t)(c->seconds * 1000) : UINT64_MAX, next;
    char *const *argv = c->target.command;
    bool is_over = false;
    if (launch_fork(&c->launch, argv, NULL, NULL, NULL, NULL, err) < 0 || launch_go(&c->launch, argv[0], err) < 0)
        return -1;
    c->command = c->launch.pid;
    while (!is_over && now_ms() < end && !c->has_ended) {
        if ((c->has_jvm ? look_once(c, &next, err) : find_jvm(c, &next, err)) < 0)
            return -1;
        if (pause_until(c, next < end ? next : end)) {
            c->command = 0;
            is_over = true;
        }
    }
    if (c->has_jvm)
        return 0;
    err_set(err, "'%s' started no JVM", argv[0]);
    return err_next(err, "give a command that starts java, or java itself");
}

/* Looking is over, or has failed. */
static void end_command(struct check_jit *c)
{
    if (c->command != 0 && !launch_wait(c->command, c->has_ended ? ENDED_MS : ENDING_MS, &c->status)) {
        fprintf(stderr, "mmprof: the command goes on as process %d: waiting for its end\n", (int)c->command);
        launch_wait(c->command, LAUNCH_FOREVER, &c->status);
    }
    if (c->status != 0)
        fprintf(stderr, "mmprof: the command ended with status %d\n", c->status);
    launch_end(&c->launch);
}

/* ---- results ---- */

static int write_junit(struct check_jit *c, struct err *err)
{
    struct output_file file;
    if (c->junit == NULL)
        return 0;
    if (output_file_open(&file, c->junit, "--junit", err) < 0)
        return -1;
    return output_file_close(&file, jit_judge_junit(&c->judge, c->path, file.out, err), err);
}

static int print_results(struct check_jit *c, struct err *err)
{
    struct arena arena = { NULL, 0 };
    struct table *table = arena_alloc(&arena, sizeof *table);
    int rc = table == NULL ? err_set(err, "out of memory for a table") : 0;
    if (rc == 0) {
        jit_judge_table(&c->judge, &arena, table);
        rc = command_print_table(table, c->csv, c->json, &c->display, err);
    }
    arena_free(&arena);
    return rc;
}

int command_check_jit(int argc, char **argv, struct err *err)
{
    struct check_jit c = { .display = DISPLAY_PLAIN, .launch = { .go = -1, .turn = -1 } };
    size_t n_broken = 0, n_unknown = 0;
    bool done = false;
    int rc = parse_check(argc, argv, &c, &done, err);
    if (rc < 0 || done)
        return rc;
    rc = read_rules(&c, err);
    if (rc == 0)
        rc = c.target.command != NULL ? look_into_command(&c, err) : look_into_jvm(&c, err);
    if (rc == 0)
        rc = print_results(&c, err);
    if (rc == 0)
        rc = write_junit(&c, err);
    fflush(stdout);
    if (c.target.command != NULL)
        end_command(&c);
    if (rc == 0)
        jit_judge_count(&c.judge, &n_broken, &n_unknown);
    jit_judge_free(&c.judge);
    jit_codes_close(&c.codes);
    vm_process_close();
    jit_rules_free(&c.rules);
    return rc < 0 ? -1 : n_broken + n_unknown > 0 || c.status != 0;
}
