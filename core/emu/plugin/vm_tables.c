#include "core/emu/plugin/vm_tables.h"

#include "core/emu/plugin/vm_memory.h"

#define ENTRIES_MAX 20000
#define FLAGS_MAX   5000

struct wanted_field {
    const char *type, *field;
    uint64_t *value;
    bool is_static; /* its address is wanted */
};

/* ---- the tables ---- */

struct vm_table {
    uint64_t start, stride, type, field, offset, address;
};

static uint64_t variable(const uint64_t *symbols, enum sim_symbol symbol)
{
    return symbols[symbol] == 0 ? 0 : vm_pointer(symbols[symbol]);
}

static bool is_text(uint64_t pointer, const char *text)
{
    char found[96];
    size_t n = strlen(text) + 1;
    return pointer != 0 && n <= sizeof found && vm_get(pointer, found, n) && memcmp(found, text, n) == 0;
}

static void find_fields(const uint64_t *symbols, const struct wanted_field *wanted, size_t n)
{
    const struct vm_table table = { variable(symbols, SIM_STRUCTS),       variable(symbols, SIM_STRUCT_STRIDE),
                                    variable(symbols, SIM_STRUCT_TYPE),   variable(symbols, SIM_STRUCT_FIELD),
                                    variable(symbols, SIM_STRUCT_OFFSET), variable(symbols, SIM_STRUCT_ADDRESS) };
    for (size_t i = 0; i < n; i++)
        *wanted[i].value = VM_NONE;
    for (uint64_t i = 0; table.start != 0 && i < ENTRIES_MAX; i++) {
        uint64_t entry = table.start + i * table.stride, type = vm_pointer(entry + table.type);
        if (type == 0)
            return;
        for (size_t k = 0; k < n; k++)
            if (*wanted[k].value == VM_NONE && is_text(type, wanted[k].type) &&
                is_text(vm_pointer(entry + table.field), wanted[k].field))
                vm_get_u64(entry + (wanted[k].is_static ? table.address : table.offset), wanted[k].value);
    }
}

static uint64_t find_size(const uint64_t *symbols, const char *name)
{
    uint64_t start = variable(symbols, SIM_TYPES), stride = variable(symbols, SIM_TYPE_STRIDE);
    uint64_t at_name = variable(symbols, SIM_TYPE_NAME), at_size = variable(symbols, SIM_TYPE_SIZE), size = VM_NONE;
    for (uint64_t i = 0; start != 0 && i < ENTRIES_MAX; i++) {
        uint64_t entry = start + i * stride, type = vm_pointer(entry + at_name);
        if (type == 0)
            break;
        if (is_text(type, name) && vm_get_u64(entry + at_size, &size))
            break;
    }
    return size;
}

static uint64_t find_constant(const uint64_t *symbols, const char *name)
{
    uint64_t start = variable(symbols, SIM_INTS), stride = variable(symbols, SIM_INT_STRIDE);
    uint64_t at_name = variable(symbols, SIM_INT_NAME), at_value = variable(symbols, SIM_INT_VALUE);
    uint32_t value;
    for (uint64_t i = 0; start != 0 && i < ENTRIES_MAX; i++) {
        uint64_t entry = start + i * stride, text = vm_pointer(entry + at_name);
        if (text == 0)
            break;
        if (is_text(text, name) && vm_get_u32(entry + at_value, &value))
            return value;
    }
    return VM_NONE;
}

/* ---- flags ---- */

struct flags {
    uint64_t all, n, name, address, bytes;
};

static bool flag_is_on(const struct flags *flags, const char *name)
{
    uint64_t all = vm_pointer(flags->all), n = vm_pointer(flags->n);
    uint8_t value = 0;
    for (uint64_t i = 0; all != 0 && i < n && i < FLAGS_MAX; i++)
        if (is_text(vm_pointer(all + i * flags->bytes + flags->name), name))
            return vm_get(vm_pointer(all + i * flags->bytes + flags->address), &value, 1) && value != 0;
    return false;
}

static int read_flags(const uint64_t *symbols, struct vm_tables *t, const char **why)
{
    struct flags flags = { .bytes = find_size(symbols, "JVMFlag") };
    const struct wanted_field wanted[] = { { "JVMFlag", "flags", &flags.all, true },
                                           { "JVMFlag", "numFlags", &flags.n, true },
                                           { "JVMFlag", "_name", &flags.name, false },
                                           { "JVMFlag", "_addr", &flags.address, false } };
    find_fields(symbols, wanted, sizeof wanted / sizeof *wanted);
    *why = "the JVM's flags cannot be read";
    if (flags.all == VM_NONE || flags.n == VM_NONE || flags.name == VM_NONE || flags.address == VM_NONE ||
        flags.bytes == VM_NONE)
        return -1;
    t->has_narrow_klass = flag_is_on(&flags, "UseCompressedClassPointers");
    t->collector = flag_is_on(&flags, "UseSerialGC")     ? VM_SERIAL
                   : flag_is_on(&flags, "UseParallelGC") ? VM_PARALLEL
                   : flag_is_on(&flags, "UseG1GC")       ? VM_G1
                                                         : VM_OTHER_COLLECTOR;
    *why = "its collector is not Serial, Parallel or G1";
    if (t->collector == VM_OTHER_COLLECTOR)
        return -1;
    *why = "it runs with -XX:+UseCompactObjectHeaders";
    return flag_is_on(&flags, "UseCompactObjectHeaders") ? -1 : 0;
}

/* ---- all ---- */

/* A field that was called otherwise, or was elsewhere, in another JDK. */
static uint64_t either(uint64_t one, uint64_t other)
{
    return one != VM_NONE ? one : other;
}

static void find_heap(const uint64_t *symbols, struct vm_tables *t)
{
    uint64_t g1[6], serial_manager;
    const struct wanted_field wanted[] = {
        { "Universe", "_collectedHeap", &t->heap, true },
        { "CollectedHeap", "_reserved", &t->heap_reserved, false },
        { "CollectedHeap", "_total_collections", &t->collections, false },
        { "MemRegion", "_start", &t->region_start, false },
        { "MemRegion", "_word_size", &t->region_words, false },
        { "GenCollectedHeap", "_young_gen", &t->young, false }, /* JDK 17 */
        { "GenCollectedHeap", "_old_gen", &t->old, false },
        { "SerialHeap", "_young_gen", &t->serial_young, false }, /* JDK 25 */
        { "SerialHeap", "_old_gen", &t->serial_old, false },
        { "DefNewGeneration", "_eden_space", &t->eden, false },
        { "DefNewGeneration", "_from_space", &t->from, false },
        { "DefNewGeneration", "_to_space", &t->to, false },
        { "TenuredGeneration", "_the_space", &t->tenured, false },
        { "Space", "_bottom", &t->space_bottom, false },
        { "Space", "_end", &t->space_end, false },
        { "ContiguousSpace", "_bottom", &t->contiguous_bottom, false },
        { "ContiguousSpace", "_end", &t->contiguous_end, false },
        { "ContiguousSpace", "_top", &t->contiguous_top, false },
        { "MutableSpace", "_bottom", &t->mutable_bottom, false },
        { "MutableSpace", "_end", &t->mutable_end, false },
        { "MutableSpace", "_top", &t->mutable_top, false },
        { "ParallelScavengeHeap", "_young_gen", &t->parallel_young, true },
        { "ParallelScavengeHeap", "_old_gen", &t->parallel_old, true },
        { "PSYoungGen", "_eden_space", &t->ps_eden, false },
        { "PSYoungGen", "_from_space", &t->ps_from, false },
        { "PSYoungGen", "_to_space", &t->ps_to, false },
        { "PSOldGen", "_object_space", &t->ps_old, false },
        { "G1CollectedHeap", "_hrm", &t->g1_manager, false },
        { "HeapRegionManager", "_regions", &serial_manager, false },
        { "G1HeapRegionManager", "_regions", &t->g1_regions, false }, /* JDK 22 and later */
        { "G1HeapRegionTable", "_base", &t->g1_base, false },
        { "G1HeapRegionTable", "_length", &t->g1_length, false },
        { "HeapRegion", "_bottom", &g1[0], false },
        { "G1HeapRegion", "_bottom", &t->g1_bottom, false },
        { "HeapRegion", "_end", &g1[1], false },
        { "G1HeapRegion", "_end", &t->g1_end, false },
        { "HeapRegion", "_top", &g1[2], false },
        { "G1HeapRegion", "_top", &t->g1_top, false },
        { "HeapRegion", "_type", &g1[3], false },
        { "G1HeapRegion", "_type", &t->g1_type, false },
        { "HeapRegionType", "_tag", &g1[4], false },
        { "G1HeapRegionType", "_tag", &t->g1_tag, false },
    };
    find_fields(symbols, wanted, sizeof wanted / sizeof *wanted);
    t->young = either(t->young, t->serial_young);
    t->old = either(t->old, t->serial_old);
    t->contiguous_bottom = either(t->contiguous_bottom, t->space_bottom);
    t->contiguous_end = either(t->contiguous_end, t->space_end);
    t->g1_regions = either(t->g1_regions, serial_manager);
    t->g1_bottom = either(t->g1_bottom, g1[0]);
    t->g1_end = either(t->g1_end, g1[1]);
    t->g1_top = either(t->g1_top, g1[2]);
    t->g1_type = either(t->g1_type, g1[3]);
    t->g1_tag = either(t->g1_tag, g1[4]);
    t->humongous_mask = either(find_constant(symbols, "HeapRegionType::HumongousMask"),
                               find_constant(symbols, "G1HeapRegionType::HumongousMask"));
}

static void find_classes(const uint64_t *symbols, struct vm_tables *t)
{
    uint64_t base, shift;
    const struct wanted_field wanted[] = {
        { "CompressedKlassPointers", "_narrow_klass._base", &t->narrow_base, true },
        { "CompressedKlassPointers", "_narrow_klass._shift", &t->narrow_shift, true },
        { "CompressedKlassPointers", "_base", &base, true },
        { "CompressedKlassPointers", "_shift", &shift, true },
        { "Klass", "_layout_helper", &t->layout_helper, false },
        { "Klass", "_name", &t->klass_name, false },
        { "Klass", "_super", &t->klass_super, false },
        { "Klass", "_next_link", &t->next_klass, false },
        { "InstanceKlass", "_constants", &t->constants, false },
        { "InstanceKlass", "_methods", &t->methods, false },
        { "InstanceKlass", "_fields", &t->fields, false }, /* JDK 17 */
        { "InstanceKlass", "_java_fields_count", &t->n_java_fields, false },
        { "InstanceKlass", "_fieldinfo_stream", &t->field_stream, false }, /* JDK 21 and later */
        { "java_lang_Class", "_oop_size_offset", &t->mirror_bytes, true },
        { "java_lang_Class", "_klass_offset", &t->mirror_klass, true },
        { "Symbol", "_length", &t->symbol_length, false },
        { "Symbol", "_body[0]", &t->symbol_body, false },
        { "ConstantPool", "_pool_holder", &t->pool_holder, false },
        { "ConstantPool", "_source_file_name_index", &t->source_index, false },
        { "Method", "_constMethod", &t->const_method, false },
        { "Method", "_method_counters", &t->counters, false },
        { "Method", "_method_data", &t->method_data, false },
        { "ConstMethod", "_constants", &t->const_constants, false },
        { "ConstMethod", "_code_size", &t->code_size, false },
        { "ConstMethod", "_name_index", &t->name_index, false },
        { "ConstMethod", "_signature_index", &t->signature_index, false },
        { "ConstMethod", "_flags", &t->const_flags, false },
        { "ConstMethod", "_flags._flags", &t->wide_flags, false },
        { "ClassLoaderDataGraph", "_head", &t->loaders, true },
        { "ClassLoaderData", "_next", &t->next_loader, false },
        { "ClassLoaderData", "_klasses", &t->loader_klasses, false },
    };
    find_fields(symbols, wanted, sizeof wanted / sizeof *wanted);
    t->narrow_base = either(t->narrow_base, base);
    t->narrow_shift = either(t->narrow_shift, shift);
    t->pool_bytes = find_size(symbols, "ConstantPool");
    t->const_bytes = find_size(symbols, "ConstMethod");
}

static void find_rest(const uint64_t *symbols, struct vm_tables *t)
{
    const struct wanted_field wanted[] = {
        { "ThreadsSMRSupport", "_java_thread_list", &t->threads, true },
        { "ThreadsList", "_length", &t->n_threads, false },
        { "ThreadsList", "_threads", &t->threads_data, false },
        { "Thread", "_tlab", &t->tlab, false },
        { "ThreadLocalAllocBuffer", "_start", &t->tlab_start, false },
        { "ThreadLocalAllocBuffer", "_top", &t->tlab_top, false },
        { "ThreadLocalAllocBuffer", "_end", &t->tlab_end, false },
        { "ThreadLocalAllocBuffer", "_desired_size", &t->tlab_desired, false },
        { "ThreadLocalAllocBuffer", "_reserve_for_allocation_prefetch", &t->tlab_reserve, true },
        { "JavaThread", "_stack_base", &t->stack_base, false },
        { "JavaThread", "_stack_size", &t->stack_size, false },
        { "CodeCache", "_low_bound", &t->code_low, true },
        { "CodeCache", "_high_bound", &t->code_high, true },
        { "AbstractInterpreter", "_code", &t->interpreter, true },
        { "StubQueue", "_stub_buffer", &t->stub_buffer, false },
        { "StubQueue", "_buffer_limit", &t->stub_limit, false },
        { "BarrierSet", "_barrier_set", &t->barriers, true },
        { "CardTableBarrierSet", "_card_table", &t->card_table, false },
        { "CardTable", "_byte_map", &t->cards, false },
        { "CardTable", "_byte_map_size", &t->cards_bytes, false },
        { "MetaspaceObj", "_shared_metaspace_base", &t->archive_base, true },
        { "MetaspaceObj", "_shared_metaspace_top", &t->archive_top, true },
    };
    find_fields(symbols, wanted, sizeof wanted / sizeof *wanted);
}

/* Without one of these nothing in the heap can be resolved; what else is missing is only not told. */
static bool has_all(const struct vm_tables *t)
{
    const uint64_t needed[] = { t->heap,         t->heap_reserved, t->region_start,  t->region_words,  t->threads,
                                t->n_threads,    t->threads_data,  t->tlab,          t->tlab_start,    t->tlab_top,
                                t->tlab_end,     t->narrow_base,   t->narrow_shift,  t->layout_helper, t->klass_name,
                                t->mirror_bytes, t->mirror_klass,  t->symbol_length, t->symbol_body };
    const uint64_t serial[] = {
        t->young,          t->old,           t->eden, t->from, t->to, t->tenured, t->contiguous_bottom,
        t->contiguous_end, t->contiguous_top
    };
    const uint64_t parallel[] = { t->parallel_young, t->parallel_old, t->ps_eden,     t->ps_from,       t->ps_to,
                                  t->ps_old,         t->mutable_end,  t->mutable_top, t->mutable_bottom };
    const uint64_t g1[] = { t->g1_manager, t->g1_regions, t->g1_base, t->g1_length, t->g1_bottom,
                            t->g1_end,     t->g1_top,     t->g1_type, t->g1_tag,    t->humongous_mask };
    _Static_assert(sizeof serial == sizeof parallel, "one length");
    const uint64_t *of_heap = t->collector == VM_SERIAL ? serial : t->collector == VM_PARALLEL ? parallel : g1;
    size_t n_of_heap = t->collector == VM_G1 ? sizeof g1 / sizeof *g1 : sizeof serial / sizeof *serial;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (needed[i] == VM_NONE)
            return false;
    for (size_t i = 0; i < n_of_heap; i++)
        if (of_heap[i] == VM_NONE)
            return false;
    return true;
}

int vm_tables_read(const uint64_t *symbols, struct vm_tables *tables, const char **why)
{
    memset(tables, 0, sizeof *tables);
    if (read_flags(symbols, tables, why) < 0)
        return -1;
    find_heap(symbols, tables);
    find_classes(symbols, tables);
    find_rest(symbols, tables);
    *why = "its tables lack what the heap is found by";
    return has_all(tables) ? 0 : -1;
}
