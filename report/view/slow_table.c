#include "report/view/slow.h"

#define SAID_LEAST 0.05 /* of the difference: a smaller part is in no sentence */
#define SAID_MOST  8u   /* methods with a sentence above the table */

/* A row as it is printed. */
struct slow_line {
    const char *label, *because, *value; /* value: TABLE_NO_WORDS: none stands out */
    double n_slow_value, value_share;
    double p50_ns, p99_ns, longest_ns, slow_ns, above_ns;
    uint64_t calls;
    double parts_ns[SLOW_PARTS];
    struct method_name name;
};

#define SLOW(member) FROM(struct slow_line, member)

static const struct table_column columns[] = {
    { "label", "Phase", TABLE_TEXT, SLOW(label) },       { "calls", "Calls", TABLE_COUNT, SLOW(calls) },
    { "p50_ns", "p50", TABLE_NS, SLOW(p50_ns) },         { "p99_ns", "p99", TABLE_NS, SLOW(p99_ns) },
    { "max_ns", "Longest", TABLE_NS, SLOW(longest_ns) }, { "above_ns", "Slowest", TABLE_NS, SLOW(above_ns) },
};

static const struct table_column data_columns[] = {
    { "slowest_ns", NULL, TABLE_NS, SLOW(slow_ns), .width = COLUMN_DATA },
    { "because", NULL, TABLE_TEXT, SLOW(because), .width = COLUMN_DATA },
    { "value", NULL, TABLE_TEXT, SLOW(value), .width = COLUMN_DATA },
    { "slowest_with_value", NULL, TABLE_COUNT, SLOW(n_slow_value), .width = COLUMN_DATA },
    { "value_share", NULL, TABLE_SHARE, SLOW(value_share), .width = COLUMN_DATA },
    { "class", NULL, TABLE_TEXT, SLOW(name.class_name), .width = COLUMN_DATA },
    { "method", NULL, TABLE_TEXT, SLOW(name.method), .width = COLUMN_DATA },
    { "descriptor", NULL, TABLE_TEXT, SLOW(name.descriptor), .width = COLUMN_DATA },
};

/* What is called otherwise than the cause of a wait is. */
static const struct {
    const char *key, *heading, *words;
} parts[SLOW_PARTS] = {
    [TRACE_CAUSE_UNKNOWN] = { "not_known", "Not known", "not known" },
    [TRACE_CAUSE_ON_CPU] = { "cpu", "CPU", "CPU time" },
    [SLOW_COLLECTION] = { "collection", "Collection", "a collection" },
    [SLOW_THROTTLED] = { "throttled", "Throttled", "stopped by the CPU quota" },
};

static const char *key_of(size_t part)
{
    return parts[part].key != NULL ? parts[part].key : trace_cause_key((enum trace_cause)part);
}

/* "Run queue". */
static const char *heading_of(size_t part, struct arena *arena)
{
    if (parts[part].heading != NULL)
        return parts[part].heading;
    const char *name = trace_cause_name((enum trace_cause)part);
    return arena_printf(arena, "%c%s", name[0] >= 'a' && name[0] <= 'z' ? name[0] - 'a' + 'A' : name[0], name + 1);
}

/* ---- in words ---- */

static const char *part_words(const struct view_pass *pass, const struct slow_row *row, size_t part,
                              struct arena *arena)
{
    bool is_lock = part == TRACE_CAUSE_MONITOR || part == TRACE_CAUSE_LOCK;
    if (!is_lock)
        return parts[part].words != NULL ? parts[part].words : trace_cause_name((enum trace_cause)part);
    const char *lock = row->lock != NULL && row->lock->cause == (enum trace_cause)part
                           ? wait_lock_words(&pass->waits, row->lock, arena)
                       : part == TRACE_CAUSE_MONITOR ? "a monitor"
                                                     : "a lock";
    return arena_printf(arena, "waiting for %s", lock);
}

/* The largest part that is not yet in the words; SLOW_PARTS: all others are small. */
static size_t next_part(const struct slow_row *row, const bool *is_said)
{
    size_t next = SLOW_PARTS;
    for (size_t i = 0; i < SLOW_PARTS; i++)
        if (!is_said[i] && row->parts_ns[i] >= SAID_LEAST * (row->slow_ns - row->middle_ns) &&
            (next == SLOW_PARTS || row->parts_ns[i] > row->parts_ns[next]))
            next = i;
    return next;
}

/* "31.0 ms waiting for a lock that TariffBook.refresh holds, 6.0 ms a collection". */
static const char *because(const struct view_pass *pass, const struct slow_row *row, struct arena *arena)
{
    bool is_said[SLOW_PARTS] = { false };
    const char *words = "";
    for (size_t i; slow_has_tail(row) && (i = next_part(row, is_said)) < SLOW_PARTS; is_said[i] = true) {
        char time[64];
        table_format_ns(row->parts_ns[i], time, sizeof time);
        words = arena_printf(arena, "%s%s%s %s", words, words[0] == '\0' ? "" : ", ", time,
                             part_words(pass, row, i, arena));
    }
    if (row->value != NULL && words[0] != '\0')
        words = arena_printf(arena, "%s; %u of %u have the value '%s', as %.3g %% of all calls have", words,
                             row->n_slow_value, row->n_slow, trace_value_text(row->value), 100 * row->value_share);
    return words;
}

static void say(const struct slow_line *line, struct table *table)
{
    char above[64], median[64];
    table_format_ns(line->above_ns, above, sizeof above);
    table_format_ns(line->p50_ns, median, sizeof median);
    table_metadata_words(table, NULL, NULL,
                         arena_printf(table->arena, "%s: the slowest 1 %% take %s more than the median, %s: %s",
                                      line->label, above, median, line->because));
}

/* ---- the table ---- */

/* In text a part has a column if it is much of a row's. */
static bool is_shown(const struct slow_rows *rows, size_t part)
{
    bool is = false;
    for (size_t i = 0; i < rows->n; i++) {
        const struct slow_row *row = &rows->rows[i];
        is = is || (slow_has_tail(row) && row->parts_ns[part] >= SAID_LEAST * (row->slow_ns - row->middle_ns));
    }
    return is;
}

static void add_columns(const struct slow_rows *rows, struct table *table)
{
    TABLE_COLUMNS(table, columns, 0);
    for (size_t part = 0; part < SLOW_PARTS; part++) {
        struct table_column column = { .unit = TABLE_NS, .field = FIELD_FROM(struct slow_line, parts_ns[0]) };
        column.width = is_shown(rows, part) ? COLUMN_NARROW : COLUMN_DATA;
        column.key = arena_printf(table->arena, "%s_ns", key_of(part));
        column.heading = heading_of(part, table->arena);
        column.field.offset = (uint16_t)(column.field.offset + part * sizeof(double));
        table_columns(table, &column, 1, 0);
    }
    TABLE_COLUMNS(table, data_columns, 0);
}

static struct slow_line line_of(const struct view_pass *pass, const struct report_source *source, const char *label,
                                const struct slow_row *row)
{
    struct slow_line line = { .label = label,
                              .because = because(pass, row, source->arena),
                              .value = row->value == NULL ? TABLE_NO_WORDS : trace_value_text(row->value),
                              .n_slow_value = row->value == NULL ? (double)TABLE_NONE : (double)row->n_slow_value,
                              .value_share = row->value == NULL ? (double)TABLE_NONE : row->value_share,
                              .calls = row->calls,
                              .p50_ns = row->p50_ns,
                              .p99_ns = row->p99_ns,
                              .longest_ns = row->longest_ns,
                              .slow_ns = row->slow_ns,
                              .above_ns = row->slow_ns - row->middle_ns,
                              .name = report_name(source, row->method) };
    for (size_t i = 0; i < SLOW_PARTS; i++)
        line.parts_ns[i] = row->parts_ns[i];
    return line;
}

static void add_notes(const struct view_pass *pass, const struct slow_rows *rows, size_t n, struct table *table)
{
    struct arena *arena = table->arena;
    table_note(table,
               "Slowest: the mean of the slowest 1 % of the calls, less that of the fifth around the median; the "
               "columns behind it are its parts");
    if (pass->n_kept_waits == 0)
        table_doubt(table, "no visits to waiting threads ('mmprof profile' makes some): why they waited is not known");
    if (rows->n > n)
        table_note(table, arena_printf(arena, "not shown: %zu phases (--top 0)", rows->n - n));
    if (rows->n_few > 0)
        table_note(table, arena_printf(arena, "%zu more have fewer than %u calls", rows->n_few, SLOW_CALLS_LEAST));
    if (pass->slow_calls->n_off_lost > 0)
        table_doubt(table, arena_printf(arena, "%" PRIu64 " times off the CPU found no room, and are not known",
                                        pass->slow_calls->n_off_lost));
}

static int check(const struct report_source *source, struct err *err)
{
    if (source->tree->n_calls == 0) {
        err_set(err, "'%s' has no calls", source->path);
        return err_next(err, "record it with 'mmprof profile', whose probes see each call");
    }
    if (!source->tree->cpu_is_wall)
        return 0;
    err_set(err, "'%s' does not say when threads were off the CPU%s%s", source->path,
            source->tree->why_wall == NULL ? "" : ": ", source->tree->why_wall == NULL ? "" : source->tree->why_wall);
    return err_next(err, "run 'mmprof doctor', and record it again");
}

int slow_table(const struct view_pass *pass, const struct report_source *source,
               const struct report_row_options *options, struct table *table, struct err *err)
{
    struct slow_rows rows;
    if (check(source, err) < 0)
        return -1;
    slow_find(pass, source, &rows);
    size_t n = options->top == 0 || options->all || rows.n < options->top ? rows.n : options->top;
    uint32_t *methods = arena_alloc(source->arena, (n + 1) * sizeof *methods);
    for (size_t i = 0; i < n; i++)
        methods[i] = rows.rows[i].method;
    const char **labels = report_labels(source, methods, n);
    table_begin(table, source->arena);
    report_metadata(source, table);
    add_columns(&rows, table);
    for (size_t i = 0; i < n; i++) {
        const struct slow_line line = line_of(pass, source, labels[i], &rows.rows[i]);
        table_add(table, "phase", &line);
        if (i < SAID_MOST && slow_has_tail(&rows.rows[i]))
            say(&line, table);
    }
    add_notes(pass, &rows, n, table);
    report_losses(source, table);
    return 0;
}
