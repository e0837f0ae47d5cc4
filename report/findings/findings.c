#include "report/findings/findings_internal.h"

#include "core/base/text.h"
#include "core/trace/recording_info.h"
#include "report/tree_view.h"

/* ---- all of them ---- */

/* What saves most comes first; what saves the same, by its text, so that equal runs print equally. */
static int by_saving(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    if (x->saving_ns != y->saving_ns)
        return x->saving_ns < y->saving_ns ? 1 : -1;
    return strcmp(x->text, y->text);
}

/* What saves most stays first, whatever it is; the other conditions of the measurement go behind the faults. */
static int conditions_last(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    return x->is_condition != y->is_condition ? (x->is_condition ? 1 : -1) : by_saving(a, b);
}

static void order(struct findings_making *making)
{
    if (making->n_found < 2)
        return;
    qsort(making->found, making->n_found, sizeof *making->found, by_saving);
    qsort(making->found + 1, making->n_found - 1, sizeof *making->found, conditions_last);
}

/* Two findings of a method: of them it is other that says what is wrong there. */
static bool is_explained(const struct finding *f, const struct finding *other)
{
    static const char *const known[] = { "exceptions", "hash", "library", "loading" };
    bool is_known = false, is_cpu = strcmp(f->rule, "cpu") == 0;
    if (other == f || strcmp(other->rule, f->rule) == 0 || strcmp(other->subject, f->subject) != 0)
        return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        is_known = is_known || strcmp(other->rule, known[i]) == 0;
    return (is_cpu && other->cost_ns >= f->cost_ns / 2) || (is_known && strcmp(f->rule, "allocation") == 0);
}

static void mark_repeated(struct findings_making *making)
{
    for (size_t i = 0; i < making->n_found; i++)
        for (size_t k = 0; k < making->n_found; k++)
            making->found[i].is_repeated =
                making->found[i].is_repeated || is_explained(&making->found[i], &making->found[k]);
}

/*
 * Where too many want a few CPUs, a program has little of the time, and what is wrong with it is the same: the time in
 * which it did not wait for a CPU.  Of more than one thread at a time, the part of it that they had.
 */
static double undelayed_ns(const struct findings_making *making)
{
    const struct calltree *tree = making->source->tree;
    double waited_ns = 0, wanted_ns;
    for (uint32_t i = 0; i < tree->n_threads; i++)
        waited_ns += report_ns(making->source, tree->threads[i].wait_ticks);
    wanted_ns = making->cpu_ns + waited_ns;
    return wanted_ns > making->duration_ns ? making->duration_ns * making->cpu_ns / wanted_ns
                                           : making->duration_ns - waited_ns;
}

static void begin(struct findings_making *making, const struct findings_input *input)
{
    const struct report_source *source = input->source;
    uint32_t *no_rows = arena_alloc(source->arena, ((size_t)source->tree->n_methods + 1) * sizeof *no_rows);
    making->source = source;
    making->pass = input->pass;
    making->measured = source->sampled != NULL ? source->sampled->measured : source->tree;
    making->is_library = folding_methods(input->libraries, source);
    making->is_framework = findings_frameworks(making);
    shares_compute(source, no_rows, 0, &making->shares);
    tree_view_all(source, &making->all_ticks);
    making->is_simulated = info_text(source->reader, INFO_SIMULATED) != NULL;
    making->duration_ns = report_ns(source, source->tree->end_ticks - source->tree->start_ticks);
    making->cpu_ns = making->all_ticks * source->tree->ns_per_tick;
    making->undelayed_ns = undelayed_ns(making);
    making->has_cpu_time =
        source->clock == PHASES_CPU && making->all_ticks > 0 && !making->is_simulated &&
        (source->sampled == NULL || !source->sampled->samples->has_waiting) &&
        (!trace_samples_are_all(source->reader) || info_number(source->reader, INFO_SAMPLE_PERIOD_NS) > 0);
}

struct findings_making *findings_make(const struct findings_input *input)
{
    struct findings_making *making = arena_alloc(input->source->arena, sizeof *making);
    begin(making, input);
    for (const struct finding_rule *rule = finding_rules; rule->name != NULL; rule++)
        rule->find(making, rule);
    order(making);
    mark_repeated(making);
    return making;
}

struct findings findings_find(const struct findings_input *input)
{
    const struct findings_making *making = findings_make(input);
    return (struct findings){ making->found, making->n_found };
}

/* ---- printing ---- */

/* "(--view locks)"; n_more: findings that have no line. */
static void print_finding(const struct finding *f, size_t n_more, FILE *out)
{
    const char *quote = f->view[strcspn(f->view, "$ *()&;<>")] == '\0' ? "" : "'"; /* for a shell */
    fputs("* ", out);
    text_print(out, f->text);
    fprintf(out, " (--view %s", quote);
    text_print(out, f->view);
    fputs(quote, out);
    if (n_more > 0)
        fprintf(out, "; --view findings has %zu more", n_more);
    fputs(")\n", out);
}

void findings_print(const struct findings *findings, size_t most, FILE *out)
{
    size_t n = 0, last = 0;
    for (size_t i = 0; i < findings->n; i++) {
        bool has_line = most == 0 || (n < most && !findings->all[i].is_repeated);
        n += has_line;
        last = has_line ? i : last;
    }
    for (size_t i = 0; i < findings->n && i <= last; i++)
        if (most == 0 || !findings->all[i].is_repeated)
            print_finding(&findings->all[i], i == last && n == most ? findings->n - n : 0, out);
    if (findings->n > 0)
        fputc('\n', out);
}

static const struct table_column columns[] = {
    { "rule", "Rule", TABLE_TEXT, FROM(struct finding, rule) },
    { "subject", "Subject", TABLE_TEXT, FROM(struct finding, subject) },
    { "cost_ns", "Cost", TABLE_NS, FROM(struct finding, cost_ns) },
    { "size", "Size", TABLE_TEXT, FROM(struct finding, size) },
    { "share", "share", TABLE_SHARE, FROM(struct finding, share), .width = COLUMN_DATA },
    { "share_low", "from", TABLE_SHARE, FROM(struct finding, low), .width = COLUMN_DATA },
    { "share_high", "to", TABLE_SHARE, FROM(struct finding, high), .width = COLUMN_DATA },
    { "evidence", "evidence", TABLE_TEXT, FROM(struct finding, text), .width = COLUMN_DATA }, /* above the table */
    { "view", "view", TABLE_TEXT, FROM(struct finding, view), .width = COLUMN_DATA },
};

void findings_table(const struct findings_input *input, struct table *table)
{
    const struct findings findings = findings_find(input);
    table_begin(table, input->source->arena);
    report_metadata(input->source, table);
    TABLE_COLUMNS(table, columns, 0);
    for (size_t i = 0; i < findings.n; i++)
        table_add(table, "finding", &findings.all[i]);
    if (findings.n == 0)
        table_note(table, "no rule found anything that exceeds its threshold");
    report_losses(input->source, table);
}
