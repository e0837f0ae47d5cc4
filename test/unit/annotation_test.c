/* One method of a trace's samples, by lines and by bytecodes: which method, which place, which share. */
#include "report/view/annotation.h"

#include "test/unit/table_printed.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

#include <sys/stat.h>

static struct err err;
static struct arena arena;
static const struct options_list no_folders;

/* for (i = 0; i < n; i++) call(i); in lines 10 and 11, the return in line 12. */
static const uint8_t code[] = { 0x03, 0x3c, 0x1b, 0x1a, 0xa2, 0x00, 0x0d, 0x1b, 0xb8,
                                0x00, 0x02, 0x84, 0x01, 0x01, 0xa7, 0xff, 0xf4, 0xb1 };
static const struct code_line lines[] = { { 0, 10 }, { 7, 11 }, { 11, 10 }, { 17, 12 } };
static const struct code_line later_lines[] = { { 0, 10 }, { 29, 12 } };
static const struct trace_sampled_method methods[] = {
    { { "p/Outer$Loop", "run", "(I)V" }, "Outer.java", sizeof code, lines, 4, code },
    { { "p/Outer$Loop", "call", "(I)V" }, "Outer.java", 1, NULL, 0, NULL },
    { { "p/Outer$Loop", "run", "(I)V" }, "Outer.java", 30, later_lines, 2, NULL },
    { { "q/Loop", "run", "(ILjava/lang/String;)V" }, "", 0, NULL, 0, NULL },
};

static void put(struct maker *m, uint32_t context, int32_t index, uint64_t cycles)
{
    const uint64_t counters[] = { cycles, 1000 };
    const struct trace_sample sample = { .ticks = 1000,
                                         .thread = 0,
                                         .context = context,
                                         .index = index,
                                         .n = 1,
                                         .weight_ns = 10,
                                         .n_counters = 2,
                                         .counters = counters };
    maker_must(m, trace_write_sample(m->writer, &sample, &m->err));
}

/* run calls itself at 8, and call there; q.Loop.run has one sample. */
static const char *make_trace(void)
{
    static struct maker m;
    maker_open(&m, "annotated");
    maker_must(&m, trace_write_info(m.writer, "sample.events", "cycles instructions", &m.err));
    maker_thread(&m, 0, "main", false);
    maker_stack(&m, 0, -1, 0, &methods[0], 0, 0);
    maker_stack(&m, 1, 8, 0, &(struct trace_sampled_method){ .names.class_name = NULL }, 0, 0);
    maker_stack(&m, 2, 8, 1, &methods[1], 0, 0);
    maker_stack(&m, 0, -1, 2, &methods[3], 0, 0);
    maker_stack(&m, 0, -1, 3, &methods[2], 0, 0);
    put(&m, 1, 2, 2000);  /* i < n */
    put(&m, 1, 12, 4000); /* in the middle of i++ */
    put(&m, 2, 17, 1000); /* the return, called by line 11 */
    put(&m, 3, 0, 9000);  /* call */
    put(&m, 1, -1, 1000); /* somewhere */
    put(&m, 4, -1, 1000);
    put(&m, 0, -1, 1000);
    put(&m, 5, 29, 2000); /* the return, in a later version of the class */
    maker_must(&m, trace_writer_close(m.writer, 2000, &m.err));
    return m.path;
}

static const char *annotated(const char *path, const struct annotation_options *options, enum table_format format)
{
    struct annotation annotation;
    struct table *table = arena_alloc(&arena, sizeof *table);
    int rc = annotation_read(&annotation, path, options, &arena, &err);
    if (rc == 0)
        annotation_table(&annotation, options, table);
    const char *text = rc == 0 ? printed(table, format, &arena) : err.text;
    annotation_free(&annotation);
    return text;
}

static bool has(const char *text, const char *part)
{
    bool is_there = strstr(text, part) != NULL;
    if (!is_there)
        printf("# not in: %s\n", text);
    return is_there;
}

static void test_lines(const char *path)
{
    const struct annotation_options by_line = { .method = "Loop.run", .sources = &no_folders };
    const char *text = annotated(path, &by_line, TEXT);
    CHECK("the method with the most samples is meant", has(text, "method   p.Outer$Loop.run(int)\n"));
    CHECK("another one that fits is named",
          has(text, "1 more methods have this name") && has(text, "q.Loop.run(int, String)"));
    text = annotated(path, &by_line, CSV);
    CHECK("a line has its own samples, and its counters", has(text, "place,10,0.25,0.25,2,3,"));
    CHECK("a line that calls counts once in a recursion, and has no counters of its own",
          has(text, "place,11,0,0.25,0,5,"));
    CHECK("a line has those of its method's versions", has(text, "place,12,0.25,0.25,2,1.5,"));
    CHECK("what is not known of is told", has(text, "unknown,,0.125,0.125,1,1,"));
}

static void test_bytecodes(const char *path)
{
    const struct annotation_options by_code = { .method = "p/Outer$Loop.run(I)V",
                                                .by_bytecode = true,
                                                .sources = &no_folders };
    const char *text = annotated(path, &by_code, CSV);
    CHECK("an instruction has what was found in its middle", has(text, "place,11,10,0.125,"));
    CHECK("and is named, with where it goes to",
          has(text, ",iinc\r\n") && has(text, ",if_icmpge 17\r\n") && has(text, ",goto 2\r\n"));
    CHECK("a call is where it is called from", has(text, "place,8,11,0,0.25,0,"));
    const struct annotation_options native = { .method = "q.Loop.run(int, String)", .sources = &no_folders };
    CHECK("a method without lines is shown by bytecodes", has(annotated(path, &native, TEXT), "no line numbers"));
}

static void test_sources(const char *path)
{
    char folder[] = "/tmp/mmprof-annotation-XXXXXX", name[128];
    const struct options_list folders = { { mkdtemp(folder) }, 1 };
    const struct annotation_options options = { .method = "Outer$Loop.run", .sources = &folders };
    CHECK("a folder without the file is told", has(annotated(path, &options, TEXT), "no folder of --source has"));
    snprintf(name, sizeof name, "%s/p", folder);
    mkdir(name, 0700);
    snprintf(name, sizeof name, "%s/p/Outer.java", folder);
    FILE *out = fopen(name, "w");
    fputs("1\n2\n3\n4\n5\n6\n7\n8\n9\n\tfor (...)\n\t    call(i);\r\n}\n", out);
    fclose(out);
    const char *text = annotated(path, &options, TEXT);
    CHECK("the text of a line is beside it", has(text, "        for (...)\n") && has(text, "            call(i);\n"));
    unlink(name);
    name[strlen(folder) + 2] = '\0';
    rmdir(name);
    rmdir(folder);
}

static void test_refusals(const char *path)
{
    static const char *const others[] = { "run2", "op.run", "Loop.run()V", "Loop.run(long)", "p.run" };
    bool all = true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct annotation_options options = { .method = others[i], .sources = &no_folders };
        all &= has(annotated(path, &options, TEXT), "no sample of");
    }
    CHECK("parts of names are none, nor are other parameters", all);
    const struct annotation_options options = { .method = "run", .sources = &no_folders };
    CHECK("a trace that is not there is told", has(annotated("/nowhere.dat", &options, TEXT), "/nowhere.dat"));
}

int main(void)
{
    const char *path = make_trace();
    test_lines(path);
    test_bytecodes(path);
    test_sources(path);
    test_refusals(path);
    unlink(path);
    arena_free(&arena);
    return tap_done();
}
