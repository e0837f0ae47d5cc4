#include "report/view/where.h"

#include "core/trace/recording_info.h"
#include "report/sample_cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OUTER_CHARS 60
#define SURE        1.96 /* standard deviations of 95 % */

static const struct {
    const char *heading, *key;
} parts[VM_PARTS] = {
    [VM_PART_APPLICATION] = { "Application", "application_share" },
    [VM_PART_GC] = { "GC", "gc_share" },
    [VM_PART_C1] = { "C1", "c1_share" },
    [VM_PART_C2] = { "C2", "c2_share" },
    [VM_PART_THREAD] = { "VM thread", "vm_thread_share" },
    [VM_PART_OTHER] = { "Other VM", "other_vm_share" },
    [VM_PART_MMPROF] = { "mmprof", "mmprof_share" },
};

static double all_ns(const struct where *where)
{
    double ns = 0;
    for (size_t row = 0; row < WHERE_ROWS; row++)
        ns += where_ns(where, row, VM_PARTS);
    return ns;
}

/* ---- metadata and notes ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* "names of libjvm.so are from .symtab" for the JVM; other files in which names are missing. */
static void note_symbols(const struct report_source *source, const struct where *where, struct table *table)
{
    const char *none = "", *exported = "", *symbols;
    for (uint32_t i = 0; i < code_locations_n_files(where->locations); i++) {
        const char *path = code_locations_file(where->locations, i, &symbols), *name = base_name(path);
        if (vm_is_library(path))
            table_note(table, arena_printf(source->arena, "names in %s are from: %s", name, symbols));
        else if (strcmp(symbols, "none") == 0)
            none = arena_printf(source->arena, "%s%s%s", none, none[0] == '\0' ? "" : ", ", name);
        else if (strncmp(symbols, ".dynsym", 7) == 0)
            exported = arena_printf(source->arena, "%s%s%s", exported, exported[0] == '\0' ? "" : ", ", name);
        if (none == NULL || exported == NULL)
            return;
    }
    if (none[0] != '\0')
        table_note(table, arena_printf(source->arena, "without symbols: %s", none));
    if (exported[0] != '\0')
        table_note(table, arena_printf(source->arena, "only exported functions have names in: %s", exported));
}

static void add_metadata(const struct report_source *source, const struct where *where, struct table *table)
{
    char ns[32], cpu[32];
    double stands_for = (double)where->n_ip_samples * where->period_ns, cpu_ns = 0;
    for (size_t part = 0; part < VM_PARTS; part++)
        cpu_ns += where->part_ns[part];
    table_format_ns(stands_for, ns, sizeof ns);
    table_format_ns(cpu_ns, cpu, sizeof cpu);
    table_metadata_number(table, "hits", (double)where->n_ip_samples,
                          arena_printf(source->arena,
                                       "samples  %.0f IP samples, one per %.1f ms of a thread's CPU time: %s of %s",
                                       (double)where->n_ip_samples, where->period_ns / 1e6, ns, cpu));
    table_metadata_number(table, "hit_period_ns", where->period_ns, NULL);
    table_metadata_number(table, "hits_ns", stands_for, NULL);
    table_metadata_number(table, "cpu_ns", cpu_ns, NULL);
    table_note(table,
               arena_printf(source->arena,
                            "a share p has a 95 %% interval of +-2 sqrt(p (1 - p) / %.0f): for 50 %%, %.2f points",
                            (double)where->n_ip_samples, 100 * SURE * sqrt(0.25 / (double)where->n_ip_samples)));
    const char *no_code = info_text(source->reader, INFO_CODE_FAILED);
    if (no_code != NULL)
        table_note(table, arena_printf(source->arena, "the JVM did not report its compiled code: %s", no_code));
    if (!where->has_kernel)
        table_note(table,
                   "the kernel may not be sampled (perf_event_paranoid): CPU time without samples is the kernel's");
    note_symbols(source, where, table);
}

/* ---- where ---- */

static const char *row_label(struct arena *arena, size_t row)
{
    if (row == WHERE_KERNEL)
        return "kernel";
    if (row < CODE_LOCATION_KINDS)
        return code_location_kind_name((enum code_location_kind)row);
    return arena_printf(arena, "JVM: %s", vm_subsystem_name((enum vm_subsystem)(row - CODE_LOCATION_KINDS)));
}

static const char *row_key(size_t row)
{
    if (row == WHERE_KERNEL)
        return "kernel";
    return row < CODE_LOCATION_KINDS ? code_location_kind_key((enum code_location_kind)row)
                                     : vm_subsystem_key((enum vm_subsystem)(row - CODE_LOCATION_KINDS));
}

/* The columns of a table. */
struct columns {
    size_t of_part[VM_PARTS]; /* 0: none */
    struct sample_ratio_kind ratios[WHERE_EVENTS_MAX];
    size_t of_ratio[WHERE_EVENTS_MAX]; /* its error's is the next one */
    uint32_t n_ratios;
};

static void add_columns(const struct where *where, struct columns *columns, struct table *table)
{
    int n_ratios = sample_ratio_kinds(where->events.names, where->events.n, table->arena, columns->ratios);
    table_column(table, "Where", "where", TABLE_TEXT);
    table_column(table, "All (%)", "share", TABLE_SHARE);
    for (size_t part = 0; part < VM_PARTS; part++)
        if (where->part_ns[part] > 0 || part == VM_PART_APPLICATION)
            columns->of_part[part] = table_column(table, parts[part].heading, parts[part].key, TABLE_SHARE);
    table->is_broken = table->is_broken || n_ratios < 0;
    columns->n_ratios = n_ratios < 0 ? 0 : (uint32_t)n_ratios;
    for (uint32_t i = 0; i < columns->n_ratios; i++) {
        const struct sample_ratio_kind *kind = &columns->ratios[i];
        columns->of_ratio[i] = table_column(table, kind->heading, kind->key, TABLE_RATIO);
        sample_cells_hide(table, arena_printf(table->arena, "%s_error", kind->key), TABLE_RATIO);
    }
}

/* row: WHERE_ROWS for all. */
static void add_ratios(const struct where *where, size_t row, double ns, const struct columns *columns,
                       struct table_cell *cells, struct table *table)
{
    uint64_t n = 0;
    for (size_t part = 0; part < VM_PARTS; part++)
        for (size_t one = row == WHERE_ROWS ? 0 : row; one < (row == WHERE_ROWS ? WHERE_ROWS : row + 1); one++)
            n += where->ip_samples[one][part];
    const struct where_count clock = { n, ns, n == 0 ? 0 : ns * ns / (double)n };
    for (uint32_t i = 0; i < columns->n_ratios; i++) {
        struct where_ratio ratio = where_events_ratio(where->events.rows[row], &clock, &columns->ratios[i]);
        cells[columns->of_ratio[i]] = sample_cells_ratio(ratio.value, ratio.error, table->arena);
        cells[columns->of_ratio[i] + 1] = sample_cells_error(ratio.error);
    }
}

static void add_row(const struct where *where, size_t row, const char *label, const char *kind,
                    const double ns[VM_PARTS + 1], const struct columns *columns, struct table *table)
{
    struct table_cell *cells = table_row(table, kind);
    double all = all_ns(where);
    if (cells == NULL)
        return;
    cells[0] = table_words(label);
    cells[1] = table_quotient(ns[VM_PARTS], all);
    for (size_t part = 0; part < VM_PARTS; part++)
        if (columns->of_part[part] != 0)
            cells[columns->of_part[part]] = table_quotient(ns[part], all);
    add_ratios(where, row, ns[VM_PARTS], columns, cells, table);
}

static void add_rows(const struct report_source *source, const struct where *where, const struct columns *columns,
                     struct table *table)
{
    static const size_t order[] = { CODE_AT_INTERPRETER, CODE_AT_C1,     CODE_AT_C2,     CODE_AT_COMPILED,
                                    CODE_AT_STUB,        CODE_AT_VM,     CODE_AT_NATIVE, CODE_AT_AGENT,
                                    WHERE_KERNEL,        CODE_AT_UNKNOWN };
    double sums[VM_PARTS + 1] = { 0 };
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        bool is_vm = order[i] == CODE_AT_VM;
        for (size_t row = is_vm ? CODE_LOCATION_KINDS : order[i]; row < (is_vm ? WHERE_KERNEL : order[i] + 1); row++) {
            double ns[VM_PARTS + 1];
            for (size_t part = 0; part <= VM_PARTS; part++)
                sums[part] += ns[part] = where_ns(where, row, part);
            if (ns[VM_PARTS] > 0)
                add_row(where, row, row_label(source->arena, row), row_key(row), ns, columns, table);
        }
    }
    add_row(where, WHERE_ROWS, "all", "total", sums, columns, table);
    if (table->n_rows > 0)
        table->rows[table->n_rows - 1].after_rule = true;
}

/* What stands in the columns of events. */
static void note_events(const struct where *where, struct table *table)
{
    const struct where_events *events = &where->events;
    const char *each = "";
    for (uint32_t i = 1; i < events->n && each != NULL; i++) {
        uint64_t n = events->rows[WHERE_ROWS][i].n;
        each = arena_printf(table->arena, "%s%s%.0f of %s", each, i > 1 ? ", " : "", (double)n, events->names[i]);
        table_metadata_number(table, arena_printf(table->arena, "samples_of_%u", i), (double)n, NULL);
    }
    if (events->why_not != NULL)
        table_note(table, arena_printf(table->arena, "events took no samples: %s", events->why_not));
    else if (events->n > 0)
        table_note(table, arena_printf(
                              table->arena,
                              "ratios of events come from the events' own samples, %s; '-' means fewer than %u samples",
                              each, WHERE_EVENTS_LEAST));
}

int where_table(const struct report_source *source, const struct where *where, struct table *table, struct err *err)
{
    struct columns columns = { .n_ratios = 0 };
    table_begin(table, source->arena);
    report_metadata(source, table);
    add_columns(where, &columns, table);
    add_metadata(source, where, table);
    add_rows(source, where, &columns, table);
    note_events(where, table);
    report_losses(source, table);
    return table->is_broken ? err_set(err, "out of memory for a table") : 0;
}

/* ---- hot functions ---- */

/* "HashMap.java:573 in Map.get:12 in ..." */
static const char *most_at(struct arena *arena, const struct code_function *function, const struct where_function *f,
                           bool is_cut)
{
    const char *at =
        f->most.line == 0
            ? ""
            : arena_printf(arena, "%s:%u", function->file[0] == '\0' ? "line" : function->file, f->most.line);
    const char *text = at == NULL || f->most.outer[0] == '\0'
                           ? at
                           : arena_printf(arena, "%s%sin %s", at, at[0] == '\0' ? "" : " ", f->most.outer);
    if (text == NULL || !is_cut || strlen(text) <= OUTER_CHARS)
        return text;
    return arena_printf(arena, "%.*s...", OUTER_CHARS - 3, text);
}

static const char *function_label(struct arena *arena, const struct code_function *function)
{
    if (function->names.method != NULL) {
        struct method_name name = function->names;
        return java_names_display(arena, &name, JAVA_NAMES_SHORT);
    }
    if (function->name[0] != '\0')
        return function->name;
    return function->file[0] == '\0' ? "(no name)" : arena_printf(arena, "(no name, %s)", base_name(function->file));
}

static const char *kind_label(struct arena *arena, const struct code_function *function)
{
    if (function->kind == CODE_AT_NATIVE && function->file[0] != '\0')
        return base_name(function->file);
    return row_label(arena, where_row(function->kind, function->subsystem));
}

static void add_function(const struct report_source *source, const struct where *where, const struct where_function *f,
                         const size_t at[8], struct table *table)
{
    struct arena *arena = source->arena;
    const struct code_function *function = code_locations_function(where->locations, f->function);
    struct table_cell *cells = table_row(table, row_key(where_row(function->kind, function->subsystem)));
    if (cells == NULL)
        return;
    cells[at[0]] = table_words(function_label(arena, function));
    cells[at[1]] = table_words(kind_label(arena, function));
    cells[at[2]] = table_quotient(f->ns, all_ns(where));
    cells[at[3]] = table_quotient(f->kernel_ns, all_ns(where));
    cells[at[4]] = table_number((double)f->n_ip_samples);
    cells[at[5]] = table_words(most_at(arena, function, f, true));
    cells[at[6]] = table_words(most_at(arena, function, f, false));
    cells[at[7]] = table_words(function->file);
}

/* Lines that nobody knows are not said: how much that concerns, and what to do about it. */
static void note_no_lines(const struct report_source *source, struct table *table)
{
    const char *without = info_text(source->reader, INFO_IP_SAMPLES_NO_LINES),
               *all = info_text(source->reader, INFO_IP_SAMPLES);
    double n = without == NULL ? 0 : strtod(without, NULL), n_all = all == NULL ? 0 : strtod(all, NULL);
    bool were_wanted = info_text(source->reader, INFO_CODE_LINES) != NULL;
    if (!(n > 0 && n_all > 0))
        return;
    table_note(table,
               arena_printf(source->arena,
                            "%s of the IP samples have a compiled method, but no line or inlined method: the JIT kept "
                            "no line-level debug info%s",
                            report_percent(source->arena, n / n_all),
                            were_wanted
                                ? " yet; start the JVM with -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints"
                                : "; record with --lines"));
}

int where_hot_table(const struct report_source *source, const struct where *where, uint64_t top, struct table *table,
                    struct err *err)
{
    size_t at[8];
    table_begin(table, source->arena);
    at[0] = table_column(table, "Code", "code", TABLE_TEXT);
    at[1] = table_column(table, "Of", "of", TABLE_TEXT);
    at[2] = table_column(table, "Self (%)", "share", TABLE_SHARE);
    at[3] = table_column(table, "In the kernel (%)", "kernel_share", TABLE_SHARE);
    at[4] = table_column(table, "Samples", "hits", TABLE_COUNT);
    at[5] = table_column(table, "Mostly at", "mostly_at_short", TABLE_TEXT);
    at[6] = table_column(table, "Mostly at", "mostly_at", TABLE_TEXT);
    at[7] = table_column(table, "File", "file", TABLE_TEXT);
    table->columns[at[6]].not_in_text = table->columns[at[7]].not_in_text = true;
    for (size_t i = 0; i < where->n_functions && (top == 0 || i < top); i++)
        add_function(source, where, &where->functions[i], at, table);
    note_no_lines(source, table);
    return table->is_broken ? err_set(err, "out of memory for a table") : 0;
}
