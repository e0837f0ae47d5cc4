#include "cmd/sample_run.h"
#include "core/base/options.h"

#include "test/unit/tap.h"

#include <string.h>

static struct err err;

static double seconds, step, limit;
static const char *model;
static bool flag;

static bool included;
static const struct options_row others[] = { { 'i', "included", NULL, OPTION_FLAG, &included, "of another table" },
                                             { 0 } };
static const struct options_row rows[] = { OPTIONS_GROUP("Time"),
                                           { 'd', "duration", "SECONDS", OPTION_SECONDS, &seconds, "how long" },
                                           { 0, "limit", "TIME", OPTION_SECONDS_OR_NONE, &limit, "at most" },
                                           { 0, "timeline", "STEP", OPTION_MAYBE_SECONDS, &step, "what when" },
                                           { 0, "simulate", "MODEL", OPTION_MAYBE_TEXT, &model, "on what" },
                                           { 0, "all", NULL, OPTION_FLAG, &flag, "all of it" },
                                           { 0, "every", NULL, OPTION_FLAG, &flag, NULL },
                                           OPTIONS_OLD("seconds", "duration"),
                                           OPTIONS_GROUP("More"),
                                           OPTIONS_ROWS((void *)others),
                                           OPTIONS_GROUP("Seldom"),
                                           OPTIONS_RARE,
                                           { 0, "rare", NULL, OPTION_FLAG, &flag, "seldom used" },
                                           { 0 } };

/* How many words are options; -1: refused. */
static int parse(const char *first, const char *second)
{
    static char words[3][32] = { "command" }; /* texts are borrowed from them */
    char *argv[] = { words[0], words[1], words[2], NULL };
    int n = -1, argc = second == NULL ? 2 : 3;
    snprintf(words[1], sizeof words[1], "%s", first);
    snprintf(words[2], sizeof words[2], "%s", second == NULL ? "" : second);
    seconds = step = -1;
    flag = false;
    model = NULL;
    return options_parse(rows, argc, argv, &n, &err) < 0 ? -1 : n - 1;
}

static void test_seconds(void)
{
    CHECK("seconds", parse("--duration", "2.5") == 2 && seconds == 2.5);
    CHECK("with their unit", parse("--duration=2s", NULL) == 1 && seconds == 2);
    CHECK("in milliseconds", parse("-d20ms", NULL) == 1 && seconds == 0.02);
    CHECK("in microseconds", parse("-d1us", NULL) == 1 && seconds == 1e-6);
    CHECK("in minutes and hours", parse("-d5m", NULL) == 1 && seconds == 300 && parse("-d1.5h", NULL) == 1 &&
                                      seconds == 5400 && parse("-d", "2min") == 2 && seconds == 120);
    CHECK("another unit is refused", parse("--duration=2x", NULL) < 0 && strstr(err.text, "bad value '2x'") != NULL);
    CHECK("with those that are not", strstr(err.text, "; such as 90s, 500ms, 5m or 1h") != NULL);
    CHECK("0 where it means none", parse("--limit=0", NULL) == 1 && limit == 0 && parse("--limit", "1m") == 2 &&
                                       limit == 60 && parse("--limit=none", NULL) < 0);
    CHECK("so is a unit alone", parse("--duration=ms", NULL) < 0 && parse("--duration=s", NULL) < 0);
    CHECK("so is none", parse("--duration", NULL) < 0 && strstr(err.text, "needs a value") != NULL);
    CHECK("so is a time that is not positive", parse("--duration=0", NULL) < 0 && parse("--duration=-1ms", NULL) < 0);
}

static void test_maybe(void)
{
    CHECK("a value that may be left out is 0 then", parse("--timeline", NULL) == 1 && step == 0);
    CHECK("the next word is not it", parse("--timeline", "2") == 1 && step == 0);
    CHECK("it stands after '='", parse("--timeline=0.5", NULL) == 1 && step == 0.5);
    CHECK("in any unit", parse("--timeline=100ms", "--all") == 2 && step == 0.1 && flag);
    CHECK("a bad one is refused",
          parse("--timeline=fast", NULL) < 0 && strstr(err.text, "bad value 'fast' of option --timeline") != NULL);
    CHECK("so is an empty one", parse("--timeline=", NULL) < 0);
    CHECK("without the option nothing is set", parse("--all", NULL) == 1 && step < 0 && model == NULL);
    CHECK("a text that may be left out is empty then", parse("--simulate", "x") == 1 && strcmp(model, "") == 0);
    CHECK("it stands after '=', too", parse("--simulate=x", NULL) == 1 && strcmp(model, "x") == 0);
}

static void test_tables(void)
{
    CHECK("an option of a table in the table", parse("--included", NULL) == 1 && included);
    included = false;
    CHECK("by its letter", parse("-i", NULL) == 1 && included);
    CHECK("an older name, which the help does not show", parse("--every", NULL) == 1 && flag);
    CHECK("an old name is the option that it has become", parse("--seconds", "2") == 2 && seconds == 2);
    CHECK("with '=', too", parse("--seconds=3", NULL) == 1 && seconds == 3);
    CHECK("a heading is no option", parse("--=1", NULL) < 0 && strstr(err.text, "unknown option") != NULL);
}

static void test_near(void)
{
    CHECK("a name that is nearly right is named",
          parse("--duraton=1", NULL) < 0 && strstr(err.text, "did you mean '--duration'?") != NULL);
    CHECK("so is a rare one", parse("--rar", NULL) < 0 && strstr(err.text, "'--rare'") != NULL);
    CHECK("an older name is not", parse("--evry", NULL) < 0 && strstr(err.text, "--every'") == NULL);
    CHECK("nothing is near to another word",
          parse("--zzzzzzzzzzzz", NULL) < 0 && strstr(err.text, "did you mean") == NULL);
}

static void test_help(void)
{
    char text[1024] = "", all[1024] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    CHECK_NUMBER("rare options are counted", options_help(out, rows, false), 1);
    fclose(out);
    out = fmemopen(all, sizeof all, "w");
    CHECK_NUMBER("or shown, all of them", options_help(out, rows, true), 0);
    fclose(out);
    CHECK("a rare one is in the whole help only", strstr(text, "--rare") == NULL && strstr(all, "--rare") != NULL);
    CHECK("so is the heading of a group with no other",
          strstr(text, "Seldom") == NULL && strstr(all, "\n\nSeldom:\n      --rare") != NULL);
    CHECK("the help has letters, names and arguments", strstr(text, "  -d, --duration SECONDS") != NULL);
    CHECK("and which of them may be left out", strstr(text, "      --timeline[=STEP] ") != NULL);
    CHECK("groups have headings",
          strncmp(text, "Time:\n  -d,", 11) == 0 && strstr(text, "\n\nMore:\n  -i, --inc") != NULL);
    CHECK("older names are not shown", strstr(text, "every") == NULL);
}

/*
 * All pairs of options of 'mmprof sample': those of which one would have no effect, and no others, are refused.
 */
static void test_pairs(void)
{
    static const char *const options[] = {
        "--frequency=50", "--events=cycles", "--wall",      "--budget=1%",         "--top=3",         "--min-share=2%",
        "--self",         "--tree",          "--output=a",  "--folded=b",          "--html=c",        "--csv",
        "--json",         "--bytecodes",     "--fields",    "--decay=2",           "--stack-size=8K", "--tree-size=1M",
        "--period=9",     "--duration=3",    "--name=Main", "--mechanism=polling",
    };
    static const char refused[] =
        " events+wall wall+period frequency+period period+mechanism wall+mechanism events+mechanism budget+mechanism "
        "fields+mechanism"
        " stack-size+mechanism bytecodes+fields self+bytecodes self+fields top+bytecodes min-share+bytecodes top+tree"
        " self+tree tree+bytecodes tree+fields tree+decay html+csv html+json csv+json ";
    const size_t n = sizeof options / sizeof *options;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++) {
            bool done, is_period = strstr(options[i], "period") != NULL || strstr(options[k], "period") != NULL;
            char first[64], second[64], events[] = "--events=faults", pair[160], command[] = "sample", end[] = "--",
                                        java[] = "java", calm[] = "--color=never";
            struct sample_options o;
            err.text[0] = 0;
            snprintf(first, sizeof first, "%s", options[i]);
            snprintf(second, sizeof second, "%s", options[k]);
            char *argv[] = { command, first, second, is_period && i != 1 && i != 2 ? events : calm, end, java, NULL };
            bool is_refused = sample_options_parse(&o, 6, argv, &done, &err) < 0;
            first[strcspn(first, "=")] = second[strcspn(second, "=")] = '\0';
            snprintf(pair, sizeof pair, " %s+%s ", first + 2, second + 2);
            CHECK(pair, is_refused == (strstr(refused, pair) != NULL));
            CHECK(pair, !is_refused || strstr(err.text, "no effect with") != NULL);
        }
}

int main(void)
{
    test_pairs();
    test_seconds();
    test_maybe();
    test_tables();
    test_near();
    test_help();
    return tap_done();
}
