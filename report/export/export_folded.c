#include "report/export/export_tree.h"

/* A frame's name may not part frames. */
static void print_frame(const char *name, FILE *out)
{
    for (; *name != '\0'; name++)
        fputc(*name == ';' ? ',' : *name, out);
}

int export_folded(const struct export_tree *tree, FILE *out, struct err *err)
{
    struct export_path path = { .n = 0 };
    (void)err;
    for (uint32_t i = 1; i < tree->source->tree->n_nodes; i++) {
        if (tree->owner[i] != i || tree->self[i] == 0)
            continue;
        export_path_find(&path, tree, i);
        for (size_t n = path.n; n-- > 0;) {
            print_frame(export_name(tree, path.nodes[n]), out);
            fputs(n > 0 ? ";" : "", out);
        }
        fprintf(out, " %" PRIu64 "\n", tree->self[i]);
    }
    free(path.nodes);
    return 0;
}
