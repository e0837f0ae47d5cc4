#include "report/call_metrics.h"

#include "report/event_columns.h"

static struct statistics_metric *add_metric(struct call_metrics *metrics, struct call_metric about)
{
    metrics->of[metrics->options.n_metrics] = about;
    return &metrics->options.metrics[metrics->options.n_metrics++];
}

static void add_quotient(struct call_metrics *metrics, const struct event_column *top,
                         const struct event_column *bottom, double factor, struct call_metric about)
{
    if (top == NULL || bottom == NULL || metrics->options.n_metrics == STATISTICS_METRICS_MAX)
        return;
    struct statistics_metric *metric = add_metric(metrics, about);
    /* Groups that take turns: both of the same time. */
    for (uint32_t i = 0; i < top->n_recorded; i++) {
        int of_bottom = event_column_in(bottom, top->recorded[i].group);
        if (of_bottom < 0 || metric->n_tops == STATISTICS_SUM_MAX)
            continue;
        metric->tops[metric->n_tops++] = (uint8_t)(CALLTREE_COUNTERS + top->recorded[i].column);
        metric->bottoms[metric->n_bottoms++] = (uint8_t)(CALLTREE_COUNTERS + of_bottom);
    }
    metric->factor = factor;
}

static const char *copy(struct arena *arena, const char *text)
{
    return arena_text(arena, text, strlen(text));
}

void call_metrics_find(const struct trace_reader *outline, enum phases_clock clock, struct arena *arena,
                       struct call_metrics *metrics)
{
    memset(metrics, 0, sizeof *metrics);
    metrics->options.clock = clock;
    struct event_column events[EVENT_COLUMNS_MAX];
    size_t n = event_columns(outline, NULL, events);
    const struct event_column *cycles = event_column_measured(events, n, EVENT_CYCLES),
                              *instructions = event_column_measured(events, n, EVENT_INSTRUCTIONS);
    add_metric(metrics, (struct call_metric){ "time/call", "ns_per_call", "ns", TABLE_NS, NULL })->is_time = true;
    add_quotient(metrics, cycles, instructions, 1, (struct call_metric){ "CPI", "cpi", "ratio", TABLE_RATIO, NULL });
    for (size_t i = 0; i < n; i++)
        if (events[i].role == EVENT_MISSES && events[i].why[0] == '\0' && events[i].n_recorded > 0)
            add_quotient(metrics, &events[i], instructions, 1000,
                         (struct call_metric){ copy(arena, events[i].heading),
                                               arena_printf(arena, "%s_per_1000_instructions", events[i].name),
                                               "per_1000_instructions", TABLE_RATE, NULL });
}

static bool is_of(const struct statistics_metric *metric, const struct event_column *event)
{
    for (uint32_t i = 0; i < event->n_recorded; i++) {
        size_t column = CALLTREE_COUNTERS + event->recorded[i].column;
        if ((metric->n_tops > 0 && metric->tops[0] == column) ||
            (metric->n_bottoms > 0 && metric->bottoms[0] == column))
            return true;
    }
    return false;
}

void call_metrics_judge(struct call_metrics *metrics, const struct trace_reader *reader, const struct calltree *tree)
{
    struct event_column events[EVENT_COLUMNS_MAX];
    size_t n = event_columns(reader, tree, events);
    for (size_t i = 0; i < metrics->options.n_metrics; i++)
        for (size_t e = 0; e < n; e++)
            if (events[e].why[0] != '\0' && is_of(&metrics->options.metrics[i], &events[e]))
                metrics->of[i].why = events[e].why;
}
