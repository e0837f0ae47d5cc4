/* Which rows the table of phases has, and their names: programs are written as the stacks that samples saw. */
#include "report/folding.h"

#include "report/sampled_tree.h"
#include "report/view/phase_report.h"
#include "test/unit/table_printed.h"
#include "test/unit/tap.h"
#include "test/unit/trace_made.h"

static struct arena arena;
static struct err err;

#define METHODS 64
static char texts[METHODS][2][96];
static uint32_t n_methods;

/* A method's number; named is filled in where it is a new one. */
static uint32_t method_of(const char *word, size_t n, struct trace_sampled_method *named)
{
    char class_name[96], name[96];
    const char *dot = memrchr(word, '.', n);
    snprintf(class_name, sizeof class_name, "%.*s", (int)(dot - word), word);
    snprintf(name, sizeof name, "%.*s", (int)(word + n - dot - 1), dot + 1);
    for (char *c = class_name; *c != '\0'; c++)
        *c = *c == '.' ? '/' : *c;
    uint32_t i = 0;
    while (i < n_methods && (strcmp(texts[i][0], class_name) != 0 || strcmp(texts[i][1], name) != 0))
        i++;
    if (i == n_methods) {
        snprintf(texts[n_methods][0], sizeof texts[0][0], "%s", class_name);
        snprintf(texts[n_methods++][1], sizeof texts[0][1], "%s", name);
        named->names = (struct method_name){ texts[i][0], texts[i][1], "()V" };
        named->code_bytes = 9;
    }
    return i;
}

/* "a.Main.main a.Main.run=12": methods from the outermost on, and the samples in the last one. */
static void add_stack(struct maker *m, const char *stack)
{
    uint32_t parent = 0;
    while (*stack != '\0') {
        struct trace_sampled_method named = { .names.class_name = NULL };
        size_t n = strcspn(stack, " =");
        uint32_t method = method_of(stack, n, &named);
        uint64_t samples = stack[n] == '=' ? strtoull(stack + n + 1, NULL, 10) : 0;
        maker_stack(m, parent, parent == 0 ? -1 : 1, method, &named, 0, 0);
        parent = m->n_contexts;
        const struct trace_sample sample = {
            .ticks = 100 + parent, .context = parent, .index = -1, .n = samples, .weight_ns = samples * 10000000
        };
        if (samples > 0)
            maker_must(m, trace_write_sample(m->writer, &sample, &m->err));
        stack += strcspn(stack, " ");
        stack += strspn(stack, " ");
    }
}

static void hear(void *context, const struct trace_sample *sample)
{
    trace_samples_add(context, sample);
}

/* The report of a program with these stacks, as text or CSV. */
static const char *rows_of(const char *const *stacks, bool folds, size_t top, enum table_format format)
{
    const struct report_row_options options = { .sort = "time",
                                                .top = top,
                                                .fold = folds ? folding_read(NULL, &arena, &err) : NULL };
    struct maker m;
    struct trace_made made;
    struct trace_samples samples;
    struct report_source whole;
    struct table table;
    n_methods = 0;
    maker_open_scaled(&m, "folding.dat", 1000000);
    maker_info(&m, "offcpu", "perf");
    maker_thread(&m, 0, "main", true);
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 0));
    for (; *stacks != NULL; stacks++)
        add_stack(&m, *stacks);
    KERNEL(&m, AT(TRACE_CPU_OUT, 0, 1000));
    maker_close(&m, 1000);
    made.reader = maker_read(&m);
    trace_samples_open(&samples, made.reader);
    trace_listen(made.reader, &(struct trace_listener){ .context = &samples, .sample = hear });
    maker_must(&m, calltree_build(made.reader, &(struct calltree_options){ 0 }, &made.tree, &m.err));
    trace_samples_end(&samples);
    made.source = (struct report_source){ .path = "t.dat",
                                          .reader = made.reader,
                                          .tree = &made.tree,
                                          .clock = report_clock(&made.tree, PHASES_CPU),
                                          .arena = &arena };
    calltree_totals(&made.tree, VM_PART_APPLICATION, &arena, &made.totals, &made.n_totals);
    sampled_tree(&made.source, &samples, false, &whole);
    maker_must(&m, report_make(&whole, made.totals, made.n_totals, &options, &table, &m.err));
    static char text[1 << 16];
    snprintf(text, sizeof text, "%s",
             format == TEXT ? squeezed(printed(&table, TEXT, &arena), &arena) : printed(&table, format, &arena));
    trace_samples_close(&samples);
    trace_made_close(&made);
    return text;
}

#define SERVER  "java.lang.Thread.run jakarta.servlet.Servlet.service com.acme.Shop.handle "
#define PAINTER "demo.Main.main "
#define PROCESS "pdf.Engine.process pdf.Engine.operate pdf.Engine.draw"
#define RUBY    "org.jruby.Main.main org.jruby.ir.Block.yield prog.RUBY$script prog.invokeOther1:times "

static void test_rows(void)
{
    static const struct {
        const char *claim, *stacks[5];
        bool folds;
        const char *row;
        bool is_there;
    } rows[] = {
        { "a chain is one row, named by both ends of the program's own",
          { SERVER "com.acme.Shop.price java.security.Digest.run=20" },
          true,
          "\nShop.handle .. Shop.price 100.00 100.00 20 samples",
          true },
        { "the others have none",
          { SERVER "com.acme.Shop.price java.security.Digest.run=20" },
          true,
          "\nDigest.run ",
          false },
        { "how many there are is noted",
          { SERVER "com.acme.Shop.price java.security.Digest.run=20" },
          true,
          "note: 4 methods hidden",
          true },
        { "where ways part, there are rows for each",
          { SERVER "com.acme.Shop.price java.security.Digest.run=12", SERVER "com.acme.Shop.report=8" },
          true,
          "\nShop.price (+1 frame) 60.00 60.00",
          true },
        { "one of them alone is no chain",
          { SERVER "com.acme.Shop.price java.security.Digest.run=12", SERVER "com.acme.Shop.report=8" },
          true,
          "\nShop.report 40.00 40.00",
          true },
        { "what is a framework's and only calls them has none",
          { SERVER "com.acme.Shop.price java.security.Digest.run=12", SERVER "com.acme.Shop.report=8" },
          true,
          "\nServlet.service",
          false },
        { "without folding what is called has its own time",
          { SERVER "com.acme.Shop.price java.security.Digest.run=12", SERVER "com.acme.Shop.report=8" },
          false,
          "\nDigest.run 60.00 60.00",
          true },
        /* paint has 96 % of what process has; the rest is parse's */
        { "a phase stays, though what it calls is called by another one, too",
          { PAINTER "demo.Main.paint " PROCESS "=96", PAINTER "demo.Main.parse " PROCESS "=4" },
          true,
          "\nMain.paint 96.00 ",
          true },
        { "so does the other one",
          { PAINTER "demo.Main.paint " PROCESS "=96", PAINTER "demo.Main.parse " PROCESS "=4" },
          true,
          "\nMain.parse 4.00 ",
          true },
        { "and what both call is one row",
          { PAINTER "demo.Main.paint " PROCESS "=96", PAINTER "demo.Main.parse " PROCESS "=4" },
          true,
          "\nEngine.process .. Engine.draw 100.00 100.00",
          true },
        { "without the other one, the call of another part of the program is a row",
          { PAINTER "demo.Main.paint " PROCESS "=100" },
          true,
          "\nMain.main .. Main.paint 100.00 0.00",
          true },
        { "named by what was called",
          { PAINTER "demo.Main.paint " PROCESS "=100" },
          true,
          "\nEngine.process .. Engine.draw 100.00 100.00",
          true },
        { "a chain of 4 % steps is not folded into what has its time by chance",
          { PAINTER "a.A.one a.A.two a.A.three=80", PAINTER "a.A.two a.A.three=4", PAINTER "a.A.three=4",
            PAINTER "a.A.four=12" },
          true,
          "\nA.one 80.00 ",
          true },
        { "what the program calls in a library for its own sake has a row",
          { PAINTER "javax.xml.Transformer.transform javax.xml.Walker.walk=5",
            PAINTER "javax.xml.Transformer.transform javax.xml.Output.put=5", PAINTER "demo.Main.paint=10" },
          true,
          "\nTransformer.transform 50.00 ",
          true },
        { "what calls the program back has none",
          { PAINTER "java.util.List.forEach demo.Main.visit=5", PAINTER "java.util.List.forEach demo.Main.count=5",
            PAINTER "demo.Main.paint=10" },
          true,
          "\nList.forEach",
          false },
        { "a language's runtime and its call sites have no rows",
          { RUBY "org.jruby.RubyFixnum.times prog.RUBY$block$words$3=12",
            RUBY "org.jruby.RubyFixnum.times prog.RUBY$block$digest$7=8" },
          true,
          "\nprog.RUBY$block$words$3 60.00 60.00",
          true },
        { "that is, none of them",
          { RUBY "org.jruby.RubyFixnum.times prog.RUBY$block$words$3=12",
            RUBY "org.jruby.RubyFixnum.times prog.RUBY$block$digest$7=8" },
          true,
          "invokeOther",
          false },
        { "a lambda's body is not what a chain is named by",
          { "java.lang.Thread.run a.A.lambda$go$0 a.A.work a.A.spin=20" },
          true,
          "\nA.work .. A.spin 100.00 100.00",
          true },
        { "unless it does the work itself",
          { "java.lang.Thread.run a.A.lambda$go$0=20" },
          true,
          "\nA.lambda$go$0 (+1 frame) 100.00 100.00",
          true },
        { "of 300 samples 1 %, and two, may be a caller's own by chance",
          { "a.A.one a.A.two=296", "a.A.one=4" },
          true,
          "\nA.one .. A.two 98.",
          true },
        { "but no more", { "a.A.one a.A.two=294", "a.A.one=6" }, true, "\nA.one 100.00 2.00", true },
        { "two overloads are one name", { "a.A.run=1 a.A.go a.A.go=19" }, true, "\nA.go 95.00 95.00", true },
        { "where both ends are long, the other one has no class",
          { "demo.ARatherLongClassName.aRatherLongMethodName demo.AnotherLongClassName.anotherLongMethodName=20" },
          true,
          "\nARatherLongClassName.aRatherLongMethodName .. anotherLongMethodName 100.00 100.00",
          true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = rows_of(rows[i].stacks, rows[i].folds, 0, TEXT);
        if (!CHECK(rows[i].claim, (strstr(text, rows[i].row) != NULL) == rows[i].is_there))
            printf("# is:\n%s\n", text);
    }
    static const char *const stacks[] = { SERVER "com.acme.Shop.price java.security.Digest.run=20", NULL };
    const char *csv = rows_of(stacks, true, 0, CSV);
    if (!CHECK("CSV has the same name, and all that the row stands for",
               strstr(csv, "Shop.handle .. Shop.price") != NULL &&
                   strstr(csv, "java.lang.Thread.run jakarta.servlet.Servlet.service com.acme.Shop.handle "
                               "java.security.Digest.run,com/acme/Shop,price") != NULL))
        printf("# is:\n%s\n", csv);
}

/* What attribute calls has more time than parse, and one row is left out. */
static void test_outer(void)
{
    static const char *const stacks[] = { "a.Main.main a.Main.parse=10",
                                          "a.Main.main a.Main.attribute a.V.one a.V.two=30",
                                          "a.Main.main a.Main.attribute a.V.one a.V.three=20",
                                          "a.Main.main a.Main.attribute=10",
                                          "a.Main.main a.Main.generate=30",
                                          NULL };
    const char *text = rows_of(stacks, true, 6, TEXT);
    if (!CHECK("what the outermost rows call is among the first ones",
               strstr(text, "\nMain.parse 10.00 ") != NULL && strstr(text, "\nMain.main 100.00 ") != NULL &&
                   strstr(text, "\nV.two 30.00 ") != NULL && strstr(text, "\nV.three ") == NULL))
        printf("# is:\n%s\n", text);
}

int main(void)
{
    test_rows();
    test_outer();
    arena_free(&arena);
    return tap_done();
}
