/*
 * Advice about objects, from an emulated run of the program: which ones could be left out (thesis §A.4), and where a
 * collection costs least (§A.3).
 *
 * That run says which part of the bytes is saved.  What the collector's CPU time is, the recording says: a young
 * collection comes for each so many bytes, so that a part of the bytes is as large a part of the collections, and of
 * what it takes to clear and write them.
 */
#include "report/findings/advice_internal.h"

#include "report/view/last_uses.h"
#include "report/view/live_bytes.h"

#define BYTES_LEAST       0.1 /* of all that is allocated: less is not worth a change */
#define CLUSTERS_MOST     8u
#define COLLECTIONS_LEAST 10u
#define CALLS_APART       4u
#define COLLECTING_LEAST  0.02 /* of the CPU time: what collections at a point save at most; less is no trouble */
#define SAVED_LEAST       0.5  /* of what is expected */
#define FAULT_MOST        4    /* times what a page fault is assumed to take, in a virtual machine */
#define SAVED_MOST        2.5  /* constructors, too, whose time is not known: 2.3 was measured */

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

/* ---- objects that only pass something on ---- */

/* "in Main.run" where there is a common caller. */
static const char *action_of(const struct last_uses *uses, const struct last_uses_cluster *c, struct arena *arena)
{
    const char *class = memtrace_names_class(&uses->names, c->class_number, JAVA_NAMES_SHORT, arena),
               *created = last_uses_line(uses, c->created, arena), *common = last_uses_common(uses, c, arena);
    if (!c->is_used)
        return arena_printf(arena, "do not create the %s in %s: nobody uses them", class, created);
    if (c->common == MEMTRACE_NO_NUMBER)
        return arena_printf(arena, "create fewer %s in %s, or reuse them", class, created);
    return arena_printf(arena, "in %s, pass the fields of the %s that %s creates, not the objects", common, class,
                        created);
}

static const char *evidence_of(const struct last_uses *uses, const struct last_uses_cluster *c, struct arena *arena)
{
    const char *used = c->is_used ? last_uses_line(uses, c->used, arena) : "nobody";
    return arena_printf(arena,
                        "%.1f %% of all bytes are such objects, last used by %s, more than half of them for fewer than "
                        "%.0f data accesses",
                        100 * c->n_bytes / uses->n_bytes, used, (double)last_uses_median(c));
}

static void add_clusters(struct advising *a, const struct last_uses *uses, double ns)
{
    struct arena *arena = a->making->source->arena;
    uint32_t n = 0;
    for (uint32_t i = 0; i < uses->n && n < CLUSTERS_MOST; i++) {
        const struct last_uses_cluster *c = &uses->all[i];
        double share = uses->n_bytes > 0 ? c->n_short_bytes / uses->n_bytes : 0;
        if (!(share >= BYTES_LEAST) || c->is_library || last_uses_is_removed(uses, c))
            continue;
        struct advice_hint hint = { .rule = replace_rule.name,
                                    .subject = last_uses_line(uses, c->created, arena),
                                    .action = action_of(uses, c, arena),
                                    .evidence = evidence_of(uses, c, arena),
                                    .verify = advice_verify(a->making, &replace_rule),
                                    .basis = "the measured bytes; the cost of constructors is unknown",
                                    .bytes_share = share,
                                    .bytes_of = "allocated" };
        set_saving(a->making, &hint, ns, share, SAVED_LEAST, SAVED_MOST);
        a->hints[a->n++] = hint;
        n++;
    }
}

/* ---- where to collect ---- */

static const char *size_of(double bytes, char text[64])
{
    const struct table_cell cell = table_number(bytes);
    table_format(&cell, TABLE_BYTES, text, 64);
    return text;
}

static const char *verify_young(const struct findings_making *making, const char *option)
{
    struct advice_rule rule = collect_rule;
    rule.option = option;
    return advice_verify(making, &rule);
}

/* Bytes that are copied for each that is created, by collections that are so many bytes apart. */
static double copied_part(const struct live_bytes *live, double apart_bytes)
{
    return apart_bytes >= 1 ? live_bytes_copies(live, 0, UINT64_MAX, (uint64_t)apart_bytes).least / apart_bytes : 0;
}

/* By those of the run; or where these are too few, by collections that are a call apart. */
static double copied_part_now(const struct live_bytes *live, const struct live_point *p)
{
    return live->n_collections >= COLLECTIONS_LEAST
               ? copied_part(live, (double)live_bytes_allocated(live, UINT64_MAX) / live->n_collections)
           : p->call_bytes > 0 ? p->kept_mean / p->call_bytes
                               : 0;
}

/* A larger young generation has pages that are used for the first time: what that costs is not saved. */
static void touch_pages(const struct findings_making *making, struct advice_hint *hint, double n_pages)
{
    double share = making->cpu_ns > 0 ? n_pages * FINDINGS_FAULT_NS / making->cpu_ns : 0;
    hint->saving_ns -= n_pages * FINDINGS_FAULT_NS;
    hint->share -= share;
    hint->high -= share;
    hint->low -= FAULT_MOST * share;
}

/* What a call has in use is copied once in some calls. */
static void add_young(struct advising *a, const struct live_bytes *live, const struct live_point *p, const char *method,
                      double ns)
{
    struct arena *arena = a->making->source->arena;
    char created[64], size[64], used[64];
    double apart = CALLS_APART * p->call_bytes, now = copied_part_now(live, p),
           part = now > 0 ? 1 - copied_part(live, apart) / now : 0;
    const char *option = advice_young_option(a->making, apart / EDEN_PART);
    struct advice_hint hint = {
        .rule = collect_rule.name,
        .subject = method,
        .action = arena_printf(arena,
                               "give the young generation room for %u calls of %s, which create %s "
                               "each: %s",
                               CALLS_APART, method, size_of(p->call_bytes, created), option),
        .evidence =
            arena_printf(arena,
                         "few bytes are live when a call ends, %s, and %s during it: collections copy %.1f %% of the "
                         "bytes created, and would copy %.1f %% at this interval",
                         size_of(p->kept, used), size_of(p->kept_mean, size), 100 * now, 100 * now * (1 - part)),
        .verify = verify_young(a->making, option),
        .basis = "the bytes copied, from objects' last uses",
        .bytes_share = part,
        .bytes_of = "copied by collections"
    };
    if (!(part > 0))
        return;
    set_saving(a->making, &hint, ns, part, SAVED_LEAST, 1 / part);
    touch_pages(a->making, &hint, advice_touched_pages(a->making, apart / EDEN_PART));
    if (hint.low >= COLLECTING_LEAST)
        a->hints[a->n++] = hint;
}

/* Of the time of full collections, if there were any. */
static void add_full(struct advising *a, const struct live_point *p, const char *method, double ns)
{
    struct arena *arena = a->making->source->arena;
    char dead[64], there[64], elsewhere[64];
    double of_full, part = p->live_mean > 0 ? 1 - p->live / p->live_mean : 0;
    if (!(advice_pauses(a->making, "gc_full", &of_full) > 0 && part > 0))
        return;
    struct advice_hint hint = {
        .rule = collect_rule.name,
        .subject = method,
        .action = arena_printf(arena, "collect at the end of %s: System.gc() there, or jcmd PID GC.run", method),
        .evidence = arena_printf(arena,
                                 "young collections during a call copy %s that are dead at its end; a full collection "
                                 "copies %s at its end, and %s at other times",
                                 size_of(p->old_dead, dead), size_of(p->live, there), size_of(p->live_mean, elsewhere)),
        .verify = advice_verify(a->making, &collect_rule),
        .basis = "the live bytes, from objects' last uses",
        .bytes_share = part,
        .bytes_of = "copied by full collections"
    };
    set_saving(a->making, &hint, of_full * ns, part, SAVED_LEAST, 1 / part);
    if (hint.low >= COLLECTING_LEAST)
        a->hints[a->n++] = hint;
}

/* A JVM has one young generation: the first point of each kind. */
static void add_points(struct advising *a, const struct advice_memory *memory, double ns)
{
    bool has[LIVE_FULL + 1] = { [LIVE_NO_COLLECTION] = true };
    for (uint32_t i = 0; i < memory->points->n; i++) {
        const struct live_point *p = &memory->points->all[i];
        if (has[p->choice])
            continue;
        has[p->choice] = true;
        const char *method =
            memtrace_names_method(&memory->live->names, p->method, JAVA_NAMES_SHORT, a->making->source->arena);
        if (p->choice == LIVE_YOUNG)
            add_young(a, memory->live, p, method, ns);
        else
            add_full(a, p, method, ns);
    }
}

/*
 * Twice the young generation: half as many collections.  What one costs by itself is half then; what it copies, too, is
 * as the emulated run says of collections that are twice as many bytes apart as its own.
 */
static void measure(struct advice_rule *rule, const struct advice_memory *memory)
{
    const struct live_bytes *live = memory->live;
    uint64_t n = live->n_collections, all = live_bytes_allocated(live, UINT64_MAX);
    if (strcmp(rule->name, "young") != 0 || n < COLLECTIONS_LEAST)
        return;
    double now = live_bytes_copies(live, 0, UINT64_MAX, all / n).least,
           twice = live_bytes_copies(live, 0, UINT64_MAX, 2 * all / n).least, itself = 0.5;
    double copying = now > 0 ? fmax(0, 1 - twice / (2 * now)) : itself;
    rule->low = fmin(copying, itself);
    rule->high = fmax(copying, itself);
    rule->part = (copying + itself) / 2;
    rule->basis = "the bytes copied by collections at twice the interval, from objects' last uses";
}

static void find_memory(struct advising *advising, const struct advice_memory *memory)
{
    const struct allocations *found = findings_allocations(advising->making);
    double collecting_ns = findings_collecting_ns(advising->making, found->pauses_ns);
    add_clusters(advising, memory->uses, collecting_ns + FINDINGS_BYTE_NS * found->bytes);
    add_points(advising, memory, collecting_ns);
}

const struct advice_memory_rules advice_memory_rules = { find_memory, measure };
