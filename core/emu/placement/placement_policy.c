#include "core/emu/placement/placement_policy.h"

#include "core/base/xalloc.h"

const char *const placement_kind_names[PLACEMENT_KINDS] = { "identity", "hot-cold", "children", "fields" };

/* What one policy does with the objects of one collection. */
struct batch {
    struct placement_world *world;
    struct placement_policy *policy;
    unsigned number;         /* the policy's */
    uint32_t first;          /* object */
    const uint64_t *n_bytes; /* of each, from first on */
    bool *is_hot;            /* by class */
    uint32_t n_queued;
};

void placement_policies_reset(struct placement_world *world)
{
    for (uint32_t i = 0; i < world->n_policies; i++)
        for (int space = 0; space < 2; space++) {
            world->policies[i].next[space] = 64 / PLACEMENT_ALIGN; /* place 0 is none: both begin with a line */
            world->policies[i].n_bytes[space] = 0;
        }
}

/* ---- which classes are hot ---- */

struct hot_candidate {
    uint32_t number;
    double heat;
    uint64_t n_bytes; /* of what came */
};

static int by_heat(const void *a, const void *b)
{
    const struct hot_candidate *x = a, *y = b;
    if (x->heat != y->heat)
        return x->heat > y->heat ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* The hottest ones first, of those that fit: the heat that is needed rises with what is hot already. */
static void choose_hot(struct batch *batch, struct hot_candidate *candidates, uint32_t n, uint64_t n_all)
{
    const struct placement_policy *policy = batch->policy;
    double room =
        PLACEMENT_HOT_SHARE * (double)(policy->n_bytes[0] + policy->n_bytes[1] + n_all) - (double)policy->n_bytes[1];
    qsort(candidates, n, sizeof *candidates, by_heat);
    for (uint32_t i = 0; i < n && candidates[i].heat > 0; i++) {
        bool fits = (double)candidates[i].n_bytes <= room;
        batch->is_hot[candidates[i].number] = fits;
        room -= fits ? (double)candidates[i].n_bytes : 0;
    }
}

static void find_hot(struct batch *batch)
{
    const struct placement_world *world = batch->world;
    uint32_t n_classes = world->classes.n;
    uint64_t n_all = 0;
    struct hot_candidate *candidates = xcalloc(n_classes, sizeof *candidates);
    for (uint32_t i = 0; i < n_classes; i++)
        candidates[i] = (struct hot_candidate){ i, world->classes.classes[i].heat[batch->policy->heat], 0 };
    for (uint32_t i = batch->first; i < world->map.n_objects; i++) {
        candidates[world->map.objects[i].class_of].n_bytes += batch->n_bytes[i - batch->first];
        n_all += batch->n_bytes[i - batch->first];
    }
    choose_hot(batch, candidates, n_classes, n_all);
    free(candidates);
}

/* ---- placing ---- */

static void put(struct batch *batch, uint32_t object)
{
    struct placement_object *its = &batch->world->map.objects[object];
    bool is_hot = batch->is_hot[its->class_of];
    uint64_t n_bytes = batch->n_bytes[object - batch->first], units = n_bytes / PLACEMENT_ALIGN;
    uint64_t *next = &batch->policy->next[is_hot];
    if (*next + units >= PLACEMENT_HOT)
        return; /* 16 GB are placed: it stays where it is */
    its->places[batch->number] = (uint32_t)*next | (is_hot ? PLACEMENT_HOT : 0);
    *next += units;
    batch->policy->n_bytes[is_hot] += n_bytes;
}

/* What a field or an element refers to comes next, if it came just now, is hot, and has no place yet. */
static void put_child(struct batch *batch, uint64_t at)
{
    struct placement_world *world = batch->world;
    uint64_t address = world->read_reference(world->context, at);
    const struct placement_object *child = address == 0 ? NULL : placement_map_find(&world->map, address);
    uint32_t number = child == NULL ? 0 : (uint32_t)(child - world->map.objects);
    if (number < batch->first || child->places[batch->number] != 0 || !batch->is_hot[child->class_of])
        return;
    put(batch, number);
    if (child->places[batch->number] != 0)
        world->queue[batch->n_queued++] = number;
}

/* The hottest fields first, then the others as they stand. */
static void put_fields(struct batch *batch, uint64_t start, const struct placement_class *class)
{
    bool is_done[PLACEMENT_FIELDS_MAX] = { false };
    for (int n = 0; n < PLACEMENT_HOTTEST; n++) {
        uint32_t best = PLACEMENT_FIELDS_MAX;
        double heat = 0;
        for (uint32_t i = 0; i < class->n_fields; i++)
            if (class->fields[i].is_reference && !is_done[i] && class->fields[i].heat[batch->policy->heat] > heat) {
                best = i;
                heat = class->fields[i].heat[batch->policy->heat];
            }
        if (best == PLACEMENT_FIELDS_MAX)
            break;
        is_done[best] = true;
        put_child(batch, start + class->fields[best].offset);
    }
    for (uint32_t i = 0; i < class->n_fields; i++)
        if (class->fields[i].is_reference && !is_done[i])
            put_child(batch, start + class->fields[i].offset);
}

static void put_children(struct batch *batch, uint32_t object)
{
    const struct placement_world *world = batch->world;
    const struct placement_object *its = &world->map.objects[object];
    const struct placement_class *class = &world->classes.classes[its->class_of];
    uint64_t end = batch->n_bytes[object - batch->first];
    for (uint64_t at = class->elements; at != 0 && at + world->reference_bytes <= end; at += world->reference_bytes)
        put_child(batch, its->start + at);
    put_fields(batch, its->start, class);
}

/* A hot object, and behind it in turn what all that were placed so refer to. */
static void put_hot(struct batch *batch, uint32_t object)
{
    batch->n_queued = 0;
    put(batch, object);
    put_children(batch, object);
    for (uint32_t i = 0; i < batch->n_queued; i++)
        put_children(batch, batch->world->queue[i]);
}

static void place_spaces(struct batch *batch)
{
    const struct placement_map *map = &batch->world->map;
    bool has_children = batch->policy->kind == PLACEMENT_CHILDREN;
    find_hot(batch);
    for (uint32_t i = batch->first; i < map->n_objects; i++) {
        const struct placement_object *object = &map->objects[i];
        if (object->places[batch->number] != 0)
            continue;
        if (has_children && batch->is_hot[object->class_of])
            put_hot(batch, i);
        else
            put(batch, i);
    }
}

static void order_fields(struct batch *batch)
{
    struct placement_world *world = batch->world;
    unsigned heat = batch->policy->heat;
    bool *is_known = batch->is_hot; /* by class: its layout is the latest */
    struct placement_layout layout;
    for (uint32_t i = batch->first; i < world->map.n_objects; i++) {
        struct placement_object *object = &world->map.objects[i];
        struct placement_class *class = &world->classes.classes[object->class_of];
        uint32_t *latest = &class->layouts[heat];
        if (!is_known[object->class_of] && !placement_class_order(class, heat, &layout))
            *latest = 0;
        else if (!is_known[object->class_of] &&
                 (*latest == 0 || memcmp(&layout, &world->map.layouts[*latest], sizeof layout) != 0))
            *latest = placement_map_layout(&world->map, &layout);
        is_known[object->class_of] = true;
        object->layouts[heat] = *latest;
    }
}

static void place_by(struct batch *batch)
{
    batch->is_hot = xcalloc(batch->world->classes.n, sizeof *batch->is_hot);
    if (batch->policy->kind == PLACEMENT_FIELDS)
        order_fields(batch);
    else if (batch->policy->kind != PLACEMENT_IDENTITY)
        place_spaces(batch);
    free(batch->is_hot);
}

static void count_objects(struct placement_world *world, uint32_t first, const uint64_t *n_bytes)
{
    for (uint32_t i = first; i < world->map.n_objects; i++) {
        struct placement_class *class = &world->classes.classes[world->map.objects[i].class_of];
        class->n_objects++;
        class->n_object_bytes += n_bytes[i - first];
    }
}

void placement_place(struct placement_world *world, uint32_t first, const uint64_t *n_bytes)
{
    xgrow(world->queue, world->queue_room, world->map.n_objects - first);
    for (uint32_t i = 0; i < world->n_policies; i++) {
        struct batch batch = {
            .world = world, .policy = &world->policies[i], .number = i, .first = first, .n_bytes = n_bytes
        };
        place_by(&batch);
    }
    count_objects(world, first, n_bytes);
}
