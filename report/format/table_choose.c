/* --columns and --sort, for any table. */
#include "report/format/table.h"

#include "core/base/near.h"

size_t table_find_column(const struct table *table, const char *key, struct err *err)
{
    const char *all = "";
    struct near near;
    for (size_t c = 0; c < table->n_columns; c++)
        if (strcmp(table->columns[c].key, key) == 0)
            return c;
    near_begin(&near, key);
    for (size_t c = 0; c < table->n_columns; c++) {
        near_consider(&near, table->columns[c].key, table->columns[c].key);
        all = arena_printf(table->arena, "%s%s%s", all, c == 0 ? "" : ", ", table->columns[c].key);
    }
    err_set(err, "the table has no column '%s'", key);
    near_next(&near, arena_printf(table->arena, "choose from: %s", all), err);
    return table->n_columns;
}

/* ---- columns ---- */

/* order: the columns' indexes, n of them. */
static void keep(struct table *table, const size_t *order, size_t n)
{
    struct table_column *columns = arena_alloc(table->arena, (n + 1) * sizeof *columns);
    for (size_t c = 0; c < n; c++) {
        columns[c] = table->columns[order[c]];
        columns[c].is_chosen = true;
        columns[c].detail = 0;
        if (columns[c].heading[0] == '\0')
            columns[c].heading = columns[c].key;
    }
    for (size_t r = 0; r < table->n_rows; r++) {
        struct table_cell *cells = arena_alloc(table->arena, (n + 1) * sizeof *cells);
        for (size_t c = 0; c < n; c++)
            cells[c] = table->rows[r].cells[order[c]];
        table->rows[r].cells = cells;
    }
    memcpy(table->columns, columns, n * sizeof *columns);
    table->n_columns = n;
}

int table_choose(struct table *table, const char *keys, struct err *err)
{
    size_t order[TABLE_COLUMNS_MAX], n = 0;
    char *words = arena_text(table->arena, keys, strlen(keys)), *rest = words;
    for (char *key; (key = strsep(&rest, ",")) != NULL;) {
        size_t column = table_find_column(table, key, err);
        if (column == table->n_columns)
            return -1;
        bool is_there = false;
        for (size_t i = 0; i < n; i++)
            is_there = is_there || order[i] == column;
        if (!is_there)
            order[n++] = column;
    }
    keep(table, order, n);
    return 0;
}

/* ---- order ---- */

/* A row, with those below it. */
struct block {
    const struct table_cell *cell;
    bool is_sum;
    size_t first, n; /* of rows */
};

/* Which of them comes first in any case: numbers before words before nothing, and sums last. */
static int rank(const struct block *block)
{
    return block->is_sum ? 3 : block->cell->value == TABLE_NUMBER ? 0 : block->cell->value == TABLE_WORDS ? 1 : 2;
}

static int in_order(const void *a, const void *b)
{
    const struct block *x = a, *y = b;
    int by_rank = rank(x) - rank(y), by_words = 0;
    if (by_rank != 0)
        return by_rank;
    if (rank(x) == 0 && x->cell->number != y->cell->number)
        return x->cell->number < y->cell->number ? 1 : -1;
    if (rank(x) == 1)
        by_words = strcmp(x->cell->words, y->cell->words);
    return by_words != 0 ? by_words : (x->first > y->first) - (x->first < y->first);
}

static bool is_sum(const struct table_row *row)
{
    return strcmp(row->kind, "others") == 0 || strcmp(row->kind, "total") == 0;
}

/* Sort some of the rows; blocks and rows have room for them. */
static void sort_part(struct table_row *part, size_t n, size_t column, struct block *blocks, struct table_row *rows)
{
    size_t n_blocks = 0, n_rows = 0;
    bool after_rule = n > 0 && part[0].after_rule;
    for (size_t r = 0; r < n; r++) {
        if (n_blocks == 0 || !part[r].is_below)
            blocks[n_blocks++] = (struct block){ &part[r].cells[column], is_sum(&part[r]), r, 0 };
        blocks[n_blocks - 1].n++;
    }
    qsort(blocks, n_blocks, sizeof *blocks, in_order);
    for (size_t b = 0; b < n_blocks; b++)
        for (size_t r = 0; r < blocks[b].n; r++)
            rows[n_rows++] = part[blocks[b].first + r];
    for (size_t r = 0; r < n; r++) {
        part[r] = rows[r];
        part[r].after_rule = r == 0 && after_rule;
    }
}

int table_sort(struct table *table, const char *key, struct err *err)
{
    if (table->has_order) {
        err_set(err, "a tree cannot be sorted by '%s'", key);
        return err_next(err, "remove --sort: each row stands below its caller, largest first");
    }
    size_t column = table_find_column(table, key, err), first = 0;
    struct block *blocks = arena_alloc(table->arena, (table->n_rows + 1) * sizeof *blocks);
    struct table_row *rows = arena_alloc(table->arena, (table->n_rows + 1) * sizeof *rows);
    if (column == table->n_columns)
        return -1;
    for (size_t r = 1; r <= table->n_rows; r++)
        if (r == table->n_rows || table->rows[r].after_rule) {
            sort_part(table->rows + first, r - first, column, blocks, rows);
            first = r;
        }
    return 0;
}
