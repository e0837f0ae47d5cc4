/*
 * Advice about objects, from an emulated run of the program: which ones could be left out (thesis §A.4), and where a
 * collection costs least (§A.3).
 *
 * That run says which part of the bytes is saved.  What the collector's CPU time is, the recording says: a young
 * collection comes for each so many bytes, so that a part of the bytes is as large a part of the collections, and of
 * what it takes to clear and write them.
 */
#include "report/findings/advice_internal.h"

#include "core/base/text.h"
#include "core/trace/recording_info.h"

#include <math.h>
#include <string.h>

#define BYTES_LEAST      0.1 /* of all that is allocated: less is not worth a change */
#define CLUSTERS_MOST    8u
#define POINTS_MOST      3u
#define EDEN_PART        0.8  /* of the young generation, as HotSpot divides it */
#define COLLECTING_LEAST 0.02 /* of the CPU time: what collections at a point save at most; less is no trouble */
#define SAVED_LEAST      0.5  /* of what is expected */
#define SAVED_MOST       2.0  /* constructors, too, whose time is not known */
#define COLLECTING_PART  0.5  /* of what collections copy less, that they are shorter: the rest is their own */

static const struct advice_rule replace_rule = { .name = "replace" };
static const struct advice_rule collect_rule = { .name = "collect" };

/* part of what collections, or creations and collections, take is saved, as expected; of that at least and at most. */
static void set_saving(const struct findings_making *making, struct advice_hint *hint, double ns, double part,
                       double low, double high)
{
    double share = making->cpu_ns > 0 ? part * ns / making->cpu_ns : 0;
    hint->of = "CPU time";
    hint->saving_ns = part * ns;
    hint->share = share;
    hint->low = low * share;
    hint->high = high * share;
}

static int append(struct advising *a, const struct advice_hint *hint, struct err *err)
{
    if (hint->action == NULL || hint->evidence == NULL || hint->verify == NULL || a->n == a->room)
        return err_set(err, "out of memory for hints");
    a->hints[a->n++] = *hint;
    return 0;
}

/* ---- objects that only pass something on ---- */

/* "in Main.run" where there is a common caller. */
static const char *action_of(const struct last_uses *uses, const struct last_uses_cluster *c, struct arena *arena)
{
    const char *class = memtrace_names_class(&uses->names, c->class_number, JAVA_NAMES_SHORT, arena),
               *created = last_uses_line(uses, c->created, arena), *common = last_uses_common(uses, c, arena);
    if (class == NULL || created == NULL || common == NULL)
        return NULL;
    if (!c->is_used)
        return arena_printf(arena, "do not create the %s of %s: nobody uses them", class, created);
    if (c->common == MEMTRACE_NO_NUMBER)
        return arena_printf(arena, "create fewer %s in %s, or reuse them", class, created);
    return arena_printf(arena, "pass on in %s what is in the %s of %s, without them", common, class, created);
}

static const char *evidence_of(const struct last_uses *uses, const struct last_uses_cluster *c, struct arena *arena)
{
    const char *used = c->is_used ? last_uses_line(uses, c->used, arena) : "nobody";
    if (used == NULL)
        return NULL;
    return arena_printf(arena,
                        "%.1f %% of all bytes are such objects, last used by %s, more than half of them for fewer than "
                        "%.0f data accesses",
                        100 * c->n_bytes / uses->n_bytes, used, (double)last_uses_median(c));
}

static int add_clusters(struct advising *a, const struct last_uses *uses, double ns, struct err *err)
{
    struct arena *arena = a->making->source->arena;
    uint32_t n = 0;
    for (uint32_t i = 0; i < uses->n && n < CLUSTERS_MOST; i++) {
        const struct last_uses_cluster *c = &uses->all[i];
        double share = uses->n_bytes > 0 ? c->n_short_bytes / uses->n_bytes : 0;
        if (!(share >= BYTES_LEAST) || last_uses_is_removed(uses, c))
            continue;
        struct advice_hint hint = { .rule = replace_rule.name,
                                    .subject = last_uses_line(uses, c->created, arena),
                                    .action = action_of(uses, c, arena),
                                    .evidence = evidence_of(uses, c, arena),
                                    .verify = advice_verify(a->making, &replace_rule),
                                    .bytes_share = share,
                                    .bytes_of = "allocated" };
        set_saving(a->making, &hint, ns, share, SAVED_LEAST, SAVED_MOST);
        if (append(a, &hint, err) < 0)
            return -1;
        n++;
    }
    return 0;
}

/* ---- where to collect ---- */

static const char *size_of(double bytes, char text[64])
{
    const struct table_cell cell = table_number(bytes);
    table_format(&cell, TABLE_BYTES, text, 64);
    return text;
}

/* With the size as an option, unless the command has one, which would be the one that counts. */
static const char *verify_of(const struct findings_making *making, const struct live_point *p)
{
    const char *command = info_text(making->source->reader, INFO_JVM_COMMAND);
    struct advice_rule rule = collect_rule;
    bool has_size = command != NULL && strstr(command, "-Xmn") != NULL;
    if (p->choice == LIVE_YOUNG && !has_size)
        rule.option = arena_printf(making->source->arena, "-Xmn%.0fk", ceil(p->call_bytes / EDEN_PART / 1024));
    return advice_verify(making, &rule);
}

static const char *point_action(const struct live_point *p, const char *method, struct arena *arena)
{
    char created[64];
    return p->choice == LIVE_FULL
               ? arena_printf(arena, "collect at the ends of %s (System.gc() there, or jcmd PID GC.run)", method)
               : arena_printf(arena, "let a young generation of %s reach from one end of %s to the next",
                              size_of(p->call_bytes, created), method);
}

static int add_points(struct advising *a, const struct advice_memory *memory, double ns, struct err *err)
{
    struct arena *arena = a->making->source->arena;
    for (uint32_t i = 0; i < memory->points->n && i < POINTS_MOST; i++) {
        const struct live_point *p = &memory->points->all[i];
        const char *method = memtrace_names_method(&memory->live->names, p->method, JAVA_NAMES_SHORT, arena);
        char there[64], elsewhere[64];
        double part = p->kept_mean > 0 ? 1 - p->kept / p->kept_mean : 0;
        if (p->choice == LIVE_NO_COLLECTION || method == NULL)
            continue;
        struct advice_hint hint = {
            .rule = collect_rule.name,
            .subject = method,
            .action = point_action(p, method, arena),
            .evidence =
                arena_printf(arena,
                             "%s are to be copied there, and %s as often at other times; %.0f %% of its %u ends "
                             "are local minima of the live bytes",
                             size_of(p->kept, there), size_of(p->kept_mean, elsewhere), 100 * p->minima, p->n_calls),
            .verify = verify_of(a->making, p),
            .bytes_share = part,
            .bytes_of = "copied by collections"
        };
        set_saving(a->making, &hint, ns, COLLECTING_PART * part, 0, 1 / COLLECTING_PART);
        if (hint.high < COLLECTING_LEAST)
            continue;
        if (append(a, &hint, err) < 0)
            return -1;
    }
    return 0;
}

int advice_find_memory(struct advising *advising, const struct advice_memory *memory, struct err *err)
{
    const struct allocations *found;
    if (findings_allocations(advising->making, &found, err) < 0)
        return -1;
    double collecting_ns = findings_collecting_ns(advising->making, found);
    double creating_ns = collecting_ns + FINDINGS_BYTE_NS * found->bytes;
    return add_clusters(advising, memory->uses, creating_ns, err) < 0 ||
                   add_points(advising, memory, collecting_ns, err) < 0
               ? -1
               : 0;
}
