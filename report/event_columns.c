#include "report/event_columns.h"

#include <string.h>

size_t event_columns(const struct trace_reader *reader, struct event_column *columns)
{
    size_t n = trace_n_counters(reader);
    int n_recorded = 0;
    if (n > TRACE_COUNTERS_MAX)
        n = TRACE_COUNTERS_MAX;
    for (size_t i = 0; i < n; i++) {
        const struct trace_counter *counter = trace_counter(reader, i);
        struct event_column *column = &columns[i];
        column->name = counter->name;
        column->why = counter->why;
        column->role = event_role_of(counter->name, &column->heading);
        column->recorded = counter->in_records ? n_recorded++ : -1;
        for (size_t j = 0; j < i; j++) /* two events under one heading: both say who they are */
            if (column->role == EVENT_MISSES && strcmp(columns[j].heading, column->heading) == 0) {
                columns[j].heading = columns[j].name;
                column->heading = column->name;
            }
    }
    return n;
}

const struct event_column *event_column_measured(const struct event_column *columns, size_t n, enum event_role role)
{
    for (size_t i = 0; i < n; i++)
        if (columns[i].role == role && columns[i].why[0] == '\0' && columns[i].recorded >= 0)
            return &columns[i];
    return NULL;
}
