#include "core/base/text.h"
#include "report/view/where.h"

#include "core/trace/recording_info.h"
#include "report/sample_cells.h"

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

/* "names of libjvm.so are from .symtab" for the JVM; other files in which names are missing. */
static void note_symbols(const struct report_source *source, const struct where *where, struct table *table)
{
    const char *none = "", *exported = "", *symbols;
    for (uint32_t i = 0; i < code_locations_n_files(where->locations); i++) {
        const char *path = code_locations_file(where->locations, i, &symbols), *name = text_base_name(path);
        if (vm_is_library(path))
            table_note(table, arena_printf(source->arena, "names in %s are from: %s", name, symbols));
        else if (strcmp(symbols, "none") == 0)
            none = arena_printf(source->arena, "%s%s%s", none, none[0] == '\0' ? "" : ", ", name);
        else if (strncmp(symbols, ".dynsym", 7) == 0)
            exported = arena_printf(source->arena, "%s%s%s", exported, exported[0] == '\0' ? "" : ", ", name);
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

/* A row as it is printed; NAN: not known. */
struct where_line {
    const char *label;
    double share, part_shares[VM_PARTS], ratios[WHERE_EVENTS_MAX], ratio_errors[WHERE_EVENTS_MAX];
};

static const struct table_column where_columns[] = {
    { "where", "Where", TABLE_TEXT, FROM(struct where_line, label) },
    { "share", "All (%)", TABLE_SHARE, FROM(struct where_line, share) },
};

static void add_columns(const struct where *where, const struct sample_ratio_kind *ratios, size_t n_ratios,
                        struct table *table)
{
    TABLE_COLUMNS(table, where_columns, 0);
    for (size_t i = 0; i < VM_PARTS; i++) {
        const struct table_column column = { parts[i].key, parts[i].heading, TABLE_SHARE,
                                             FROM(struct where_line, part_shares[i]) };
        if (where->part_ns[i] > 0 || i == VM_PART_APPLICATION)
            table_columns(table, &column, 1, 0);
    }
    for (size_t i = 0; i < n_ratios; i++) {
        const char *error_key = arena_printf(table->arena, "%s_error", ratios[i].key);
        const struct table_column both[] = {
            { ratios[i].key, ratios[i].heading, TABLE_RATIO, FROM(struct where_line, ratios[i]),
              ERROR_FROM(struct where_line, ratio_errors[i]) },
            { error_key, NULL, TABLE_RATIO, FROM(struct where_line, ratio_errors[i]), .width = COLUMN_DATA },
        };
        TABLE_COLUMNS(table, both, 0);
    }
}

/* row: WHERE_ROWS for all. */
static void find_ratios(const struct where *where, size_t row, double ns, const struct sample_ratio_kind *ratios,
                        size_t n_ratios, struct where_line *line)
{
    uint64_t n = 0;
    for (size_t part = 0; part < VM_PARTS; part++)
        for (size_t one = row == WHERE_ROWS ? 0 : row; one < (row == WHERE_ROWS ? WHERE_ROWS : row + 1); one++)
            n += where->ip_samples[one][part];
    const struct where_count clock = { n, ns, n == 0 ? 0 : ns * ns / (double)n };
    for (size_t i = 0; i < n_ratios; i++) {
        struct where_ratio ratio = where_events_ratio(where->events.rows[row], &clock, &ratios[i]);
        line->ratios[i] = ratio.value;
        line->ratio_errors[i] = ratio.error;
    }
}

static struct where_line line_of(const struct where *where, const char *label, const double ns[VM_PARTS + 1])
{
    double all = all_ns(where);
    struct where_line line = { .label = label, .share = ns[VM_PARTS] / all };
    for (size_t part = 0; part < VM_PARTS; part++)
        line.part_shares[part] = ns[part] / all;
    return line;
}

static void add_rows(const struct where *where, const struct sample_ratio_kind *ratios, size_t n_ratios,
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
            struct where_line line = line_of(where, row_label(table->arena, row), ns);
            find_ratios(where, row, ns[VM_PARTS], ratios, n_ratios, &line);
            if (ns[VM_PARTS] > 0)
                table_add(table, row_key(row), &line);
        }
    }
    struct where_line line = line_of(where, "all", sums);
    find_ratios(where, WHERE_ROWS, sums[VM_PARTS], ratios, n_ratios, &line);
    table_add(table, "total", &line)->after_rule = true;
}

/* What stands in the columns of events. */
static void note_events(const struct where *where, struct table *table)
{
    const struct where_events *events = &where->events;
    const char *each = "";
    for (uint32_t i = 1; i < events->n; i++) {
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

void where_table(const struct report_source *source, const struct where *where, struct table *table)
{
    struct sample_ratio_kind ratios[WHERE_EVENTS_MAX];
    size_t n_ratios = (size_t)sample_ratio_kinds(where->events.names, where->events.n, source->arena, ratios);
    table_begin(table, source->arena);
    report_metadata(source, table);
    add_columns(where, ratios, n_ratios, table);
    add_metadata(source, where, table);
    add_rows(where, ratios, n_ratios, table);
    note_events(where, table);
    report_losses(source, table);
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
    const char *text =
        f->most.outer[0] == '\0' ? at : arena_printf(arena, "%s%sin %s", at, at[0] == '\0' ? "" : " ", f->most.outer);
    if (!is_cut || strlen(text) <= OUTER_CHARS)
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
    return function->file[0] == '\0' ? "(no name)"
                                     : arena_printf(arena, "(no name, %s)", text_base_name(function->file));
}

static const char *kind_label(struct arena *arena, const struct code_function *function)
{
    if (function->kind == CODE_AT_NATIVE && function->file[0] != '\0')
        return text_base_name(function->file);
    return row_label(arena, where_row(function->kind, function->subsystem));
}

struct hot_line {
    const char *label, *of, *most_at_short, *most_at, *file;
    double share, kernel_share;
    uint64_t n;
};

static const struct table_column hot_columns[] = {
    { "code", "Code", TABLE_TEXT, FROM(struct hot_line, label) },
    { "of", "Of", TABLE_TEXT, FROM(struct hot_line, of) },
    { "share", "Self (%)", TABLE_SHARE, FROM(struct hot_line, share) },
    { "kernel_share", "In the kernel (%)", TABLE_SHARE, FROM(struct hot_line, kernel_share) },
    { "hits", "Samples", TABLE_COUNT, FROM(struct hot_line, n) },
    { "mostly_at_short", "Mostly at", TABLE_TEXT, FROM(struct hot_line, most_at_short) },
    { "mostly_at", "Mostly at", TABLE_TEXT, FROM(struct hot_line, most_at), .width = COLUMN_DATA },
    { "file", "File", TABLE_TEXT, FROM(struct hot_line, file), .width = COLUMN_DATA },
};

static void add_function(const struct where *where, const struct where_function *f, struct table *table)
{
    struct arena *arena = table->arena;
    const struct code_function *function = code_locations_function(where->locations, f->function);
    const struct hot_line line = {
        .label = function_label(arena, function),
        .of = kind_label(arena, function),
        .most_at_short = most_at(arena, function, f, true),
        .most_at = most_at(arena, function, f, false),
        .file = function->file,
        .share = f->ns / all_ns(where),
        .kernel_share = f->kernel_ns / all_ns(where),
        .n = f->n_ip_samples,
    };
    table_add(table, row_key(where_row(function->kind, function->subsystem)), &line);
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

void where_hot_table(const struct report_source *source, const struct where *where, uint64_t top, struct table *table)
{
    table_begin(table, source->arena);
    TABLE_COLUMNS(table, hot_columns, 0);
    for (size_t i = 0; i < where->n_functions && (top == 0 || i < top); i++)
        add_function(where, &where->functions[i], table);
    note_no_lines(source, table);
}
