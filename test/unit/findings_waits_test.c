/* Findings on waiting, and on calls of one value: each rule just above its threshold and just below it. */
#include "test/unit/findings_printed.h"

enum {
    IN_QUOTE = 1,
    IN_COMPUTE,
    IN_SLEEP,
    IN_DRIVER,
    IN_READ,
    IN_TAKE,
    IN_PARK,
    IN_TASK,
    IN_POOL,
    IN_FORCE,
    IN_NAME,
    IN_WORKER,
    IN_ORDER,
    IN_RETRY,
    IN_ITEM,
    IN_ITEM_PARK,
    IN_PUT,
    IN_LINE
};

/* quote computes, which sleeps; reads from a driver's socket; takes from a queue.  A pool's thread waits for tasks, and
 * or sleeps in one. */
static void write_wait_contexts(struct maker *m)
{
    static const struct {
        uint32_t parent;
        const char *class_name, *method;
    } nodes[] = { { 0, "com/acme/Shop", "quote" },
                  { IN_QUOTE, "com/acme/Shop", "compute" },
                  { IN_COMPUTE, "java/lang/Thread", "sleep" },
                  { IN_QUOTE, "org/h2/Driver", "query" },
                  { IN_DRIVER, "java/net/SocketInputStream", "read" },
                  { IN_QUOTE, "java/util/concurrent/ArrayBlockingQueue", "take" },
                  { IN_TAKE, "jdk/internal/misc/Unsafe", "park" },
                  { 0, "java/util/concurrent/ThreadPoolExecutor", "getTask" },
                  { IN_TASK, "java/util/concurrent/LinkedBlockingQueue", "take" },
                  { IN_QUOTE, "sun/nio/ch/FileChannelImpl", "force" },
                  { IN_QUOTE, "java/net/InetAddress", "getByName" },
                  { 0, "java/util/concurrent/ThreadPoolExecutor", "runWorker" },
                  { IN_WORKER, "com/acme/Shop", "order" },
                  { IN_ORDER, "java/lang/Thread", "sleep" },
                  { IN_ORDER, "java/util/concurrent/ArrayBlockingQueue", "take" },
                  { IN_ITEM, "jdk/internal/misc/Unsafe", "park" },
                  { IN_ORDER, "java/util/concurrent/ArrayBlockingQueue", "put" },
                  { IN_ORDER, "java/io/DataInputStream", "readInt" } };
    static struct trace_sampled_method methods[sizeof nodes / sizeof *nodes];
    for (uint32_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        methods[i] = (struct trace_sampled_method){ .names.class_name = nodes[i].class_name,
                                                    .names.method = nodes[i].method,
                                                    .names.descriptor = "()V" };
        maker_stack(m, nodes[i].parent, -1, i, &methods[i], 0, 0);
    }
}

struct waiting_case {
    const char *claim;
    uint32_t every; /* of 80 visits in 10 s: it waits in each such one, and runs in the others */
    enum trace_cause cause;
    uint32_t context, owner_context;
    const char *lock_class, *lines;
    bool is_pooled; /* it waits for tasks when it does not wait so */
};

static void check_waits(const struct waiting_case *c)
{
    struct view_pass pass;
    struct maker m;
    maker_open(&m, "waits.dat");
    maker_thread(&m, 0, "http-1", false);
    write_wait_contexts(&m);
    for (uint32_t i = 1; i <= 80; i++) {
        bool waits = i % c->every == 0;
        const struct trace_wait wait = { .ticks = i * UINT64_C(125000000),
                                         .cause = waits          ? c->cause
                                                  : c->is_pooled ? TRACE_CAUSE_PARK
                                                                 : TRACE_CAUSE_ON_CPU,
                                         .context = waits          ? c->context
                                                    : c->is_pooled ? IN_POOL
                                                                   : 0,
                                         .index = -1,
                                         .n = 1,
                                         .weight_ns = 125000000,
                                         .lock_class = waits ? c->lock_class : "",
                                         .owner = TRACE_NO_THREAD,
                                         .owner_context = waits ? c->owner_context : 0 };
        maker_must(&m, trace_write_wait(m.writer, &wait, &m.err));
    }
    maker_close(&m, UINT64_C(10000000000));
    const struct view_pass_options options = { .path = m.path,
                                               .parts = VIEW_PASS_SAMPLES | VIEW_PASS_FINDINGS,
                                               .libraries = folding_read(NULL, &arena, &err) };
    maker_must(&m, view_pass_read(&options, &arena, &pass, &m.err));
    CHECK_TEXT(c->claim, lines_of(&pass.source, &pass), c->lines);
    const struct findings_input input = input_of(&pass.source, &pass);
    const struct findings found = findings_find(&input);
    CHECK("whose size is threads", found.n == 0 || strstr(found.all[0].size, " threads on average") != NULL);
    view_pass_close(&pass);
    arena_free(&arena);
}

static void test_waits(void)
{
    static const struct waiting_case rows[] = {
        { "a monitor that others wait for, and who holds it", 2, TRACE_CAUSE_MONITOR, IN_QUOTE, IN_SLEEP,
          "java/util/LinkedHashMap",
          "* Shop.quote waits for a monitor (LinkedHashMap) that Shop.quote holds while in Shop.compute: 5.00 s in "
          "10.0 s, 0.5 threads on average (--view locks)\n"
          "\n",
          false },
        { "not one for a tenth of the time", 10, TRACE_CAUSE_MONITOR, IN_QUOTE, IN_SLEEP, "java/util/LinkedHashMap", "",
          false },
        { "a socket, by the program's own method, not the driver's", 4, TRACE_CAUSE_SOCKET, IN_READ, 0, "",
          "* Shop.quote waits for a socket (Driver.query): 2.50 s in 10.0 s, 0.2 threads on average (--view waits)\n"
          "\n",
          false },
        { "not for a tenth of the time", 10, TRACE_CAUSE_SOCKET, IN_READ, 0, "", "", false },
        { "nor where a thread of its own does nothing but read", 1, TRACE_CAUSE_SOCKET, IN_READ, 0, "", "", false },
        { "a disk that must have the data", 4, TRACE_CAUSE_FILE, IN_FORCE, 0, "",
          "* Shop.quote waits for the disk to store its data; force once for several records (FileChannelImpl.force): "
          "2.50 s in 10.0 s, 0.2 threads on average (--view waits)\n\n",
          false },
        { "a name look-up, however it waits", 4, TRACE_CAUSE_UNKNOWN, IN_NAME, 0, "",
          "* Shop.quote waits for a name look-up (InetAddress.getByName): 2.50 s in 10.0 s, 0.2 threads on average "
          "(--view waits)\n\n",
          false },
        { "not for a tenth of the time", 10, TRACE_CAUSE_UNKNOWN, IN_NAME, 0, "", "", false },
        { "nor where a pool's thread serves one connection", 1, TRACE_CAUSE_SOCKET, IN_LINE, 0, "", "", false },
        { "which it does for half of its time", 2, TRACE_CAUSE_SOCKET, IN_LINE, 0, "", "", false },
        { "but in a task of a pool", 2, TRACE_CAUSE_SOCKET, IN_LINE, 0, "",
          "* Shop.order waits for a socket (DataInputStream.readInt): 5.00 s in 10.0 s, 0.5 threads on average (--view "
          "waits)\n\n",
          true },
        { "a pool with nothing left", 2, TRACE_CAUSE_PARK, IN_ITEM_PARK, 0, "",
          "* Shop.order waits for a queue or pool that is empty (ArrayBlockingQueue.take): 5.00 s in 10.0 s, 0.5 "
          "threads on "
          "average (--view waits)\n"
          "\n",
          true },
        { "not for a tenth of the time", 10, TRACE_CAUSE_PARK, IN_ITEM_PARK, 0, "", "", true },
        { "nor where that is all that the thread does", 1, TRACE_CAUSE_PARK, IN_ITEM_PARK, 0, "", "", true },
        { "nor one that is full", 2, TRACE_CAUSE_PARK, IN_PUT, 0, "", "", true },
        { "nor a thread of its own that takes what comes", 2, TRACE_CAUSE_PARK, IN_PARK, 0, "", "", false },
        { "a pool's thread without work is none", 2, TRACE_CAUSE_PARK, IN_POOL, 0, "", "", false },
        { "nor is sleep", 2, TRACE_CAUSE_SLEEP, IN_SLEEP, 0, "", "", false },
        { "but in a task of a pool", 2, TRACE_CAUSE_SLEEP, IN_RETRY, 0, "",
          "* Shop.order waits for a fixed time within a request or task; wait for what it needs (Thread.sleep): 5.00 s "
          "in 10.0 s, 0.5 threads on average (--view waits)\n"
          "\n",
          true },
        { "not for a tenth of the time", 10, TRACE_CAUSE_SLEEP, IN_RETRY, 0, "", "", true },
        { "nor where the task is all that the pool does", 2, TRACE_CAUSE_SLEEP, IN_RETRY, 0, "", "", false },
        { "memory that is read from disk", 4, TRACE_CAUSE_PAGE, IN_COMPUTE, 0, "",
          "* Shop.compute waits for memory to be read from disk (swapped out, or a mapped file): 2.50 s in 10.0 s, 0.2 "
          "threads on average (--view waits)\n"
          "\n",
          false },
        { "not for a tenth of the time", 10, TRACE_CAUSE_PAGE, IN_COMPUTE, 0, "", "", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_waits(&rows[i]);
}

enum { SERVE = 1, ORDERS = 10, QUOTE };

/* 20 calls of each URI in turn: of /orders each of so many ms and every so many one of more, of /quote each of 100. */
struct served {
    const char *claim;
    uint64_t ms, every, more_ms;
    const char *lines;
    uint64_t end_ms; /* of the recording; 0: 10 s */
};

static void check_values(const struct served *c)
{
    struct view_pass pass;
    struct maker m;
    maker_open_scaled(&m, "serves.dat", 1000000);
    maker_thread(&m, 0, "http-1", true);
    maker_method(&m, SERVE, "com/acme/Shop", "serve", "()V");
    maker_must(&m, trace_write_value(m.writer, &(struct trace_value){ ORDERS, SERVE, VALUE_TEXT, "/orders" }, &m.err));
    maker_must(&m, trace_write_value(m.writer, &(struct trace_value){ QUOTE, SERVE, VALUE_TEXT, "/quote" }, &m.err));
    for (uint64_t i = 0, at = 0; i < 20; i++) {
        uint64_t end = at + c->ms + (i % c->every == 1 ? c->more_ms : 0);
        STEPS(&m, 0, ENTER(ORDERS, at), EXIT(ORDERS, end), ENTER(QUOTE, end), EXIT(QUOTE, end + 100));
        at = end + 100;
    }
    maker_close(&m, c->end_ms == 0 ? 10000 : c->end_ms);
    const struct view_pass_options options = { .path = m.path, .parts = VIEW_PASS_SAMPLES | VIEW_PASS_FINDINGS };
    maker_must(&m, view_pass_read(&options, &arena, &pass, &m.err));
    CHECK_TEXT(c->claim, lines_of(&pass.source, &pass), c->lines);
    view_pass_close(&pass);
    arena_free(&arena);
}

static void test_values(void)
{
    static const struct served rows[] = {
        { "a value that takes more than half the time of all calls, in longer ones", 160, 2, 0,
          "* Shop.serve of '/orders' takes 62 % of the method's time: 3.20 s in 20 of 40 calls, p99 160 ms (--view "
          "groups=Shop.serve)\n"
          "\n",
          0 },
        { "not where that is less than a tenth of the recording", 160, 2, 0, "", 33000 },
        { "nor one whose calls are as long as others", 140, 2, 0, "", 0 },
        { "nor one of half of it", 100, 2, 0, "", 0 },
        { "nor one whose interval has the half in it", 90, 2, 30, "", 0 },
        { "a value with a p99 of more than three times that of any other", 1, 4, 320,
          "* Shop.serve of '/orders' is slow: p99 321 ms in 20 calls, at most 100 ms for any other value; these calls "
          "take 45 \u00b119 % of the method's time (--view groups=Shop.serve)\n"
          "\n",
          0 },
        { "not of less", 1, 4, 290, "", 0 },
        { "nor where one call is slow, which may be chance", 1, 20, 900, "", 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_values(&rows[i]);
}

int main(void)
{
    test_waits();
    test_values();
    return tap_done();
}
