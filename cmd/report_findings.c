#include "cmd/report_run.h"

#include "core/base/xalloc.h"

#define FINDING_INDENT 2

/* Lines of a text as the look has room for them. */
static void print_lines(const char *text, const struct table_look *look, FILE *out)
{
    while (*text != '\0') {
        size_t n = strcspn(text, "\n");
        char line[1024];
        snprintf(line, sizeof line, "%.*s", (int)n, text);
        table_print_words("", line, FINDING_INDENT, look, out);
        text += n + (text[n] == '\n');
    }
}

void report_findings_print(const struct findings_input *input, size_t most, const struct table_look *look, FILE *out)
{
    char *text = NULL;
    size_t n = 0;
    const struct findings findings = findings_find(input);
    FILE *lines = xopen_memstream(&text, &n);
    findings_print(&findings, most, lines);
    xclose_memstream(lines);
    print_lines(text, look, out);
    free(text);
}

/* Returns 0, or -1 with *err set. */
static int print_of(const char *path, const struct table_look *look, struct arena *arena, struct view_pass *pass,
                    FILE *out, struct err *err)
{
    struct view_pass_options options = { .path = path,
                                         .clock = PHASES_CPU,
                                         .parts = VIEW_PASS_SAMPLES | VIEW_PASS_JIT | VIEW_PASS_FINDINGS };
    struct report_source whole;
    options.libraries = folding_read(NULL, arena, err);
    if (options.libraries == NULL || view_pass_read(&options, arena, pass, err) < 0)
        return -1;
    sampled_tree(&pass->source, view_pass_samples(pass, &pass->source), false, &whole);
    whole.throttled = throttled_find(pass, &whole);
    const struct findings_input input = { .source = &whole, .libraries = options.libraries, .pass = pass };
    report_findings_print(&input, FINDINGS_ON_SCREEN, look, out);
    return 0;
}

char *report_findings_of(const char *path, const struct table_look *look, struct err *err)
{
    struct arena arena = { NULL, 0 };
    struct view_pass *pass = xcalloc(1, sizeof *pass);
    char *text = NULL;
    size_t n = 0;
    FILE *out = xopen_memstream(&text, &n);
    int rc = print_of(path, look, &arena, pass, out, err);
    xclose_memstream(out);
    view_pass_close(pass);
    free(pass);
    arena_free(&arena);
    if (rc == 0)
        return text;
    free(text);
    return NULL;
}
