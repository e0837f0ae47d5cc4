#include "report/findings/advice_internal.h"

#include "core/base/text.h"

/* ---- hints ---- */

/* With the subject in the place of "%s", if there is one. */
static const char *action_of(const struct findings_making *making, const struct advice_rule *rule, const char *subject)
{
    const char *place = strstr(rule->action, "%s");
    if (place == NULL)
        return rule->action;
    return arena_printf(making->source->arena, "%.*s%s%s", (int)(place - rule->action), rule->action, subject,
                        place + 2);
}

static void add_hint(struct advising *a, const struct advice_rule *rule, const struct finding *f)
{
    const struct findings_making *making = a->making;
    double base_ns = rule->is_waiting ? making->duration_ns : making->cpu_ns;
    double cost_ns = rule->cost_ns == NULL ? f->cost_ns : rule->cost_ns(making);
    double share = base_ns > 0 ? cost_ns / base_ns : 0, low = share * f->low / f->share,
           high = share * f->high / f->share;
    const struct advice_hint hint = { .rule = rule->name,
                                      .subject = f->subject,
                                      .action = action_of(making, rule, f->subject),
                                      .evidence = f->text,
                                      .verify = advice_verify(making, rule),
                                      .basis = rule->basis,
                                      .of = rule->is_waiting ? "waiting" : "CPU time",
                                      .saving_ns = rule->part * cost_ns,
                                      .share = rule->part * share,
                                      .low = rule->low * low,
                                      .high = rule->high * high };
    if (hint.low > rule->threshold)
        a->hints[a->n++] = hint;
}

/* Of all findings that the rule acts on. */
static void add_hints(struct advising *a, const struct advice_rule *given, const struct advice_memory *memory)
{
    struct advice_rule rule = *given;
    if (memory != NULL)
        memory->rules->measure(&rule, memory);
    if (rule.make_option != NULL)
        rule.option = rule.make_option(a->making);
    for (size_t i = 0; i < a->making->n_found; i++) {
        const struct finding *f = &a->making->found[i];
        bool applies = strcmp(f->rule, rule.finding) == 0 && (rule.applies == NULL || rule.applies(a->making));
        if (applies)
            add_hint(a, &rule, f);
    }
}

static int by_saving(const void *a, const void *b)
{
    const struct advice_hint *x = a, *y = b;
    if (x->saving_ns != y->saving_ns)
        return x->saving_ns < y->saving_ns ? 1 : -1;
    return strcmp(x->action, y->action);
}

static size_t n_rules(void)
{
    size_t n = 0;
    while (advice_rules[n].name != NULL)
        n++;
    return n;
}

struct advice advice_find(const struct findings_input *input, const struct advice_memory *memory)
{
    struct advising a = { .making = findings_make(input) };
    a.hints =
        arena_alloc(input->source->arena, (a.making->n_found * n_rules() + ADVICE_MEMORY_MOST + 1) * sizeof *a.hints);
    for (const struct advice_rule *rule = advice_rules; rule->name != NULL; rule++)
        add_hints(&a, rule, memory);
    if (memory != NULL)
        memory->rules->find(&a, memory);
    if (a.n > 1)
        qsort(a.hints, a.n, sizeof *a.hints, by_saving);
    return (struct advice){ a.hints, a.n };
}

/* ---- printing ---- */

static void print_time(double ns, FILE *out)
{
    char text[32];
    table_format_ns(ns, text, sizeof text);
    fputs(text, out);
}

void advice_print(const struct advice *advice, FILE *out)
{
    if (advice->n == 0)
        fputs("nothing significant: no hint saves 2 % or more over its whole interval\n", out);
    for (size_t i = 0; i < advice->n; i++) {
        const struct advice_hint *hint = &advice->all[i];
        fprintf(out, "%s%zu. ", i == 0 ? "" : "\n", i + 1);
        text_print(out, hint->action);
        fputs("\n   saves   about ", out);
        if (hint->bytes_share > 0)
            fprintf(out, "%.0f %% of the bytes %s; ", 100 * hint->bytes_share, hint->bytes_of);
        print_time(hint->saving_ns, out);
        int digits = hint->high < 0.1 ? 1 : 0;
        fprintf(out, " of %s, %.*f %% (%.*f .. %.*f %%)%s, by %s\n   why     ", hint->of, digits, 100 * hint->share,
                digits, 100 * hint->low, digits, 100 * hint->high,
                hint->of[0] == 'w' ? " of the recording's time, all threads together" : "", hint->basis);
        text_print(out, hint->evidence);
        fputs("\n   verify  ", out);
        text_print(out, hint->verify);
        fputc('\n', out);
    }
}

static struct table_cell bytes_of(const void *row, struct arena *arena)
{
    const struct advice_hint *hint = row;
    (void)arena;
    return hint->bytes_share > 0 ? table_number(hint->bytes_share) : table_unmeasured();
}

static const struct table_column columns[] = {
    { "rule", "Rule", TABLE_TEXT, FROM(struct advice_hint, rule) },
    { "subject", "Subject", TABLE_TEXT, FROM(struct advice_hint, subject) },
    { "saving_ns", "Saves", TABLE_NS, FROM(struct advice_hint, saving_ns) },
    { "share", "Share (%)", TABLE_SHARE, FROM(struct advice_hint, share) },
    { "share_low", "from", TABLE_SHARE, FROM(struct advice_hint, low) },
    { "share_high", "to", TABLE_SHARE, FROM(struct advice_hint, high) },
    { "of", "Of", TABLE_TEXT, FROM(struct advice_hint, of) },
    { "bytes_share", "Bytes (%)", TABLE_SHARE, .value = bytes_of },
    { "basis", "By", TABLE_TEXT, FROM(struct advice_hint, basis) },
    { "action", "Action", TABLE_TEXT, FROM(struct advice_hint, action) },
    { "evidence", "Evidence", TABLE_TEXT, FROM(struct advice_hint, evidence) },
    { "verify", "Verify", TABLE_TEXT, FROM(struct advice_hint, verify) },
};

void advice_table(const struct findings_input *input, const struct advice *advice, struct table *table)
{
    table_begin(table, input->source->arena);
    report_metadata(input->source, table);
    TABLE_COLUMNS(table, columns, 0);
    for (size_t i = 0; i < advice->n; i++)
        table_add(table, "hint", &advice->all[i]);
    if (advice->n == 0)
        table_note(table, "nothing significant: no hint saves 2 % or more over its whole interval");
    report_losses(input->source, table);
}
