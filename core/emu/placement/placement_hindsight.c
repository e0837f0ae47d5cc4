#include "core/emu/placement/placement_result.h"

#include "core/base/vec.h"

#include <sys/stat.h>

#define FILE_BYTES_MAX (64 << 20)

struct placement_heat_row {
    char name[PLACEMENT_NAME_BYTES];
    int64_t offset; /* -1: the class' */
    double heat;
};

static void take_heat(void *context, const char *class_name, int64_t offset, double heat)
{
    struct placement_hindsight *hindsight = context;
    if (vec_reserve(hindsight->rows, hindsight->room, hindsight->n + 1) < 0)
        return;
    struct placement_heat_row *row = &hindsight->rows[hindsight->n++];
    *row = (struct placement_heat_row){ .offset = offset, .heat = heat };
    snprintf(row->name, sizeof row->name, "%s", class_name);
}

static int by_name(const void *a, const void *b)
{
    const struct placement_heat_row *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static int read_file(struct placement_hindsight *hindsight, FILE *in)
{
    struct stat status;
    char *text = NULL;
    int rc = -1;
    if (fstat(fileno(in), &status) == 0 && status.st_size > 0 && status.st_size < FILE_BYTES_MAX)
        text = malloc((size_t)status.st_size);
    if (text != NULL && fread(text, 1, (size_t)status.st_size, in) == (size_t)status.st_size)
        rc = placement_heat_read(text, (size_t)status.st_size, take_heat, hindsight);
    free(text);
    return rc;
}

int placement_hindsight_read(struct placement_hindsight *hindsight, const char *path)
{
    FILE *in = fopen(path, "re");
    int rc = in == NULL ? -1 : read_file(hindsight, in);
    if (in != NULL)
        fclose(in);
    if (hindsight->n > 0)
        qsort(hindsight->rows, hindsight->n, sizeof *hindsight->rows, by_name);
    return rc;
}

void placement_hindsight_free(struct placement_hindsight *hindsight)
{
    free(hindsight->rows);
    *hindsight = (struct placement_hindsight){ .n = 0 };
}

static void apply_row(struct placement_class *class, const struct placement_heat_row *row)
{
    if (row->offset < 0)
        class->heat[PLACEMENT_BY_HINDSIGHT] = row->heat;
    for (uint32_t i = 0; i < class->n_fields; i++)
        if (class->fields[i].offset == row->offset)
            class->fields[i].heat[PLACEMENT_BY_HINDSIGHT] = row->heat;
}

/* Several classes may have one name: each row of it counts, the latest last. */
void placement_hindsight_apply(const struct placement_hindsight *hindsight, struct placement_class *class)
{
    uint32_t low = 0, high = hindsight->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (strcmp(hindsight->rows[middle].name, class->name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < hindsight->n && strcmp(hindsight->rows[low].name, class->name) == 0; low++)
        apply_row(class, &hindsight->rows[low]);
}
