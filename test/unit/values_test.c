/* The calls of a method by the value that tells them apart: time, latency, waits, allocations; hostile texts. */
#include "report/view/values.h"

#include "report/sampled_tree.h"
#include "test/unit/table_printed.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

#include <math.h>
#include <unistd.h>

#define PARTS   (VIEW_PASS_SAMPLES | VIEW_PASS_VALUES | VIEW_PASS_WAIT_STACKS | VIEW_PASS_ALLOCATIONS)
#define HOSTILE "\x1b[31m<b>\"a\",\n=1"

enum { SERVE = 1, OTHER, ORDERS, HEALTH, MANY };

static struct arena arena;
static struct err err;

static void write_value(struct maker *m, uint32_t id, enum value_kind kind, const char *text)
{
    maker_must(m, trace_write_value(m->writer, &(struct trace_value){ id, SERVE, kind, text }, &m->err));
}

static void write_wait(struct maker *m, uint64_t ticks, enum trace_cause cause, uint64_t ns)
{
    const struct trace_wait wait = {
        .ticks = ticks, .cause = cause, .index = -1, .n = 1, .weight_ns = ns, .lock_class = "", .owner = TRACE_NO_THREAD
    };
    maker_must(m, trace_write_wait(m->writer, &wait, &m->err));
}

/* Thread 0 serves /orders twice, which serves HOSTILE within; and once nobody knows what.  It sleeps from 300 to 400.
 */
static void write_trace(struct maker *m)
{
    maker_open(m, "by-value");
    maker_thread(m, 0, "http-1", true);
    maker_method(m, SERVE, "shop/Servlet", "serve", "()V");
    maker_method(m, OTHER, "shop/Other", "run", "()V");
    write_value(m, ORDERS, VALUE_TEXT, "/orders");
    write_value(m, HEALTH, VALUE_TEXT, HOSTILE);
    write_value(m, MANY, VALUE_OTHER, "");
    KERNEL(m, AT(TRACE_CPU_IN, 0, 0), AT(TRACE_CPU_OUT, 0, 300), AT(TRACE_CPU_IN, 0, 400));
    STEPS(m, 0, ENTER(OTHER, 0), ENTER(ORDERS, 100), ENTER(HEALTH, 200), UNWIND(HEALTH, 500), EXIT(ORDERS, 600),
          ENTER(SERVE, 600), EXIT(SERVE, 650), ENTER(ORDERS, 700), ENTER(ORDERS, 750), EXIT(ORDERS, 780),
          EXIT(ORDERS, 800), ENTER(MANY, 900), EXIT(MANY, 950), EXIT(OTHER, 1000));
    write_wait(m, 350, TRACE_CAUSE_SOCKET, 100);
    write_wait(m, 760, TRACE_CAUSE_LOCK, 7);
    write_wait(m, 850, TRACE_CAUSE_LOCK, 1000);
    const struct trace_allocation allocation = { 710, 0, 0, -1, 0, "[B", 1000000, 1000 };
    maker_must(m, trace_write_allocation(m->writer, &allocation, &m->err));
    maker_info(m, "allocations.ns", "1000");
    maker_close(m, 1000);
}

/* The program marks ORDERS inside a call that it outlives, then HEALTH and ORDERS, and pauses at 450; a virtual thread
 * leaves its carrier while its mark is ORDERS. */
static void write_marks(struct maker *m)
{
    maker_open(m, "marks");
    maker_thread(m, 0, "main", true);
    maker_method(m, SERVE, "mmprof/Marks", "mark", "(Ljava/lang/String;)V");
    maker_method(m, OTHER, "shop/Other", "run", "()V");
    write_value(m, ORDERS, VALUE_TEXT, "parse");
    write_value(m, HEALTH, VALUE_TEXT, "write");
    write_value(m, MANY, VALUE_NULL, "");
    KERNEL(m, AT(TRACE_CPU_IN, 0, 0));
    STEPS(m, 0, ENTER(OTHER, 0), ENTER(ORDERS, 100), EXIT(ORDERS, 100), EXIT(OTHER, 200), ENTER(OTHER, 250),
          ENTER(HEALTH, 300), EXIT(HEALTH, 300), ENTER(ORDERS, 400), EXIT(ORDERS, 400), ENTER(MANY, 450),
          EXIT(MANY, 450), EXIT(OTHER, 600), MOUNT(0, 700), ENTER(ORDERS, 720), EXIT(ORDERS, 720), UNMOUNT(0, 800));
    maker_close(m, 1000);
}

static const struct values_row *row_of(const struct value_rows *values, const char *text)
{
    static const struct values_row none;
    for (size_t i = 0; i < values->n; i++)
        if (strcmp(values->rows[i].text, text) == 0)
            return &values->rows[i];
    return &none;
}

static void test_rows(const struct view_pass *pass, const struct report_source *whole)
{
    struct value_rows values;
    CHECK("a method's values are found", values_has(pass, "serve") && !values_has(pass, "run"));
    values_find(pass, whole, "Servlet.serve", &values);
    CHECK_NUMBER("there is a row for each, and one for what is not known", values.n, 4);
    const struct values_row *orders = row_of(&values, "/orders"), *hostile = row_of(&values, HOSTILE),
                            *unknown = row_of(&values, "(not known)"), *other = row_of(&values, "(other)");
    CHECK("calls are those that began",
          orders->calls == 3 && hostile->calls == 1 && unknown->calls == 1 && other->calls == 1);
    CHECK("exceptions are counted", orders->unwinds == 0 && hostile->unwinds == 1);
    CHECK("time is that on the CPU, of a recursive call the outermost", orders->ticks == 500 && hostile->ticks == 200);
    CHECK("latency is that of the wall", orders->longest == 500 && hostile->p50 == 300 && unknown->longest == 50);
    CHECK("a wait is of each value whose call is open",
          orders->waited_ns == 107 && hostile->waited_ns == 100 && orders->cause_ns[TRACE_CAUSE_SOCKET] == 100);
    CHECK("and of none outside", other->waited_ns == 0 && unknown->waited_ns == 0);
    CHECK("so is an allocation", orders->bytes > 0 && hostile->bytes == 0);
    CHECK("most time comes first", values.rows == orders);
    values_find(pass, whole, "Other.run", &values);
    CHECK_NUMBER("a trace without such a method has no rows", values.n, 0);
}

static void test_marks(const struct view_pass *pass, const struct report_source *whole)
{
    struct value_rows values;
    values_find(pass, whole, "mmprof.Marks.mark", &values);
    const struct values_row *parse = row_of(&values, "parse"), *write = row_of(&values, "write");
    CHECK_NUMBER("a pause is no mark", values.n, 2);
    CHECK("a mark lasts until the next one of its thread", write->ticks == 100 && write->ended == 1);
    CHECK("or until the virtual thread leaves its carrier", parse->ticks == 200 + 50 + 80 && parse->ended == 3);
    CHECK("and counts as often as it was set", write->calls == 1 && parse->calls == 3);
}

static void test_table(const struct view_pass *pass, const struct report_source *whole)
{
    const struct report_row_options rows = { .sort = "time", .top = 2 };
    static struct table table;
    char *text = NULL;
    values_table(pass, whole, "serve", &rows, &table);
    text = table_text(&table, &err);
    CHECK("text has no character that steers a terminal", text != NULL && strchr(text, '\x1b') == NULL);
    CHECK("rows beyond the top are one", text != NULL && strstr(text, "2 with less time") != NULL);
    CHECK("all calls are summed up", text != NULL && strstr(text, "all calls") != NULL);
    CHECK("a row says what most waits are for", text != NULL && strstr(text, "socket I/O 100 ns") != NULL);
    free(text);
    const char *csv = printed(&table, CSV, &arena), *json = printed(&table, JSON, &arena);
    CHECK("CSV quotes what a value has", csv != NULL && strstr(csv, "<b>\"\"a\"\",") != NULL);
    CHECK("JSON escapes it", json != NULL && strstr(json, "\\u001b[31m<b>\\\"a\\\",\\n=1") != NULL);
}

static int read_made(void (*write)(struct maker *m),
                     void (*test)(const struct view_pass *, const struct report_source *))
{
    struct view_pass_options options = { .parts = PARTS };
    struct view_pass pass;
    struct report_source whole;
    struct maker m;
    write(&m);
    options.path = m.path;
    int rc = view_pass_read(&options, &arena, &pass, &err);
    if (rc == 0) {
        sampled_tree(&pass.source, &pass.samples, false, &whole);
        test(&pass, &whole);
    }
    view_pass_close(&pass);
    unlink(m.path);
    return rc;
}

static void test_values(const struct view_pass *pass, const struct report_source *whole)
{
    test_rows(pass, whole);
    test_table(pass, whole);
}

int main(void)
{
    if (read_made(write_trace, test_values) < 0 || read_made(write_marks, test_marks) < 0) {
        printf("Bail out! %s\n", err.text);
        return 1;
    }
    arena_free(&arena);
    return tap_done();
}
