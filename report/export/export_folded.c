#include "report/export/export_tree.h"

#include "core/base/vec.h"

#include <inttypes.h>
#include <stdlib.h>

/* A frame's name may not part frames. */
static void print_frame(const char *name, FILE *out)
{
    for (; *name != '\0'; name++)
        fputc(*name == ';' ? ',' : *name, out);
}

/* The callers of a node and itself, outermost first. */
static int print_stack(const struct export_tree *tree, uint32_t node, uint32_t **stack, size_t *room, FILE *out)
{
    const struct calltree_node *nodes = tree->source->tree->nodes;
    size_t n = 0;
    for (uint32_t i = node;; i = nodes[i].parent) {
        if (vec_reserve(*stack, *room, n + 1) < 0)
            return -1;
        (*stack)[n++] = i;
        if (nodes[i].parent == i)
            break;
    }
    while (n-- > 0) {
        print_frame(export_name(tree, (*stack)[n]), out);
        if (n > 0)
            fputc(';', out);
    }
    return 0;
}

static int print_stacks(const struct export_tree *tree, const uint64_t *self, FILE *out)
{
    uint32_t *stack = NULL;
    size_t room = 0;
    int rc = 0;
    for (uint32_t i = 1; rc == 0 && i < tree->source->tree->n_nodes; i++) {
        if (tree->owner[i] != i || self[i] == 0)
            continue;
        rc = print_stack(tree, i, &stack, &room, out);
        fprintf(out, " %" PRIu64 "\n", self[i]);
    }
    free(stack);
    return rc;
}

int export_folded(const struct report_source *source, const struct export_tree_options *options, FILE *out,
                  struct err *err)
{
    struct export_value value;
    struct export_tree tree;
    int rc = -1;
    if (export_value_find(source, options->value, &value, err) < 0 ||
        export_tree_open(&tree, source, options->min_share, err) < 0)
        return -1;
    uint64_t *self = export_self(&tree, &value);
    if (self == NULL || print_stacks(&tree, self, out) < 0)
        err_set(err, "out of memory for the stacks of %u calling contexts", source->tree->n_nodes);
    else if (ferror(out))
        err_set(err, "cannot write the stacks");
    else
        rc = 0;
    free(self);
    export_tree_close(&tree);
    return rc;
}
