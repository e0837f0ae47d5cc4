/*
 * The findings of a trace, as they stand above its report.
 */
#ifndef TEST_UNIT_FINDINGS_PRINTED_H
#define TEST_UNIT_FINDINGS_PRINTED_H

#include "report/findings/findings.h"

#include "test/unit/tap.h"
#include "test/unit/trace_made.h"

static struct arena arena;
static struct err err;

static struct findings_input input_of(const struct report_source *source, const struct view_pass *pass)
{
    return (struct findings_input){ .source = source, .pass = pass, .libraries = folding_read(NULL, &arena, &err) };
}

/* The lines above the report. */
static const char *lines_of(const struct report_source *source, const struct view_pass *pass)
{
    const struct findings_input input = input_of(source, pass);
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    const struct findings findings = findings_find(&input);
    findings_print(&findings, FINDINGS_ON_SCREEN, out);
    fclose(out);
    const char *copy = arena_text(&arena, text, n);
    free(text);
    return copy;
}

#endif
