/* mmprof diff --profiles: profiles from traces and folded stacks, and the table of their pairs. */
#include "report/diff/compare.h"

#include "test/unit/table_printed.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

static struct arena arena;
static struct err err;

static const char *file(const char *name, const char *text)
{
    const char *directory = getenv("SCRATCH");
    const char *path = arena_printf(&arena, "%s/%s", directory == NULL ? "/tmp" : directory, name);
    FILE *out = fopen(path, "w");
    if (out != NULL) {
        fputs(text, out);
        fclose(out);
    }
    return path;
}

/* Calls: a, 100 ticks of its own, calls b, 300 of its own.  Samples, unless NULL: that one, called from b, in 2 of 4.
 */
static const char *make_trace(const char *name, const char *sampled)
{
    struct maker m;
    maker_open(&m, name);
    maker_thread(&m, 0, "main", true);
    maker_method(&m, 0, "p/T", "a", "()V");
    maker_method(&m, 1, "p/T", "b", "(I)V");
    STEPS(&m, 0, ENTER(0, 100), ENTER(1, 150), EXIT(1, 450), EXIT(0, 500));
    const struct trace_sampled_method methods[] = {
        { .names.class_name = "p/T", .names.method = "a", .names.descriptor = "()V", .source = "" },
        { .names.class_name = "p/T", .names.method = "b", .names.descriptor = "(I)V", .source = "" },
        { .names.class_name = "p/T", .names.method = sampled, .names.descriptor = "()V", .source = "" },
    };
    for (uint32_t i = 0; sampled != NULL && i < 3; i++)
        maker_stack(&m, i, -1, i, &methods[i], i == 2 ? 2 : 1, i == 2 ? 20 : 10);
    const struct trace_sample jvm = {
        .thread = 1, .context = 3, .index = -1, .n = 9, .weight_ns = 90, .is_waiting = true
    };
    maker_thread(&m, 1, "Reference Handl", false);
    if (sampled != NULL)
        maker_must(&m, trace_write_sample(m.writer, &jvm, &m.err));
    maker_close(&m, 600);
    return arena_printf(&arena, "%s", m.path);
}

/* The table of some files as CSV, without its paths; or the error. */
static const char *compared(const char *const *paths, uint32_t n, const struct compare_options *options)
{
    struct profile_set set, kept;
    struct compare_profile profiles[COMPARE_MAX];
    struct table *table = arena_alloc(&arena, sizeof *table);
    int rc = 0;
    profile_set_open(&set, &arena);
    for (uint32_t i = 0; rc == 0 && i < n; i++) {
        rc = compare_read(paths[i], options, &set, i, &profiles[i], &err);
        profiles[i].path = arena_printf(&arena, "%" PRIu32, i + 1);
    }
    if (rc == 0 && options->is_probed) {
        profile_set_keep(&set, &kept);
        profile_set_free(&set);
        set = kept;
    }
    if (rc == 0)
        compare_table(&set, profiles, n, options, &arena, table);
    profile_set_free(&set);
    return rc == 0 ? printed(table, CSV, &arena) : err.text;
}

#define COMPARED(options, ...) \
    compared((const char *const[]){ __VA_ARGS__ }, sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *), options)

#define HEADING "kind,first,second,overlap,top_found,in_both,correlation\r\n"

static void test_folded(void)
{
    static const struct compare_options methods = { .top_share = 0.5 },
                                        contexts = { .kind = PROFILE_CONTEXTS, .top_share = 1 };
    const char *x = file("x", "m;a 3\nm;b 0\nn;a 2\nm;c 2\n"), *y = file("y", "m;a 30\nm;b 4\r\nm;c 0\n");
    CHECK_TEXT("folded stacks by method: the thesis' example", COMPARED(&methods, x, y),
               HEADING "pair,1,2,0.7142857142857143,1,0.33333333333333331,0.8619310599323885\r\n");
    CHECK_TEXT("by context", COMPARED(&contexts, x, y),
               HEADING "pair,1,2,0.42857142857142855,0.33333333333333331,0.25,0.55888089543671415\r\n");
    const struct compare_options first = { .top_share = 1, .n_first = 1 }, ties = { .top_share = 1, .n_first = 2 };
    const char *z = file("z", "m;a 3\nm;c 2\nm;d 2\nm;e 1\n"), *w = file("w", "m;a 1\nm;d 3\nm;e 9\n");
    CHECK_TEXT("the first one only", COMPARED(&first, z, w), HEADING "pair,1,2,1,1,1,\r\n");
    CHECK_TEXT("of the first two, all that are as hot as the second", COMPARED(&ties, z, w),
               HEADING "pair,1,2,0.5357142857142857,0.66666666666666663,0.66666666666666663,-0.18898223650461354\r\n");
    const char *words = file("words", "m;a 3\nnothing\n");
    CHECK("other files are refused", strstr(COMPARED(&methods, x, words), "line 2 is not 'A.main;A.run 17'") != NULL);
    const char *empty = file("empty", "");
    CHECK("so are empty ones", strstr(COMPARED(&methods, x, empty), "neither a trace nor folded stacks") != NULL);
}

static void test_traces(void)
{
    static const struct compare_options own = { .top_share = 1 }, calls = { .top_share = 1, .from = COMPARE_CALLS },
                                        samples = { .top_share = 1, .from = COMPARE_SAMPLES },
                                        total = { .top_share = 1, .is_total = true, .from = COMPARE_CALLS },
                                        probed = { .top_share = 1, .is_probed = true };
    const char *exact = make_trace("exact.dat", NULL), *sampled = make_trace("sampled.dat", "x");
    const char *overload = make_trace("overload.dat", "b");
    struct compare_options contexts = { .kind = PROFILE_CONTEXTS, .top_share = 1, .is_probed = true };
    const char *quarters = file("quarters", "p.T.a 1\np.T.a;p.T.b 3\n");
    CHECK_TEXT("recorded calls have their own time", COMPARED(&calls, exact, quarters), HEADING "pair,1,2,1,1,1,1\r\n");
    CHECK_TEXT("or that with their callees", COMPARED(&total, exact, quarters), HEADING "pair,1,2,1,1,1,1\r\n");
    CHECK_TEXT("samples of the application are taken where there are any",
               COMPARED(&own, sampled, file("s", "p.T.a 1\np.T.b 1\np.T.x 2\n")), HEADING "pair,1,2,1,1,1,1\r\n");
    CHECK_TEXT("unless calls are asked for", COMPARED(&calls, sampled, exact), HEADING "pair,1,2,1,1,1,1\r\n");
    CHECK("samples that are not there are said",
          strstr(COMPARED(&samples, exact, sampled), "has no stack samples") != NULL);
    CHECK_TEXT("what had no probes differs from recorded calls", COMPARED(&own, exact, sampled),
               HEADING "pair,1,2,0.5,1,0.66666666666666663,-0.75592894601845451\r\n");
    CHECK_TEXT("and is its callers' with --probed", COMPARED(&probed, exact, sampled), HEADING "pair,1,2,1,1,1,1\r\n");
    CHECK("an overload without probes is a context more",
          strstr(COMPARED(&contexts, exact, overload), ",1\r\n") == NULL);
    contexts.tells_overloads = true;
    CHECK_TEXT("or, where overloads are told apart, its callers'", COMPARED(&contexts, exact, overload),
               HEADING "pair,1,2,1,1,1,1\r\n");
}

int main(void)
{
    test_folded();
    test_traces();
    arena_free(&arena);
    return tap_done();
}
