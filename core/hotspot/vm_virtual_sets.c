/* The sets of virtual threads that the JDK keeps (jdk.internal.vm.ThreadContainers, JDK 21 and later). */
#include "core/hotspot/vm_virtual_internal.h"

#include "core/hotspot/vm_state.h"
#include "core/hotspot/vm_threads.h"

#define LOADERS_MAX     65536u
#define CLASSES_MAX     (1u << 18)
#define TEXT_BYTES      96u
#define CLASSES_AT_ONCE 64u
#define BINS_MAX        (1u << 30)
#define REGISTRY_MAX    4096u /* bins */
#define CHAIN_MAX       64u
#define SUPERS_MAX      64
#define SUBCLASSES_MAX  1024
#define CELLS_MAX       512u

static const char *const class_names[VIRTUAL_CLASSES] = {
    [VIRTUAL_THREAD] = "java/lang/VirtualThread",
    [VIRTUAL_CHUNK] = "jdk/internal/vm/StackChunk",
    [VIRTUAL_ROOT] = "jdk/internal/vm/ThreadContainers$RootContainer$TrackingRootContainer",
    [VIRTUAL_COUNTING] = "jdk/internal/vm/ThreadContainers$RootContainer$CountingRootContainer",
    [VIRTUAL_REGISTRY] = "jdk/internal/vm/ThreadContainers",
};

void virtual_sets_open(struct virtual_sets *sets, struct vm *vm)
{
    struct vm_field fields[] = { { "ClassLoaderDataGraph", "_head", &sets->loaders, true },
                                 { "ClassLoaderData", "_next", &sets->next_loader, false },
                                 { "ClassLoaderData", "_klasses", &sets->loader_classes, false },
                                 { "Klass", "_next_link", &sets->next_class, false },
                                 { "Klass", "_name", &sets->name, false } };
    *sets = (struct virtual_sets){
        .vm = vm,
        .map = { .class_name = "java/util/concurrent/ConcurrentHashMap$CollectionView", .name = "map" },
        .table = { .class_name = "java/util/concurrent/ConcurrentHashMap", .name = "table" },
        .key = { .class_name = "java/util/concurrent/ConcurrentHashMap$Node", .name = "key" },
        .next = { .class_name = "java/util/concurrent/ConcurrentHashMap$Node", .name = "next" },
        .first = { .class_name = "java/util/concurrent/ConcurrentHashMap$TreeBin", .name = "first" },
        .referent = { .class_name = "java/lang/ref/Reference", .name = "referent" },
        .base = { .class_name = "java/util/concurrent/ConcurrentHashMap", .name = "baseCount" },
        .cells = { .class_name = "java/util/concurrent/ConcurrentHashMap", .name = "counterCells" },
        .cell = { .class_name = "java/util/concurrent/ConcurrentHashMap$CounterCell", .name = "value" },
        .counter = { .class_name = "java/util/concurrent/atomic/Striped64", .name = "base" },
        .of_container = { { .class_name = "java/util/concurrent/ThreadPerTaskExecutor", .name = "threads" },
                          { .class_name = "jdk/internal/vm/SharedThreadContainer", .name = "virtualThreads" } },
    };
    if (!vm_fields_find(vm, fields, sizeof fields / sizeof *fields))
        sets->loaders = VM_NONE;
    struct vm_field early[] = { { "JavaThread", "_threadObj", &sets->java_thread, false },
                                { "Klass", "_subklass", &sets->subclass, false },
                                { "Klass", "_next_sibling", &sets->sibling, false },
                                { "InstanceKlass", "_init_state", &sets->init_state, false } };
    sets->may_have_none = vm_fields_find(vm, early, sizeof early / sizeof *early) &&
                          vm_constant(vm, "InstanceKlass::fully_initialized", &sets->initialized);
}

/* ---- classes ---- */

/* The boot loader's data is the last one of all. */
static uint64_t find_boot(const struct virtual_sets *sets)
{
    uint64_t loader, next;
    if (sets->loaders == VM_NONE || !vm_read_u64(sets->vm, sets->loaders, &loader))
        return 0;
    for (uint32_t i = 0; loader != 0 && i < LOADERS_MAX; i++, loader = next)
        if (!vm_read_u64(sets->vm, loader + sets->next_loader, &next) || next == 0)
            return loader;
    return 0;
}

static bool is_named(const struct class_layout *at, const uint8_t symbol[TEXT_BYTES], const char *name)
{
    size_t n = strlen(name);
    return at->symbol_body + n <= TEXT_BYTES && vm_number(symbol, TEXT_BYTES, at->symbol_length, 2) == n &&
           memcmp(symbol + at->symbol_body, name, n) == 0;
}

static void meet_classes(struct virtual_sets *sets, const uint64_t *classes, const uint64_t *symbols, uint32_t n)
{
    struct vm_piece pieces[CLASSES_AT_ONCE];
    uint8_t texts[CLASSES_AT_ONCE][TEXT_BYTES];
    for (uint32_t i = 0; i < n; i++)
        pieces[i] = (struct vm_piece){ symbols[i], TEXT_BYTES };
    vm_read_each(sets->vm, pieces, n, texts);
    for (uint32_t i = 0; i < n; i++)
        for (size_t k = 0; k < VIRTUAL_CLASSES; k++)
            if (sets->classes[k] == 0 && is_named(&sets->vm->objects.classes, texts[i], class_names[k]))
                sets->classes[k] = classes[i];
}

/* Those that were loaded since the last call. */
static void find_classes(struct virtual_sets *sets)
{
    uint64_t newest, class, words[2], classes[CLASSES_AT_ONCE], symbols[CLASSES_AT_ONCE];
    uint32_t n = 0;
    if (sets->boot == 0 && (sets->boot = find_boot(sets)) == 0)
        return;
    if (!vm_read_u64(sets->vm, sets->boot + sets->loader_classes, &newest))
        return;
    class = newest;
    for (uint32_t i = 0; class != 0 && class != sets->newest && i < CLASSES_MAX; i++, class = words[0]) {
        const uint64_t addresses[2] = { class + sets->next_class, class + sets->name };
        vm_read_words(sets->vm, addresses, 2, words);
        classes[n] = class;
        symbols[n++] = words[1];
        if (n == CLASSES_AT_ONCE || words[0] == 0 || words[0] == sets->newest) {
            meet_classes(sets, classes, symbols, n);
            n = 0;
        }
    }
    sets->newest = newest;
}

/* ---- whether there is any ---- */

/* java.lang.Thread, by any thread of the JVM; 0: not known. */
static uint64_t find_thread_class(const struct virtual_sets *sets)
{
    struct vm_thread_list list;
    uint64_t thread, class;
    char name[VM_CLASS_NAME_BYTES];
    if (!vm_thread_list_find(sets->vm, &list) || vm_thread_list_read(sets->vm, &list, &thread, 1) < 1)
        return 0;
    class = vm_object_class(sets->vm, vm_handle_object(sets->vm, thread + sets->java_thread));
    for (int i = 0; i < SUPERS_MAX && vm_class_text(sets->vm, class, name, sizeof name); i++) {
        if (strcmp(name, "java/lang/Thread") == 0)
            return class;
        if (!vm_read_u64(sets->vm, class + sets->vm->objects.classes.super, &class))
            break;
    }
    return 0;
}

/* A subclass of a class, by its name; 0: there is none. */
static uint64_t find_subclass(const struct virtual_sets *sets, uint64_t class, const char *wanted)
{
    char name[VM_CLASS_NAME_BYTES];
    if (class == 0 || !vm_read_u64(sets->vm, class + sets->subclass, &class))
        return 0;
    for (int i = 0; class != 0 && i < SUBCLASSES_MAX; i++) {
        if (vm_class_text(sets->vm, class, name, sizeof name) && strcmp(name, wanted) == 0)
            return class;
        if (!vm_read_u64(sets->vm, class + sets->sibling, &class))
            break;
    }
    return 0;
}

/* Has no virtual thread ever been made?  Then the JVM's classes need not be looked through. */
static bool has_none(struct virtual_sets *sets)
{
    uint8_t state;
    if (!sets->may_have_none)
        return false;
    if (sets->thread_class == 0)
        sets->thread_class = find_thread_class(sets);
    uint64_t class = find_subclass(sets, find_subclass(sets, sets->thread_class, "java/lang/BaseVirtualThread"),
                                   class_names[VIRTUAL_THREAD]);
    sets->may_have_none =
        class != 0 && vm_read(sets->vm, class + sets->init_state, &state, 1) && state < sets->initialized;
    return sets->may_have_none;
}

/* ---- sets ---- */

/* The object in a static field of a class; 0: none, or it is not loaded yet. */
static uint64_t static_reference(struct virtual_sets *sets, enum virtual_class class, const char *name, uint32_t *field)
{
    uint8_t bytes[8];
    uint64_t mirror = sets->classes[class] == 0 ? 0 : vm_class_mirror(sets->vm, sets->classes[class]);
    if (mirror != 0 && *field == 0)
        *field = vm_class_field_at(sets->vm, sets->classes[class], name, true);
    return mirror != 0 && *field != 0 && vm_read(sets->vm, mirror + *field, bytes, vm_reference_bytes(sets->vm))
               ? vm_reference_of(sets->vm, bytes)
               : 0;
}

/* An array of references: its first element, and how many; false: it is none that is this long at most. */
static bool find_array(struct vm *vm, uint64_t array, uint32_t most, struct virtual_table *table)
{
    uint32_t at = vm_array_length_at(vm), n, bytes = vm_reference_bytes(vm);
    if (at == 0 || array == 0 || !vm_read(vm, array + at, &n, sizeof n) || n > most)
        return false;
    *table = (struct virtual_table){ .data = array + ((at + 4 + bytes - 1) & ~(bytes - 1)), .n_bins = n };
    return true;
}

bool virtual_sets_table(struct virtual_sets *sets, uint64_t set, struct virtual_table *table)
{
    struct vm *vm = sets->vm;
    uint64_t map = vm_object_reference(vm, set, &sets->map), array = vm_object_reference(vm, map, &sets->table);
    *table = (struct virtual_table){ .data = 0 };
    if (map == 0)
        return false;
    /* Nothing was put into it yet, or it has bins. */
    return array == 0 || (find_array(vm, array, BINS_MAX, table) && (table->n_bins & (table->n_bins - 1)) == 0);
}

/* What threads that come and go at once have added elsewhere. */
static uint64_t count_cells(struct virtual_sets *sets, uint64_t map)
{
    struct virtual_table cells;
    uint8_t words[CELLS_MAX * 8];
    uint64_t n = 0, value;
    uint32_t n_bytes = vm_reference_bytes(sets->vm);
    if (!find_array(sets->vm, vm_object_reference(sets->vm, map, &sets->cells), CELLS_MAX, &cells) ||
        !vm_read(sets->vm, cells.data, words, (size_t)cells.n_bins * n_bytes))
        return 0;
    for (uint32_t i = 0; i < cells.n_bins; i++)
        if (vm_object_long(sets->vm, vm_reference_of(sets->vm, words + i * n_bytes), &sets->cell, &value))
            n += value;
    return n;
}

uint64_t virtual_sets_count(struct virtual_sets *sets)
{
    uint64_t n = 0, base;
    for (uint32_t i = 0; i < sets->n; i++) {
        uint64_t map = vm_object_reference(sets->vm, sets->sets[i], &sets->map);
        if (vm_object_long(sets->vm, map, &sets->base, &base))
            n += base + count_cells(sets, map);
    }
    return n <= INT64_MAX ? n : 0;
}

static void add_set(struct virtual_sets *sets, uint64_t set)
{
    if (set != 0 && sets->n < VIRTUAL_SETS_MAX)
        sets->sets[sets->n++] = set;
}

/* A container that was registered: an executor, or what a pool has its threads in. */
static void add_container(struct virtual_sets *sets, uint64_t reference)
{
    uint64_t container = vm_object_reference(sets->vm, reference, &sets->referent);
    for (size_t i = 0; container != 0 && i < sizeof sets->of_container / sizeof *sets->of_container; i++)
        add_set(sets, vm_object_reference(sets->vm, container, &sets->of_container[i]));
}

static void add_registered(struct virtual_sets *sets)
{
    struct virtual_table table;
    uint8_t bins[REGISTRY_MAX * 8];
    uint32_t n_bytes = vm_reference_bytes(sets->vm);
    uint64_t registry = static_reference(sets, VIRTUAL_REGISTRY, "CONTAINER_REGISTRY", &sets->registry_field);
    if (registry == 0 || !virtual_sets_table(sets, registry, &table) || table.n_bins > REGISTRY_MAX ||
        !vm_read(sets->vm, table.data, bins, (size_t)table.n_bins * n_bytes))
        return;
    for (uint32_t i = 0; i < table.n_bins; i++) {
        uint64_t node = vm_reference_of(sets->vm, bins + i * n_bytes);
        for (uint32_t k = 0; node != 0 && k < CHAIN_MAX; k++) {
            add_container(sets, vm_object_reference(sets->vm, node, &sets->key));
            node = vm_object_reference(sets->vm, node, &sets->next);
        }
    }
}

bool virtual_sets_find(struct virtual_sets *sets)
{
    sets->n = 0;
    if (has_none(sets))
        return false;
    find_classes(sets);
    if (sets->classes[VIRTUAL_THREAD] == 0 || sets->classes[VIRTUAL_CHUNK] == 0)
        return false;
    add_set(sets, static_reference(sets, VIRTUAL_ROOT, "VTHREADS", &sets->root_field));
    add_registered(sets);
    return true;
}

uint64_t virtual_sets_untracked(struct virtual_sets *sets)
{
    uint64_t counter = static_reference(sets, VIRTUAL_COUNTING, "VTHREAD_COUNT", &sets->counting_field), n;
    return counter != 0 && vm_object_long(sets->vm, counter, &sets->counter, &n) && n <= INT64_MAX ? n : 0;
}
