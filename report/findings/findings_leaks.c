/*
 * Findings on objects that stay: the heap grows steadily, as is measured after each collection, and a method's are many
 * of the sampled objects that live.
 *
 * What lives briefly has the latest allocations only, what is made once the first ones, and a cache that is full
 * replaces old objects by new ones: the heap does not grow.  Few samples tell no bytes, for one may stand for a tenth
 * of the heap; how many of them are a method's they do.
 */
#include "report/findings/findings_internal.h"

#include "report/view/live_objects.h"

#define METHODS_MOST      2u
#define SAMPLES_LEAST     2u
#define COLLECTIONS_LEAST 6u
#define GROWTH_LEAST      2e6 /* bytes: who goes on to load classes and to fill small caches has less */
#define SAMPLES_FEW       5u  /* that survive: with more somebody is found, or nothing leaks */
#define HEAP_LEAST        0.3 /* of the heap, where nothing is known of objects */
#define INTERVAL_95       1.96
#define UNIFORM_DEVIATION 0.28868   /* of moments that are anywhere between 0 and 1 */
#define WHEN_LOW          (1.0 / 3) /* their mean moment is between these, or its interval reaches there */
#define WHEN_HIGH         (2.0 / 3)
#define MIDDLE_LEAST      0.1 /* of the samples are of the middle third, or may be */

/* A part of some samples, with its interval (Wilson, JASA 22, 1927). */
struct part {
    double share, low, high;
};

static struct part part_of(uint64_t n, uint64_t of)
{
    double all = (double)of, p = (double)n / all, z2 = INTERVAL_95 * INTERVAL_95, scale = 1 / (1 + z2 / all);
    double middle = (p + z2 / (2 * all)) * scale;
    double half = INTERVAL_95 * sqrt(p * (1 - p) / all + z2 / (4 * all * all)) * scale;
    return (struct part){ p, fmax(middle - half, 0), fmin(middle + half, 1) };
}

/* Is it allocated all the time, as far as its samples tell? */
static bool may_be_steady(const struct allocation_row *row)
{
    double off = INTERVAL_95 * UNIFORM_DEVIATION / sqrt((double)row->n_samples);
    return row->when + off > WHEN_LOW && row->when - off < WHEN_HIGH &&
           part_of(row->n_middle, row->n_samples).high > MIDDLE_LEAST;
}

static void add_leak(struct findings_making *making, const struct finding_rule *rule, const struct live_objects *found,
                     const struct allocation_row *row)
{
    struct arena *arena = making->source->arena;
    const struct heap_growth *growth = &found->growth;
    const struct part part = part_of(row->n_samples, found->n_samples);
    char first[32], last[32];
    table_format_bytes(growth->first_bytes, first, sizeof first);
    table_format_bytes(found->heap_bytes, last, sizeof last);
    const char *label = java_names_display(arena, &row->method, JAVA_NAMES_SHORT);
    const char *of = row->class_name == NULL ? "?" : java_names_class(arena, row->class_name);
    const struct finding f = {
        .subject = label,
        .text = arena_printf(
            arena,
            "%s may leak memory: the heap after collections grew from %s to %s; the method allocated %" PRIu64
            " of %" PRIu64 " sampled objects that survive, mostly %s",
            label, first, last, row->n_samples, found->n_samples, of),
        .view = "live-objects",
        .cost_ns = part.share * growth->bytes / found->heap_bytes * making->duration_ns,
        .share = part.share * growth->bytes / found->heap_bytes,
        .low = part.low * growth->least_bytes / found->heap_bytes,
        .high = part.high * growth->most_bytes / found->heap_bytes
    };
    findings_add(making, rule, &f);
}

/* Nobody's objects: too few were sampled, or none, as by a JVM before JDK 11. */
static void add_heap(struct findings_making *making, const struct finding_rule *rule, const struct live_objects *found,
                     bool is_sampled)
{
    const struct heap_growth *growth = &found->growth;
    char first[32], last[32];
    table_format_bytes(growth->first_bytes, first, sizeof first);
    table_format_bytes(found->heap_bytes, last, sizeof last);
    const char *whose = is_sampled ? "too few objects were sampled to say whose they are: record for longer"
                                   : "JDK 11 and later say whose objects they are";
    const struct finding f = { .subject = "the heap",
                               .text = arena_printf(
                                   making->source->arena,
                                   "the heap may leak memory: after %zu collections it has grown from %s to %s; %s",
                                   growth->n_collections, first, last, whose),
                               .view = is_sampled ? "live-objects" : "collections",
                               .cost_ns = growth->bytes / found->heap_bytes * making->duration_ns,
                               .share = growth->bytes / found->heap_bytes,
                               .low = growth->least_bytes / found->heap_bytes,
                               .high = growth->most_bytes / found->heap_bytes };
    if (f.low > HEAP_LEAST)
        findings_add(making, rule, &f);
}

void findings_of_leaks(struct findings_making *making, const struct finding_rule *rule)
{
    struct live_objects *found = arena_alloc(making->source->arena, sizeof *found);
    struct err ignored; /* why nothing is known: no error of a report */
    if (making->pass == NULL)
        return;
    bool is_sampled = live_objects_find(making->pass, LIVE_OBJECTS_BY_METHOD, found, &ignored) == 0;
    if (found->growth.n_collections < COLLECTIONS_LEAST || !found->growth.is_steady ||
        !(found->growth.bytes >= GROWTH_LEAST) || !(found->heap_bytes > 0))
        return;
    uint32_t n = 0;
    size_t n_before = making->n_found;
    for (size_t i = 0; i < found->rows.n && n < METHODS_MOST; i++) {
        const struct allocation_row *row = &found->rows.all[i];
        if (row->method.method == NULL || row->n_samples < SAMPLES_LEAST || !may_be_steady(row))
            continue;
        n++;
        add_leak(making, rule, found, row);
    }
    if (making->n_found == n_before && found->n_samples < SAMPLES_FEW)
        add_heap(making, rule, found, is_sampled);
}
