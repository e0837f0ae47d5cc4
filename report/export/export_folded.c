#include "report/export/export_tree.h"

#include "core/base/xalloc.h"

struct line {
    char *text; /* owned */
    size_t n, room;
};

/* A frame's name may not part frames. */
static void add_frame(struct line *line, const char *name, char end)
{
    size_t n = strlen(name);
    xgrow(line->text, line->room, line->n + n + 1);
    char *at = line->text + line->n;
    memcpy(at, name, n);
    for (char *part = at; (part = memchr(part, ';', n - (size_t)(part - at))) != NULL; part++)
        *part = ',';
    at[n] = end;
    line->n += n + 1;
}

int export_folded(const struct export_tree *tree, FILE *out, struct err *err)
{
    struct export_path path = { .n = 0 };
    struct line line = { .n = 0 };
    (void)err;
    for (uint32_t i = 1; i < tree->source->tree->n_nodes; i++) {
        if (tree->owner[i] != i || tree->self[i] == 0)
            continue;
        line.n = 0;
        export_path_find(&path, tree, i);
        for (size_t n = path.n; n-- > 0;)
            add_frame(&line, export_name(tree, path.nodes[n]), n > 0 ? ';' : ' ');
        fwrite(line.text, 1, line.n, out);
        fprintf(out, "%" PRIu64 "\n", tree->self[i]);
    }
    free(path.nodes);
    free(line.text);
    return 0;
}
