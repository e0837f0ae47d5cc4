#include "core/emu/placement/placement_policy.h"

#include "core/emu/model/sim_machine.h"

#include <sys/mman.h>

#define CLASSES_BYTES (PLACEMENT_CLASSES_MAX * sizeof(struct placement_class))
#define COLD          0.01 /* what has cooled down so far has no heat */

void placement_classes_open(struct placement_classes *all)
{
    *all = (struct placement_classes){ .classes = sim_map(CLASSES_BYTES), .n = 1 };
}

void placement_classes_close(struct placement_classes *all)
{
    munmap(all->classes, CLASSES_BYTES);
    all->classes = NULL;
}

uint32_t placement_classes_add(struct placement_classes *all, const char *name)
{
    if (all->n == PLACEMENT_CLASSES_MAX)
        return 0;
    struct placement_class *class = &all->classes[all->n];
    size_t n = strnlen(name, PLACEMENT_NAME_BYTES - 1);
    for (size_t i = 0; i < n; i++)
        class->name[i] = (unsigned char)name[i] <= ' ' || name[i] == 127 ? '?' : name[i];
    return all->n++;
}

void placement_class_field(struct placement_class *class, uint32_t offset, uint32_t level, bool is_reference)
{
    if (class->n_fields <= PLACEMENT_FIELDS_MAX)
        class->n_fields++;
    if (class->n_fields <= PLACEMENT_FIELDS_MAX)
        class->fields[class->n_fields - 1] =
            (struct placement_field){ .offset = offset, .level = level, .is_reference = is_reference };
}

static int by_offset(const void *a, const void *b)
{
    const struct placement_field *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

void placement_class_ready(struct placement_class *class)
{
    bool is_whole = class->n_fields <= PLACEMENT_FIELDS_MAX;
    if (!is_whole)
        class->n_fields = 0;
    qsort(class->fields, class->n_fields, sizeof *class->fields, by_offset);
    for (uint32_t i = 0; i < class->n_fields; i++) {
        uint64_t end = i + 1 < class->n_fields ? class->fields[i + 1].offset : class->n_bytes;
        uint64_t offset = class->fields[i].offset;
        class->fields[i].n_bytes = end > offset ? (uint32_t)(end - offset) : 0;
    }
}

/* ---- heat ---- */

/* The field that has an offset; NULL: the header, an array's element. */
static struct placement_field *field_at(struct placement_class *class, uint64_t offset)
{
    for (uint32_t i = 0; i < class->n_fields; i++)
        if (offset - class->fields[i].offset < class->fields[i].n_bytes)
            return &class->fields[i];
    return NULL;
}

void placement_classes_sample(struct placement_classes *all, uint32_t number, uint64_t offset)
{
    if (number == 0 || number >= all->n)
        return;
    struct placement_field *field = field_at(&all->classes[number], offset);
    if (field == NULL && all->classes[number].n_fields > 0) /* of the header */
        return;
    all->n_samples++;
    all->classes[number].recent++;
    if (field != NULL)
        field->recent++;
}

static void age(double *heat, uint32_t *recent)
{
    *heat = *recent > 0 ? *heat + *recent : *heat < COLD ? 0 : *heat / 2;
    *recent = 0;
}

void placement_classes_age(struct placement_classes *all)
{
    for (uint32_t i = 1; i < all->n; i++) {
        struct placement_class *class = &all->classes[i];
        age(&class->heat[PLACEMENT_BY_SAMPLES], &class->recent);
        for (uint32_t k = 0; k < class->n_fields; k++)
            age(&class->fields[k].heat[PLACEMENT_BY_SAMPLES], &class->fields[k].recent);
    }
}

/* ---- the order of fields ---- */

/* Of a field: what its bytes and its place allow, 8 at most. */
static uint32_t alignment_of(const struct placement_field *field)
{
    uint32_t align = PLACEMENT_ALIGN;
    while (align > 1 && (field->n_bytes % align != 0 || field->offset % align != 0))
        align /= 2;
    return align;
}

/* The first place for a field among the bytes that are free; PLACEMENT_LAYOUT_BYTES: there is none. */
static uint32_t find_room(const bool *is_free, const struct placement_field *field)
{
    for (uint32_t at = 0; at + field->n_bytes <= PLACEMENT_LAYOUT_BYTES; at += alignment_of(field)) {
        uint32_t n = 0;
        while (n < field->n_bytes && is_free[at + n])
            n++;
        if (n == field->n_bytes)
            return at;
    }
    return PLACEMENT_LAYOUT_BYTES;
}

/* The hottest first; of two alike, the one that comes first. */
static void sort_fields(const struct placement_class *class, unsigned heat, uint32_t *order)
{
    for (uint32_t i = 0; i < class->n_fields; i++) {
        uint32_t at = i;
        for (; at > 0 && class->fields[order[at - 1]].heat[heat] < class->fields[i].heat[heat]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

/* The fields of one level; returns whether all have found room. */
static bool order_level(const struct placement_class *class, uint32_t level, const uint32_t *order,
                        struct placement_layout *layout)
{
    bool is_free[PLACEMENT_LAYOUT_BYTES] = { false };
    for (uint32_t i = 0; i < class->n_fields; i++)
        for (uint32_t k = 0; class->fields[i].level == level && k < class->fields[i].n_bytes; k++)
            is_free[class->fields[i].offset + k] = true;
    for (uint32_t i = 0; i < class->n_fields; i++) {
        const struct placement_field *field = &class->fields[order[i]];
        uint32_t at = field->level == level ? find_room(is_free, field) : 0;
        if (at == PLACEMENT_LAYOUT_BYTES)
            return false;
        for (uint32_t k = 0; field->level == level && k < field->n_bytes; k++) {
            layout->to[field->offset + k] = (uint8_t)(at + k);
            is_free[at + k] = false;
        }
    }
    return true;
}

bool placement_class_order(const struct placement_class *class, unsigned heat, struct placement_layout *layout)
{
    uint32_t order[PLACEMENT_FIELDS_MAX], n_levels = 0;
    struct placement_layout own;
    for (uint32_t i = 0; i < PLACEMENT_LAYOUT_BYTES; i++)
        own.to[i] = (uint8_t)i;
    *layout = own;
    if (class->n_bytes == 0 || class->n_bytes > PLACEMENT_LAYOUT_BYTES)
        return false;
    sort_fields(class, heat, order);
    for (uint32_t i = 0; i < class->n_fields; i++)
        n_levels = class->fields[i].level >= n_levels ? class->fields[i].level + 1 : n_levels;
    for (uint32_t level = 0; level < n_levels; level++) {
        struct placement_layout before = *layout;
        if (!order_level(class, level, order, layout))
            *layout = before; /* it has holes that no order of these fields fills */
    }
    return memcmp(layout, &own, sizeof own) != 0;
}
