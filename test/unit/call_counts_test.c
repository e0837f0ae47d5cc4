/* Calls by their stacks, and what compiled code makes of them. */
#include "report/jit/call_counts.h"
#include "test/unit/tap.h"

/*
 * p.A.main calls run (its call 0), which calls few (0), many (1), rare (2) and, of an interface, size (3); few calls
 * get (0).  In C2's code of run, few is inlined, and get in it without a trace; many is a call; rare goes back to the
 * interpreter; of size there are p.B's, which is inlined, and p.C's, a call.  Nothing else has code.
 */
static const char text[] = "mmprof-calls 1\n"
                           "called p/A run ()V\n"   /* 1 */
                           "called p/A few ()V\n"   /* 2 */
                           "called p/A get ()V\n"   /* 3 */
                           "called p/A many ()V\n"  /* 4 */
                           "called p/A rare ()V\n"  /* 5 */
                           "called p/B size ()V\n"  /* 6 */
                           "called p/C size ()V\n"  /* 7 */
                           "called p/A other ()V\n" /* 8 */
                           "site p/A main ()V 4 10 0\n"
                           "site p/A run ()V 1 20 0\n"
                           "site p/A run ()V 5 21 1\n"
                           "site p/A run ()V 9 22 2\n"
                           "site p/A run ()V 13 23 3\n"
                           "site p/A few ()V 2 30 0\n"
                           "site p/A many ()V 2 40 0\n"
                           "stack 2 1 1\n"
                           "stack 100 2 2 1\n"
                           "stack 100 3 6 2 1\n"
                           "stack 50 4 3 1\n"
                           "stack 1 5 4 1\n"
                           "stack 20 6 5 1\n"
                           "stack 10 7 5 1\n"
                           "stack 50 8 7 3 1\n"
                           "end 400 333\n";

enum { MAIN, RUN, FEW, GET, MANY, SIZE_B, SIZE_C, N_METHODS };

#define PROBE                                                                                    \
    {                                                                                            \
        .index = 0, .class_name = "java/lang/MmprofProbe", .name = "enter", .descriptor = "(I)I" \
    }
#define CALL(at, of)                                                                                          \
    {                                                                                                         \
        .index = at, .class_name = "p/A", .name = of, .descriptor = "()V", .is_counted = true, .n_reached = 9 \
    }

/* As it is, and with a probe in front, which moves all that follows. */
static struct jit_instruction in_run[] = { CALL(1, "few"), CALL(5, "many"), CALL(9, "rare"), CALL(13, "size") };
static struct jit_instruction with_probe[] = { PROBE, CALL(11, "few"), CALL(15, "many"), CALL(19, "rare"),
                                               CALL(23, "size") };
static struct jit_instruction in_few[] = { { .index = 1, .is_allocation = true }, CALL(2, "get") };

static struct compiled_method methods[N_METHODS] = {
    [MAIN] = { .class_name = "p/A", .name = "main", .descriptor = "()V" },
    [RUN] = { .class_name = "p/A", .name = "run", .descriptor = "()V", .instructions = in_run, .n_instructions = 4 },
    [FEW] = { .class_name = "p/A", .name = "few", .descriptor = "()V", .instructions = in_few, .n_instructions = 2 },
    [GET] = { .class_name = "p/A", .name = "get", .descriptor = "()V" },
    [MANY] = { .class_name = "p/A", .name = "many", .descriptor = "()V" },
    [SIZE_B] = { .class_name = "p/B", .name = "size", .descriptor = "()V" },
    [SIZE_C] = { .class_name = "p/C", .name = "size", .descriptor = "()V" },
};

/* A piece of code of run, and what is left at its bytecodes: index by index, 0 flags end them. */
struct made {
    struct inline_node nodes[3];
    uint32_t numbers[3], n;
    struct inline_point points[8];
};

static void put_point(struct inline_tree *tree, int32_t index, unsigned flags)
{
    struct hash_slot *slot = hash_put(&tree->by_point, hash_address((uint32_t)index));
    tree->points[tree->n_points] = (struct inline_point){ 0, index, flags };
    slot->value = ++tree->n_points;
}

static uint32_t tier = JIT_TIER_C2;

static void make_code(struct jit_code *code, struct made *made, bool has_probe)
{
    const int32_t moved = has_probe ? 10 : 0;
    made->nodes[0] = (struct inline_node){ .method = RUN, .caller = INLINE_ROOT, .index = -1 };
    made->nodes[1] = (struct inline_node){ .method = SIZE_B, .index = 13 + moved };
    made->nodes[2] = (struct inline_node){ .method = FEW, .index = 1 + moved };
    for (uint32_t i = 0; i < 3; i++)
        made->numbers[i] = (uint32_t)made->nodes[i].method;
    *code = (struct jit_code){
        .number = 7, .tier = tier, .entry_index = -1, .method = RUN, .is_there = true, .methods = made->numbers
    };
    code->tree = (struct inline_tree){ .nodes = made->nodes, .points = made->points, .n_nodes = has_probe ? 2 : 3 };
    put_point(&code->tree, 5 + moved, INLINE_CALLS);
    put_point(&code->tree, 9 + moved, INLINE_TRAPS);
    put_point(&code->tree, 13 + moved, INLINE_CALLS);
    if (has_probe)
        put_point(&code->tree, 1 + moved, INLINE_CALLS);
    methods[RUN].instructions = has_probe ? with_probe : in_run;
    methods[RUN].n_instructions = has_probe ? 5 : 4;
}

static void judge(struct call_counts *counts, enum call_run run)
{
    static const bool are_there[] = { true };
    struct compiled_method *all[N_METHODS];
    struct jit_code code;
    struct made made;
    for (size_t i = 0; i < N_METHODS; i++)
        all[i] = &methods[i];
    make_code(&code, &made, run == CALLS_WITH_PROBES);
    const struct jit_codes codes = { .all = &code, .n = 1, .methods = all, .n_methods = N_METHODS };
    call_counts_judge(counts, run, &codes, are_there, 1);
    hash_free(&code.tree.by_point);
}

static const struct table_cell *row_of(const struct table *table, const char *label, const char *called)
{
    for (size_t i = 0; i < table->n_rows; i++)
        if (strcmp(table->rows[i].cells[0].words, label) == 0 &&
            (called == NULL || strcmp(table->rows[i].cells[1].words, called) == 0))
            return table->rows[i].cells;
    return NULL;
}

static int read_text(struct call_counts *counts, const char *at, struct err *err)
{
    return call_counts_read(counts, arena_text(counts->arena, at, strlen(at)), strlen(at), "x", err);
}

static bool is_near(const struct table_cell *cell, double number)
{
    return cell->value == TABLE_NUMBER && cell->number > number - 1e-9 && cell->number < number + 1e-9;
}

static void test_table(void)
{
    static const struct {
        const char *claim, *label;
        double calls, as_it_runs, with_probes, perturbation;
    } rows[] = {
        { "what is inlined is not left, but a probe may be the reason that it is", "A.run:20", 100, 0, 1, 1 },
        { "nor is what is inlined in it without a trace", "A.few:30", 100, 0, 1, 1 },
        { "a call in compiled code is left", "A.run:21", 50, 1, 1, 0 },
        { "so is one that the code did not expect", "A.run:22", 1, 1, 1, 0 },
        { "of an interface's, those of the class that is not inlined", "A.run:23", 30, 1.0 / 3, 1.0 / 3, 0 },
        { "what calls without compiled code is interpreted", "A.many:40", 50, 1, 1, 0 },
        { "the sum", "all", 333, 113.0 / 333, 313.0 / 333, 200.0 / 333 },
    };
    struct arena arena = { 0 };
    struct call_counts counts;
    struct table table;
    struct err err;
    call_counts_init(&counts, &arena, 1);
    CHECK("calls are read", read_text(&counts, text, &err) == 0 && counts.n_sites == 7 && counts.n_seen == 400);
    judge(&counts, CALLS_AS_IT_RUNS);
    judge(&counts, CALLS_WITH_PROBES);
    call_counts_table(&counts, "java Main", 0, &table);
    CHECK("a row for each site, and one for all", table.n_rows == 8);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct table_cell *cells = row_of(&table, rows[i].label, NULL);
        CHECK(rows[i].claim, cells != NULL && is_near(&cells[2], rows[i].calls) &&
                                 is_near(&cells[4], rows[i].as_it_runs) && is_near(&cells[5], rows[i].with_probes) &&
                                 is_near(&cells[6], rows[i].perturbation));
    }
    CHECK_TEXT("that with most calls that are left is the first", table.rows[0].cells[0].words, "A.run:20");
    CHECK("what is above the table has the sum in JSON, too",
          is_near(&table.metadata[4].cell, 113.0 / 333) && is_near(&table.metadata[5].cell, 313.0 / 333));
    CHECK("of C2's code there is no doubt", table.n_notes > 0 && !table.is_doubt[0]);
    tier = 3;
    judge(&counts, CALLS_AS_IT_RUNS);
    call_counts_table(&counts, "java Main", 0, &table);
    CHECK_TEXT("a run that ends in code of an early tier was not warmed up", table.notes[0],
               "not warmed up: as it runs, 84 % of the calls were in code of tiers 2 and 3, which C2 replaces later: "
               "give a command that runs for longer");
    call_counts_free(&counts);
    arena_free(&arena);
}

static void test_refused(void)
{
    static const struct {
        const char *claim, *text;
    } rows[] = {
        { "another first line is refused", "mmprof-objects 1\nend 0 0\n" },
        { "text without an end is refused", "mmprof-calls 1\n" },
        { "a line of another kind is refused", "mmprof-calls 1\nmethod A b ()V\nend 0 0\n" },
        { "a site without an ordinal is refused", "mmprof-calls 1\nsite A b ()V 1 1\nend 0 0\n" },
        { "a site whose ordinal is none is refused", "mmprof-calls 1\nsite A b ()V 1 1 -2\nend 0 0\n" },
        { "a stack of a method that is not there is refused",
          "mmprof-calls 1\nsite A b ()V 1 1 0\nstack 1 1 1\nend 1 1\n" },
        { "a stack of a site that is not there is refused", "mmprof-calls 1\ncalled A b ()V\nstack 1 1 1\nend 1 1\n" },
        { "a stack without a call site is refused", "mmprof-calls 1\ncalled A b ()V\nstack 1 1\nend 1 1\n" },
        { "nor is one whose call site is not known a stack",
          "mmprof-calls 1\ncalled A b ()V\nstack 1 1 0 1\nend 1 1\n" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = { 0 };
        struct call_counts counts;
        struct err err;
        call_counts_init(&counts, &arena, 1);
        CHECK(rows[i].claim, read_text(&counts, rows[i].text, &err) < 0 && strstr(err.text, "next: ") != NULL);
        call_counts_free(&counts);
        arena_free(&arena);
    }
}

int main(void)
{
    test_table();
    test_refused();
    return tap_done();
}
