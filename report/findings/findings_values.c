/*
 * Findings on calls that are told apart by a value, as requests by their URI: the value whose calls take most of the
 * time and are longer than others, and one whose slowest calls are far slower than those of the others.
 *
 * Time is that on the wall clock.  The interval of a value's time is that of the mean of its calls, and that
 * of its p99 what so many calls can tell of it (values.h).
 */
#include "report/findings/findings_internal.h"

#include "report/view/values.h"

#define LINES_MOST  2u  /* of each rule */
#define CALLS_LEAST 5u  /* fewer tell no interval */
#define LONGER      1.5 /* times a call of other values: else most of the time is only that of most calls */
#define TEXT_MOST   60  /* bytes of a value */

/* The calls of one value that ended, in ns. */
struct value_time {
    double n, ns, error_ns, p99, p99_low, p99_high; /* error_ns: of ns, half its interval; NAN: too few calls */
};

static struct value_time time_of(const struct findings_making *making, const struct values_row *row)
{
    double unit = report_ns(making->source, 1);
    return (struct value_time){ .n = (double)row->ended,
                                .ns = row->wall_ticks * unit,
                                .error_ns = row->wall_error * unit,
                                .p99 = row->p99 * unit,
                                .p99_low = row->p99_low * unit,
                                .p99_high = row->p99_high * unit };
}

/* Is it a value that one can name, and not what is left over? */
static bool has_name(const struct values_row *row)
{
    return row->value != NULL && row->value->kind == VALUE_TEXT && row->text[0] != '\0';
}

/* The other values of the same method. */
struct value_others {
    double n, ns, squares, p99_high; /* squares: of the errors */
};

static struct value_others others_of(const struct findings_making *making, const struct value_rows *values,
                                     const struct values_row *row)
{
    struct value_others others = { 0, 0, 0, 0 };
    for (size_t i = 0; i < values->n; i++) {
        const struct values_row *other = &values->rows[i];
        if (other == row || other->method != row->method || isnan(other->mean))
            continue;
        const struct value_time time = time_of(making, other);
        others.n += time.n;
        others.ns += time.ns;
        others.squares += isnan(time.error_ns) ? 0 : time.error_ns * time.error_ns;
        others.p99_high = fmax(others.p99_high, time.p99_high);
    }
    return others;
}

/* "Servlet.doGet of '/orders'". */
static const char *subject_of(const struct findings_making *making, const char *label, const struct values_row *row)
{
    const char *more = strlen(row->text) > TEXT_MOST ? "..." : "";
    return arena_printf(making->source->arena, "%s of '%.*s%s'", label, TEXT_MOST, row->text, more);
}

static const char *text_of(const struct findings_making *making, const struct finding_rule *rule, const char *subject,
                           const struct value_time *time, const struct value_others *others, double error)
{
    struct arena *arena = making->source->arena;
    const char *share = findings_share(making, time->ns / (time->ns + others->ns), error);
    const char *took = findings_time(making, time->ns), *p99 = findings_time(making, time->p99);
    const char *most = findings_time(making, others->p99_high);
    if (rule->ratio > 0)
        return arena_printf(arena,
                            "%s is slow: p99 %s in %.0f calls, at most %s for any other value; these calls take %s of "
                            "the method's time",
                            subject, p99, time->n, most, share);
    return arena_printf(arena, "%s takes %s of the method's time: %s in %.0f of %.0f calls, p99 %s", subject, share,
                        took, time->n, time->n + others->n, p99);
}

/* One line of a value is enough. */
static bool is_found(const struct findings_making *making, const char *subject)
{
    for (size_t i = 0; i < making->n_found; i++)
        if (strcmp(making->found[i].subject, subject) == 0)
            return true;
    return false;
}

/* *n counts lines. */
static void look_at(struct findings_making *making, const struct finding_rule *rule, const struct value_rows *values,
                    const struct values_row *row, uint32_t *n)
{
    const struct value_time time = time_of(making, row);
    const struct value_others others = others_of(making, values, row);
    const struct method_name name = trace_method(making->pass->reader, row->method)->names;
    const char *label = java_names_display(making->source->arena, &name, JAVA_NAMES_SHORT);
    double all = time.ns + others.ns, share = all > 0 ? time.ns / all : 0;
    double error = hypot((1 - share) * time.error_ns, share * sqrt(others.squares)) / all;
    bool is_special = rule->ratio > 0 ? time.p99_low > rule->ratio * others.p99_high
                                      : time.ns * others.n >= LONGER * others.ns * time.n;
    if (others.n < 1 || time.n < CALLS_LEAST || !is_special)
        return;
    const char *subject = subject_of(making, label, row);
    if (is_found(making, subject))
        return;
    const struct finding f = { .subject = subject,
                               .text = text_of(making, rule, subject, &time, &others, error),
                               .view = arena_printf(making->source->arena, "groups=%s", label),
                               .cost_ns = time.ns,
                               .share = share,
                               .low = share - error,
                               .high = share + error };
    size_t before = making->n_found;
    findings_add(making, rule, &f);
    *n += making->n_found > before;
}

void findings_of_values(struct findings_making *making, const struct finding_rule *rule)
{
    struct value_rows values;
    uint32_t n = 0;
    if (making->pass == NULL || making->pass->value_calls == NULL || making->is_simulated)
        return;
    values_find(making->pass, making->source, NULL, &values);
    for (size_t i = 0; i < values.n && n < LINES_MOST; i++)
        if (has_name(&values.rows[i]))
            look_at(making, rule, &values, &values.rows[i], &n);
}
