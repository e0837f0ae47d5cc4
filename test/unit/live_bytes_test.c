/*
 * Live bytes of made-up objects, and points where few are live.
 */
#include "report/view/live_bytes.h"

#include "test/unit/memtrace_entries.h"
#include "test/unit/table_printed.h"
#include "test/unit/tap.h"

static struct arena arena;
static struct err err;

#define OBJECT(at, until, found, size)                                          \
    {                                                                           \
        .created = (at), .last_used = (until), .dead = (found), .bytes = (size) \
    }

/* ---- the curve ---- */

static const struct memtrace_entry entries[] = {
    { .kind = MEMTRACE_CREATED, .object = 1, .bytes = 100, .time = 10 },
    { .kind = MEMTRACE_CREATED, .object = 2, .bytes = 30, .time = 20 },
    { .kind = MEMTRACE_COLLECTION, .time = 50 },
    { .kind = MEMTRACE_DIED, .object = 1, .bytes = 100, .created = 10, .lifetime = 15, .has_died = true },
    { .kind = MEMTRACE_DIED, .object = 2, .bytes = 30, .created = 20, .lifetime = 40 },
};

static void test_curve(void)
{
    char *bytes = NULL;
    struct live_bytes live;
    struct table table;
    struct memtrace_reader *reader = memtrace_entries(entries, 5, 100, &bytes, &err);
    if (!CHECK("objects are read", reader != NULL && live_bytes_read(&live, reader, &err) == 0))
        return;
    CHECK("live at least until the last use", live_bytes_least(&live, 24) == 130 && live_bytes_least(&live, 25) == 30);
    CHECK("at most until found dead", live_bytes_most(&live, 49) == 130 && live_bytes_most(&live, 50) == 30);
    CHECK("what is there at the end is not dead", live_bytes_most(&live, 100) == 30);
    CHECK("nor in use", live_bytes_least(&live, 100) == 0);
    CHECK("bytes have a time", live_bytes_time(&live, 100) == 10 && live_bytes_time(&live, 101) == 20);
    CHECK("a collection copies what is live of what is new", live_bytes_kept(&live, 0, 50, true) == 30 &&
                                                                 live_bytes_kept(&live, 10, 50, false) == 30 &&
                                                                 live_bytes_kept(&live, 20, 50, false) == 0);
    live_bytes_table(&live, "x.dat", 2, &arena, &table);
    const char *text = printed(&table, CSV, &arena);
    CHECK("with points", strstr(text, "point,100,10,100,100,,,\r\n") != NULL);
    CHECK("and collections", strstr(text, "collection,130,50,30,30,collection,30,30\r\n") != NULL);
    memtrace_close(reader);
    free(bytes);
    live_bytes_free(&live);
}

/* ---- points ---- */

#define CALLS 8
#define EACH  40 /* objects of a call, in 1000 accesses; then 100 accesses without any */

/*
 * Calls of 'kind': 0: all of its objects are used until its end; 1: each until 500 accesses later, whenever it was
 * created; 2: as 0, but each call leaves one large object behind, for two calls; 3: as 2, and three collections run
 * while each call does; 4: as 0, and each is all of a call of another method; 5: as 0, and a collection runs in the
 * middle of each third call.
 */
static void make(struct live_bytes *live, int kind, struct live_points *points)
{
    *live = (struct live_bytes){ .time = CALLS * 1100 };
    live->objects = malloc((CALLS * EACH + CALLS) * sizeof *live->objects);
    live->calls = malloc(2 * CALLS * sizeof *live->calls);
    live->collections = malloc(3 * CALLS * sizeof *live->collections);
    for (uint64_t call = 0; call < CALLS; call++) {
        uint64_t begin = call * 1100, end = begin + 1000;
        for (uint64_t i = 0; i < EACH; i++) {
            uint64_t at = begin + 1 + i * 1000 / EACH;
            live->objects[live->n_objects++] =
                (struct live_object)OBJECT(at, kind == 1 ? at + 500 : end - 1, UINT64_MAX, 100);
        }
        if (kind == 5 && call % 3 == 2)
            live->collections[live->n_collections++] = begin + 500;
        if (kind >= 2 && kind < 5)
            live->objects[live->n_objects++] = (struct live_object)OBJECT(begin + 2, begin + 2700, UINT64_MAX, 1000);
        for (uint64_t i = 1; kind == 3 && i < 4; i++)
            live->collections[live->n_collections++] = begin + i * 300;
        live->calls[live->n_calls++] = (struct live_call){ 4, begin, end, 100 * EACH };
        if (kind == 4)
            live->calls[live->n_calls++] = (struct live_call){ 5, begin, end + 1, 100 * EACH };
    }
    live_bytes_sort(live);
    live_points_find(live, points);
}

static void check_points(int kind, void (*check)(const struct live_points *points))
{
    struct live_bytes live;
    struct live_points points;
    make(&live, kind, &points);
    check(&points);
    live_points_free(&points);
    live_bytes_free(&live);
}

static void check_favourable(const struct live_points *points)
{
    const struct live_point *p = &points->all[0];
    CHECK("a method's ends are a point", points->n == 1 && p->method == 4 && p->n_calls == CALLS);
    CHECK("all of them are local minima", p->minima == 1 && p->live == 0);
    CHECK("nothing is copied there", p->kept == 0 && p->call_bytes == 100 * EACH);
    CHECK("elsewhere about half of what is created", p->kept_mean > 1200 && p->kept_mean < 2800);
    CHECK("a young collection is best", p->choice == LIVE_YOUNG && p->saved == p->kept_mean * CALLS);
}

static void check_flat(const struct live_points *points)
{
    const struct live_point *p = &points->all[0];
    CHECK("where as much is live as anywhere, it is no point", points->n == 1 && p->choice == LIVE_NO_COLLECTION);
    CHECK("and nothing is saved", p->saved == 0);
}

static void check_old(const struct live_points *points)
{
    const struct live_point *p = &points->all[0];
    CHECK("what a call leaves behind is copied", p->kept == 1000);
    CHECK("without collections on the way nothing was copied", p->old_dead == 0);
    CHECK("a young generation that reaches from end to end is best", p->choice == LIVE_YOUNG);
}

static void check_full(const struct live_points *points)
{
    const struct live_point *p = &points->all[0];
    CHECK("collections on the way copy what dies by the end", p->old_dead > 3600 && p->old_dead < 4600);
    CHECK("little is live there", p->live >= 1000 && p->live <= 2000 && p->live_mean > p->live);
    CHECK("a full collection frees what they have left: it is best", p->choice == LIVE_FULL);
    CHECK("it copies less than one on the way", p->saved == (p->live_mean - p->live) * CALLS);
}

static void check_room(const struct live_points *points)
{
    const struct live_point *p = &points->all[0];
    CHECK("collections on the way copied something", p->old_dead > 500 && p->kept == 0 && p->kept_mean > 1200);
    CHECK("with room for a call, young ones at the ends would not: they are best", p->choice == LIVE_YOUNG);
}

static void check_nested(const struct live_points *points)
{
    CHECK("methods that end together are one point", points->n == 1 && points->n_folded == 1);
    CHECK("that of the outermost", points->all[0].method == 5 && points->all[0].choice == LIVE_YOUNG);
}

/* One object in 64 bytes is followed: of 64 bytes, one of 1.58, of 6400 each. */
static void test_sampled(void)
{
    static const struct memtrace_entry followed[] = {
        { .kind = MEMTRACE_INTERVAL, .bytes = 64 },
        { .kind = MEMTRACE_CREATED, .object = 1, .bytes = 64, .time = 10 },
        { .kind = MEMTRACE_CREATED, .object = 2, .bytes = 6400, .time = 20 },
        { .kind = MEMTRACE_DIED, .object = 1, .bytes = 64, .created = 10, .lifetime = 15, .has_died = true },
        { .kind = MEMTRACE_DIED, .object = 2, .bytes = 6400, .created = 20, .lifetime = 40 },
    };
    char *bytes = NULL;
    struct live_bytes live;
    struct memtrace_reader *reader = memtrace_entries(followed, 5, 100, &bytes, &err);
    if (!CHECK("objects of which only some are followed are read",
               reader != NULL && live_bytes_read(&live, reader, &err) == 0))
        return;
    CHECK("a small one stands for those that are not", live_bytes_allocated(&live, 10) == 101);
    CHECK("a large one for itself", live_bytes_allocated(&live, 20) == 101 + 6400);
    memtrace_close(reader);
    free(bytes);
    live_bytes_free(&live);
}

/* One object in 4000 bytes is followed: between two ends that are 4000 bytes apart, one. */
static void test_too_few_followed(void)
{
    struct live_bytes live;
    struct live_points points;
    make(&live, 0, &points);
    live_points_free(&points);
    live.interval_bytes = 4000;
    CHECK("of few followed objects, chance would decide", (live_points_find(&live, &points), points.n == 0));
    live_points_free(&points);
    live_bytes_free(&live);
}

static void test_few(void)
{
    struct live_bytes live;
    struct live_points points;
    make(&live, 0, &points);
    live_points_free(&points);
    live.n_calls = LIVE_CALLS_LEAST - 1;
    CHECK("few calls say nothing", (live_points_find(&live, &points), points.n == 0));
    live_points_free(&points);
    live.n_calls = CALLS;
    for (int i = 0; i < CALLS; i++)
        live.calls[i].bytes = 40;
    CHECK("nor calls that create little", (live_points_find(&live, &points), points.n == 0));
    live_points_free(&points);
    live_bytes_free(&live);
}

int main(void)
{
    test_curve();
    check_points(0, check_favourable);
    check_points(1, check_flat);
    check_points(2, check_old);
    check_points(3, check_full);
    check_points(4, check_nested);
    check_points(5, check_room);
    test_few();
    test_sampled();
    test_too_few_followed();
    arena_free(&arena);
    return tap_done();
}
