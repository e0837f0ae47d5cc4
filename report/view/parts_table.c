#include "report/view/tables.h"

#include "report/view/report_internal.h"

/* The columns: the VM's parts in their order, then what no thread had. */
#define KERNEL VM_PARTS
#define PARTS  (VM_PARTS + 1)

struct parts {
    struct making making;
    bool is_there[PARTS];
};

/* What each part has of something: an amount, negative where it is not known, then its share of all. */
struct amounts {
    const char *label;
    double of[PARTS];
};

static const char *part_name(const struct parts *parts, size_t part)
{
    return part == KERNEL ? report_kernel_label(&parts->making.shares) : vm_part_name((enum vm_part)part);
}

static const char *part_key(size_t part)
{
    return part == KERNEL ? "kernel" : vm_part_key((enum vm_part)part);
}

static double time_of(const struct parts *parts, size_t part)
{
    const struct shares *shares = &parts->making.shares;
    double more = part == VM_PART_MMPROF        ? (double)shares->probe_ticks
                  : part == VM_PART_APPLICATION ? (double)shares->switch_ticks
                                                : 0;
    return part == KERNEL ? (double)shares->kernel_ticks : (double)shares->part_ticks[part] + more;
}

static bool is_tiny(const struct parts *parts, size_t part)
{
    return time_of(parts, part) < REPORT_TINY_SHARE * (double)parts->making.shares.all_ticks;
}

static void add_row(const struct parts *parts, const char *label, const char *kind, struct amounts *amounts)
{
    double all = 0;
    amounts->label = label;
    for (size_t p = 0; p < PARTS; p++)
        all += parts->is_there[p] && amounts->of[p] > 0 ? amounts->of[p] : 0;
    for (size_t p = 0; p < PARTS; p++)
        amounts->of[p] = amounts->of[p] >= 0 && all > 0 ? amounts->of[p] / all : NAN;
    table_add(parts->making.table, kind, amounts);
}

static void add_time(const struct parts *parts)
{
    struct amounts amounts;
    for (size_t p = 0; p < PARTS; p++)
        amounts.of[p] = time_of(parts, p);
    add_row(parts, parts->making.source->clock == PHASES_CPU ? "CPU time" : "wall time", "time", &amounts);
}

/* The parts that take time and were counted in too little of it: "garbage collector, C1 compiler"; "" for none. */
static const char *not_counted(const struct parts *parts)
{
    struct arena *arena = parts->making.source->arena;
    const char *names = "";
    for (size_t p = 0; p < VM_PART_MMPROF; p++) {
        double counted = report_counted(&parts->making, (struct row_id){ ROW_PART, p });
        bool is_unknown = p == VM_PART_APPLICATION && !parts->making.has_readings;
        if (!parts->is_there[p] || is_tiny(parts, p) || is_unknown || counted >= 1 - REPORT_SCALED_MAX)
            continue;
        names = arena_printf(arena, "%s%s%s", names, names[0] == '\0' ? "" : ", ", part_name(parts, p));
    }
    return names;
}

static void add_events(const struct parts *parts)
{
    const struct making *making = &parts->making;
    struct event_estimate estimates[VM_PARTS + 1][EVENT_COLUMNS_MAX];
    for (size_t p = 0; p < VM_PARTS; p++)
        if (!report_estimates(making, (struct row_id){ ROW_PART, p }, estimates[p]))
            return;
    report_estimates(making, (struct row_id){ ROW_TOTAL, 0 }, estimates[VM_PARTS]);
    for (size_t i = 0; i < making->n_events; i++) {
        struct amounts amounts;
        double probes = estimates[VM_PARTS][i].count;
        if (!report_is_hardware(&making->events[i]) || making->events[i].why[0] != '\0')
            continue;
        for (size_t p = 0; p < VM_PARTS; p++) {
            amounts.of[p] = estimates[p][i].count;
            probes -= amounts.of[p] > 0 ? amounts.of[p] : 0;
        }
        /* The total has the probes' own events, too. */
        if (estimates[VM_PARTS][i].count >= 0 && probes > 0)
            amounts.of[VM_PART_MMPROF] = (amounts.of[VM_PART_MMPROF] < 0 ? 0 : amounts.of[VM_PART_MMPROF]) + probes;
        amounts.of[KERNEL] = -1;
        add_row(parts, making->events[i].heading, making->events[i].name, &amounts);
    }
}

/* What the kernel told of each thread. */
static void add_metric(const struct parts *parts, const char *label, const char *kind, enum calltree_metric metric)
{
    struct amounts amounts;
    for (size_t p = 0; p < VM_PARTS; p++)
        amounts.of[p] = (double)parts->making.shares.part_metrics[p][metric];
    amounts.of[KERNEL] = -1;
    add_row(parts, label, kind, &amounts);
}

static void add_kernel_events(const struct parts *parts)
{
    const struct making *making = &parts->making;
    if (making->source->tree->n_metrics == 0 || making->source->tree->cpu_is_wall)
        return;
    for (size_t i = 0; i < making->n_events; i++)
        if (making->events[i].role == EVENT_FAULTS && making->events[i].why[0] == '\0')
            add_metric(parts, "page faults", "page-faults", CALLTREE_FAULTS);
    add_metric(parts, "context switches", "context-switches", CALLTREE_SWITCHES);
}

static void add_columns(struct parts *parts)
{
    static const struct table_column of = { "of", "Of", TABLE_TEXT, FROM(struct amounts, label) };
    struct table *table = parts->making.table;
    table_columns(table, &of, 1, 0);
    for (size_t p = 0; p < PARTS; p++) {
        const struct table_column column = { part_key(p), part_name(parts, p), TABLE_SHARE,
                                             FROM(struct amounts, of[p]) };
        parts->is_there[p] =
            p == VM_PART_APPLICATION || p == VM_PART_MMPROF ||
            (p == KERNEL ? parts->making.shares.kernel_ticks > 0 : parts->making.shares.part_is_known[p]);
        if (parts->is_there[p])
            table_columns(table, &column, 1, 0);
    }
}

void parts_table(const struct report_source *source, struct table *table)
{
    struct parts *parts = arena_alloc(source->arena, sizeof *parts);
    uint32_t *row_of = arena_alloc(source->arena, ((size_t)source->tree->n_methods + 1) * sizeof *row_of);
    parts->making = (struct making){ .source = source, .table = table };
    table_begin(table, source->arena);
    report_find_events(&parts->making);
    shares_compute(source, row_of, 0, &parts->making.shares);
    report_find_readings(&parts->making);
    add_columns(parts);
    add_time(parts);
    const char *missing = parts->making.has_hardware ? not_counted(parts) : "";
    if (missing[0] != '\0')
        table_note(table, arena_printf(source->arena,
                                       "hardware events were not counted, or for too short a time, in: %s", missing));
    else if (parts->making.has_hardware)
        add_events(parts);
    add_kernel_events(parts);
}
