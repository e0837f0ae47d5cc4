#include "report/view/allocations.h"

#include "core/trace/recording_info.h"
#include "report/some_threads.h"

#define INTERVAL_95  1.96 /* standard deviations */
#define PAUSES_KINDS 4

struct allocations_making {
    const struct view_pass *pass;
    struct allocation_methods methods;
    struct allocation_item *items; /* the arena's */
    size_t n_items;
    double all_bytes, all_squares; /* of the samples of all threads */
};

static void take_samples(struct allocations_making *making)
{
    const struct view_pass *pass = making->pass;
    making->items = arena_alloc(pass->arena, (pass->n_allocations + 1) * sizeof *making->items);
    for (size_t i = 0; i < pass->n_allocations; i++) {
        const struct trace_allocation *from = &pass->allocations[i];
        double objects = trace_allocation_objects(from), bytes = objects * (double)from->size_bytes;
        making->all_bytes += bytes;
        making->all_squares += bytes * bytes;
        if (!threads_match(trace_thread(pass->reader, from->thread), pass->options.only_threads))
            continue;
        making->items[making->n_items++] =
            (struct allocation_item){ .site = allocation_site_of(&making->methods, pass->reader, from->context),
                                      .class_number = from->class_number,
                                      .class_name = from->class_name,
                                      .objects = objects,
                                      .bytes = bytes,
                                      .weight = bytes };
    }
}

static void make_rows(const struct allocations_making *making, enum allocations_by by, struct allocations *found)
{
    static uint64_t (*const keys[])(
        const struct allocation_item *) = { allocation_key_of_method, allocation_key_of_class, allocation_key_of_site };
    struct hash_set numbers = { NULL, 0, 0, false };
    allocation_rows_make(making->pass, making->items, making->n_items, keys[by], &numbers, &found->rows);
    hash_free(&numbers);
}

/* Rows as parts of what the JVM counted, of which the samples of all threads are a sample. */
static void find_bytes(const struct allocations_making *making, struct allocations *found)
{
    double scale = found->jvm_bytes > 0 && making->all_bytes > 0 ? found->jvm_bytes / making->all_bytes : 1;
    found->n_samples = making->n_items;
    found->sampled_bytes = making->all_bytes;
    found->error = INTERVAL_95 * sqrt(making->all_squares);
    for (size_t i = 0; i < found->rows.n; i++) {
        struct allocation_row *row = &found->rows.all[i];
        row->bytes *= scale;
        row->objects *= scale;
        row->bytes_per_s = found->seconds > 0 ? row->bytes / found->seconds : 0;
        found->bytes += row->bytes;
    }
}

static void read_facts(const struct view_pass *pass, struct allocations *found)
{
    double ns = info_number(pass->reader, INFO_ALLOCATIONS_NS), lost = info_number(pass->reader, INFO_ALLOCATIONS_LOST);
    double jvm = info_number(pass->reader, INFO_ALLOCATIONS_JVM_BYTES);
    found->seconds = (ns > 0 ? ns : report_ns(&pass->source, pass->tree.end_ticks - pass->tree.start_ticks)) / 1e9;
    found->n_lost = lost > 0 ? (uint64_t)lost : 0;
    found->jvm_bytes = jvm > 0 ? jvm : NAN;
    found->n_pauses = found->pauses_ns = NAN;
    for (uint32_t i = 0; i < PAUSES_KINDS; i++) {
        struct info_collector told;
        if (info_read(pass->reader, INFO_PAUSES_GC, i, pass->arena, &told) < 3)
            continue;
        found->n_pauses = (isnan(found->n_pauses) ? 0 : found->n_pauses) + (double)told.n;
        found->pauses_ns = (isnan(found->pauses_ns) ? 0 : found->pauses_ns) + (double)told.ns;
    }
}

static int refuse(const struct view_pass *pass, struct err *err)
{
    const char *why = info_text(pass->reader, INFO_ALLOCATIONS_FAILED);
    err_set(err, "'%s' has no allocations%s%s", pass->options.path, why == NULL ? "" : ": ", why == NULL ? "" : why);
    if (why != NULL)
        return err_next(err, "detach the other agent, or restart the JVM (11 or later), and record it again");
    return err_next(err, "record some with 'mmprof profile -p PID', without --no-allocations");
}

int allocations_find(const struct view_pass *pass, enum allocations_by by, struct allocations *found, struct err *err)
{
    struct allocations_making making = { .pass = pass };
    memset(found, 0, sizeof *found);
    if (pass->n_allocations == 0 && info_number(pass->reader, INFO_ALLOCATIONS_NS) < 0)
        return refuse(pass, err);
    read_facts(pass, found);
    allocation_methods_know(pass, &making.methods);
    take_samples(&making);
    make_rows(&making, by, found);
    find_bytes(&making, found);
    if (found->rows.n > 1)
        qsort(found->rows.all, found->rows.n, sizeof *found->rows.all, allocation_rows_order);
    return 0;
}

int allocations_by_name(const char *word, enum allocations_by *by, struct err *err)
{
    static const char *const words[] = { "method", "class", "site" };
    *by = ALLOCATIONS_BY_METHOD;
    if (word[0] == '\0')
        return 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0) {
            *by = (enum allocations_by)i;
            return 0;
        }
    err_set(err, "there is no view 'allocations=%s'", word);
    return err_next(err, "give --view allocations=method, =class or =site");
}
