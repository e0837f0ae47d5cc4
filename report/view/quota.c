#include "report/view/waits.h"

#include "core/trace/recording_info.h"

#define NOTED_SHARE 0.01

static double number(const struct report_source *source, enum info_key key)
{
    double value = info_number(source->reader, key);
    return value > 0 ? value : 0;
}

struct quota quota_read(const struct report_source *source)
{
    return (struct quota){ number(source, INFO_QUOTA_CPUS), number(source, INFO_QUOTA_THROTTLED),
                           number(source, INFO_QUOTA_THROTTLED_NS) };
}

const char *quota_words(const struct report_source *source, const struct quota *quota)
{
    char time[32];
    table_format_ns(quota->throttled_ns, time, sizeof time);
    return arena_printf(source->arena, "the container's CPU quota (%.2f CPUs) stopped the program %.0f time%s for %s",
                        quota->cpus, quota->n_throttled, quota->n_throttled == 1 ? "" : "s", time);
}

bool quota_is_noted(const struct report_source *source)
{
    return quota_read(source).throttled_ns > NOTED_SHARE * report_process_cpu_ns(source);
}

void quota_note(const struct report_source *source, struct table *table)
{
    struct quota quota = quota_read(source);
    if (!quota_is_noted(source))
        return;
    const char *words = quota_words(source, &quota);
    table_note(table, words == NULL
                          ? NULL
                          : arena_printf(source->arena, "%s (all CPUs together); stopped threads wait in the run queue",
                                         words));
}
