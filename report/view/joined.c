/* Several recordings of one program, each with events of its own, in one report. */
#include "core/base/map.h"
#include "core/trace/recording_info.h"
#include "report/view/report_internal.h"

/* ---- is it the same program? ---- */

static bool is_same(const struct report_source *a, const struct report_source *b, enum info_key info, const char **of_a,
                    const char **of_b)
{
    *of_a = info_text(a->reader, info);
    *of_b = info_text(b->reader, info);
    return *of_a == NULL || *of_b == NULL ? *of_a == *of_b : strcmp(*of_a, *of_b) == 0;
}

static int check(const struct report_source *a, const struct report_source *b, struct err *err)
{
    static const struct {
        enum info_key info;
        const char *what;
    } rows[] = { { INFO_JVM_COMMAND, "programs" },
                 { INFO_RECORDING_MODE, "kinds of recordings" },
                 { INFO_PHASES_FILE, "phases" } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *of_a, *of_b;
        if (is_same(a, b, rows[i].info, &of_a, &of_b))
            continue;
        err_set(err, "'%s' and '%s' are of different %s: '%.60s' and '%.60s'", a->path, b->path, rows[i].what,
                of_a == NULL ? "-" : of_a, of_b == NULL ? "-" : of_b);
        return err_next(err, "give the traces that one 'mmprof record --groups separate' wrote");
    }
    return 0;
}

/* ---- the same rows ---- */

static const char *name_of(const struct report_source *source, uint32_t method)
{
    struct method_name name = report_name(source, method);
    return arena_printf(source->arena, "%s.%s%s", name.class_name, name.method == NULL ? "" : name.method,
                        name.descriptor);
}

/* rows[i] of the other trace is the method of row i in the first one. */
static int match(const struct making *first, const struct report_trace *trace, struct making *other,
                 const struct map *row_of_name, uint32_t *row_of, struct err *err)
{
    size_t n_matched = 0;
    for (size_t i = 0; i < trace->n_totals; i++) {
        const char *name = name_of(trace->source, trace->totals[i].method);
        const uint32_t *row = map_get(row_of_name, name, strlen(name));
        if (row == NULL)
            continue;
        row_of[trace->totals[i].method] = *row;
        other->rows[*row] = &trace->totals[i];
        n_matched++;
    }
    if (n_matched > 0 || first->n_rows == 0)
        return 0;
    err_set(err, "'%s' and '%s' have no phase in common", first->source->path, trace->source->path);
    return err_next(err, "give the traces that one 'mmprof record --groups separate' wrote");
}

static int join_rows(const struct making *first, const struct report_trace *trace, struct making *other,
                     struct err *err)
{
    const struct report_source *source = trace->source;
    struct map row_of_name = { .arena = source->arena };
    uint32_t n_methods = source->tree->n_methods,
             *row_of = arena_alloc(source->arena, (n_methods + 1) * sizeof *row_of);
    other->rows = arena_alloc(source->arena, (first->n_rows + 1) * sizeof *other->rows);
    other->n_rows = first->n_rows;
    memset(row_of, 0xff, n_methods * sizeof *row_of); /* CALLTREE_NONE */
    for (size_t i = 0; i < first->n_rows; i++) {
        const char *name = name_of(first->source, first->rows[i]->method);
        map_put(&row_of_name, name, strlen(name), (uint32_t)i);
    }
    int rc = match(first, trace, other, &row_of_name, row_of, err);
    if (rc == 0)
        shares_compute(source, row_of, other->n_rows, &other->shares);
    map_free(&row_of_name);
    return rc;
}

/* ---- their events ---- */

static struct event_column *find_joined(struct making *making, const struct event_column *event)
{
    for (size_t i = 0; i < making->n_events; i++)
        if (strcmp(making->events[i].name, event->name) == 0)
            return &making->events[i];
    return NULL;
}

/* Take what an earlier trace did not measure.  Returns the headings of what was taken, or "". */
static const char *join_events(struct making *making, const struct making *other, size_t trace)
{
    const char *taken = "";
    for (size_t i = 0; i < other->basis.n_events; i++) {
        const struct event_column *event = &other->own[i];
        struct event_column *known = find_joined(making, event);
        if (!report_is_hardware(event) || event->why[0] != '\0' || event->n_recorded == 0 ||
            (known != NULL && known->why[0] == '\0') || (known == NULL && making->n_events == EVENT_COLUMNS_MAX))
            continue;
        if (known == NULL)
            known = &making->events[making->n_events++];
        *known = *event;
        making->origins[known - making->events] = (struct event_origin){ (uint8_t)trace, (uint8_t)i };
        taken = arena_printf(making->source->arena, "%s%s%s", taken, taken[0] == '\0' ? "" : ", ", event->heading);
    }
    return taken;
}

static int join(struct making *making, const struct report_trace *trace, size_t i, struct err *err)
{
    struct making *other = &making->others[i];
    char cpu[32];
    *other = (struct making){ .source = trace->source };
    if (check(making->source, trace->source, err) < 0)
        return -1;
    report_find_events(other);
    if (join_rows(making, trace, other, err) < 0)
        return -1;
    report_find_readings(other);
    making->take_turns = making->take_turns || other->take_turns;
    making->has_hardware = making->has_hardware || other->has_hardware;
    making->has_counts = making->has_counts || other->has_counts;
    const char *taken = join_events(making, other, i + 1);
    table_format_ns(report_ns(trace->source, trace->source->tree->cpu_ticks), cpu, sizeof cpu);
    table_note(making->table,
               taken == NULL ? NULL
                             : arena_printf(making->source->arena, "from '%s', %s of CPU time: %s", trace->source->path,
                                            cpu, taken[0] == '\0' ? "no event, they are all known" : taken));
    return 0;
}

int report_join(struct making *making, const struct report_trace *others, size_t n_others, struct err *err)
{
    making->others = arena_alloc(making->source->arena, (n_others + 1) * sizeof *making->others);
    if (n_others > 0)
        table_note(
            making->table,
            arena_printf(
                making->source->arena,
                "times, calls and CPI come from '%s'; the other traces' counts are their rates times its instructions",
                making->source->path));
    for (size_t i = 0; i < n_others; i++) {
        if (join(making, &others[i], i, err) < 0)
            return -1;
        making->n_others++;
    }
    return 0;
}
