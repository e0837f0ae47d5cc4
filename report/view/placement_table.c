/* The runs' classes are matched by name: those of several class loaders under one name are one row. */
#include "report/view/placement_table.h"

#include "core/base/map.h"
#include "core/base/text.h"
#include "phases/select/statistics.h"
#include "phases/tree/estimate.h"
#include "symbolize/java_names.h"

/* A row's misses. */
struct owner_row {
    const char *name;      /* of a class; NULL: what is no class */
    double *misses;        /* the arena's: by run, machine and event */
    double objects, bytes; /* of all runs */
};

struct building {
    const struct placement_result *results;
    size_t n;
    struct arena *arena;
    struct table *table;
    struct map names;
    struct owner_row *rows; /* the arena's; the first two as enum placement_owner has them */
    size_t n_rows;
    struct owner_row all, placed;
};

static double *misses_of(const struct owner_row *row, size_t run, uint32_t machine, int event)
{
    return &row->misses[(run * PLACEMENT_MACHINES + machine) * PLACEMENT_EVENTS + (size_t)event];
}

static void make_row(struct building *b, struct owner_row *row, const char *name)
{
    *row = (struct owner_row){ .name = name };
    row->misses = arena_alloc(b->arena, b->n * PLACEMENT_MACHINES * PLACEMENT_EVENTS * sizeof *row->misses);
}

/* The row of a class. */
static struct owner_row *row_of(struct building *b, const char *name)
{
    size_t n = strlen(name);
    const uint32_t *known = map_get(&b->names, name, n);
    if (known != NULL)
        return &b->rows[*known];
    map_put(&b->names, name, n, (uint32_t)b->n_rows);
    make_row(b, &b->rows[b->n_rows], name);
    return &b->rows[b->n_rows++];
}

static void add_misses(const struct building *b, size_t run, struct owner_row *row,
                       const struct placement_result_class *its)
{
    for (uint32_t machine = 0; machine <= b->results[run].n_policies; machine++)
        for (int event = 0; event < PLACEMENT_EVENTS; event++)
            *misses_of(row, run, machine, event) += (double)its->misses[machine][event];
    row->objects += (double)its->n_objects;
    row->bytes += (double)its->n_bytes;
}

static void add_run(struct building *b, size_t run)
{
    const struct placement_result *result = &b->results[run];
    for (uint32_t i = 0; i < result->n_classes; i++) {
        const struct placement_result_class *its = &result->classes[i];
        struct owner_row *row = i < PLACEMENT_OWNERS ? &b->rows[i] : its->name == NULL ? NULL : row_of(b, its->name);
        if (row == NULL)
            continue;
        add_misses(b, run, row, its);
        add_misses(b, run, &b->all, its);
        if (i >= PLACEMENT_OWNERS)
            add_misses(b, run, &b->placed, its);
    }
}

static void add_runs(struct building *b)
{
    size_t room = PLACEMENT_OWNERS;
    for (size_t i = 0; i < b->n; i++)
        room += b->results[i].n_classes;
    b->rows = arena_alloc(b->arena, room * sizeof *b->rows);
    b->n_rows = PLACEMENT_OWNERS;
    make_row(b, &b->rows[PLACEMENT_IN_HEAP], NULL);
    make_row(b, &b->rows[PLACEMENT_ELSEWHERE], NULL);
    make_row(b, &b->all, NULL);
    make_row(b, &b->placed, NULL);
    for (size_t i = 0; i < b->n; i++)
        add_run(b, i);
}

/* ---- cells ---- */

static struct moments counts_of(const struct building *b, const struct owner_row *row, uint32_t machine, int event)
{
    struct moments counts = { .n = 0 };
    for (size_t i = 0; i < b->n; i++)
        moments_add(&counts, *misses_of(row, i, machine, event));
    return counts;
}

/* Of each run that has misses as it is: how many more, a fraction of those. */
static struct moments changes_of(const struct building *b, const struct owner_row *row, uint32_t machine, int event)
{
    struct moments changes = { .n = 0 };
    for (size_t i = 0; i < b->n; i++) {
        double before = *misses_of(row, i, 0, event);
        if (before > 0)
            moments_add(&changes, *misses_of(row, i, machine, event) / before - 1);
    }
    return changes;
}

/* The half of the interval of 95 %; NAN: fewer than three runs. */
static double error_of(const struct moments *changes)
{
    if (changes->n < 3)
        return NAN;
    double n = (double)changes->n;
    return estimate_student(n - 1) * sqrt(moments_variance(changes) / n);
}

static struct table_cell change_cell(struct building *b, const struct moments *changes, double error)
{
    struct table_cell cell = table_number(changes->mean);
    if (changes->n == 0)
        return table_unmeasured();
    double change = fabs(changes->mean) < 0.00005 ? 0 : changes->mean;
    cell.words = isnan(error)
                     ? arena_printf(b->arena, change == 0 ? "%.2f" : "%+.2f", 100 * change)
                     : arena_printf(b->arena, change == 0 ? "%.2f ±%.2f" : "%+.2f ±%.2f", 100 * change, 100 * error);
    return cell;
}

/* ---- rows ---- */

static const char *policy_words(struct building *b, uint32_t machine)
{
    if (machine == 0)
        return "as it is";
    const struct placement_policy *policy = &b->results[0].policies[machine - 1];
    const char *kind = placement_kind_names[policy->kind];
    return policy->heat == PLACEMENT_BY_SAMPLES ? kind : arena_printf(b->arena, "%s (hindsight)", kind);
}

static const char *heat_words(const struct building *b, uint32_t machine)
{
    if (machine == 0 || b->results[0].policies[machine - 1].kind == PLACEMENT_IDENTITY)
        return "none";
    return b->results[0].policies[machine - 1].heat == PLACEMENT_BY_SAMPLES ? "samples" : "hindsight";
}

/* Of objects, which other memory has none of. */
static double placed_number(const struct building *b, const struct owner_row *row, double number)
{
    return row != &b->all && row != &b->placed && row->objects == 0 ? TABLE_NONE : number / (double)b->n;
}

struct placement_row {
    const char *policy, *heat, *memory;
    double objects, bytes, misses[PLACEMENT_EVENTS], errors[PLACEMENT_EVENTS];
    struct table_cell changes[PLACEMENT_EVENTS];
};

#define EVENT(heading, key, i)                                                                              \
    { key "_misses", heading " misses", TABLE_COUNT, FROM(struct placement_row, misses[i]) },               \
        { key "_change", "Change (%)", TABLE_SHARE, FROM(struct placement_row, changes[i]) },               \
    {                                                                                                       \
        key "_change_error", NULL, TABLE_SHARE, FROM(struct placement_row, errors[i]), .width = COLUMN_DATA \
    }

static const struct table_column columns[] = {
    { "policy", "Policy", TABLE_TEXT, FROM(struct placement_row, policy) },
    { "heat", NULL, TABLE_TEXT, FROM(struct placement_row, heat), .width = COLUMN_DATA },
    { "memory", "Memory", TABLE_TEXT, FROM(struct placement_row, memory) },
    { "objects", "Objects", TABLE_COUNT, FROM(struct placement_row, objects) },
    { "bytes", NULL, TABLE_COUNT, FROM(struct placement_row, bytes), .width = COLUMN_DATA },
    EVENT("L1D", "l1d", PLACEMENT_L1D),
    EVENT("L2", "l2", PLACEMENT_L2),
    EVENT("DTLB", "dtlb", PLACEMENT_DTLB),
};

static void add_row(struct building *b, const char *kind, const char *label, const struct owner_row *row,
                    uint32_t machine)
{
    struct placement_row to = { .policy = policy_words(b, machine),
                                .heat = heat_words(b, machine),
                                .memory = label,
                                .objects = placed_number(b, row, row->objects),
                                .bytes = placed_number(b, row, row->bytes) };
    for (int event = 0; event < PLACEMENT_EVENTS; event++) {
        struct moments changes = changes_of(b, row, machine, event);
        double error = error_of(&changes);
        to.misses[event] = counts_of(b, row, machine, event).mean;
        to.changes[event] = machine == 0 ? table_unmeasured() : change_cell(b, &changes, error);
        to.errors[event] = machine == 0 ? NAN : error;
    }
    table_add(b->table, kind, &to)->after_rule = row == &b->all && machine > 0;
}

static double weight_of(const struct building *b, const struct owner_row *row)
{
    return counts_of(b, row, 0, (int)b->results[0].run.event).mean;
}

struct weighed {
    const struct owner_row *row;
    double weight;
};

static int by_weight(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return strcmp(x->row->name, y->row->name);
}

/* The classes with most misses first; 'rest' gets the others. */
static size_t choose_rows(struct building *b, uint64_t top, struct weighed *chosen, struct owner_row *rest)
{
    size_t n = 0;
    for (size_t i = PLACEMENT_OWNERS; i < b->n_rows; i++)
        if (b->rows[i].objects > 0)
            chosen[n++] = (struct weighed){ &b->rows[i], weight_of(b, &b->rows[i]) };
    qsort(chosen, n, sizeof *chosen, by_weight);
    for (size_t i = top == 0 ? n : top; i < n; i++) {
        rest->objects += chosen[i].row->objects;
        rest->bytes += chosen[i].row->bytes;
        for (size_t k = 0; k < b->n * PLACEMENT_MACHINES * PLACEMENT_EVENTS; k++)
            rest->misses[k] += chosen[i].row->misses[k];
    }
    return top == 0 || n < top ? n : (size_t)top;
}

static void add_machine(struct building *b, uint32_t machine, const struct weighed *chosen, size_t n,
                        const struct owner_row *rest)
{
    add_row(b, "total", "all memory", &b->all, machine);
    add_row(b, "placed", "placed objects", &b->placed, machine);
    for (size_t i = 0; i < n; i++)
        add_row(b, "class", java_names_class(b->arena, chosen[i].row->name), chosen[i].row, machine);
    if (rest->objects > 0)
        add_row(b, "classes", "other classes", rest, machine);
    add_row(b, "heap", "heap that was not placed", &b->rows[PLACEMENT_IN_HEAP], machine);
    add_row(b, "elsewhere", "other memory", &b->rows[PLACEMENT_ELSEWHERE], machine);
}

static void add_rows(struct building *b, uint64_t top)
{
    struct owner_row rest;
    struct weighed *chosen = arena_alloc(b->arena, (b->n_rows + 1) * sizeof *chosen);
    make_row(b, &rest, NULL);
    size_t n = choose_rows(b, top, chosen, &rest);
    for (uint32_t machine = 0; machine <= b->results[0].n_policies; machine++)
        add_machine(b, machine, chosen, n, &rest);
}

/* ---- what is around them ---- */

/* The mean over the runs of a number of theirs. */
static double mean_of(const struct building *b, size_t offset)
{
    double sum = 0;
    for (size_t i = 0; i < b->n; i++)
        sum += (double)*(const uint64_t *)(const void *)((const char *)&b->results[i].run + offset);
    return sum / (double)b->n;
}

#define MEAN(field) mean_of(b, offsetof(struct placement_run, field))

static void add_metadata(struct building *b)
{
    const struct placement_run *run = &b->results[0].run;
    double accesses = MEAN(n_accesses), placed = MEAN(n_placed), collections = MEAN(n_collections);
    table_metadata_words(
        b->table, "model", run->model,
        arena_printf(b->arena, "simulated: %s, data only; %zu run%s", run->model, b->n, text_plural(b->n)));
    table_metadata_number(b->table, "runs", (double)b->n, NULL);
    table_metadata_number(b->table, "accesses", accesses,
                          arena_printf(b->arena, "accesses: %.0f by Java threads, %.2f %% of them to placed objects",
                                       accesses, accesses > 0 ? 100 * placed / accesses : 0));
    table_metadata_number(b->table, "placed_accesses", placed, NULL);
    table_metadata_number(b->table, "collections", collections,
                          arena_printf(b->arena,
                                       "placed: %.0f objects, %.1f MB, by %.0f collections, %.0f of them full",
                                       MEAN(n_objects), MEAN(n_object_bytes) / 1e6, collections, MEAN(n_full)));
    table_metadata_number(b->table, "full_collections", MEAN(n_full), NULL);
    table_metadata_number(b->table, "placed_objects", MEAN(n_objects), NULL);
    table_metadata_number(b->table, "placed_bytes", MEAN(n_object_bytes), NULL);
    table_metadata_number(b->table, "samples", MEAN(n_samples),
                          arena_printf(b->arena,
                                       "heat: %.0f samples in objects, one per %" PRIu64 " %s misses on average",
                                       MEAN(n_samples), run->period, placement_event_names[run->event]));
}

static void add_notes(struct building *b)
{
    bool has_hindsight = false;
    for (uint32_t i = 0; i < b->results[0].n_policies; i++)
        has_hindsight |= b->results[0].policies[i].heat == PLACEMENT_BY_HINDSIGHT;
    if (MEAN(n_objects) < 1)
        table_doubt(b->table, "no object was placed: no collection copied objects to the old generation; use a smaller "
                              "young generation (-Xmn), or a longer run");
    if (MEAN(n_samples) < 1)
        table_doubt(b->table, "no miss was sampled in an object before a collection: no class is hot; sample more "
                              "often (--period)");
    table_note(b->table,
               "misses are simulated, for placements that no JVM makes, too; their effect on time is unknown");
    if (has_hindsight)
        table_note(b->table, "hindsight uses the heat of a whole earlier run, which no collector knows: it is a bound");
}

void placement_table(const struct placement_result *results, size_t n, uint64_t top, struct arena *arena,
                     struct table *table)
{
    struct building b = { .results = results, .n = n, .arena = arena, .table = table, .names = { .arena = arena } };
    table_begin(table, arena);
    TABLE_COLUMNS(table, columns, 0);
    add_runs(&b);
    add_rows(&b, top);
    add_metadata(&b);
    add_notes(&b);
    map_free(&b.names);
}
