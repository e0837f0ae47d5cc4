/*
 * Findings on waiting: locks that others hold, sockets and files, pools that have nothing left, memory that must be
 * read from disk, sleep in the tasks of a pool.  What waits for work is none; nor is Object.wait, nor sleep elsewhere,
 * by which programs do nothing on purpose.
 */
#include "report/findings/findings_internal.h"

#define ALWAYS       0.9 /* of the time of its threads: a thread that only takes work */
#define READS        0.5 /* of the same: a thread that reads what comes, on a busy machine, too */
#define METHODS_MOST 3u  /* that have a line, of each rule */

/* Rows of one method, for one thing. */
struct waiting_sum {
    const struct wait_row *row; /* that with most time */
    double ns, error_ns;        /* error_ns: half the 95 % interval */
};

typedef bool is_kind_fn(const struct wait_row *row);

/* What it waits for, behind "METHOD waits for ". */
typedef const char *words_fn(const struct findings_making *making, const struct wait_row *row);

static bool is_same(const struct wait_row *a, const struct wait_row *b)
{
    bool is_lock = wait_row_is_lock(a);
    return method_name_equals(&a->where, &b->where) && wait_row_is_lock(b) == is_lock &&
           (!is_lock || (a->lock_class == NULL) == (b->lock_class == NULL)) &&
           (!is_lock || a->lock_class == NULL || strcmp(a->lock_class, b->lock_class) == 0);
}

static bool is_of(const struct wait_row *row, is_kind_fn *is_kind)
{
    return !row->is_idle && row->where.class_name != NULL && is_kind(row);
}

/* All rows like row i, of which none comes before it; rows with most time come first.  false: one does. */
static bool sum_rows(const struct waits *waits, size_t i, is_kind_fn *is_kind, struct waiting_sum *sum)
{
    double squares = 0;
    *sum = (struct waiting_sum){ .row = &waits->rows[i] };
    for (size_t j = 0; j < waits->n; j++) {
        const struct wait_row *row = &waits->rows[j];
        if (!is_of(row, is_kind) || !is_same(row, sum->row))
            continue;
        if (j < i)
            return false;
        double error_ns = row->error * (double)waits->wall_ns;
        sum->ns += (double)row->ns;
        squares += error_ns * error_ns;
    }
    sum->error_ns = sqrt(squares);
    return true;
}

static void add_waiting(struct findings_making *making, const struct finding_rule *rule, const struct waiting_sum *sum,
                        words_fn *words_of, const char *view)
{
    struct arena *arena = making->source->arena;
    const char *where = java_names_display(arena, &sum->row->where, JAVA_NAMES_SHORT);
    const char *words = words_of(making, sum->row), *time = findings_time(making, sum->ns);
    const char *all = findings_time(making, making->duration_ns);
    double share = sum->ns / making->duration_ns, error = sum->error_ns / making->duration_ns;
    const char *threads = findings_threads(making, share, error);
    const struct finding f = { .subject = where,
                               .text = arena_printf(arena, "%s waits for %s: %s in %s, %s", where, words, time, all,
                                                    threads),
                               .view = view,
                               .cost_ns = sum->ns,
                               .share = share,
                               .low = share - error,
                               .high = share + error };
    findings_add(making, rule, &f);
}

static void look_at_waits(struct findings_making *making, const struct finding_rule *rule, is_kind_fn *is_kind,
                          words_fn *words_of, const char *view)
{
    const struct waits *waits = making->pass == NULL ? NULL : &making->pass->waits;
    struct waiting_sum sum;
    uint32_t n = 0;
    for (size_t i = 0; waits != NULL && !(making->is_simulated) && i < waits->n && n < METHODS_MOST; i++) {
        if (!is_of(&waits->rows[i], is_kind) || !sum_rows(waits, i, is_kind, &sum))
            continue;
        add_waiting(making, rule, &sum, words_of, view);
        n++;
    }
}

/* ---- locks ---- */

static bool is_lock(const struct wait_row *row)
{
    return wait_row_is_lock(row);
}

static const char *words_of_lock(const struct findings_making *making, const struct wait_row *row)
{
    return wait_lock_words(&making->pass->waits, row, making->source->arena);
}

void findings_of_locks(struct findings_making *making, const struct finding_rule *rule)
{
    look_at_waits(making, rule, is_lock, words_of_lock, "locks");
}

/* ---- the rest ---- */

static const char *with_callee(const struct findings_making *making, const char *what, const struct wait_row *row)
{
    struct arena *arena = making->source->arena;
    const char *label = row->called.class_name == NULL ? "" : java_names_display(arena, &row->called, JAVA_NAMES_SHORT);
    return label[0] == '\0' ? what : arena_printf(arena, "%s (%s)", what, label);
}

/* Calls that wait for one thing, whatever the cause of the wait. */
static const struct {
    const char *class_name, *method; /* the class' end, the method's beginning */
    const char *what;
} io_calls[] = {
    { "FileChannelImpl", "force", "the disk to store its data; force once for several records" },
    { "FileDescriptor", "sync", "the disk to store its data; sync once for several records" },
    { "MappedByteBuffer", "force", "the disk to store its data; force once for several records" },
    { "java/net/InetAddress", "getBy", "a name look-up" },
    { "java/net/InetAddress", "getAllBy", "a name look-up" },
    { "java/net/InetSocketAddress", "<init>", "a name look-up" },
    { "java/lang/Thread", "start", "a thread to start, each time; use a pool of threads" },
};

static const char *io_call(const struct wait_row *row)
{
    size_t n = row->called.class_name == NULL ? 0 : strlen(row->called.class_name);
    for (size_t i = 0; n > 0 && i < sizeof io_calls / sizeof *io_calls; i++) {
        size_t n_end = strlen(io_calls[i].class_name);
        if (n >= n_end && strcmp(row->called.class_name + n - n_end, io_calls[i].class_name) == 0 &&
            strncmp(row->called.method, io_calls[i].method, strlen(io_calls[i].method)) == 0)
            return io_calls[i].what;
    }
    return NULL;
}

/* A thread that reads what comes, whenever it comes. */
static bool is_reader(const struct wait_row *row)
{
    return row->is_shallow && row->mean_waiting >= READS * row->n_threads;
}

static bool is_io(const struct wait_row *row)
{
    bool is_off = row->cause != TRACE_CAUSE_ON_CPU && row->cause != TRACE_CAUSE_READY;
    return (row->cause == TRACE_CAUSE_SOCKET && !is_reader(row)) || row->cause == TRACE_CAUSE_FILE ||
           (is_off && !wait_row_is_lock(row) && io_call(row) != NULL);
}

static const char *words_of_io(const struct findings_making *making, const struct wait_row *row)
{
    const char *call = io_call(row);
    return with_callee(making,
                       call != NULL                       ? call
                       : row->cause == TRACE_CAUSE_SOCKET ? "a socket"
                                                          : "a file or pipe",
                       row);
}

void findings_of_io(struct findings_making *making, const struct finding_rule *rule)
{
    look_at_waits(making, rule, is_io, words_of_io, "waits");
}

/* A loop that sleeps does nothing on purpose; a task that does keeps its caller waiting. */
static bool is_sleep(const struct wait_row *row)
{
    return row->cause == TRACE_CAUSE_SLEEP && row->is_task;
}

static const char *words_of_sleep(const struct findings_making *making, const struct wait_row *row)
{
    return with_callee(making, "a fixed time within a request or task; wait for what it needs", row);
}

void findings_of_sleeps(struct findings_making *making, const struct finding_rule *rule)
{
    look_at_waits(making, rule, is_sleep, words_of_sleep, "waits");
}

/*
 * A queue or semaphore that has nothing left; not that of a thread which does nothing but take work, nor one that is
 * full.
 */
static bool is_pool(const struct wait_row *row)
{
    static const char *const names[] = { "Queue", "Deque", "Semaphore", "Exchanger" };
    bool is_named = false;
    for (size_t i = 0; row->called.class_name != NULL && i < sizeof names / sizeof *names; i++)
        is_named = is_named || strstr(row->called.class_name, names[i]) != NULL;
    return row->cause == TRACE_CAUSE_PARK && is_named && !row->is_shallow && strcmp(row->called.method, "put") != 0 &&
           strcmp(row->called.method, "offer") != 0 && row->mean_waiting < ALWAYS * row->n_threads;
}

static const char *words_of_pool(const struct findings_making *making, const struct wait_row *row)
{
    return with_callee(making, "a queue or pool that is empty", row);
}

void findings_of_pools(struct findings_making *making, const struct finding_rule *rule)
{
    look_at_waits(making, rule, is_pool, words_of_pool, "waits");
}

static bool is_starved(const struct wait_row *row)
{
    return row->is_starved;
}

static const char *words_of_starved(const struct findings_making *making, const struct wait_row *row)
{
    return with_callee(making, "results of tasks while all threads of its pool do, so that none is left to run them",
                       row);
}

void findings_of_starved(struct findings_making *making, const struct finding_rule *rule)
{
    look_at_waits(making, rule, is_starved, words_of_starved, "waits");
}

static bool is_page(const struct wait_row *row)
{
    return row->cause == TRACE_CAUSE_PAGE;
}

static const char *words_of_page(const struct findings_making *making, const struct wait_row *row)
{
    (void)making, (void)row;
    return "memory to be read from disk (swapped out, or a mapped file)";
}

void findings_of_paging(struct findings_making *making, const struct finding_rule *rule)
{
    look_at_waits(making, rule, is_page, words_of_page, "waits");
}
