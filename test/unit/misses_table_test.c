/*
 * Where misses are: made-up ones, whose table is known.
 */
#include "report/view/bytecode_names.h"
#include "report/view/misses_report.h"

#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

#include <unistd.h>

static struct arena arena;
static struct err err;

struct made {
    struct maker maker;
    struct trace_reader *reader;
    struct calltree tree;
    struct report_source source;
};

static void describe(struct maker *m)
{
    const struct location_entry locations[] = {
        { .kind = LOCATION_METHOD,
          .number = 0,
          .class_name = wire_text("a/Main"),
          .name = wire_text("work"),
          .descriptor = wire_text("()V"),
          .source = wire_text("Main.java") },
        { .kind = LOCATION_METHOD,
          .number = 1,
          .class_name = wire_text("java/lang/MmprofProbe"),
          .name = wire_text("enter"),
          .descriptor = wire_text("(I)V") },
        { .kind = LOCATION_IN_CODE, .number = 0, .code = LOCATION_INTERPRETER, .n_frames = 1, .frames = { { 0, 7 } } },
        { .kind = LOCATION_IN_CODE, .number = 1, .code = LOCATION_INTERPRETER, .n_frames = 1, .frames = { { 0, 9 } } },
        { .kind = LOCATION_IN_CODE, .number = 2, .code = LOCATION_UNKNOWN },
        { .kind = LOCATION_IN_CODE, .number = 3, .code = LOCATION_INTERPRETER, .n_frames = 1, .frames = { { 1, 0 } } },
    };
    const struct miss_entry memory[] = {
        { .kind = MISS_OWNER, .number = 0, .owner_kind = MISS_OBJECTS, .name = wire_text("a/Node") },
        { .kind = MISS_OWNER, .number = 1, .owner_kind = MISS_OBJECTS, .name = wire_text("[[Ljava/lang/String;") },
        { .kind = MISS_OWNER, .number = 2, .owner_kind = MISS_STACK },
        { .kind = MISS_OWNER, .number = 3, .owner_kind = MISS_HEAP, .name = wire_text("objects were moving") },
        { .kind = MISS_CELL, .number = 0, .owner = 0, .space = MISS_EDEN, .offset = 12, .name = wire_text("next") },
        { .kind = MISS_CELL, .number = 1, .owner = 0, .space = MISS_OLD, .offset = 12, .name = wire_text("next") },
        { .kind = MISS_CELL, .number = 2, .owner = 1, .space = MISS_OLD, .offset = 16, .name = wire_text("[4..7]") },
        { .kind = MISS_CELL, .number = 3, .owner = 2, .space = MISS_NO_SPACE },
        { .kind = MISS_CELL, .number = 4, .owner = 3, .space = MISS_EDEN },
        { .kind = MISS_BYTECODE,
          .number = 0,
          .index = 5,
          .opcode = 0xb4, /* getfield */
          .class_name = wire_text("a/Base"),
          .name = wire_text("next"),
          .descriptor = wire_text("La/Base;") },
        { .kind = MISS_BYTECODE, .number = 1, .index = 9, .opcode = 0x32 /* aaload */ },
        { .kind = MISS_AT, .location = 0, .number = 1 },
        { .kind = MISS_AT, .location = 1, .number = 2 },
        { .kind = MISS_AT, .location = 2, .number = 0 },
    };
    for (size_t i = 0; i < sizeof locations / sizeof *locations; i++)
        maker_must(m, trace_write_location(m->writer, &locations[i], &m->err));
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        maker_must(m, trace_write_miss(m->writer, &memory[i], &m->err));
}

static void miss(struct maker *m, uint32_t thread, uint32_t location, uint32_t cell, uint64_t l1d, uint64_t l2)
{
    const struct miss_entry entry = { .kind = MISS_COUNTS,
                                      .ticks = 500,
                                      .thread = thread,
                                      .location = location,
                                      .cell = cell,
                                      .counts = { l1d, l2, 1 },
                                      .n_kept = l1d };
    maker_must(m, trace_write_miss(m->writer, &entry, &m->err));
}

static void drawn(struct maker *m, uint32_t thread, uint32_t location, uint32_t cell, uint64_t n)
{
    const struct miss_entry entry = { .kind = MISS_ACCESSES,
                                      .ticks = 500,
                                      .thread = thread,
                                      .location = location,
                                      .cell = cell,
                                      .n_accesses = n,
                                      .n_kept = n / 10 };
    maker_must(m, trace_write_miss(m->writer, &entry, &m->err));
}

static void hold(struct maker *m, uint64_t ticks, uint32_t thread, uint32_t cell, uint64_t l1d, uint64_t l2)
{
    const struct miss_entry entry = {
        .kind = MISS_CONTENTS, .ticks = ticks, .thread = thread, .cell = cell, .counts = { l1d, l2, 2 }
    };
    maker_must(m, trace_write_miss(m->writer, &entry, &m->err));
}

static void use(struct maker *m, uint64_t ticks, uint64_t eden, uint64_t old)
{
    const struct miss_entry entry = { .kind = MISS_USED,
                                      .ticks = ticks,
                                      .used = { [MISS_EDEN] = eden << 20, [MISS_OLD] = old << 20 } };
    maker_must(m, trace_write_miss(m->writer, &entry, &m->err));
}

static struct maker *begin(struct made *made)
{
    struct maker *m = &made->maker;
    maker_open_scaled(m, "misses.dat", 1000);
    maker_info(m, "simulated", "zen4");
    maker_thread(m, 0, "main", true);
    maker_thread(m, 1, "mmprof agent", false);
    maker_method(m, 0, "a/Main", "run", "()V");
    STEPS(m, 0, ENTER(0, 200), EXIT(0, 700));
    return m;
}

static void end(struct made *made)
{
    struct maker *m = &made->maker;
    maker_close(m, 1000);
    made->reader = maker_read(m);
    maker_must(m, calltree_build(made->reader, &(struct calltree_options){ 0 }, &made->tree, &m->err));
    made->source = (struct report_source){
        .path = m->path, .reader = made->reader, .tree = &made->tree, .clock = PHASES_WALL, .arena = &arena
    };
}

static void make_decaying(struct made *made)
{
    struct maker *m = begin(made);
    struct miss_entry nodes = { .kind = MISS_COUNTS, .ticks = 100, .counts = { 320, 320 } }, texts = nodes;
    texts.ticks = 900;
    texts.location = 1;
    texts.cell = 2;
    texts.counts[MISS_L1D] = texts.counts[MISS_L2] = 5;
    describe(m);
    maker_must(m, trace_write_miss(m->writer, &nodes, &m->err));
    maker_must(m, trace_write_miss(m->writer, &texts, &m->err));
    end(made);
}

static void make(struct made *made, bool with_misses)
{
    struct maker *m = begin(made);
    if (with_misses) {
        const struct miss_entry totals = {
            .kind = MISS_TOTALS, .ticks = 600, .counts = { 100, 50, 6 }, .n_accesses = 1000
        };
        describe(m);
        miss(m, 0, 0, 0, 30, 20);
        miss(m, 0, 0, 1, 10, 10);
        miss(m, 0, 1, 2, 20, 5);
        miss(m, 0, 2, 3, 15, 0);
        miss(m, 0, 1, 4, 5, 5);
        miss(m, 1, 0, 0, 12, 6);   /* by the agent's thread */
        miss(m, 0, 3, 3, 8, 4);    /* by a probe */
        hold(m, 400, 0, 0, 6, 30); /* two looks: nodes, stacks; and the agent's thread */
        hold(m, 400, 0, 3, 2, 10);
        hold(m, 500, 0, 0, 8, 60);
        hold(m, 500, 0, 1, 0, 60);
        hold(m, 500, 1, 3, 8, 40);
        use(m, 400, 12, 3);
        use(m, 500, 1, 5);
        drawn(m, 0, 0, 0, 400);
        drawn(m, 0, 1, 2, 100); /* too few to tell a rate */
        drawn(m, 0, 2, 3, 300);
        drawn(m, 1, 0, 0, 200);
        maker_must(m, trace_write_miss(m->writer, &totals, &m->err));
    }
    end(made);
}

static void done(struct made *made)
{
    calltree_free(&made->tree);
    trace_close(made->reader);
    unlink(made->maker.path);
    arena_free(&arena);
}

/* The table of a way; the rows' first two columns and misses of L1D and L2, one a line. */
static const char *rows_by(struct made *made, const char *way, uint64_t top, struct table *table)
{
    enum misses_by by;
    struct misses misses;
    const char *text = "";
    CHECK(way, misses_way(way, &by, &err) == 0 && misses_read(&made->source, false, by, 0, &misses, &err) == 0 &&
                   misses_table(&made->source, &misses, by, top, NULL, table, &err) == 0);
    misses_free(&misses);
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct table_cell *cells = table->rows[i].cells;
        text = arena_printf(&arena, "%s%s|%s|%.0f|%.0f\n", text, cells[0].words,
                            cells[1].value == TABLE_WORDS ? cells[1].words : "-", cells[4].number, cells[8].number);
    }
    return text;
}

#define END "mmprof itself|-|20|10\nall|-|100|50\n"

static void test_ways(void)
{
    struct made made;
    struct table table;
    make(&made, true);
    CHECK_TEXT("classes, the one with most misses of L2 first", rows_by(&made, "class", 0, &table),
               "a.Node|Java heap|40|30\n"
               "java.lang.String[][]|Java heap|20|5\n"
               "Java heap, object not known|objects were moving|5|5\n"
               "threads' stacks|threads' stacks|15|0\n" END);
    CHECK_TEXT("fields, in each generation", rows_by(&made, "field", 2, &table),
               "a.Node.next|eden|30|20\n"
               "a.Node.next|old generation|10|10\n"
               "others|-|40|10\n" END);
    CHECK_TEXT("elements of arrays, by their index", table.n_rows > 0 ? rows_by(&made, "field", 3, &table) : "",
               "a.Node.next|eden|30|20\n"
               "a.Node.next|old generation|10|10\n"
               "java.lang.String[][] [4..7]|old generation|20|5\n"
               "others|-|20|5\n" END);
    CHECK_TEXT("generations", rows_by(&made, "space", 0, &table),
               "Java heap: eden|heap|35|25\n"
               "Java heap: old generation|heap|30|15\n"
               "threads' stacks|stack|15|0\n" END);
    CHECK_TEXT("methods", rows_by(&made, "method", 0, &table),
               "Main.work|interpreter|65|40\n"
               "(no name)|unknown|15|0\n" END);
    CHECK_TEXT("classes of methods, however they are executed; and parts of the VM",
               rows_by(&made, "code-class", 0, &table),
               "a.Main|-|65|40\n"
               "unknown|-|15|0\n" END);
    CHECK_TEXT("lines", rows_by(&made, "line", 0, &table),
               "Main.work:7|interpreter|40|30\n"
               "Main.work:9|interpreter|25|10\n"
               "(no name)|unknown|15|0\n" END);
    CHECK_TEXT("kinds of bytecode", rows_by(&made, "bytecode", 0, &table),
               "field read, reference|-|40|30\n"
               "array read, reference|-|25|10\n"
               "not Java code|-|15|0\n" END);
    CHECK_TEXT("parts of the VM", rows_by(&made, "part", 0, &table),
               "interpreter|interpreter|65|40\n"
               "unknown|unknown|15|0\n" END);
    CHECK_TEXT("what is known", table.notes[0],
               "attributed L1D misses, without mmprof's own: memory region 100 %, object 92.3 % (of the Java heap), "
               "code 81.2 %, line or bytecode 100 % (of Java methods)");
    CHECK_TEXT("and why not", table.notes[2],
               "object unknown for 7.69 % of the misses in the heap: objects were moving");
    const struct table_cell *nodes = table.rows[0].cells;
    CHECK_TEXT("accesses", table.notes[1],
               "estimates from 80 random samples of accesses, without mmprof's own: 62.5 % of accesses are to the Java "
               "heap; L1D miss ratio 13 % in the Java heap, 10 % overall");
    rows_by(&made, "class", 0, &table);
    nodes = table.rows[0].cells;
    CHECK("a class' accesses, and their share", nodes[2].number == 400 && nodes[3].number == 0.4);
    CHECK("how many of them missed L1D and L2", nodes[6].number == 0.1 && nodes[10].number == 0.075);
    CHECK("and how many of L1D's misses missed L2, too",
          nodes[12].number == 0.75 && table.rows[1].cells[12].value == TABLE_UNMEASURED);
    CHECK("without instructions nothing is told of 1,000 of them", nodes[7].value == TABLE_UNMEASURED);
    CHECK("of few that were drawn it is not told",
          table.rows[1].cells[2].number == 100 && table.rows[1].cells[6].value == TABLE_UNMEASURED);
    done(&made);
}

/* As above, of fields: misses of L2 and L1D, each by object and by bytecode. */
static const char *fields_by(struct made *made, const char *way, double half_life_s, uint64_t top, struct table *table)
{
    struct misses misses;
    const char *text = "";
    bool by_class;
    CHECK(way, fields_way(way, "--view fields", &by_class, &err) == 0 &&
                   misses_read(&made->source, false, MISSES_BY_FIELD, half_life_s, &misses, &err) == 0 &&
                   fields_table(&made->source, &misses, by_class, top, table, &err) == 0);
    misses_free(&misses);
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct table_cell *cells = table->rows[i].cells;
        text = arena_printf(&arena, "%s%s", text, cells[0].words);
        for (int k = 1; k < 9; k += 2)
            text = cells[k].value == TABLE_NOT_APPLICABLE ? arena_printf(&arena, "%s|-", text)
                                                          : arena_printf(&arena, "%s|%.0f", text, cells[k].number);
        text = arena_printf(&arena, "%s\n", text);
    }
    return text;
}

#define FIELDS_END                          \
    "not Java code|-|0|-|15\n"              \
    "Java heap, object not known|5|-|5|-\n" \
    "not in the Java heap|0|-|15|-\n"       \
    "mmprof itself|10|10|20|20\n"           \
    "all|50|50|100|100\n"

static void test_fields(void)
{
    struct made made;
    struct table table;
    make(&made, true);
    CHECK_TEXT("fields of objects, and those that bytecodes name: each miss is of one row in both ways",
               fields_by(&made, "", 0, 0, &table),
               "a.Base.next|0|30|0|40\n"
               "a.Node.next|30|0|40|0\n"
               "elements of reference arrays|0|10|0|25\n"
               "java.lang.String[][] elements|5|0|20|0\n" FIELDS_END);
    CHECK_TEXT("how many it is known of", table.notes[0],
               "L1D misses, without mmprof's own: 81.2 % in Java code; the bytecode is known for 100 % of these, and "
               "names a field or array elements for 100 %");
    CHECK_TEXT("and of how many both say the same", table.notes[1],
               "in the Java heap the object is known for 92.3 %; the object's field at the address is the one that the "
               "bytecode names for 100 % (where both are known)");
    CHECK_TEXT("classes, one of them", fields_by(&made, "class", 0, 1, &table),
               "a.Base|0|30|0|40\n"
               "others|35|10|60|25\n" FIELDS_END);
    done(&made);
}

/* The first column, and the three of heat. */
static const char *heats(struct made *made, const char *way, double half_life_s, struct table *table)
{
    const char *text = "";
    fields_by(made, way, half_life_s, 2, table);
    for (size_t i = 0; i < 2 && i < table->n_rows; i++) {
        const struct table_cell *cells = table->rows[i].cells;
        text = arena_printf(&arena, "%s%s|%.4f|%.4f|%s\n", text, cells[0].words, cells[1].number, cells[2].number,
                            cells[3].words);
    }
    return text;
}

/*
 * 320 misses of nodes at 100 us, 5 of texts at 900: after eight half-lives of 100 us 1.25 of the former are left, so
 * nodes have 1.25 / 6.25 of the heat, and texts 5 / 6.25; after 16 of 50 us 0.0049 / 5.0049, which is cold.
 */
static void test_decay(void)
{
    struct made made;
    struct table table;
    make_decaying(&made);
    CHECK_TEXT("what is missed later is hotter", heats(&made, "class", 100e-6, &table),
               "java.lang.String[][]|0.8000|0.0000|hot\n"
               "reference arrays|0.0000|0.8000|hot\n");
    CHECK_TEXT("with most misses of all", fields_by(&made, "class", 0, 1, &table),
               "a.Base|0|320|0|320\n"
               "others|325|5|325|5\n"
               "all|325|325|325|325\n");
    fields_by(&made, "class", 50e-6, 0, &table);
    CHECK_TEXT("what is missed no more is cold", table.rows[3].cells[3].words, "cold");
    CHECK("and all is there is", table.rows[4].cells[1].number == 1 && table.rows[4].cells[2].number == 1);
    done(&made);
}

static void test_java(void)
{
    struct made made;
    struct misses misses;
    struct table table;
    make(&made, true);
    CHECK("misses are read", misses_read(&made.source, false, MISSES_BY_METHOD, 0, &misses, &err) == 0);
    misses_keep_java(&misses);
    CHECK("Java code's own are kept",
          misses_table(&made.source, &misses, MISSES_BY_METHOD, 0, NULL, &table, &err) == 0);
    CHECK_NUMBER("code that is not known is left out, and mmprof's", table.n_rows, 2);
    CHECK("and so of all", table.rows[1].cells[4].number == 65 && table.rows[0].cells[5].number == 1);
    CHECK_TEXT("it is said what part that is", table.notes[0],
               "Java code and the JVM's stubs only: 65 % of L1D misses, 80 % of L2 misses");
    misses_free(&misses);
    done(&made);
}

static void test_time(void)
{
    struct made made;
    struct table table;
    make(&made, true);
    rows_by(&made, "time", 0, &table);
    CHECK_NUMBER("a short recording has one step", table.n_rows, 1);
    const struct table_cell *cells = table.rows[0].cells;
    CHECK("with all misses", cells[1].number == 100 && cells[2].number == 50);
    CHECK("those of L2 by code", cells[4].number == 40 && cells[9].number == 0 && cells[10].number == 10);
    CHECK("and by memory", cells[11].number == 25 && cells[12].number == 15 && cells[13].number == 0);
    done(&made);
}

static void test_contents(void)
{
    struct made made;
    struct table table;
    make(&made, true);
    rows_by(&made, "contents", 0, &table);
    CHECK_NUMBER("a short recording has one step", table.n_rows, 1);
    const struct table_cell *cells = table.rows[0].cells;
    CHECK("of two reads, with the mean of lines in L2", cells[1].number == 2 && cells[2].number == 100);
    CHECK("of which in eden", cells[3].number == 90 / 200.0);
    CHECK("the old generation, stacks", cells[5].number == 60 / 200.0 && cells[7].number == 10 / 200.0);
    CHECK("and mmprof's", cells[13].number == 40 / 200.0);
    CHECK("most of the heap that was in use", cells[38].number == 12 && cells[39].number == 0 && cells[40].number == 5);
    CHECK("those of L1D", cells[14].number == 12 && cells[15].number == 14 / 24.0);
    rows_by(&made, "class", 0, &table);
    CHECK("a class' share of L2", table.rows[0].cells[17].number == 150 / 200.0);
    rows_by(&made, "space", 0, &table);
    CHECK("a generation's", table.rows[0].cells[17].number == 90 / 200.0);
    done(&made);
}

static void test_refused(void)
{
    struct made made;
    struct misses misses;
    enum misses_by by;
    bool by_class;
    make(&made, false);
    CHECK("a trace without misses is refused",
          misses_read(&made.source, false, MISSES_BY_CLASS, 0, &misses, &err) < 0 &&
              strstr(err.text, "does not record where misses occurred") != NULL);
    misses_free(&misses);
    CHECK("so is another way", misses_way("object", &by, &err) < 0);
    CHECK("and another way of fields", fields_way("object", "--view fields", &by_class, &err) < 0);
    CHECK("and a trace without bytecodes", misses_need_bytecodes(&made.source, &misses, &err) < 0);
    done(&made);
}

int main(void)
{
    test_ways();
    test_fields();
    test_decay();
    test_java();
    test_time();
    test_contents();
    test_refused();
    return tap_done();
}
