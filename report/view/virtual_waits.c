#include "report/view/virtual_waits.h"

#include "core/base/xalloc.h"
#include "symbolize/java_names.h"

struct virtual_sum {
    struct virtual_wait_row row;
    uint64_t latest_ticks; /* of the look that met it last */
    uint64_t n_threads;    /* of all looks together */
};

static uint64_t mix(uint64_t hash, const struct method_name *method)
{
    return hash_address(hash ^ (method->class_name == NULL ? 1 : method_name_hash(method)));
}

static struct virtual_sum *row_of(struct virtual_waits_reading *reading, const struct wait_site *site,
                                  const struct trace_virtual_wait *wait)
{
    bool is_idle = site->is_idle && trace_cause_may_be_idle(wait->cause);
    uint64_t key = mix(mix(hash_address((uint64_t)wait->cause << 1 | is_idle), &site->where), &site->called);
    key = hash_text(key, wait->lock_class, strlen(wait->lock_class));
    struct hash_slot *slot = xhash_put(&reading->by_key, key);
    if (slot->value == 0) {
        struct virtual_wait_row row = { .cause = wait->cause,
                                        .is_idle = is_idle,
                                        .where = site->where,
                                        .called = site->called,
                                        .lock_class = wait->lock_class[0] == '\0' ? NULL : wait->lock_class };
        *xpush(reading->rows, reading->room, reading->n) = (struct virtual_sum){ .row = row };
        slot->value = reading->n;
    }
    return &reading->rows[slot->value - 1];
}

void virtual_waits_hear(struct virtual_waits_reading *reading, const struct wait_site *site,
                        const struct trace_virtual_wait *wait)
{
    const struct wait_site none = { .is_idle = false };
    struct virtual_sum *sum = row_of(reading, site == NULL ? &none : site, wait);
    if (reading->n_looks == 0 || reading->latest_ticks != wait->ticks) {
        reading->n_looks++;
        reading->latest_ticks = wait->ticks;
    }
    sum->row.n += sum->row.n == 0 || sum->latest_ticks != wait->ticks;
    sum->n_threads += wait->n;
    sum->latest_ticks = wait->ticks;
}

static int by_time(const void *a, const void *b)
{
    const struct virtual_wait_row *x = a, *y = b;
    return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : 0;
}

void virtual_waits_end(const struct virtual_waits_reading *reading, double duration_ns, struct arena *arena,
                       struct virtual_waits *waits)
{
    *waits = (struct virtual_waits){ .n = reading->n,
                                     .n_looks = reading->n_looks,
                                     .rows = arena_alloc(arena, (reading->n + 1) * sizeof *waits->rows) };
    for (uint32_t i = 0; i < reading->n; i++) {
        struct virtual_wait_row *row = &waits->rows[i];
        *row = reading->rows[i].row;
        row->mean_threads = (double)reading->rows[i].n_threads / (double)reading->n_looks;
        row->ns = row->mean_threads * duration_ns;
        row->lock_class = row->lock_class == NULL ? NULL : java_names_class(arena, row->lock_class);
        waits->mean_threads += row->mean_threads;
    }
    for (size_t i = 0; i < waits->n; i++)
        waits->rows[i].share = waits->mean_threads > 0 ? waits->rows[i].mean_threads / waits->mean_threads : NAN;
    qsort(waits->rows, waits->n, sizeof *waits->rows, by_time);
}

void virtual_waits_free(struct virtual_waits_reading *reading)
{
    free(reading->rows);
    hash_free(&reading->by_key);
    *reading = (struct virtual_waits_reading){ .n = 0 };
}
