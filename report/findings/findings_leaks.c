/*
 * Findings on objects that stay: sites whose live objects are as many of those allocated first as of the latest, and
 * much of a heap that grows.
 *
 * What lives briefly has the latest allocations only, and what is made once the first ones.  A cache that is full
 * replaces old objects by new ones, and the heap does not grow.
 */
#include "report/findings/findings_internal.h"

#include "report/view/live_objects.h"

#include <math.h>

#define SITES_MOST        2u
#define WHEN_LOW          (1.0 / 3) /* the mean moment of allocation is between these, with its whole interval */
#define WHEN_HIGH         (2.0 / 3)
#define MIDDLE_LEAST      0.1       /* of the bytes are of the middle third, with the whole interval */
#define RISE_LEAST        (1.0 / 3) /* of these bytes, by which the heap grew meanwhile */
#define COLLECTIONS_LEAST 3u

static bool is_steady(const struct live_objects *found, const struct allocation_row *row)
{
    bool grows = isnan(found->heap_rise_bytes) || found->heap_rise_bytes >= RISE_LEAST * row->bytes;
    return row->when - row->when_error > WHEN_LOW && row->when + row->when_error < WHEN_HIGH &&
           row->middle - row->middle_error > MIDDLE_LEAST && grows;
}

static int add_leak(struct findings_making *making, const struct finding_rule *rule, const struct live_objects *found,
                    const struct allocation_row *row, struct err *err)
{
    struct arena *arena = making->source->arena;
    char bytes[32], error[32], rate[32];
    double heap = isnan(found->heap_bytes) ? found->bytes : fmax(found->heap_bytes, found->bytes);
    table_format_bytes(row->bytes, bytes, sizeof bytes);
    table_format_bytes(row->bytes_error, error, sizeof error);
    table_format_bytes(row->bytes / found->seconds, rate, sizeof rate);
    const char *label = java_names_display(arena, &row->method, JAVA_NAMES_SHORT);
    const char *of = row->class_name == NULL ? "?" : java_names_class(arena, row->class_name);
    if (label == NULL || of == NULL)
        return err_set(err, "out of memory for findings");
    const struct finding f = {
        .subject = label,
        .text =
            arena_printf(arena,
                         "%s may leak memory: %s \u00b1%s of its %s live after %.1f collections on average, the first "
                         "as well as the latest, %s/s more",
                         label, bytes, error, of, row->collections, rate),
        .view = "live-objects",
        .cost_ns = row->bytes / heap * making->duration_ns,
        .share = row->bytes / heap,
        .low = (row->bytes - row->bytes_error) / heap,
        .high = (row->bytes + row->bytes_error) / heap
    };
    return findings_add(making, rule, &f, err);
}

int findings_of_leaks(struct findings_making *making, const struct finding_rule *rule, struct err *err)
{
    struct live_objects *found = arena_alloc(making->source->arena, sizeof *found);
    struct err ignored; /* why nothing is known: no error of a report */
    if (found == NULL)
        return err_set(err, "out of memory for findings");
    if (making->pass == NULL || making->pass->n_heap_events == 0 ||
        live_objects_find(making->pass, LIVE_OBJECTS_BY_SITE, found, &ignored) < 0 ||
        found->n_collections < COLLECTIONS_LEAST || !(found->seconds > 0) || !(found->bytes > 0))
        return 0;
    uint32_t n = 0;
    for (size_t i = 0; i < found->rows.n && n < SITES_MOST; i++) {
        if (found->rows.all[i].method.method == NULL || !is_steady(found, &found->rows.all[i]))
            continue;
        n++;
        if (add_leak(making, rule, found, &found->rows.all[i], err) < 0)
            return -1;
    }
    return 0;
}
