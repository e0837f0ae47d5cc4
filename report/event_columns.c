#include "report/event_columns.h"

#include "core/pmu/topdown.h"
#include "core/trace/recording_info.h"

static struct event_column *find_column(struct event_column *columns, size_t n, const struct trace_counter *counter)
{
    for (size_t i = 0; counter->in_records && i < n; i++)
        if (columns[i].n_recorded > 0 && strcmp(columns[i].name, counter->name) == 0)
            return &columns[i];
    return NULL;
}

/* Events under one heading ('cycles:u', 'cycles:k'): all of them say who they are. */
static void tell_apart(struct event_column *columns, size_t n, struct event_column *column)
{
    const char *heading = column->heading;
    for (size_t i = 0; i < n; i++) {
        const char *other;
        event_role_of(columns[i].name, &other);
        if (strcmp(other, heading) == 0) {
            columns[i].heading = columns[i].name;
            column->heading = column->name;
        }
    }
}

static void add_group(struct event_column *column, int recorded, uint32_t group)
{
    if (column->n_recorded == ESTIMATE_GROUPS_MAX || event_column_in(column, group) >= 0)
        return;
    column->recorded[column->n_recorded].column = (uint8_t)recorded;
    column->recorded[column->n_recorded++].group = (uint8_t)group;
}

/* In a list of names with spaces between them. */
static bool is_listed(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = list; at != NULL && *at != '\0'; at += strspn(at, " ")) {
        if (strncmp(at, name, n) == 0 && (at[n] == '\0' || at[n] == ' '))
            return true;
        at += strcspn(at, " ");
    }
    return false;
}

static bool has_counted(const struct calltree *tree, const struct event_column *column)
{
    for (uint32_t i = 0; i < column->n_recorded; i++)
        for (uint32_t node = 0; tree->n_metrics > 0 && node < tree->n_nodes; node++)
            if (calltree_metrics(tree, node)[CALLTREE_COUNTERS + column->recorded[i].column] > 0)
                return true;
    return false;
}

static void judge_silent(const struct trace_reader *reader, const struct calltree *tree, struct event_column *columns,
                         size_t n)
{
    const char *silent = info_text(reader, INFO_COUNTERS_SILENT);
    for (size_t i = 0; silent != NULL && tree != NULL && i < n; i++)
        if (columns[i].why[0] == '\0' && is_listed(silent, columns[i].name) && !has_counted(tree, &columns[i]))
            columns[i].why = "it was 0 in mmprof's test loop and in the whole recording";
}

static bool is_of_slots(const struct trace_reader *reader, const struct event_column *column)
{
    const struct topdown_cpu *cpu = topdown_named(info_text(reader, INFO_COUNTERS_TOPDOWN));
    bool is = false;
    for (enum topdown_part part = 0; cpu != NULL && part < TOPDOWN_PARTS; part++)
        is = is || topdown_uses(cpu, part, column->name);
    return is && column->role == EVENT_MISSES && strcmp(column->heading, column->name) == 0;
}

size_t event_columns(const struct trace_reader *reader, const struct calltree *tree, struct event_column *columns)
{
    size_t n = 0;
    int n_recorded = 0;
    for (size_t i = 0; i < trace_n_counters(reader); i++) {
        const struct trace_counter *counter = trace_counter(reader, i);
        int recorded = counter->in_records ? n_recorded++ : -1;
        if (counter->kind != TRACE_COUNTER_EVENT || counter->group >= ESTIMATE_GROUPS_MAX)
            continue;
        struct event_column *column = find_column(columns, n, counter);
        if (column == NULL && n == EVENT_COLUMNS_MAX)
            continue;
        if (column == NULL) {
            column = &columns[n];
            *column = (struct event_column){ .name = counter->name, .why = counter->why };
            column->role = event_role_of(counter->name, &column->heading);
            if (is_of_slots(reader, column))
                column->role = EVENT_SLOTS;
            tell_apart(columns, n++, column);
        }
        if (recorded >= 0)
            add_group(column, recorded, counter->group);
    }
    judge_silent(reader, tree, columns, n);
    return n;
}

const struct event_column *event_column_measured(const struct event_column *columns, size_t n, enum event_role role)
{
    for (size_t i = 0; i < n; i++)
        if (columns[i].role == role && columns[i].why[0] == '\0' && columns[i].n_recorded > 0)
            return &columns[i];
    return NULL;
}

int event_column_in(const struct event_column *event, uint32_t group)
{
    for (uint32_t i = 0; i < event->n_recorded; i++)
        if (event->recorded[i].group == group)
            return event->recorded[i].column;
    return -1;
}
