/* The verdicts as a table, and as JUnit's XML. */
#include "report/jit/jit_verdicts.h"

static const char *result_text(enum jit_result result)
{
    return result == JIT_HOLDS ? "holds" : result == JIT_BROKEN ? "broken" : "unknown";
}

static struct table_cell count_of(const struct jit_verdict *verdict, uint32_t n)
{
    return verdict->number == 0 ? table_unmeasured() : table_number(n);
}

void jit_judge_table(const struct jit_judge *judge, struct arena *arena, struct table *table)
{
    size_t n_broken, n_unknown;
    table_begin(table, arena);
    jit_judge_count(judge, &n_broken, &n_unknown);
    table_metadata_number(table, "rules", (double)judge->rules->n, NULL);
    table_metadata_number(table, "broken", (double)n_broken, NULL);
    table_metadata_number(table, "unknown", (double)n_unknown, NULL);
    size_t result = table_column(table, "Result", "result", TABLE_TEXT);
    size_t line = table_data_column(table, "line", TABLE_COUNT);
    size_t rule = table_column(table, "Rule", "rule", TABLE_TEXT);
    size_t done = table_data_column(table, "inlined_or_removed", TABLE_COUNT);
    size_t left = table_data_column(table, "called_or_made", TABLE_COUNT);
    size_t gone = table_data_column(table, "nothing_left", TABLE_COUNT);
    size_t tier = table_data_column(table, "tier", TABLE_COUNT);
    size_t number = table_data_column(table, "compilation", TABLE_COUNT);
    size_t why = table_column(table, "Why", "why", TABLE_TEXT);
    for (size_t i = 0; i < judge->rules->n; i++) {
        const struct jit_verdict *verdict = &judge->verdicts[i];
        struct table_cell *cells = table_row(table, "rule");
        if (cells == NULL)
            return;
        cells[result] = table_words(result_text(verdict->result));
        cells[line] = table_number(judge->rules->all[i].line);
        cells[rule] = table_words(judge->rules->all[i].text);
        cells[done] = count_of(verdict, verdict->n_done);
        cells[left] = count_of(verdict, verdict->n_left);
        cells[gone] = count_of(verdict, verdict->n_gone);
        cells[tier] = count_of(verdict, verdict->tier);
        cells[number] = count_of(verdict, verdict->number);
        cells[why] = table_words(verdict->why);
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
