#include "core/hotspot/vm_objects.h"

/* A field that was called otherwise, or was elsewhere, in another JDK has a row for each: a JVM has one of them. */

static void find_serial(struct vm *vm, struct vm_tables *t)
{
    struct vm_field fields[] = {
        { "GenCollectedHeap", "_young_gen", &t->young, false }, /* JDK 17 */
        { "GenCollectedHeap", "_old_gen", &t->old, false },
        { "SerialHeap", "_young_gen", &t->young, false }, /* JDK 25 */
        { "SerialHeap", "_old_gen", &t->old, false },
        { "DefNewGeneration", "_eden_space", &t->eden, false },
        { "DefNewGeneration", "_from_space", &t->from, false },
        { "DefNewGeneration", "_to_space", &t->to, false },
        { "TenuredGeneration", "_the_space", &t->tenured, false },
        { "Space", "_bottom", &t->space_bottom, false },
        { "Space", "_end", &t->space_end, false },
        { "ContiguousSpace", "_bottom", &t->space_bottom, false },
        { "ContiguousSpace", "_end", &t->space_end, false },
        { "ContiguousSpace", "_top", &t->space_top, false },
    };
    vm_fields_find(vm, fields, sizeof fields / sizeof *fields);
}

static void find_parallel(struct vm *vm, struct vm_tables *t)
{
    struct vm_field fields[] = {
        { "ParallelScavengeHeap", "_young_gen", &t->young, true },
        { "ParallelScavengeHeap", "_old_gen", &t->old, true },
        { "PSYoungGen", "_eden_space", &t->eden, false },
        { "PSYoungGen", "_from_space", &t->from, false },
        { "PSYoungGen", "_to_space", &t->to, false },
        { "PSOldGen", "_object_space", &t->tenured, false },
        { "MutableSpace", "_bottom", &t->space_bottom, false },
        { "MutableSpace", "_end", &t->space_end, false },
        { "MutableSpace", "_top", &t->space_top, false },
    };
    vm_fields_find(vm, fields, sizeof fields / sizeof *fields);
}

static void find_g1(struct vm *vm, struct vm_tables *t)
{
    int32_t mask;
    struct vm_field fields[] = {
        { "G1CollectedHeap", "_hrm", &t->g1_manager, false },
        { "HeapRegionManager", "_regions", &t->g1_regions, false },
        { "G1HeapRegionManager", "_regions", &t->g1_regions, false }, /* JDK 22 and later */
        { "G1HeapRegionTable", "_base", &t->g1_base, false },
        { "G1HeapRegionTable", "_length", &t->g1_length, false },
        { "HeapRegion", "_bottom", &t->g1_bottom, false },
        { "G1HeapRegion", "_bottom", &t->g1_bottom, false },
        { "HeapRegion", "_end", &t->g1_end, false },
        { "G1HeapRegion", "_end", &t->g1_end, false },
        { "HeapRegion", "_top", &t->g1_top, false },
        { "G1HeapRegion", "_top", &t->g1_top, false },
        { "HeapRegion", "_type", &t->g1_type, false },
        { "G1HeapRegion", "_type", &t->g1_type, false },
        { "HeapRegionType", "_tag", &t->g1_tag, false },
        { "G1HeapRegionType", "_tag", &t->g1_tag, false },
    };
    vm_fields_find(vm, fields, sizeof fields / sizeof *fields);
    bool has_mask = vm_constant(vm, "HeapRegionType::HumongousMask", &mask) ||
                    vm_constant(vm, "G1HeapRegionType::HumongousMask", &mask);
    t->humongous_mask = has_mask ? (uint32_t)mask : VM_NONE;
}

static void find_classes(struct vm *vm, struct vm_tables *t)
{
    struct vm_field fields[] = {
        { "Klass", "_layout_helper", &t->layout_helper, false },
        { "Klass", "_next_link", &t->next_klass, false },
        { "InstanceKlass", "_methods", &t->methods, false },
        { "java_lang_Class", "_oop_size_offset", &t->mirror_bytes, true },
        { "java_lang_Class", "_klass_offset", &t->mirror_klass, true },
        { "Method", "_method_counters", &t->counters, false },
        { "Method", "_method_data", &t->method_data, false },
        { "ClassLoaderDataGraph", "_head", &t->loaders, true },
        { "ClassLoaderData", "_next", &t->next_loader, false },
        { "ClassLoaderData", "_klasses", &t->loader_klasses, false },
    };
    vm_fields_find(vm, fields, sizeof fields / sizeof *fields);
    class_layout_find(vm, &t->classes);
}

static void find_rest(struct vm *vm, struct vm_tables *t)
{
    struct vm_field fields[] = {
        { "Universe", "_collectedHeap", &t->heap, true },
        { "CollectedHeap", "_reserved", &t->heap_reserved, false },
        { "CollectedHeap", "_total_collections", &t->collections, false },
        { "MemRegion", "_start", &t->region_start, false },
        { "MemRegion", "_word_size", &t->region_words, false },
        { "ThreadsSMRSupport", "_java_thread_list", &t->threads, true },
        { "ThreadsList", "_length", &t->n_threads, false },
        { "ThreadsList", "_threads", &t->threads_data, false },
        { "Thread", "_tlab", &t->tlab, false },
        { "ThreadLocalAllocBuffer", "_start", &t->tlab_start, false },
        { "ThreadLocalAllocBuffer", "_top", &t->tlab_top, false },
        { "ThreadLocalAllocBuffer", "_end", &t->tlab_end, false },
        { "ThreadLocalAllocBuffer", "_desired_size", &t->tlab_desired, false },
        { "ThreadLocalAllocBuffer", "_reserve_for_allocation_prefetch", &t->tlab_reserve, true },
        { "BarrierSet", "_barrier_set", &t->barriers, true },
        { "CardTableBarrierSet", "_card_table", &t->card_table, false },
        { "CardTable", "_byte_map", &t->cards, false },
        { "CardTable", "_byte_map_size", &t->cards_bytes, false },
        { "MetaspaceObj", "_shared_metaspace_base", &t->archive_base, true },
        { "MetaspaceObj", "_shared_metaspace_top", &t->archive_top, true },
    };
    vm_fields_find(vm, fields, sizeof fields / sizeof *fields);
}

static int read_flags(struct vm *vm, struct vm_tables *t, const char **why)
{
    static const char *const names[] = { "UseSerialGC", "UseParallelGC", "UseG1GC", "UseCompressedClassPointers",
                                         "UseCompactObjectHeaders" };
    bool are_set[5];
    *why = "the JVM's flags cannot be read";
    if (!vm_flags_are_set(vm, names, 5, are_set))
        return -1;
    t->collector = are_set[0] ? VM_SERIAL : are_set[1] ? VM_PARALLEL : are_set[2] ? VM_G1 : VM_OTHER_COLLECTOR;
    t->has_narrow_klass = are_set[3];
    *why = "its collector is not Serial, Parallel or G1";
    if (t->collector == VM_OTHER_COLLECTOR)
        return -1;
    *why = "it runs with -XX:+UseCompactObjectHeaders";
    return are_set[4] ? -1 : 0;
}

/* Without one of these nothing in the heap can be resolved; what else is missing is only not told. */
static bool has_all(const struct vm_tables *t)
{
    const struct class_layout *c = &t->classes;
    const uint64_t needed[] = { t->heap,         t->heap_reserved, t->region_start,  t->region_words,  t->threads,
                                t->n_threads,    t->threads_data,  t->tlab,          t->tlab_start,    t->tlab_top,
                                t->tlab_end,     c->narrow_base,   c->narrow_shift,  t->layout_helper, c->name,
                                t->mirror_bytes, t->mirror_klass,  c->symbol_length, c->symbol_body };
    const uint64_t generations[] = { t->young,   t->old,          t->eden,      t->from,     t->to,
                                     t->tenured, t->space_bottom, t->space_end, t->space_top };
    const uint64_t g1[] = { t->g1_manager, t->g1_regions, t->g1_base, t->g1_length, t->g1_bottom,
                            t->g1_end,     t->g1_top,     t->g1_type, t->g1_tag,    t->humongous_mask };
    const uint64_t *of_heap = t->collector == VM_G1 ? g1 : generations;
    size_t n_of_heap = t->collector == VM_G1 ? sizeof g1 / sizeof *g1 : sizeof generations / sizeof *generations;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (needed[i] == VM_NONE)
            return false;
    for (size_t i = 0; i < n_of_heap; i++)
        if (of_heap[i] == VM_NONE)
            return false;
    return true;
}

int vm_tables_read(struct vm *vm, struct vm_tables *tables, const char **why)
{
    memset(tables, 0, sizeof *tables);
    if (read_flags(vm, tables, why) < 0)
        return -1;
    if (tables->collector == VM_SERIAL)
        find_serial(vm, tables);
    else if (tables->collector == VM_PARALLEL)
        find_parallel(vm, tables);
    else
        find_g1(vm, tables);
    find_classes(vm, tables);
    find_rest(vm, tables);
    *why = "its tables lack what the heap is found by";
    return has_all(tables) ? 0 : -1;
}
