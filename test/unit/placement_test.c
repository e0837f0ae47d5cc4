/*
 * Placement of made-up objects, whose misses are counted by hand.
 */
#include "report/view/placement_table.h"

#include "core/emu/placement/placement_result.h"
#include "test/unit/table_printed.h"
#include "test/unit/tap.h"

#include <unistd.h>

#define HEAP       UINT64_C(0x100000000)
#define HEAP_BYTES (UINT64_C(64) << 20)
#define BASE       (UINT64_C(1) << 47)
#define PAIRS      65536u
#define HOT_BYTES  32u
#define COLD_BYTES 96u

static struct placement_world world;
static struct placement_counts counts;
static struct sim_model model;
static struct err err;
static struct arena arena;
static uint64_t n_sampled;

static void sampled(uint64_t address)
{
    n_sampled += address >= HEAP && address < HEAP + HEAP_BYTES;
}

static uint32_t references[4096]; /* what is at each 4 bytes of the heap's begin: an offset in it, or 0 */

static uint64_t read_reference(void *context, uint64_t at)
{
    uint64_t i = (at - HEAP) / 4;
    (void)context;
    return i >= sizeof references / sizeof *references || references[i] == 0 ? 0 : HEAP + references[i];
}

static void begin(const enum placement_kind *kinds, const enum placement_heat *heats, uint32_t n)
{
    world = (struct placement_world){ .n_policies = n, .read_reference = read_reference, .reference_bytes = 4 };
    counts = (struct placement_counts){ .event = PLACEMENT_L2, .period = 100, .sampled = sampled };
    for (uint32_t i = 0; i < n; i++)
        world.policies[i] = (struct placement_policy){ .kind = kinds[i], .heat = heats == NULL ? 0 : heats[i] };
    placement_map_open(&world.map, HEAP, HEAP_BYTES, BASE);
    placement_classes_open(&world.classes);
    placement_counts_open(&counts, n);
    CHECK("there is a model", sim_model_find("zen4", &model, &err) == 0);
    placement_policies_reset(&world);
    memset(references, 0, sizeof references);
}

static void end(void)
{
    placement_map_close(&world.map);
    placement_classes_close(&world.classes);
    placement_counts_close(&counts, world.n_policies);
    free(world.queue);
}

static uint32_t make_class(const char *name, uint64_t n_bytes)
{
    uint32_t number = placement_classes_add(&world.classes, name);
    world.classes.classes[number].n_bytes = n_bytes;
    return number;
}

static uint64_t misses(uint32_t machine, uint32_t owner, enum placement_event event)
{
    return counts.misses[machine].counts[owner][event];
}

/* Objects of 32 bytes that are hot, each with one of 96 bytes behind it: the hot ones are a quarter of the bytes. */
static void make_pairs(void)
{
    static uint64_t n_bytes[2 * PAIRS];
    uint32_t hot = make_class("a/Hot", HOT_BYTES), cold = make_class("a/Cold", COLD_BYTES);
    uint32_t first = world.map.n_objects;
    for (uint32_t i = 0; i < 2 * PAIRS; i++) {
        bool is_hot = i % 2 == 0;
        n_bytes[i] = is_hot ? HOT_BYTES : COLD_BYTES;
        uint64_t at = HEAP + i / 2 * (HOT_BYTES + COLD_BYTES) + (is_hot ? 0 : HOT_BYTES);
        placement_map_add(&world.map, at, n_bytes[i], is_hot ? hot : cold);
    }
    for (int i = 0; i < 10; i++)
        placement_classes_sample(&world.classes, hot, 16);
    placement_classes_age(&world.classes);
    placement_place(&world, first, n_bytes);
}

/* Each hot object once, and some young and other memory. */
static void sweep(void)
{
    struct placement_thread *thread = placement_thread_make(&world, &counts, &model, 1);
    for (uint32_t i = 0; i < PAIRS; i++)
        placement_thread_access(thread, HEAP + i * (HOT_BYTES + COLD_BYTES) + 16, 8, i % 3 == 0);
    for (uint32_t i = 0; i < 1000; i++) {
        placement_thread_access(thread, HEAP + HEAP_BYTES - 8 - i * 64, 8, true);
        placement_thread_access(thread, UINT64_C(0x7000) + i * 64, 4, false);
    }
    placement_thread_free(thread);
}

static void test_two_classes(void)
{
    static const enum placement_kind kinds[] = { PLACEMENT_IDENTITY, PLACEMENT_HOT_COLD, PLACEMENT_CHILDREN };
    begin(kinds, NULL, 3);
    make_pairs();
    sweep();
    uint32_t hot = PLACEMENT_OWNERS + 1;
    CHECK("identity has each class' misses, of each event, exactly",
          memcmp(&counts.misses[0], &counts.misses[1], sizeof counts.misses[0]) == 0);
    CHECK_NUMBER("as they are, two lines apart, each hot object misses in L1D", misses(0, hot, PLACEMENT_L1D), PAIRS);
    CHECK_NUMBER("in a space of their own, two in a line, every second one does", misses(2, hot, PLACEMENT_L1D),
                 PAIRS / 2);
    CHECK_NUMBER("and in L2, as they are", misses(0, hot, PLACEMENT_L2), PAIRS);
    CHECK_NUMBER("and in their own space", misses(2, hot, PLACEMENT_L2), PAIRS / 2);
    CHECK_NUMBER("8 MB are 2048 pages", misses(0, hot, PLACEMENT_DTLB), 2048);
    CHECK("2 MB are 512 of them, and one more where they do not begin with one",
          misses(2, hot, PLACEMENT_DTLB) - 512 <= 1);
    CHECK_NUMBER("without references children are placed as hot and cold", misses(3, hot, PLACEMENT_L1D), PAIRS / 2);
    CHECK_NUMBER("other memory misses as before", misses(2, PLACEMENT_ELSEWHERE, PLACEMENT_L1D), 1000);
    CHECK_NUMBER("what was not placed does, too", misses(2, PLACEMENT_IN_HEAP, PLACEMENT_L1D), 1000);
    CHECK_NUMBER("accesses to placed objects are told", counts.n_placed, PAIRS);
    CHECK("one of 100 load misses in the heap is sampled, on average", n_sampled > 370 && n_sampled < 530);
    end();
}

/* ---- what is hot ---- */

/* Two classes of so many bytes, of which one is hot: is it in the hot space? */
static bool is_hot_of(uint64_t hot_bytes, uint64_t cold_bytes, uint32_t samples)
{
    static const enum placement_kind kind = PLACEMENT_HOT_COLD;
    const uint64_t n_bytes[] = { hot_bytes, cold_bytes };
    begin(&kind, NULL, 1);
    uint32_t hot = make_class("a/Hot", hot_bytes), cold = make_class("a/Cold", cold_bytes);
    uint32_t first = placement_map_add(&world.map, HEAP, hot_bytes, hot);
    placement_map_add(&world.map, HEAP + hot_bytes, cold_bytes, cold);
    for (uint32_t i = 0; i < samples; i++)
        placement_classes_sample(&world.classes, hot, 0);
    placement_classes_age(&world.classes);
    placement_place(&world, first, n_bytes);
    bool is_hot = (world.map.objects[first].places[0] & PLACEMENT_HOT) != 0;
    end();
    return is_hot;
}

static void test_hot(void)
{
    CHECK("a class of 30 % of the bytes fits into the hot space", is_hot_of(96, 224, 5));
    CHECK("one of more does not", !is_hot_of(104, 216, 5));
    CHECK("one that was never sampled is cold", !is_hot_of(32, 992, 0));
}

static void test_age(void)
{
    begin(NULL, NULL, 0);
    uint32_t class = make_class("a/A", 24);
    placement_class_field(&world.classes.classes[class], 16, 0, false);
    placement_class_ready(&world.classes.classes[class]);
    const double *heat = &world.classes.classes[class].heat[PLACEMENT_BY_SAMPLES];
    for (int i = 0; i < 4; i++)
        placement_classes_sample(&world.classes, class, 20);
    placement_classes_age(&world.classes);
    CHECK("samples heat a class", *heat == 4);
    placement_classes_sample(&world.classes, class, 8);
    CHECK_NUMBER("those of its header do not", world.classes.n_samples, 4);
    CHECK("and the field that they are in", world.classes.classes[class].fields[0].heat[PLACEMENT_BY_SAMPLES] == 4);
    placement_classes_age(&world.classes);
    CHECK("without any, it cools down by half", *heat == 2);
    for (int i = 0; i < 12; i++)
        placement_classes_age(&world.classes);
    CHECK("and gets cold", *heat == 0);
    end();
}

/* ---- children ---- */

/* Objects of 24 bytes; the first has three fields, at 12, 16, 20, that refer to the 4th, the 5th and a cold one. */
static void test_children(void)
{
    static const enum placement_kind kind = PLACEMENT_CHILDREN;
    static const uint64_t n_bytes[] = { 24, 24, 24, 24, 24, 4096 };
    begin(&kind, NULL, 1);
    uint32_t parent = make_class("a/Parent", 24), child = make_class("a/Child", 24), cold = make_class("a/Cold", 4096);
    struct placement_class *class = &world.classes.classes[parent];
    for (uint32_t offset = 12; offset < 24; offset += 4)
        placement_class_field(class, offset, 0, true);
    placement_class_ready(class);
    uint32_t first = placement_map_add(&world.map, HEAP, 24, parent);
    for (uint64_t i = 1; i < 5; i++)
        placement_map_add(&world.map, HEAP + 24 * i, 24, child);
    placement_map_add(&world.map, HEAP + 120, 4096, cold);
    references[12 / 4] = 24 * 3;
    references[16 / 4] = 24 * 4;
    references[20 / 4] = 120;
    for (int i = 0; i < 3; i++)
        placement_classes_sample(&world.classes, parent, 16);
    placement_classes_sample(&world.classes, parent, 12);
    placement_classes_sample(&world.classes, child, 8);
    placement_classes_age(&world.classes);
    placement_place(&world, first, n_bytes);
    const struct placement_object *objects = &world.map.objects[first];
    uint32_t at = objects[0].places[0];
    CHECK("the parent is in the hot space", (at & PLACEMENT_HOT) != 0);
    CHECK_NUMBER("behind it is the child of its hottest field", objects[4].places[0], at + 3);
    CHECK_NUMBER("then that of the next one", objects[3].places[0], at + 6);
    CHECK_NUMBER("then what it does not refer to", objects[1].places[0], at + 9);
    CHECK("a child of a cold class is in the cold space",
          objects[5].places[0] != 0 && (objects[5].places[0] & PLACEMENT_HOT) == 0);
    end();
}

/* ---- the order of fields ---- */

struct field_case {
    const char *claim;
    uint32_t n_bytes, offsets[6], levels[6], heats[6], to[6]; /* offset 0: no more */
};

static const struct field_case field_cases[] = {
    { "fields without heat stay", 24, { 12, 16, 20 }, { 0 }, { 0 }, { 12, 16, 20 } },
    { "the hottest comes first", 24, { 12, 16, 20 }, { 0 }, { 0, 1, 5 }, { 20, 16, 12 } },
    { "one of 8 bytes stays aligned", 32, { 12, 16, 24 }, { 0 }, { 0, 0, 9 }, { 12, 24, 16 } },
    { "a superclass' fields stay its own", 24, { 12, 16, 20 }, { 1, 0, 0 }, { 1, 2, 3 }, { 12, 20, 16 } },
    { "bytes change places with bytes", 16, { 12, 13, 14, 15 }, { 0 }, { 1, 2, 3, 4 }, { 15, 14, 13, 12 } },
};

static void test_fields(void)
{
    struct placement_layout layout;
    for (size_t i = 0; i < sizeof field_cases / sizeof *field_cases; i++) {
        const struct field_case *c = &field_cases[i];
        begin(NULL, NULL, 0);
        struct placement_class *class = &world.classes.classes[make_class("a/A", c->n_bytes)];
        bool is_right = true;
        for (size_t k = 0; k < 6 && c->offsets[k] != 0; k++)
            placement_class_field(class, c->offsets[k], c->levels[k], false);
        placement_class_ready(class);
        for (uint32_t k = 0; k < class->n_fields; k++)
            class->fields[k].heat[0] = c->heats[k];
        bool is_other = placement_class_order(class, 0, &layout);
        for (uint32_t k = 0; k < class->n_fields; k++)
            is_right &= layout.to[c->offsets[k]] == c->to[k];
        CHECK(c->claim, is_right && is_other == (memcmp(c->offsets, c->to, sizeof c->to) != 0));
        end();
    }
}

static void test_ordered_objects(void)
{
    static const enum placement_kind kind = PLACEMENT_FIELDS;
    static const uint64_t n_bytes[] = { 128, 128 };
    begin(&kind, NULL, 1);
    struct placement_class *class = &world.classes.classes[make_class("a/Wide", 128)];
    for (uint32_t offset = 16; offset < 128; offset += 8)
        placement_class_field(class, offset, 0, false);
    placement_class_ready(class);
    for (int i = 0; i < 9; i++)
        placement_classes_sample(&world.classes, 1, 120);
    placement_classes_age(&world.classes);
    uint32_t first = placement_map_add(&world.map, HEAP, 128, 1);
    placement_map_add(&world.map, HEAP + 128, 128, 1);
    placement_place(&world, first, n_bytes);
    const struct placement_object *object = placement_map_find(&world.map, HEAP + 128 + 124);
    CHECK_NUMBER("a hot field is in the header's line, its second half too",
                 placement_map_address(&world.map, object, 0, PLACEMENT_BY_SAMPLES, HEAP + 128 + 124), HEAP + 128 + 20);
    CHECK_NUMBER("what it changes places with is where it was",
                 placement_map_address(&world.map, object, 0, PLACEMENT_BY_SAMPLES, HEAP + 128 + 16), HEAP + 128 + 24);
    end();
}

static void test_clearing(void)
{
    static const enum placement_kind kind = PLACEMENT_HOT_COLD;
    const uint64_t n_bytes[] = { 1 << 20, 32 };
    begin(&kind, NULL, 1);
    uint32_t class = make_class("[B", 0), first = placement_map_add(&world.map, HEAP, 1 << 20, class);
    placement_map_add(&world.map, HEAP + (1 << 20), 32, class);
    placement_place(&world, first, n_bytes);
    placement_map_clear(&world.map, HEAP + 8, HEAP + (1 << 20));
    CHECK("what was cleared is no object any more", placement_map_find(&world.map, HEAP + (1 << 20) - 8) == NULL &&
                                                        placement_map_find(&world.map, HEAP + 8) == NULL);
    CHECK("what is beside it is",
          placement_map_find(&world.map, HEAP) != NULL && placement_map_find(&world.map, HEAP + (1 << 20)) != NULL);
    placement_map_clear_all(&world.map);
    CHECK("after a full collection nothing is", placement_map_find(&world.map, HEAP + (1 << 20)) == NULL);
    end();
}

/* ---- results ---- */

static char *write_result(size_t *n)
{
    const struct placement_run run = { .n_accesses = 67536,
                                       .n_placed = PAIRS,
                                       .n_collections = 3,
                                       .n_full = 1,
                                       .n_objects = 2 * PAIRS,
                                       .n_object_bytes = 128 * PAIRS,
                                       .n_samples = 10,
                                       .event = PLACEMENT_L2,
                                       .period = 100,
                                       .model = "zen4" };
    char *text = NULL;
    FILE *out = open_memstream(&text, n);
    placement_result_write(out, &run, &world, &counts);
    fclose(out);
    return text;
}

static void test_table(const struct placement_result *one)
{
    struct placement_result three[3] = { *one, *one, *one };
    struct table table;
    placement_table(one, 1, 1, &arena, &table);
    const char *text = printed(&table, TEXT, &arena);
    CHECK("it says which share of the misses is saved", strstr(text, " -48.52") != NULL); /* 32768 of 67536 */
    CHECK("hindsight is labelled", strstr(text, "hot-cold (hindsight)") != NULL && strstr(text, "a bound") != NULL);
    CHECK("one run has no interval", strstr(text, "±") == NULL);
    CHECK("CSV has the change as a fraction",
          strstr(printed(&table, CSV, &arena), "total,hot-cold,samples,all memory,131072,8388608,") != NULL);
    CHECK("placed objects are added up", strstr(text, "placed objects") != NULL && strstr(text, " -50.00") != NULL);
    placement_table(three, 3, 0, &arena, &table);
    CHECK("of three runs there is one", strstr(printed(&table, TEXT, &arena), "-48.52 ±0.00") != NULL);
}

static void test_result(void)
{
    static const enum placement_kind kinds[] = { PLACEMENT_IDENTITY, PLACEMENT_HOT_COLD, PLACEMENT_HOT_COLD };
    static const enum placement_heat heats[] = { PLACEMENT_BY_SAMPLES, PLACEMENT_BY_SAMPLES, PLACEMENT_BY_HINDSIGHT };
    struct placement_result result;
    size_t n, n_read = 0;
    begin(kinds, heats, 3);
    make_pairs();
    sweep();
    char *text = write_result(&n);
    CHECK("a result is read", placement_result_read(text, n, "x", &arena, &result, &err) == 0);
    CHECK_NUMBER("with its policies", result.n_policies, 3);
    CHECK_NUMBER("and misses", result.classes[PLACEMENT_OWNERS + 1].misses[2][PLACEMENT_L1D], PAIRS / 2);
    CHECK_NUMBER("by hindsight without heat nothing is hot", result.classes[PLACEMENT_OWNERS + 1].misses[3][0], PAIRS);
    test_table(&result);
    for (size_t i = 0; i < n; i++)
        n_read += placement_result_read(text, i, "x", &arena, &result, &err) == 0;
    CHECK_NUMBER("one that is cut is refused, wherever", n_read, 0);
    CHECK_TEXT("with its name", err.text,
               "'x' is damaged, or no result of a placement run\n  next: run 'mmprof placement' again");
    free(text);
    end();
}

static void test_hindsight(void)
{
    struct placement_hindsight hindsight = { .n = 0 };
    char path[] = "/tmp/placement_test-XXXXXX";
    size_t n;
    begin(NULL, NULL, 0);
    uint32_t class = make_class("a/A", 24);
    placement_class_field(&world.classes.classes[class], 16, 0, false);
    placement_class_ready(&world.classes.classes[class]);
    placement_classes_sample(&world.classes, class, 16);
    placement_classes_age(&world.classes);
    char *text = write_result(&n);
    int fd = mkstemp(path);
    CHECK("a run's heat is written", fd >= 0 && write(fd, text, n) == (ssize_t)n && close(fd) == 0);
    CHECK("and read", placement_hindsight_read(&hindsight, path) == 0);
    struct placement_class *again = &world.classes.classes[make_class("a/A", 24)];
    placement_class_field(again, 16, 0, false);
    placement_class_ready(again);
    placement_hindsight_apply(&hindsight, again);
    CHECK("a class of that name has it from its begin on", again->heat[PLACEMENT_BY_HINDSIGHT] == 1);
    CHECK("its field, too", again->fields[0].heat[PLACEMENT_BY_HINDSIGHT] == 1);
    CHECK("and no heat of samples", again->heat[PLACEMENT_BY_SAMPLES] == 0);
    unlink(path);
    CHECK("a file that is not there is refused", placement_hindsight_read(&hindsight, path) < 0);
    placement_hindsight_free(&hindsight);
    free(text);
    end();
}

int main(void)
{
    test_two_classes();
    test_hot();
    test_age();
    test_children();
    test_fields();
    test_ordered_objects();
    test_clearing();
    test_result();
    test_hindsight();
    arena_free(&arena);
    return tap_done();
}
