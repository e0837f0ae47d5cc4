/*
 * mmprof check-jit: tests of what the JIT compilers made of a program, read from its compiled code.
 *
 *     Result  Rule                                          Why
 *     -----------------------------------------------------------------------------------------------------
 *     holds   Price.cents is inlined into PriceList.total   inlined at 1, called at 0 (C2, compilation 57)
 *     broken  Log.debug is inlined into PriceList.total     called in PriceList.total, line 31; inlined at 0, ...
 */
#include "cmd/lab/lab_command.h"
#include "cmd/output_file.h"
#include "cmd/tables_page.h"
#include "cmd/target_argument.h"
#include "report/jit/jit_verdicts.h"

struct check_jit {
    const char *path, *junit;
    double seconds; /* 0: one look, or until the command ends */
    struct lab_output output;
    struct target_argument target;
    struct jit_rules rules;
    struct jit_judge judge;
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
        LAB_OUTPUT_ROWS(&c->output),
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
    return tables_page_check(c->output.html, c->output.csv, c->output.json, err) < 0
               ? -1
               : target_argument_find(&c->target, "check", err);
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

static void open_rules(void *context, const struct jit_codes *codes)
{
    struct check_jit *c = context;
    jit_judge_open(&c->judge, &c->rules, codes);
}

static void judge(void *context, const struct jit_codes *codes)
{
    struct check_jit *c = context;
    (void)codes;
    jit_judge_look(&c->judge);
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
    static const struct html_part part = { HTML_PART_TABLE,
                                           "rules",
                                           "What the JIT compilers made of the program",
                                           "Each rule of the file, and what was found in compiled code.",
                                           "",
                                           NULL };
    struct arena arena = { NULL, 0 };
    struct table *table = arena_alloc(&arena, sizeof *table);
    jit_judge_table(&c->judge, &arena, table);
    int rc = lab_print(&c->output, table, "JIT tests", c->path, &part, err);
    arena_free(&arena);
    return rc;
}

int command_check_jit(int argc, char **argv, struct err *err)
{
    struct check_jit c = { .output.display = DISPLAY_PLAIN };
    const struct jit_look_user user = { jit_judge_wants, &c.rules, open_rules, judge, &c, false };
    struct jit_look look;
    size_t n_broken = 0, n_unknown = 0;
    bool done = false;
    int rc = parse_check(argc, argv, &c, &done, err);
    if (rc < 0 || done)
        return rc;
    rc = read_rules(&c, err);
    jit_look_init(&look, &user, c.seconds);
    if (rc == 0)
        rc = c.target.command != NULL ? jit_look_into_command(&look, c.target.command, err)
                                      : jit_look_into_jvm(&look, c.target.pid, err);
    if (rc == 0)
        rc = print_results(&c, err);
    if (rc == 0)
        rc = write_junit(&c, err);
    fflush(stdout);
    jit_look_end_command(&look);
    if (rc == 0)
        jit_judge_count(&c.judge, &n_broken, &n_unknown);
    jit_judge_free(&c.judge);
    jit_look_close(&look);
    jit_rules_free(&c.rules);
    return rc < 0 ? -1 : n_broken + n_unknown > 0 || look.status != 0;
}
