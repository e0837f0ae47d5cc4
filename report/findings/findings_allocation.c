/* Findings on allocation: methods whose objects are much of all bytes, and what the collections did that follow. */
#include "report/findings/findings_internal.h"

#include "report/view/allocations.h"

#define METHODS_MOST 2u   /* that have a line */
#define COST_LEAST   0.01 /* of the CPU time: less is no trouble, whatever part of all bytes it is */

/* "; all collections stopped the program 12 times for 1.20 s", or "". */
static const char *stops_of(const struct findings_making *making, const struct allocations *found)
{
    if (!(found->n_pauses > 0))
        return "";
    const char *time = findings_time(making, found->pauses_ns);
    return found->n_pauses == 1
               ? arena_printf(making->source->arena, "; a collection stopped the program for %s", time)
               : arena_printf(making->source->arena, "; collections stopped the program %.0f times for %s",
                              found->n_pauses, time);
}

double findings_collecting_ns(const struct findings_making *making, double pauses_ns)
{
    double own = report_ns(making->source, making->shares.part_ticks[VM_PART_GC]),
           with_vm_thread = own + report_ns(making->source, making->shares.part_ticks[VM_PART_THREAD]);
    return fmax(own, pauses_ns > 0 ? fmin(pauses_ns, with_vm_thread) : 0);
}

/* " (boxed numbers: use primitive types)", " in Arrays.copyOf", or "". */
static const char *kind_of(const struct findings_making *making, const struct allocation_row *row)
{
    const char *class_name = row->class_name;
    static const char *const boxes[] = { "Integer", "Long", "Double", "Float", "Short", "Character", "Byte" };
    const char *name = class_name != NULL && strncmp(class_name, "java/lang/", 10) == 0 ? class_name + 10 : "";
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++)
        if (strcmp(name, boxes[i]) == 0)
            return " (boxed numbers: use primitive types)";
    if (row->allocator.method == NULL)
        return "";
    const char *allocator = java_names_display(making->source->arena, &row->allocator, JAVA_NAMES_SHORT);
    return arena_printf(making->source->arena, " in %s", allocator);
}

/* To make the objects takes no longer than their method runs, where that is known. */
static double making_ns(const struct findings_making *making, const struct findings_sums *sums,
                        const struct allocation_row *row)
{
    double ns = row->bytes * FINDINGS_BYTE_NS;
    for (uint32_t i = 0; sums->ticks != NULL && i < making->source->tree->n_methods; i++) {
        struct method_name name = report_name(making->source, i);
        if (sums->ticks[i] > 0 && method_name_equals(&name, &row->method))
            return fmin(ns, report_ns(making->source, sums->ticks[i]));
    }
    return ns;
}

static void add_allocating(struct findings_making *making, const struct finding_rule *rule,
                           const struct allocations *found, const struct findings_sums *sums,
                           const struct allocation_row *row)
{
    struct arena *arena = making->source->arena;
    char rate[32];
    table_format_bytes(row->bytes_per_s, rate, sizeof rate);
    const char *label = java_names_display(arena, &row->method, JAVA_NAMES_SHORT);
    const char *of = row->class_name == NULL ? "?" : java_names_class(arena, row->class_name);
    const char *stops = stops_of(making, found), *share = findings_share(making, row->share, row->share_error);
    const struct finding f = { .subject = label,
                               .text = arena_printf(arena, "%s allocates %s of all bytes (%s/s), mostly %s%s%s", label,
                                                    share, rate, of, kind_of(making, row), stops),
                               .view = "allocations",
                               .cost_ns = making_ns(making, sums, row) +
                                          row->share * findings_collecting_ns(making, found->pauses_ns),
                               .share = row->share,
                               .low = row->share - row->share_error,
                               .high = row->share + row->share_error };
    if (f.cost_ns >= COST_LEAST * making->cpu_ns)
        findings_add(making, rule, &f);
}

const struct allocations *findings_allocations(const struct findings_making *making)
{
    struct allocations *all = arena_alloc(making->source->arena, sizeof *all);
    struct err ignored; /* why there are none: no error of a report */
    if (making->pass != NULL && making->pass->n_allocations > 0 &&
        allocations_find(making->pass, ALLOCATIONS_BY_METHOD, all, &ignored) < 0)
        memset(all, 0, sizeof *all);
    return all;
}

void findings_of_allocation(struct findings_making *making, const struct finding_rule *rule)
{
    const struct allocations *found = findings_allocations(making);
    struct findings_sums sums = { 0 };
    if (found->rows.n > 0 && making->has_cpu_time)
        findings_sum(making, findings_own_code, NULL, &sums);
    for (size_t i = 0; i < found->rows.n && i < METHODS_MOST; i++)
        if (found->rows.all[i].method.method != NULL &&
            !findings_tells_objects(making, &found->rows.all[i].method, found->rows.all[i].class_name))
            add_allocating(making, rule, found, &sums, &found->rows.all[i]);
}
