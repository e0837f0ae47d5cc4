#include "report/view/misses_report.h"

#include "core/base/text.h"
#include "core/base/xalloc.h"

#define STEP_LEAST_NS 4e8 /* twice as long as the plugin adds misses up */

static const char *const ways[MISSES_WAYS] = {
    [MISSES_BY_CLASS] = "class",
    [MISSES_BY_FIELD] = "field",
    [MISSES_BY_SPACE] = "space",
    [MISSES_BY_METHOD] = "method",
    [MISSES_BY_CODE_CLASS] = "code-class",
    [MISSES_BY_LINE] = "line",
    [MISSES_BY_BYTECODE] = "bytecode",
    [MISSES_BY_PART] = "part",
    [MISSES_BY_TIME] = "time",
    [MISSES_CONTENTS] = "contents",
};

int misses_way(const char *text, enum misses_by *by, struct err *err)
{
    for (int i = 0; i < MISSES_WAYS; i++) {
        *by = (enum misses_by)i;
        if (strcmp(text, ways[i]) == 0)
            return 0;
    }
    err_set(err, "misses cannot be grouped by '%s'", text);
    return err_next(
        err, "use --view misses=class, field, space, method, code-class, line, bytecode, part, time or contents");
}

/* ---- hearing ---- */

/* The element with a number, zeroed if it is new. */
#define ELEMENT(m, list, number)                                              \
    ((m)->n_##list = (number) < (m)->n_##list ? (m)->n_##list : (number) + 1, \
     xgrow_zeroed((m)->list, (m)->list##_room, (size_t)(m)->n_##list), &(m)->list[number])

static const char *copy(struct misses *m, struct wire_text text)
{
    return text_utf8(m->arena, text.at, text.n);
}

struct hearing {
    const struct report_source *source;
    struct misses *misses;
};

static void add_counts(struct misses *m, struct misses_tally *tally, const struct miss_entry *entry)
{
    if (entry->kind == MISS_ACCESSES) {
        tally->n_accesses += entry->n_accesses;
        tally->n_drawn += entry->n_kept;
        m->told_accesses += entry->n_accesses;
        m->n_drawn += entry->n_kept;
        return;
    }
    for (int i = 0; i < MISS_N_COUNTS; i++) {
        tally->counts[i] += entry->counts[i];
        m->told[i] += entry->counts[i];
    }
    tally->n_kept += entry->n_kept;
    m->n_kept += entry->n_kept;
}

static uint32_t step_of(const struct hearing *hearing, uint64_t ticks)
{
    const struct misses *m = hearing->misses;
    uint64_t start = trace_start_ticks(hearing->source->reader);
    uint64_t step = m->step_ticks == 0 || ticks < start ? 0 : (ticks - start) / m->step_ticks;
    return step < MISSES_STEPS ? (uint32_t)step : MISSES_STEPS - 1;
}

/* The number of a key, and of a new one: how many there are. */
static uint32_t number_of(struct map *map, const void *key, size_t n_key, uint32_t n)
{
    const uint32_t *known = map_get(map, key, n_key);
    if (known != NULL)
        return *known;
    map_put(map, key, n_key, n);
    return n;
}

static bool is_ours(const struct hearing *hearing, uint32_t thread)
{
    const struct calltree *tree = hearing->source->tree;
    return thread < tree->n_threads && tree->threads[thread].part == VM_PART_MMPROF;
}

static void hear_counts(const struct hearing *hearing, const struct miss_entry *entry)
{
    struct misses *m = hearing->misses;
    struct misses_tally tally;
    memset(&tally, 0, sizeof tally); /* its padding is a part of the key */
    tally.key.location = (uint32_t)entry->location;
    tally.key.cell = entry->cell;
    tally.key.step = step_of(hearing, entry->ticks);
    tally.key.is_ours = is_ours(hearing, entry->thread);
    uint32_t number = number_of(&m->by_key, &tally.key, sizeof tally.key, m->n_tallies);
    struct misses_tally *kept = ELEMENT(m, tallies, number);
    kept->key = tally.key;
    add_counts(m, kept, entry);
    if (m->half_life_ns > 0 && entry->kind == MISS_COUNTS)
        heat_add(&kept->heat, (uint64_t)report_ns(hearing->source, entry->ticks), (double)entry->counts[MISS_L2],
                 m->half_life_ns);
}

static void hear_contents(const struct hearing *hearing, const struct miss_entry *entry)
{
    struct misses *m = hearing->misses;
    struct misses_held held;
    memset(&held, 0, sizeof held); /* as above */
    held.key.cell = entry->cell;
    held.key.step = step_of(hearing, entry->ticks);
    held.key.is_ours = is_ours(hearing, entry->thread);
    uint32_t number = number_of(&m->by_held, &held.key, sizeof held.key, m->n_held);
    struct misses_held *kept = ELEMENT(m, held, number);
    kept->key = held.key;
    for (int i = 0; i < MISS_N_COUNTS; i++)
        kept->counts[i] += entry->counts[i];
    m->l2_lines += entry->counts[MISS_L2];
    m->n_looked[held.key.step] += m->looked_ticks != entry->ticks;
    m->looked_ticks = entry->ticks;
}

static void hear_used(const struct hearing *hearing, const struct miss_entry *entry)
{
    uint32_t step = step_of(hearing, entry->ticks);
    uint64_t *bytes = hearing->misses->used[step].bytes;
    hearing->misses->used[step].n++;
    for (int i = 0; i < MISS_SPACES; i++)
        bytes[i] = entry->used[i] > bytes[i] ? entry->used[i] : bytes[i];
}

static void hear(void *context, const struct miss_entry *entry)
{
    const struct hearing *hearing = context;
    struct misses *m = hearing->misses;
    switch (entry->kind) {
    case MISS_OWNER:
        *ELEMENT(m, owners, entry->number) = (struct misses_owner){ copy(m, entry->name), entry->owner_kind };
        break;
    case MISS_CELL:
        *ELEMENT(m, cells, entry->number) =
            (struct misses_cell){ copy(m, entry->name), entry->owner, entry->offset, entry->space };
        break;
    case MISS_COUNTS:
    case MISS_ACCESSES:
        hear_counts(hearing, entry);
        break;
    case MISS_TOTALS:
        for (int i = 0; i < MISS_N_COUNTS; i++)
            m->all[i] += entry->counts[i];
        m->n_accesses += entry->n_accesses;
        m->n_looks += entry->n_looks;
        m->look_ns += entry->look_ns;
        break;
    case MISS_CONTENTS:
        hear_contents(hearing, entry);
        break;
    case MISS_USED:
        hear_used(hearing, entry);
        break;
    case MISS_BYTECODE:
        *ELEMENT(m, bytecodes, entry->number) =
            (struct misses_bytecode){ copy(m, entry->class_name), copy(m, entry->name), copy(m, entry->descriptor),
                                      entry->opcode };
        break;
    case MISS_AT:
        xhash_store(&m->at, entry->location, entry->number);
        break;
    case MISS_METHOD:
        break;
    }
}

static void hear_location(void *context, const struct location_entry *entry)
{
    const struct hearing *hearing = context;
    code_locations_hear(hearing->misses->locations, entry);
}

/* ---- reading ---- */

static int read_again(const struct hearing *hearing, bool salvage, struct err *err)
{
    struct hearing mine = *hearing;
    const struct trace_listener listener = { .context = &mine, .location = hear_location, .miss = hear };
    struct trace_reader *reader;
    struct trace_event event;
    int rc;
    if (trace_open(&reader, hearing->source->path, salvage, err) < 0)
        return -1;
    trace_listen(reader, &listener);
    while ((rc = trace_next(reader, &event, err)) > 0)
        continue;
    trace_close(reader);
    return rc;
}

/* The recording in steps, but none shorter than what is written at once. */
static uint64_t step_ticks(const struct trace_reader *reader)
{
    uint64_t all = trace_end_ticks(reader) - trace_start_ticks(reader);
    double ns_per_tick = trace_ns_per_tick(reader);
    uint64_t least = ns_per_tick > 0 ? (uint64_t)(STEP_LEAST_NS / ns_per_tick) : 1;
    return all / MISSES_STEPS + 1 > least ? all / MISSES_STEPS + 1 : least;
}

int misses_read(const struct report_source *source, bool salvage, enum misses_by by, double half_life_s,
                struct misses *misses, struct err *err)
{
    const struct hearing hearing = { source, misses };
    *misses = (struct misses){ .arena = source->arena, .by_key.arena = source->arena, .by_held.arena = source->arena };
    if (by == MISSES_BY_TIME || by == MISSES_CONTENTS)
        misses->step_ticks = step_ticks(source->reader);
    misses->half_life_ns = (uint64_t)(half_life_s * 1e9);
    misses->locations = code_locations_open();
    if (read_again(&hearing, salvage, err) < 0)
        return -1;
    code_locations_recorded(misses->locations, source->reader);
    if (misses->n_tallies > 0)
        return 0;
    err_set(err, "'%s' does not record where misses occurred", source->path);
    return err_next(err, "record with 'mmprof record --simulate -- java ...', without --counts-only");
}

const struct misses_bytecode *misses_bytecode(const struct misses *m, uint32_t location)
{
    const uint32_t *number = hash_find(&m->at, location);
    if (number == NULL || *number == 0 || *number > m->n_bytecodes || m->bytecodes[*number - 1].name == NULL)
        return NULL;
    return &m->bytecodes[*number - 1];
}

int misses_need_bytecodes(const struct report_source *source, const struct misses *misses, struct err *err)
{
    if (misses->n_bytecodes > 0)
        return 0;
    err_set(err, "'%s' does not record which bytecodes missed", source->path);
    return err_next(err, "record it again; 'mmprof doctor -p PID' says whether this JVM's methods can be read");
}

void misses_free(struct misses *misses)
{
    code_locations_close(misses->locations);
    map_free(&misses->by_key);
    map_free(&misses->by_held);
    free(misses->owners);
    free(misses->cells);
    free(misses->tallies);
    free(misses->held);
    free(misses->bytecodes);
    hash_free(&misses->at);
    memset(misses, 0, sizeof *misses);
}
