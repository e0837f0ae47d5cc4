#include "report/view/misses_report.h"

#include "core/trace/recording_info.h"
#include "report/event_columns.h"

#define WHYS 8

/* L1D's misses, without our own. */
struct misses_known {
    uint64_t accesses, heap_accesses, n_drawn, heap_misses; /* n_drawn: of how many accesses is known */
    uint64_t all, no_code, java, no_line, of_owner[MISS_OWNERS], of_why[WHYS];
    const char *whys[WHYS]; /* the object is not known; NULL: no more */
};

bool misses_are_ours(const struct misses_tally *tally, const struct code_function *function)
{
    return tally->key.is_ours || function->kind == CODE_AT_AGENT ||
           (function->names.class_name != NULL && (strcmp(function->names.class_name, "java/lang/MmprofProbe") == 0 ||
                                                   strcmp(function->names.class_name, "mmprof/Probe") == 0));
}

static bool is_java(enum code_location_kind kind)
{
    return kind == CODE_AT_INTERPRETER || kind == CODE_AT_C1 || kind == CODE_AT_C2 || kind == CODE_AT_COMPILED ||
           kind == CODE_AT_STUB;
}

void misses_keep_java(struct misses *m)
{
    uint32_t n = 0;
    m->is_java_only = true;
    m->told_accesses = m->n_drawn = m->n_kept = 0;
    memset(m->told, 0, sizeof m->told);
    for (uint32_t i = 0; i < m->n_tallies; i++) {
        const struct misses_tally *tally = &m->tallies[i];
        struct code_location location;
        code_locations_find(m->locations, tally->key.location, &location);
        const struct code_function *function = code_locations_function(m->locations, location.function);
        if (!is_java(function->kind) || misses_are_ours(tally, function))
            continue;
        for (int k = 0; k < MISS_N_COUNTS; k++)
            m->told[k] += tally->counts[k];
        m->n_kept += tally->n_kept;
        m->told_accesses += tally->n_accesses;
        m->n_drawn += tally->n_drawn;
        m->tallies[n++] = *tally;
    }
    m->n_tallies = n;
}

static void add_why(struct misses_known *known, const char *why, uint64_t n)
{
    for (size_t i = 0; i < WHYS; i++) {
        if (known->whys[i] != NULL && strcmp(known->whys[i], why) != 0)
            continue;
        known->whys[i] = why;
        known->of_why[i] += n;
        return;
    }
}

static void add_tally(struct misses_known *known, struct misses *m, const struct misses_tally *tally)
{
    uint64_t n = tally->counts[MISS_L1D];
    struct code_location location;
    const struct misses_cell *cell = tally->key.cell < m->n_cells ? &m->cells[tally->key.cell] : NULL;
    const struct misses_owner *owner = cell != NULL && cell->owner < m->n_owners ? &m->owners[cell->owner] : NULL;
    code_locations_find(m->locations, tally->key.location, &location);
    const struct code_function *function = code_locations_function(m->locations, location.function);
    if (misses_are_ours(tally, function))
        return;
    bool is_java = function->names.method != NULL;
    known->all += n;
    known->no_code += function->kind == CODE_AT_UNKNOWN || (function->kind == CODE_AT_INTERPRETER && !is_java) ? n : 0;
    known->java += is_java ? n : 0;
    known->no_line += is_java && location.line == 0 && location.bytecode == 0 ? n : 0;
    known->of_owner[owner == NULL || owner->name == NULL ? MISS_UNKNOWN : owner->kind] += n;
    if (owner != NULL && owner->name != NULL && owner->kind == MISS_HEAP && n > 0)
        add_why(known, owner->name, n);
    bool in_heap = owner != NULL && (owner->kind == MISS_HEAP || owner->kind <= MISS_STATICS);
    known->accesses += tally->n_accesses;
    known->n_drawn += tally->n_drawn;
    known->heap_accesses += in_heap ? tally->n_accesses : 0;
    known->heap_misses += in_heap ? n : 0;
}

/* As a table prints it. */
static const char *digits(struct arena *arena, uint64_t n)
{
    char text[64];
    const struct table_cell cell = table_number((double)n);
    table_format(&cell, TABLE_COUNT, text, sizeof text);
    return arena_printf(arena, "%s", text);
}

/* How many accesses are to the Java heap, and how often these and all miss (thesis Figures 2.5 and 2.6). */
static void tell_accesses(struct arena *arena, const struct misses_known *known, struct table *table)
{
    double all = (double)known->accesses, heap = (double)known->heap_accesses;
    if (known->n_drawn == 0)
        return;
    table_metadata_number(table, "heap_accesses_share", heap / all, NULL);
    table_note(table, arena_printf(arena,
                                   "estimates from %s random samples of accesses, without mmprof's own: %s of accesses "
                                   "are to the Java heap; L1D miss ratio %s in the Java heap, %s overall",
                                   digits(arena, known->n_drawn), report_percent(arena, heap / all),
                                   heap > 0 ? report_percent(arena, (double)known->heap_misses / heap) : "-",
                                   report_percent(arena, (double)known->all / all)));
}

/* What is not there, of all: as per cent, or "-". */
static const char *but(struct arena *arena, uint64_t missing, double all)
{
    return all > 0 ? report_percent(arena, 1 - (double)missing / all) : "-";
}

void misses_tell_known(const struct report_source *source, struct misses *misses, struct table *table)
{
    struct arena *arena = source->arena;
    struct misses_known known = { .all = 0 };
    for (uint32_t i = 0; i < misses->n_tallies; i++)
        add_tally(&known, misses, &misses->tallies[i]);
    uint64_t nowhere = known.of_owner[MISS_UNKNOWN] + known.of_owner[MISS_OTHER];
    uint64_t no_object = known.of_owner[MISS_HEAP];
    double all = (double)known.all, java = (double)known.java;
    double heap = (double)(known.of_owner[MISS_OBJECTS] + known.of_owner[MISS_STATICS] + no_object);
    table_metadata_number(table, "known_memory_share", all > 0 ? 1 - (double)nowhere / all : 0, NULL);
    table_metadata_number(table, "known_object_share", heap > 0 ? 1 - (double)no_object / heap : 0, NULL);
    table_metadata_number(table, "known_code_share", all > 0 ? 1 - (double)known.no_code / all : 0, NULL);
    table_metadata_number(table, "known_line_share", java > 0 ? 1 - (double)known.no_line / java : 0, NULL);
    table_note(table, arena_printf(arena,
                                   "attributed L1D misses, without mmprof's own: memory region %s, object %s (of the "
                                   "Java heap), code %s, line or bytecode %s (of Java methods)",
                                   but(arena, nowhere, all), but(arena, no_object, heap),
                                   but(arena, known.no_code, all), but(arena, known.no_line, java)));
    tell_accesses(arena, &known, table);
    for (size_t i = 0; i < WHYS && known.whys[i] != NULL; i++)
        table_note(table, arena_printf(arena, "object unknown for %s of the misses in the heap: %s",
                                       report_percent(arena, (double)known.of_why[i] / heap), known.whys[i]));
}

static void tell_java(const struct report_source *source, const struct misses *m, struct table *table)
{
    struct arena *arena = source->arena;
    double all = (double)m->all[MISS_L1D], l2 = (double)m->all[MISS_L2];
    table_note(table, arena_printf(arena, "Java code and the JVM's stubs only: %s of L1D misses, %s of L2 misses",
                                   all > 0 ? report_percent(arena, (double)m->told[MISS_L1D] / all) : "-",
                                   l2 > 0 ? report_percent(arena, (double)m->told[MISS_L2] / l2) : "-"));
}

void misses_mark_estimates(const struct report_source *source, struct table *table)
{
    for (size_t i = 0; report_samples_sets(source) && i < table->n_columns; i++) {
        struct table_column *column = &table->columns[i];
        if (column->unit == TABLE_COUNT &&
            (strncmp(column->key, "l1d_", 4) == 0 || strncmp(column->key, "l2_", 3) == 0))
            column->heading = arena_printf(source->arena, "~%s", column->heading);
    }
}

double misses_instructions(const struct report_source *source)
{
    const struct calltree *tree = source->tree;
    struct event_column events[EVENT_COLUMNS_MAX];
    size_t n = event_columns(source->reader, tree, events);
    const struct event_column *instructions = event_column_measured(events, n, EVENT_INSTRUCTIONS);
    double sum = 0;
    if (instructions == NULL || instructions->n_recorded != 1)
        return 0;
    for (uint32_t i = 0; i < tree->n_roots; i++)
        sum += (double)calltree_total_metrics(
            tree, tree->roots[i].node)[CALLTREE_COUNTERS + instructions->recorded[0].column];
    return sum;
}

void misses_tell_totals(const struct report_source *source, const struct misses *m, struct table *table)
{
    const char *model = info_text(source->reader, INFO_SIMULATED);
    table_metadata_number(table, "accesses", (double)m->n_accesses, NULL);
    table_metadata_number(table, "l1d_misses", (double)m->all[MISS_L1D], NULL);
    table_metadata_number(table, "l2_misses", (double)m->all[MISS_L2], NULL);
    table_metadata_number(
        table, "dtlb_misses", (double)m->all[MISS_DTLB],
        arena_printf(source->arena, "misses   simulated (%s): %s loads and stores; misses: %s L1D, %s L2, %s data TLB",
                     model == NULL ? "?" : model, digits(source->arena, m->n_accesses),
                     digits(source->arena, m->all[MISS_L1D]), digits(source->arena, m->all[MISS_L2]),
                     digits(source->arena, m->all[MISS_DTLB])));
    report_note_sets(source, table);
    report_note_left_out(source, table);
    table_metadata_number(table, "kept", (double)m->n_kept, NULL);
    table_metadata_number(table, "looked_up", (double)m->n_looks, NULL);
    table_metadata_number(table, "look_ns", (double)m->look_ns, NULL);
    uint64_t told = m->told[MISS_L1D] + m->told[MISS_DTLB];
    if (told > m->n_kept + m->n_kept / 10)
        table_note(table, arena_printf(source->arena,
                                       "rows are estimates from %s random samples of misses; a row with k samples "
                                       "(--csv) has a relative error of about 2 / sqrt(k)",
                                       digits(source->arena, m->n_kept)));
    if (m->is_java_only)
        tell_java(source, m, table);
    else if (m->all[MISS_L1D] > m->told[MISS_L1D] + m->all[MISS_L1D] / 100)
        table_note(table, arena_printf(
                              source->arena, "the table lacks %s of the L1D misses: they were not written",
                              report_percent(source->arena, 1 - (double)m->told[MISS_L1D] / (double)m->all[MISS_L1D])));
}
