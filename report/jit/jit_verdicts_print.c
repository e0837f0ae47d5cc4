/* The verdicts as a table, and as JUnit's XML. */
#include "report/jit/jit_verdicts.h"

static const char *result_text(enum jit_result result)
{
    return result == JIT_HOLDS ? "holds" : result == JIT_BROKEN ? "broken" : "unknown";
}

struct verdict_row {
    const char *result, *rule, *why;
    uint32_t line;
    double n_done, n_left, n_gone, tier, number;
};

static const struct table_column columns[] = {
    { "result", "Result", TABLE_TEXT, FROM(struct verdict_row, result) },
    { "line", NULL, TABLE_COUNT, FROM(struct verdict_row, line), .width = COLUMN_DATA },
    { "rule", "Rule", TABLE_TEXT, FROM(struct verdict_row, rule) },
    { "inlined_or_removed", NULL, TABLE_COUNT, FROM(struct verdict_row, n_done), .width = COLUMN_DATA },
    { "called_or_made", NULL, TABLE_COUNT, FROM(struct verdict_row, n_left), .width = COLUMN_DATA },
    { "nothing_left", NULL, TABLE_COUNT, FROM(struct verdict_row, n_gone), .width = COLUMN_DATA },
    { "tier", NULL, TABLE_COUNT, FROM(struct verdict_row, tier), .width = COLUMN_DATA },
    { "compilation", NULL, TABLE_COUNT, FROM(struct verdict_row, number), .width = COLUMN_DATA },
    { "why", "Why", TABLE_TEXT, FROM(struct verdict_row, why) },
};

void jit_judge_table(const struct jit_judge *judge, struct arena *arena, struct table *table)
{
    size_t n_broken, n_unknown;
    table_begin(table, arena);
    jit_judge_count(judge, &n_broken, &n_unknown);
    table_metadata_number(table, "rules", (double)judge->rules->n, NULL);
    table_metadata_number(table, "broken", (double)n_broken, NULL);
    table_metadata_number(table, "unknown", (double)n_unknown, NULL);
    TABLE_COLUMNS(table, columns, 0);
    for (size_t i = 0; i < judge->rules->n; i++) {
        const struct jit_verdict *v = &judge->verdicts[i];
        const struct jit_rule *rule = &judge->rules->all[i];
        struct verdict_row row = { result_text(v->result), rule->text, v->why, rule->line, NAN, NAN, NAN, NAN, NAN };
        if (v->number != 0) {
            row.n_done = v->n_done;
            row.n_left = v->n_left;
            row.n_gone = v->n_gone;
            row.tier = v->tier;
            row.number = v->number;
        }
        table_add(table, "rule", &row);
    }
}

/* Text in an attribute; what XML has no place for, is left out. */
static void put_attribute(FILE *out, const char *name, const char *text)
{
    fprintf(out, " %s=\"", name);
    for (const char *at = text; *at != '\0'; at++)
        switch (*at) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            if ((unsigned char)*at >= ' ')
                fputc(*at, out);
        }
    fputc('"', out);
}

int jit_judge_junit(const struct jit_judge *judge, const char *name, FILE *out, struct err *err)
{
    size_t n_broken, n_unknown;
    jit_judge_count(judge, &n_broken, &n_unknown);
    fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite");
    put_attribute(out, "name", name);
    fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n", judge->rules->n, n_broken, n_unknown);
    for (size_t i = 0; i < judge->rules->n; i++) {
        const struct jit_verdict *verdict = &judge->verdicts[i];
        fprintf(out, "  <testcase");
        put_attribute(out, "classname", "mmprof.check-jit");
        put_attribute(out, "name", judge->rules->all[i].text);
        fprintf(out, verdict->result == JIT_HOLDS ? "/>\n" : ">\n");
        if (verdict->result == JIT_HOLDS)
            continue;
        fprintf(out, "    <%s", verdict->result == JIT_BROKEN ? "failure" : "error");
        put_attribute(out, "message", verdict->why);
        fprintf(out, "/>\n  </testcase>\n");
    }
    fprintf(out, "</testsuite>\n");
    return ferror(out) ? err_set(err, "cannot write JUnit's XML") : 0;
}
