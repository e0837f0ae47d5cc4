/*
 * Vertical cache simulation (thesis §2.4.2, Figure 2.7, Tables 2.2 to 2.4): accesses and misses of two caches by class,
 * method and line.
 *
 * The caches are those of the thesis: 32 KB, 4 ways, lines of 32 bytes, and 1 MB, 8 ways, 128 bytes; least recently
 * used lines go, a store takes a line as a load does.  All threads' accesses go through them in the order in which they
 * come.  What an access crosses counts for each line.
 */
#include <mmprof_tool.h>

#include <stdlib.h>
#include <string.h>

#define TOP 20

/* ---- caches ---- */

enum { WAYS_MAX = 8, SETS_MAX = 1024 };

struct cache {
    unsigned line_bits, n_sets, n_ways;
    uint64_t lines[SETS_MAX][WAYS_MAX]; /* plus 1; the one used last comes first */
};

static struct cache l1 = { .line_bits = 5, .n_sets = 256, .n_ways = 4 };
static struct cache l2 = { .line_bits = 7, .n_sets = 1024, .n_ways = 8 };

static bool hits(struct cache *cache, uint64_t address)
{
    uint64_t line = (address >> cache->line_bits) + 1;
    uint64_t *set = cache->lines[(line - 1) % cache->n_sets];
    unsigned way = 0;
    while (way < cache->n_ways - 1 && set[way] != line)
        way++;
    bool is_hit = set[way] == line;
    memmove(set + 1, set, way * sizeof *set);
    set[0] = line;
    return is_hit;
}

/* ---- what is counted ---- */

/* Of a class, a method, a line; its 'user' leads here. */
struct access_counts {
    uint64_t n_accesses, n_l1, n_l2;
    const void *of;
};

enum kind { BY_CLASS, BY_METHOD, BY_LINE, KINDS };

static struct {
    struct access_counts **all;
    size_t n, room;
} found[KINDS];

static struct access_counts sums, no_object, no_method;

/* The counts of something; those of others when there is no memory. */
static struct access_counts *counts_of(enum kind kind, const void *of, void **user, struct access_counts *others)
{
    if (*user != NULL)
        return *user;
    if (found[kind].n == found[kind].room) {
        size_t room = found[kind].room == 0 ? 1024 : 2 * found[kind].room;
        struct access_counts **all = realloc(found[kind].all, room * sizeof *all);
        if (all == NULL)
            return others;
        found[kind].all = all;
        found[kind].room = room;
    }
    struct access_counts *counts = calloc(1, sizeof *counts);
    if (counts == NULL)
        return others;
    counts->of = of;
    *user = counts;
    found[kind].all[found[kind].n++] = counts;
    return counts;
}

static void count(struct access_counts *counts, bool misses_l1, bool misses_l2)
{
    counts->n_accesses++;
    counts->n_l1 += misses_l1;
    counts->n_l2 += misses_l2;
}

static void on_line(const struct mmprof_access *a, uint64_t address)
{
    bool misses_l1 = !hits(&l1, address), misses_l2 = misses_l1 && !hits(&l2, address);
    struct mmprof_class *of = a->object == NULL ? NULL : a->object->class_of;
    struct mmprof_location *location = a->location;
    count(&sums, misses_l1, misses_l2);
    count(of == NULL ? &no_object : counts_of(BY_CLASS, of, &of->user, &no_object), misses_l1, misses_l2);
    if (location == NULL) {
        count(&no_method, misses_l1, misses_l2);
        return;
    }
    count(counts_of(BY_METHOD, location->method, &location->method->user, &no_method), misses_l1, misses_l2);
    count(counts_of(BY_LINE, location, &location->user, &no_method), misses_l1, misses_l2);
}

static void on_access(const struct mmprof_access *a)
{
    uint64_t last = a->address + a->bytes - 1;
    on_line(a, a->address);
    if (a->address >> l1.line_bits != last >> l1.line_bits)
        on_line(a, last);
}

/* ---- tables ---- */

static double per_cent(uint64_t part, uint64_t all)
{
    return all == 0 ? 0 : 100.0 * (double)part / (double)all;
}

/* Misses with the local miss rates, as the thesis has them. */
static void print_counts(const struct access_counts *c)
{
    fprintf(mmprof_out, "%6.2f %12llu (%5.2f %%) %12llu (%5.2f %%)  ", per_cent(c->n_accesses, sums.n_accesses),
            (unsigned long long)c->n_l1, per_cent(c->n_l1, c->n_accesses), (unsigned long long)c->n_l2,
            per_cent(c->n_l2, c->n_l1));
}

static void print_label(enum kind kind, const void *of)
{
    const struct mmprof_class *class_of = of;
    const struct mmprof_location *location = of;
    const struct mmprof_method *method = kind == BY_LINE ? location->method : of;
    if (kind == BY_CLASS) {
        fprintf(mmprof_out, "%s\n", class_of->name);
        return;
    }
    fprintf(mmprof_out, "%s.%s%s", method->class_name, method->name, method->descriptor);
    if (kind == BY_LINE)
        fprintf(mmprof_out, " %s:%u", method->source, location->line);
    fputc('\n', mmprof_out);
}

static int by_misses(const void *a, const void *b)
{
    const struct access_counts *x = *(struct access_counts *const *)a, *y = *(struct access_counts *const *)b;
    if (x->n_l2 != y->n_l2)
        return x->n_l2 > y->n_l2 ? -1 : 1;
    return x->n_l1 > y->n_l1 ? -1 : x->n_l1 < y->n_l1;
}

static void print_table(enum kind kind, const char *heading, const struct access_counts *others, const char *other)
{
    if (found[kind].n > 0)
        qsort(found[kind].all, found[kind].n, sizeof *found[kind].all, by_misses);
    fprintf(mmprof_out, "\n%6s %23s %23s  %s\n", "acc. %", "L1D misses", "L2 misses", heading);
    for (size_t i = 0; i < found[kind].n && i < TOP; i++) {
        print_counts(found[kind].all[i]);
        print_label(kind, found[kind].all[i]->of);
    }
    print_counts(others);
    fprintf(mmprof_out, "%s\n", other);
}

static void on_end(uint64_t time)
{
    fprintf(mmprof_out, "%llu accesses, %llu by Java code\n", (unsigned long long)sums.n_accesses,
            (unsigned long long)time);
    print_counts(&sums);
    fprintf(mmprof_out, "all\n");
    print_table(BY_CLASS, "class", &no_object, "(in no object whose creation was seen)");
    print_table(BY_METHOD, "method", &no_method, "(no Java method, or not known)");
    print_table(BY_LINE, "line", &no_method, "(no Java method, or not known)");
}

MMPROF_TOOL(.want_locations = true, .access = on_access, .end = on_end)
