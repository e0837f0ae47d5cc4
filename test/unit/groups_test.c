/* The view 'groups' of made traces: packages, threads of one kind of name, requests, and a method of each class that
 * has it. */
#include "report/view/groups.h"

#include "report/sampled_tree.h"
#include "test/unit/table_printed.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

#include <math.h>
#include <unistd.h>

#define BLOCK     UINT64_C(2000000) /* ticks between samples: blocks of time of their own */
#define ALL_PARTS (VIEW_PASS_SAMPLES | VIEW_PASS_STATISTICS | VIEW_PASS_WAIT_STACKS | VIEW_PASS_ALLOCATIONS)

static struct arena arena;
static struct err err;

/* Methods by number; contexts 1 to 5 below. */
static const struct trace_sampled_method methods[] = {
    { { "java/lang/Thread", "run", "()V" }, "", 0, NULL, 0, NULL },
    { { "shop/web/Server$ItemServlet", "doGet", "()V" }, "", 0, NULL, 0, NULL },
    { { "shop/web/Server$CartServlet", "doGet", "()V" }, "", 0, NULL, 0, NULL },
    { { "shop/db/Table", "scan", "()V" }, "", 0, NULL, 0, NULL },
    { { "java/util/Arrays", "copyOf", "()V" }, "", 0, NULL, 0, NULL },
};

enum { RUN = 1, ITEM, CART, ITEM_SCAN, CART_COPY };

static void write_contexts(struct maker *m)
{
    static const struct {
        uint32_t parent, method;
    } nodes[] = { { 0, 0 }, { RUN, 1 }, { RUN, 2 }, { ITEM, 3 }, { CART, 4 } };
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        maker_stack(m, nodes[i].parent, -1, nodes[i].method, &methods[nodes[i].method], 0, 0);
}

static void write_sample(struct maker *m, uint32_t thread, uint32_t context, uint64_t ticks, uint64_t ns)
{
    const struct trace_sample sample = {
        .ticks = ticks, .thread = thread, .context = context, .index = -1, .n = 1, .weight_ns = ns
    };
    maker_must(m, trace_write_sample(m->writer, &sample, &m->err));
}

static void write_wait(struct maker *m, uint32_t thread, enum trace_cause cause, uint32_t context, uint64_t ns)
{
    const struct trace_wait wait = { .ticks = 1000,
                                     .thread = thread,
                                     .cause = cause,
                                     .context = context,
                                     .index = -1,
                                     .n = 1,
                                     .weight_ns = ns,
                                     .lock_class = "",
                                     .owner = TRACE_NO_THREAD };
    maker_must(m, trace_write_wait(m->writer, &wait, &m->err));
}

/* Two threads serve, one of them waits for the database, the other one allocates; 10 us in each context of each. */
static void write_samples(struct maker *m)
{
    maker_open(m, "groups");
    maker_info(m, "recording.mode", "samples");
    maker_info(m, "sample.period_ns", "1000");
    maker_thread(m, 0, "main", false);
    maker_thread(m, 1, "http-1", false);
    maker_thread(m, 2, "http-20", false);
    maker_thread(m, 3, "GC Thread#0", false);
    write_contexts(m);
    for (uint64_t i = 0; i < 10; i++) {
        write_sample(m, 1, ITEM_SCAN, BLOCK * i, 3000);
        write_sample(m, 1, ITEM, BLOCK * i, 1000);
        write_sample(m, 2, CART_COPY, BLOCK * i, 2000);
        write_sample(m, 0, 0, BLOCK * i, 500);
        write_sample(m, 3, 0, BLOCK * i, 3500);
    }
    write_wait(m, 1, TRACE_CAUSE_SOCKET, ITEM_SCAN, 7000);
    write_wait(m, 2, TRACE_CAUSE_MONITOR, CART, 2000);
    write_wait(m, 2, TRACE_CAUSE_READY, 0, 1000);
    write_wait(m, 2, TRACE_CAUSE_ON_CPU, 0, 50000);
    write_wait(m, 3, TRACE_CAUSE_PARK, 0, 90000);
    const struct trace_allocation allocation = { 500, 2, CART_COPY, 7, 0, "[B", 1000000, 1000 };
    maker_must(m, trace_write_allocation(m->writer, &allocation, &m->err));
    maker_info(m, "allocations.ns", "2000000000");
    maker_close(m, 10 * BLOCK);
}

/* A METHOD of the trace, "package" or "thread"; its pass is to be closed.  Returns groups_find's result. */
static int find(const struct maker *m, const char *argument, struct view_pass *pass, struct report_source *whole,
                struct groups *groups)
{
    const struct view_pass_options options = { .path = m->path,
                                               .parts = ALL_PARTS,
                                               .libraries = folding_read(NULL, &arena, &err) };
    if (view_pass_read(&options, &arena, pass, &err) < 0) {
        printf("Bail out! %s\n", err.text);
        exit(1);
    }
    sampled_tree(&pass->source, &pass->samples, false, whole);
    return groups_find(pass, whole, argument, groups, &err);
}

static const struct groups_row *row_of(const struct groups *groups, const char *label)
{
    static const struct groups_row none;
    for (size_t i = 0; i < groups->n; i++)
        if (strcmp(groups->rows[i].label, label) == 0)
            return &groups->rows[i];
    return &none;
}

static bool adds_up(const struct groups *groups)
{
    struct group_sums sum = groups->rest;
    for (size_t i = 0; i < groups->n; i++) {
        sum.ticks += groups->rows[i].own.ticks;
        sum.waited_ns += groups->rows[i].own.waited_ns;
        sum.bytes += groups->rows[i].own.bytes;
    }
    sum.ticks += (double)groups->shares.part_ticks[VM_PART_GC];
    return fabs(sum.ticks - groups->total.ticks) < 2 && sum.waited_ns == groups->total.waited_ns &&
           fabs(sum.bytes - groups->total.bytes) < 1;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) < 2;
}

static void test_packages(const struct maker *m)
{
    struct view_pass pass;
    struct report_source whole;
    struct groups groups;
    CHECK_NUMBER("packages are found", find(m, "package", &pass, &whole, &groups), 0);
    const struct groups_row *java = row_of(&groups, "java.lang"), *web = row_of(&groups, "shop.web"),
                            *db = row_of(&groups, "shop.db");
    CHECK("most time of its own comes first", groups.n == 4 && &groups.rows[0] == db && is_near(db->own.ticks, 30000));
    CHECK("a caller's package has all time, and none of its own",
          is_near(java->all.ticks, 60000) && java->own.ticks == 0);
    CHECK("a package's time has what it calls", is_near(web->all.ticks, 60000) && is_near(web->own.ticks, 10000));
    CHECK("waits are those of a package's calls, too",
          web->all.waited_ns == 9000 && web->own.waited_ns == 2000 && web->cause_ns[TRACE_CAUSE_SOCKET] == 7000);
    CHECK("and bytes", web->all.bytes > 999999 && web->own.bytes == 0 && row_of(&groups, "java.util")->own.bytes > 0);
    CHECK("what has no Java stack is in none", is_near(groups.rest.ticks, 5000) && groups.rest.waited_ns == 1000);
    CHECK("all that is own adds up to the whole, the collector's threads too",
          adds_up(&groups) && is_near(groups.total.ticks, 100000) && groups.total.waited_ns == 10000);
    /* Of 50 independent samples 0.14; these differ from their neighbours more than such. */
    CHECK("its share has the error of samples that are drawn",
          web->time_error > 0.12 && web->time_error < 0.24 && web->n_samples == 30);
    view_pass_close(&pass);
}

static void test_threads(const struct maker *m)
{
    struct view_pass pass;
    struct report_source whole;
    struct groups groups;
    CHECK_NUMBER("threads are found", find(m, "thread", &pass, &whole, &groups), 0);
    const struct groups_row *http = row_of(&groups, "http-*"), *main = row_of(&groups, "main");
    CHECK("names that differ in the number at their end are one", groups.n == 2 && http->n_threads == 2);
    CHECK("with their time, and what they waited for",
          is_near(http->all.ticks, 60000) && http->all.waited_ns == 10000 &&
              http->cause_ns[TRACE_CAUSE_MONITOR] == 2000 && http->cause_ns[TRACE_CAUSE_READY] == 1000);
    CHECK("and bytes", http->all.bytes > 999999 && main->all.bytes == 0);
    CHECK("a thread alone has its name", main->n_threads == 1 && is_near(main->all.ticks, 5000));
    CHECK("threads add up", adds_up(&groups) && groups.rest.ticks == 0);
    view_pass_close(&pass);
}

static void test_requests(const struct maker *m)
{
    struct view_pass pass;
    struct report_source whole;
    struct groups groups;
    CHECK_NUMBER("requests are found", find(m, "request", &pass, &whole, &groups), 0);
    const struct groups_row *item = row_of(&groups, "Server$ItemServlet.doGet"),
                            *cart = row_of(&groups, "Server$CartServlet.doGet");
    CHECK("they are what libraries call of the program", groups.n == 2 && &groups.rows[0] == item);
    CHECK("with all that they call", is_near(item->all.ticks, 40000) && is_near(cart->all.ticks, 20000));
    CHECK("and wait for, and allocate", item->all.waited_ns == 7000 && item->cause_ns[TRACE_CAUSE_SOCKET] == 7000 &&
                                            cart->all.waited_ns == 2000 && cart->all.bytes > 999999);
    CHECK("the interval is that of the samples in them",
          item->n_samples == 20 && item->time_error > 0.05 && item->time_error < 0.24);
    CHECK("what is in none is the rest", is_near(groups.rest.ticks, 5000) && groups.rest.waited_ns == 1000);
    CHECK("requests add up", adds_up(&groups) && groups.total.waited_ns == 10000);
    struct table table;
    CHECK_NUMBER("two kinds are a table for the screen", groups_requests(&pass, &whole, &table, &err), 1);
    CHECK("of requests alone", table.n_rows == 2);
    view_pass_close(&pass);
}

/* A trace whose thread 1 has these contexts, each of a method of its own. */
static void begin_samples(struct maker *m, const char *name, const struct trace_sampled_method *called,
                          const uint32_t *parents, uint32_t n)
{
    maker_open(m, name);
    maker_info(m, "recording.mode", "samples");
    maker_info(m, "sample.period_ns", "1000");
    maker_thread(m, 0, "main", false);
    maker_thread(m, 1, "pool-1", false);
    for (uint32_t i = 0; i < n; i++)
        maker_stack(m, parents[i], -1, i, &called[i], 0, 0);
}

/* A server calls a lambda, which calls a method that chooses among handlers of three classes. */
static void test_dispatcher_in_lambda(void)
{
    static const struct trace_sampled_method called[] = {
        { { "java/lang/Thread", "run", "()V" }, "", 0, NULL, 0, NULL },
        { { "shop/Web", "lambda$main$0", "()V" }, "", 0, NULL, 0, NULL },
        { { "shop/Web", "respond", "()V" }, "", 0, NULL, 0, NULL },
        { { "shop/Items", "handle", "()V" }, "", 0, NULL, 0, NULL },
        { { "shop/Carts", "handle", "()V" }, "", 0, NULL, 0, NULL },
        { { "shop/Users", "handle", "()V" }, "", 0, NULL, 0, NULL },
    };
    static const uint32_t parents[] = { 0, 1, 2, 3, 3, 3 };
    struct maker m;
    struct view_pass pass;
    struct report_source whole;
    struct groups groups;
    begin_samples(&m, "dispatcher", called, parents, 6);
    for (uint64_t i = 0; i < 30; i++)
        write_sample(&m, 1, 4 + (uint32_t)(i % 3), BLOCK * i, 1000);
    maker_close(&m, 30 * BLOCK);
    CHECK_NUMBER("requests of handlers are found", find(&m, "request", &pass, &whole, &groups), 0);
    CHECK("they are the handlers, not the lambda, nor what only chooses",
          is_near(row_of(&groups, "Items.handle")->all.ticks, 10000) &&
              is_near(row_of(&groups, "Users.handle")->all.ticks, 10000) &&
              row_of(&groups, "Web.respond")->all.ticks < 1);
    view_pass_close(&pass);
    unlink(m.path);
}

/* A pool runs two lambdas: one calls a method and has a twentieth of the time itself, one has a fifth. */
static void test_lambdas(void)
{
    static const struct trace_sampled_method called[] = {
        { { "java/lang/Thread", "run", "()V" }, "", 0, NULL, 0, NULL },
        { { "shop/Jobs", "lambda$go$0", "()V" }, "", 0, NULL, 0, NULL },
        { { "shop/Jobs", "index", "()V" }, "", 0, NULL, 0, NULL },
        { { "shop/Jobs", "lambda$go$1", "()V" }, "", 0, NULL, 0, NULL },
        { { "shop/Jobs", "mix", "()V" }, "", 0, NULL, 0, NULL },
    };
    static const uint32_t parents[] = { 0, 1, 2, 1, 4 };
    struct maker m;
    struct view_pass pass;
    struct report_source whole;
    struct groups groups;
    begin_samples(&m, "lambdas", called, parents, 5);
    for (uint64_t i = 0; i < 20; i++) {
        write_sample(&m, 1, i < 19 ? 3 : 2, BLOCK * i, 1000);
        write_sample(&m, 1, i < 16 ? 5 : 4, BLOCK * i, 1000);
    }
    write_wait(&m, 1, TRACE_CAUSE_SOCKET, 3, 7000);
    maker_close(&m, 20 * BLOCK);
    CHECK_NUMBER("requests in lambdas are found", find(&m, "request", &pass, &whole, &groups), 0);
    const struct groups_row *index = row_of(&groups, "Jobs.index"), *mix = row_of(&groups, "Jobs.lambda$go$1");
    CHECK("what a lambda only calls is the request, with its waits",
          is_near(index->all.ticks, 19000) && index->all.waited_ns == 7000);
    CHECK("the lambda has the rest", is_near(row_of(&groups, "Jobs.lambda$go$0")->all.ticks, 1000));
    CHECK("a lambda that works itself is the request", is_near(mix->all.ticks, 20000) && groups.n == 3);
    view_pass_close(&pass);
    unlink(m.path);
}

static void test_names(void)
{
    CHECK("a number at the end is any",
          strcmp(groups_thread_pattern(&arena, "pool-3-thread-12"), "pool-3-thread-*") == 0);
    CHECK("one before it is not",
          strcmp(groups_thread_pattern(&arena, "HikariPool-1 closer"), "HikariPool-1 closer") == 0);
}

static void test_methods(const struct maker *m)
{
    struct view_pass pass;
    struct report_source whole;
    struct groups groups;
    CHECK_NUMBER("a method is found", find(m, "doGet", &pass, &whole, &groups), 0);
    const struct groups_row *item = &groups.rows[0];
    CHECK("each class has a row, that with most time first",
          groups.n == 4 && strcmp(item->label, "Server$ItemServlet.doGet") == 0 &&
              strcmp(groups.rows[2].label, "Server$CartServlet.doGet") == 0);
    const struct groups_row *caller = &groups.rows[1];
    CHECK("and behind it one for each caller", strcmp(caller->label, "  from Thread.run") == 0 &&
                                                   caller->caller_of != GROUPS_NONE && item->caller_of == GROUPS_NONE);
    CHECK("with the time and waits of these calls, and none of its own",
          is_near(caller->all.ticks, 40000) && caller->all.waited_ns == 7000 && caller->own.ticks == 0 &&
              caller->own.waited_ns == 0 && caller->n_samples == item->n_samples);
    CHECK("with all that it calls", is_near(item->all.ticks, 40000) && is_near(item->own.ticks, 40000));
    CHECK("waits, too", item->all.waited_ns == 7000 && item->own.waited_ns == 7000);
    CHECK("what is in no such call is the rest", is_near(groups.rest.ticks, 5000) && adds_up(&groups));
    CHECK("without probes calls are not known", item->calls == 0 && isnan(item->p50));
    view_pass_close(&pass);
    CHECK("a pattern of classes is fine", find(m, "*Servlet.doGet", &pass, &whole, &groups) == 0 && groups.n == 4);
    view_pass_close(&pass);
    CHECK("one class of several", find(m, "CartServlet.doGet", &pass, &whole, &groups) == 0 && groups.n == 2);
    view_pass_close(&pass);
    CHECK("a name that no method has is refused, with one that is alike",
          find(m, "doGot", &pass, &whole, &groups) < 0 && strstr(err.text, "doGet") != NULL);
    view_pass_close(&pass);
}

/* Calls of 10 to 100 ns of one class, one of 50 of another one inside of none. */
static void test_calls(void)
{
    struct maker m;
    struct view_pass pass;
    struct report_source whole;
    struct groups groups;
    maker_open(&m, "group_calls");
    maker_thread(&m, 0, "main", true);
    maker_method(&m, 0, "shop/ItemServlet", "doGet", "()V");
    maker_method(&m, 1, "shop/CartServlet", "doGet", "()V");
    for (uint64_t i = 1, now = 0; i <= 10; now += 10 * i++)
        STEPS(&m, 0, ENTER(0, now), EXIT(0, now + 10 * i));
    STEPS(&m, 0, ENTER(1, 600), EXIT(1, 650));
    maker_close(&m, 1000);
    CHECK_NUMBER("calls are found", find(&m, "doGet", &pass, &whole, &groups), 0);
    CHECK("they are counted", groups.n == 2 && groups.rows[0].calls == 10 && groups.rows[1].calls == 1);
    CHECK("the half of them, and the longest",
          fabs(groups.rows[0].p50 - 50) < 1 && groups.rows[0].longest == 100 && groups.rows[1].longest == 50);
    CHECK("measured time has no interval", isnan(groups.rows[0].time_error) && groups.rows[0].all.ticks == 550);
    view_pass_close(&pass);
    unlink(m.path);
}

static void test_table(const struct maker *m)
{
    struct view_pass pass;
    struct report_source whole;
    struct groups groups;
    struct table table;
    const struct report_row_options options = { .sort = "time", .top = 1, .min_share = 0.01 };
    find(m, "thread", &pass, &whole, &groups);
    CHECK_NUMBER("a table is made", groups_table(&pass, &whole, "thread", &options, &table, &err), 0);
    const char *text = printed(&table, TEXT, &arena), *csv = printed(&table, CSV, &arena);
    CHECK("a row says what most waits are for", strstr(text, "socket I/O 7.00 us") != NULL);
    CHECK("what is not printed is one row", strstr(text, "1 smaller one ") != NULL && strstr(text, "\nmain ") == NULL);
    CHECK("the last one is all", strstr(csv, "\r\ntotal,total,") != NULL);
    view_pass_close(&pass);
}

int main(void)
{
    struct maker m;
    write_samples(&m);
    test_packages(&m);
    test_threads(&m);
    test_requests(&m);
    test_lambdas();
    test_dispatcher_in_lambda();
    test_names();
    test_methods(&m);
    test_table(&m);
    test_calls();
    unlink(m.path);
    arena_free(&arena);
    return tap_done();
}
