/*
 * Where collections cost least: the ends of a method's calls, if the live bytes are at a local minimum there, call for
 * call.
 *
 * A young collection copies what is live of the bytes that were created since the one before, and frees the rest.  If
 * there is one at each end of a method's calls, it copies what lives on from call to call.  If there are as many, with
 * as many bytes between two of them, but anywhere, as when the young generation is full, they copy what is live there.
 * Where the young generation is smaller than what a call creates, there are young collections on the way, which copy
 * what the call needs and leave it in the old generation.  A full collection at the end copies all that is live, and
 * frees that, too.  Whether it pays is a matter of bytes freed for each byte copied: what it frees more than a young
 * one, for what it copies more, against what young collections elsewhere free for what they copy (thesis §A.3).
 */
#include "core/base/xalloc.h"
#include "report/view/live_bytes.h"

#define LOOKS        16u /* at the live bytes, from one end to the next */
#define NEAR_MINIMUM 0.1 /* of the way from the least to the most live bytes between the ends before and behind */

struct ends {
    const struct live_bytes *live;
    const struct live_call **calls; /* owned by the caller: of one method, in the order of their ends */
    uint32_t n;
};

/*
 * What is said of a point is said from the first end to the last but one.  The way to the first is the program's start,
 * as well; and of what is there at the last, and on the way to it, nobody knows whether another call would use it.
 */
static uint64_t first_end(const struct ends *ends)
{
    return ends->calls[0]->ended;
}

static uint64_t last_end(const struct ends *ends)
{
    return ends->calls[ends->n - 2]->ended;
}

static uint32_t n_between(const struct ends *ends)
{
    return ends->n - 2;
}

struct live_range {
    uint64_t least, most;
    double sum;
};

/* Between two times, at LOOKS points with as many allocated bytes between two, without the ends. */
static struct live_range look_between(const struct live_bytes *live, uint64_t from, uint64_t to)
{
    uint64_t begin = live_bytes_allocated(live, from), n_bytes = live_bytes_allocated(live, to) - begin;
    struct live_range range = { UINT64_MAX, 0, 0 };
    for (uint32_t i = 1; i <= LOOKS; i++) {
        uint64_t at = live_bytes_time(live, begin + n_bytes * i / (LOOKS + 1)), now = live_bytes_least(live, at);
        range.least = now < range.least ? now : range.least;
        range.most = now > range.most ? now : range.most;
        range.sum += (double)now;
    }
    return range;
}

static bool is_minimum(const struct live_range *before, const struct live_range *behind, uint64_t now)
{
    uint64_t least = before->least < behind->least ? before->least : behind->least;
    uint64_t most = before->most > behind->most ? before->most : behind->most;
    return most > least && (double)now <= (double)least + NEAR_MINIMUM * (double)(most - least);
}

static void look_at_ends(const struct ends *ends, struct live_point *point)
{
    const struct live_bytes *live = ends->live;
    double sum = 0, squares = 0, on_the_way = 0, minima = 0;
    uint32_t n = n_between(ends);
    struct live_range before = look_between(live, first_end(ends), ends->calls[1]->ended);
    for (uint32_t i = 1; i <= n; i++) {
        uint64_t now = ends->calls[i]->ended;
        struct live_range behind = i < n ? look_between(live, now, ends->calls[i + 1]->ended) : before;
        uint64_t bytes = live_bytes_least(live, now);
        sum += (double)bytes;
        squares += (double)bytes * (double)bytes;
        on_the_way += before.sum / LOOKS;
        minima += is_minimum(&before, &behind, bytes);
        before = behind;
    }
    double variance = squares / n - sum / n * (sum / n);
    point->live = sum / n;
    point->live_cov = sum > 0 && variance > 0 ? sqrt(variance) / point->live : 0;
    point->live_mean = on_the_way / n;
    point->minima = minima / n;
}

/* The first end at a time or behind; ends->n: there is none. */
static uint32_t end_behind(const struct ends *ends, uint64_t time)
{
    uint32_t low = 0, high = ends->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ends->calls[middle]->ended < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Had a collection of the run copied it, when it was used last? */
static bool is_copied(const struct live_bytes *live, const struct live_object *o)
{
    uint32_t low = 0, high = live->n_collections;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (live->collections[middle] < o->created)
            low = middle + 1;
        else
            high = middle;
    }
    return low < live->n_collections && live->collections[low] < o->last_used;
}

/* What collections at the ends copy; and what those of the run have copied, and is dead at an end. */
static void collect_at_ends(const struct ends *ends, struct live_point *point)
{
    const struct live_bytes *live = ends->live;
    uint64_t begin = first_end(ends), last = last_end(ends), kept = 0, old_dead = 0;
    for (uint32_t i = 0; i < live->n_objects; i++) {
        const struct live_object *o = &live->objects[i];
        if (o->created <= begin || o->created > last)
            continue;
        kept += o->last_used > ends->calls[end_behind(ends, o->created)]->ended ? o->bytes : 0;
        old_dead += o->last_used <= last && is_copied(live, o) ? o->bytes : 0;
    }
    uint32_t n = n_between(ends);
    point->kept = (double)kept / n;
    point->old_dead = (double)old_dead / n;
    point->call_bytes = (double)(live_bytes_allocated(live, last) - live_bytes_allocated(live, begin)) / n;
}

/* The same number of bytes between two collections, which are anywhere between the first and the last end. */
static void collect_elsewhere(const struct ends *ends, struct live_point *point)
{
    struct live_copies copies =
        live_bytes_copies(ends->live, first_end(ends), last_end(ends), (uint64_t)point->call_bytes);
    point->kept_mean = copies.least;
    point->kept_most = copies.most;
}

/*
 * Did the run's young generation have room for a call?  Then collections at the ends leave none on the way, which would
 * copy what dies by the end: a full one there frees nothing that a young one does not.
 */
static bool has_room(const struct live_bytes *live, double call_bytes)
{
    uint64_t before = 0, most = live->n_collections == 0 ? UINT64_MAX : 0;
    for (uint32_t i = 0; i < live->n_collections; i++) {
        uint64_t now = live_bytes_allocated(live, live->collections[i]);
        most = now - before > most ? now - before : most;
        before = now;
    }
    return (double)most >= call_bytes;
}

/* 1 byte is copied more: of nothing, too, a little is to be done. */
static enum live_collecting choose(const struct live_point *p, bool may_be_full)
{
    double most = 1 - LIVE_SAVED_LEAST, elsewhere = (p->call_bytes - p->kept_mean) / (p->kept_mean + 1),
           full_only = p->old_dead / ((p->live > p->kept ? p->live - p->kept : 0) + 1);
    if (p->minima < LIVE_MINIMA_LEAST)
        return LIVE_NO_COLLECTION;
    if (may_be_full && full_only > elsewhere && p->live < most * p->live_mean)
        return LIVE_FULL;
    return p->kept < most * p->kept_mean ? LIVE_YOUNG : LIVE_NO_COLLECTION;
}

static struct live_point point_of(const struct ends *ends, uint32_t method)
{
    struct live_point point = { .method = method, .n_calls = ends->n };
    for (uint32_t i = 0; i < ends->n; i++)
        point.inside += ends->calls[i]->ended - ends->calls[i]->began;
    look_at_ends(ends, &point);
    collect_at_ends(ends, &point);
    collect_elsewhere(ends, &point);
    point.choice = choose(&point, !has_room(ends->live, point.call_bytes));
    if (point.choice != LIVE_NO_COLLECTION)
        point.saved =
            ends->n * (point.choice == LIVE_FULL ? point.live_mean - point.live : point.kept_mean - point.kept);
    return point;
}

/* ---- all methods ---- */

static int by_method(const void *a, const void *b)
{
    const struct live_call *x = *(const struct live_call *const *)a, *y = *(const struct live_call *const *)b;
    if (x->method != y->method)
        return x->method < y->method ? -1 : 1;
    return x->ended < y->ended ? -1 : x->ended > y->ended;
}

static int by_saved(const void *a, const void *b)
{
    const struct live_point *x = a, *y = b;
    if ((x->saved > 0) != (y->saved > 0))
        return x->saved > 0 ? -1 : 1;
    if (x->minima != y->minima)
        return x->minima > y->minima ? -1 : 1;
    if (x->saved != y->saved)
        return x->saved > y->saved ? -1 : 1;
    return x->method < y->method ? -1 : x->method > y->method;
}

/* Do its calls create many bytes, one behind the other, and are enough of the objects followed? */
static bool is_large(const struct ends *ends)
{
    if (ends->n < LIVE_CALLS_LEAST)
        return false;
    double between =
        (double)(live_bytes_allocated(ends->live, last_end(ends)) - live_bytes_allocated(ends->live, first_end(ends))) /
        n_between(ends);
    if (between < (double)LIVE_FOLLOWED_LEAST * (double)ends->live->interval_bytes)
        return false;
    uint64_t all = live_bytes_allocated(ends->live, UINT64_MAX), bytes = 0, until = 0;
    for (uint32_t i = 0; i < ends->n; i++)
        if (ends->calls[i]->began >= until) { /* not one in another thread at the same time, or in another call */
            bytes += ends->calls[i]->bytes;
            until = ends->calls[i]->ended;
        }
    return (double)bytes >= LIVE_BYTES_LEAST * (double)all;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= LIVE_ALIKE * fmax(fabs(a), fabs(b));
}

static bool is_alike(const struct live_point *a, const struct live_point *b)
{
    return a->n_calls == b->n_calls && a->choice == b->choice && is_near(a->call_bytes, b->call_bytes) &&
           is_near(a->live, b->live) && is_near(a->kept_mean, b->kept_mean);
}

/* A method that does little but call another one ends where that does: of these the outermost stays. */
static void fold(struct live_points *points)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < points->n; i++) {
        uint32_t k = 0;
        while (k < n && !is_alike(&points->all[k], &points->all[i]))
            k++;
        if (k == n)
            points->all[n++] = points->all[i];
        else if (points->all[i].inside > points->all[k].inside)
            points->all[k] = points->all[i];
    }
    points->n_folded = points->n - n;
    points->n = n;
}

void live_points_find(const struct live_bytes *live, struct live_points *points)
{
    const struct live_call **calls = xcalloc((size_t)live->n_calls + 1, sizeof *calls);
    *points = (struct live_points){ xcalloc((size_t)live->n_calls + 1, sizeof *points->all), 0, 0 };
    for (uint32_t i = 0; i < live->n_calls; i++)
        calls[i] = &live->calls[i];
    if (live->n_calls > 1)
        qsort(calls, live->n_calls, sizeof *calls, by_method);
    for (uint32_t i = 0, n; i < live->n_calls; i += n) {
        for (n = 1; i + n < live->n_calls && calls[i + n]->method == calls[i]->method;)
            n++;
        const struct ends ends = { live, calls + i, n };
        if (calls[i]->method != MEMTRACE_NO_NUMBER && is_large(&ends))
            points->all[points->n++] = point_of(&ends, calls[i]->method);
    }
    free(calls);
    if (points->n > 1)
        qsort(points->all, points->n, sizeof *points->all, by_saved);
    fold(points);
}

void live_points_free(struct live_points *points)
{
    free(points->all);
    *points = (struct live_points){ NULL, 0, 0 };
}
