#include "core/emu/plugin/sim_misses.h"

#include "core/base/ticks.h"
#include "core/emu/plugin/vm_memory.h"
#include "core/hotspot/nmethod.h"
#include "core/hotspot/vm_methods.h"

#include <sys/mman.h>

/* ---- bytecodes ---- */

#define KNOWN       (1u << 17)
#define KNOWN_BYTES (KNOWN * sizeof(struct sim_bytecode))
#define TRIES       64

static void sim_bytecodes_open(struct sim_bytecodes *bytecodes, struct owners *owners)
{
    *bytecodes = (struct sim_bytecodes){ .owners = owners, .known = { sim_map(KNOWN_BYTES), KNOWN - 1, TRIES } };
}

/* Code may have changed from now on. */
static void sim_bytecodes_look(struct sim_bytecodes *bytecodes)
{
    bytecodes->look++;
}

/* The bytecode of an address in the code that was found. */
static uint32_t number_of(struct sim_bytecodes *b, uint64_t address)
{
    struct vm_method_parts parts;
    uint64_t key;
    if (!nmethod_copy(vm_here(), &b->code) || !scopes_find(&b->walk, &b->code.scopes, address - b->code.start) ||
        b->walk.n_frames == 0 || b->walk.frames[0].index < 0)
        return OWNERS_NONE;
    vm_methods_keys(vm_here(), &b->walk.frames[0].method, 1, &key, &parts);
    return key == 0 ? OWNERS_NONE : owners_bytecode(b->owners, &parts, (uint32_t)b->walk.frames[0].index);
}

static void learn(struct sim_bytecodes *b, struct sim_bytecode *known, uint64_t address)
{
    bool is_code = nmethod_find(vm_here(), &b->code, address);
    *known = (struct sim_bytecode){ .address = address,
                                    .header = is_code ? b->code.address : 0,
                                    .compilation = is_code ? b->code.number : 0,
                                    .number = is_code ? number_of(b, address) : OWNERS_NONE,
                                    .look = b->look };
}

static bool is_same(struct sim_bytecodes *b, const struct sim_bytecode *known)
{
    return known->header != 0 && nmethod_find_at(vm_here(), &b->code, known->header) &&
           b->code.number == known->compilation;
}

/* The number of an address' bytecode (owners_bytecode), or OWNERS_NONE: none is known. */
static uint32_t sim_bytecodes_find(struct sim_bytecodes *b, uint64_t address)
{
    struct sim_bytecode *known = vm_table_find(&b->known, sizeof *known, vm_hash(address), &address, sizeof address);
    if (known == NULL) { /* it is full there */
        /* cppcheck-suppress invalidFunctionArg */
        madvise(b->known.elements, KNOWN_BYTES, MADV_DONTNEED);
        known = vm_table_find(&b->known, sizeof *known, vm_hash(address), &address, sizeof address);
    }
    if (known->address != address || (known->look != b->look && !is_same(b, known)))
        learn(b, known, address);
    known->look = b->look;
    return known->number;
}

/* ---- sums ---- */

#define PERIOD_NS UINT64_C(200000000) /* what was found is written so often */
#define SUMS      (1u << 17)
#define SUMS_FULL (SUMS / 4 * 3)

static void sim_sums_open(struct sim_sums *sums, struct owners *owners, struct sim_slots *slots)
{
    *sums = (struct sim_sums){ .owners = owners, .slots = slots, .written_ns = sim_clock_now_ns() };
    sums->sums = (struct vm_table){ sim_map(SUMS * sizeof(struct sim_sum)), SUMS - 1, SUMS };
}

static void tell_totals(struct sim_sums *sums, uint64_t ticks)
{
    uint64_t now[SIM_N_COUNTS], since[SIM_N_COUNTS];
    uint32_t n = atomic_load(&sums->slots->n_used);
    memcpy(now, sums->retired, sizeof now);
    for (uint32_t i = 0; i < n && i < sums->slots->n_slots; i++)
        for (int k = 0; k < SIM_N_COUNTS; k++)
            now[k] += sums->slots->slots[i].counts[k];
    for (int k = 0; k < SIM_N_COUNTS; k++)
        since[k] = now[k] > sums->told[k] ? now[k] - sums->told[k] : 0;
    memcpy(sums->told, now, sizeof now);
    const struct miss_entry entry = {
        .kind = MISS_TOTALS,
        .ticks = ticks,
        .n_accesses = since[SIM_L1D_LOADS] + since[SIM_L1D_STORES],
        .counts = { since[SIM_L1D_LOAD_MISSES] + since[SIM_L1D_STORE_MISSES],
                    since[SIM_L2_LOAD_MISSES] + since[SIM_L2_STORE_MISSES], since[SIM_DTLB_MISSES] },
        .n_looks = sums->n_looks,
        .look_ns = sums->look_ns,
    };
    sums->n_looks = sums->look_ns = 0;
    owners_log(sums->owners, &entry);
}

/* Of what follows. */
static void tell_bytecode(struct sim_sums *sums, uint32_t bytecode)
{
    const struct miss_entry entry = { .kind = MISS_AT, .number = bytecode };
    if (bytecode != sums->bytecode)
        owners_log(sums->owners, &entry);
    sums->bytecode = bytecode;
}

static void write_sum(struct sim_sums *sums, const struct sim_sum *sum, uint64_t ticks)
{
    struct miss_entry entry = { .kind = MISS_COUNTS,
                                .ticks = ticks,
                                .thread = sum->key.thread,
                                .location = sum->key.location,
                                .line = (uint32_t)sum->key.line,
                                .cell = sum->key.cell,
                                .n_kept = sum->n_kept };
    memcpy(entry.counts, sum->counts, sizeof entry.counts);
    tell_bytecode(sums, (uint32_t)sum->key.bytecode);
    if (sum->n_kept > 0)
        owners_log(sums->owners, &entry);
    entry.kind = MISS_ACCESSES;
    entry.n_accesses = sum->n_accesses;
    entry.n_kept = sum->n_drawn;
    if (sum->n_drawn > 0)
        owners_log(sums->owners, &entry);
}

void sim_sums_write(struct sim_sums *sums)
{
    const struct sim_sum *all = sums->sums.elements;
    uint64_t ticks = ticks_now();
    for (uint32_t i = 0; sums->n > 0 && i < SUMS; i++)
        if (all[i].key.thread != 0)
            write_sum(sums, &all[i], ticks);
    if (sums->n > 0)
        memset(sums->sums.elements, 0, SUMS * sizeof *all);
    sums->n = 0;
    sums->written_ns = sim_clock_now_ns();
    tell_totals(sums, ticks);
    owners_flush(sums->owners);
}

bool sim_sums_are_due(const struct sim_sums *sums)
{
    return sim_clock_now_ns() - sums->written_ns > PERIOD_NS;
}

void sim_sums_write_due(struct sim_sums *sums)
{
    if (sim_sums_are_due(sums))
        sim_sums_write(sums);
}

/* The sum of a key; what is there already may be written first. */
static struct sim_sum *sim_sums_of(struct sim_sums *sums, const struct sim_sum_key *key)
{
    if (sums->n > SUMS_FULL)
        sim_sums_write(sums);
    uint64_t hash = vm_hash(key->location + ((uint64_t)key->cell << 40) + ((uint64_t)key->thread << 20) + key->line +
                            (key->bytecode << 30));
    struct sim_sum *sum = vm_table_find(&sums->sums, sizeof *sum, hash, key, sizeof *key);
    sums->n += sum->key.thread == 0;
    sum->key = *key;
    return sum;
}

/* ---- looking up ---- */

void sim_lookup_open(struct sim_lookup *lookup, struct sim_slots *slots, int fd)
{
    *lookup = (struct sim_lookup){ .why = "the heap was not known yet" };
    owners_open(&lookup->owners, fd);
    vm_ranges_open(&lookup->ranges);
    sim_bytecodes_open(&lookup->bytecodes, &lookup->owners);
    sim_sums_open(&lookup->sums, &lookup->owners, slots);
}

/* ---- whose memory ---- */

static enum miss_space space_of(enum heap_space space)
{
    _Static_assert((int)HEAP_HUMONGOUS == (int)MISS_HUMONGOUS && (int)HEAP_SPACES == (int)MISS_SPACES, "the same");
    return (enum miss_space)space;
}

static bool is_in_heap(const struct sim_lookup *lookup, uint64_t address)
{
    return lookup->has_heap && address >= lookup->heap.base && address < lookup->heap.end;
}

/* A part of the heap of which more cannot be said. */
static uint32_t heap_cell(struct sim_lookup *lookup, enum heap_space space, const char *why)
{
    return owners_cell(&lookup->owners, owners_named(&lookup->owners, MISS_HEAP, why), space_of(space));
}

/* of_fields: of its field, else of its class.  NONE: it is not in the heap, or (*waits) it may be found later. */
static uint32_t find_in_heap(struct sim_lookup *lookup, uint64_t address, bool of_fields, bool *waits)
{
    struct heap_object object;
    if (!is_in_heap(lookup, address))
        return OWNERS_NONE;
    if (lookup->is_moving && lookup->is_full) /* neither what was there nor what will be there can be read */
        return heap_cell(lookup, heap_walk_space(&lookup->heap, address), "in a full collection: objects were moving");
    switch (heap_walk_find(&lookup->heap, address, &object)) {
    case HEAP_OBJECT:
        break;
    case HEAP_NOT_HEAP:
        return OWNERS_NONE;
    case HEAP_UNUSED:
        if (lookup->is_moving && *waits) /* objects are copied there */
            return OWNERS_NONE;
        return heap_cell(lookup, object.space, "nothing was allocated there when it was looked up");
    case HEAP_BROKEN:
        if (*waits)
            return OWNERS_NONE;
        return heap_cell(lookup, object.space, "what was there could not be read as objects");
    }
    *waits = false;
    enum miss_space space = space_of(object.space);
    uint32_t owner = owners_of(&lookup->owners, &lookup->classes, &object, address);
    uint32_t cell = of_fields ? owners_field(&lookup->owners, owner, space, &lookup->classes, &object, address)
                              : owners_cell(&lookup->owners, owner, space);
    return cell != OWNERS_NONE ? cell : heap_cell(lookup, object.space, "its class has no name");
}

static uint32_t find_elsewhere(struct sim_lookup *lookup, uint64_t address)
{
    const char *path = "";
    if (!lookup->has_maps)
        vm_ranges_look(&lookup->ranges);
    lookup->has_maps = true;
    enum miss_owner kind = vm_ranges_find(&lookup->ranges, &lookup->metadata, address, &path);
    if (kind == MISS_OTHER) { /* maybe a class that is new */
        vm_metadata_look(&lookup->metadata);
        kind = vm_ranges_find(&lookup->ranges, &lookup->metadata, address, &path);
    }
    if (kind == MISS_OTHER && !lookup->has_heap)
        path = lookup->why;
    return owners_cell(&lookup->owners, owners_named(&lookup->owners, kind, path), MISS_NO_SPACE);
}

/* ---- which code ---- */

/* The method, line and number of a bytecode; or only that it was the interpreter.  Returns whether it is known. */
static bool find_bytecode(struct sim_lookup *lookup, const struct sim_miss *miss, struct sim_sum_key *key)
{
    const struct vm_bytecodes *code = vm_metadata_code(&lookup->metadata, miss->where);
    uint32_t number = code == NULL ? OWNERS_NONE : owners_method(&lookup->owners, code);
    key->location = number == OWNERS_NONE ? lookup->interpreter : number;
    if (number == OWNERS_NONE)
        return false;
    uint32_t line = vm_method_line(vm_here(), &code->parts, miss->where);
    uint32_t index = (uint32_t)(miss->where - code->parts.code);
    key->line = 1 + (line != 0 ? line : LOCATION_BYTECODE + index);
    uint32_t bytecode =
        owners_bytecode(&lookup->owners, &code->parts, vm_instruction_last(vm_here(), &code->parts, index));
    key->bytecode = bytecode == OWNERS_NONE ? 0 : bytecode + 1;
    return true;
}

static void find_compiled(struct sim_lookup *lookup, const struct sim_miss *miss, struct sim_sum_key *key)
{
    uint32_t bytecode = miss->where >= lookup->code && miss->where < lookup->code_end
                            ? sim_bytecodes_find(&lookup->bytecodes, miss->where)
                            : OWNERS_NONE;
    key->bytecode = bytecode == OWNERS_NONE ? 0 : bytecode + 1;
}

/* ---- both ---- */

bool sim_lookup_miss(struct sim_lookup *lookup, const struct sim_miss *miss, uint32_t thread, bool is_last)
{
    struct sim_sum_key key = { .location = miss->where, .thread = thread };
    bool waits = !is_last;
    if (miss->is_interpreted && !find_bytecode(lookup, miss, &key) && !is_last)
        return false;
    if (!miss->is_interpreted)
        find_compiled(lookup, miss, &key);
    key.cell = find_in_heap(lookup, miss->address, true, &waits);
    if (key.cell == OWNERS_NONE)
        key.cell = waits && is_in_heap(lookup, miss->address) ? OWNERS_NONE : find_elsewhere(lookup, miss->address);
    if (key.cell == OWNERS_NONE)
        return is_last; /* or there are more than four million: not told */
    struct sim_sum *sum = sim_sums_of(&lookup->sums, &key);
    sum->n_kept += !miss->is_access;
    sum->n_drawn += miss->is_access;
    sum->n_accesses += miss->is_access ? (uint64_t)SIM_ACCESSES_DRAWN << miss->weight : 0;
    for (int i = 0; i < MISS_N_COUNTS; i++)
        sum->counts[i] += (uint64_t)miss->counts[i] << miss->weight;
    return true;
}

uint32_t sim_lookup_memory(struct sim_lookup *lookup, uint64_t address)
{
    bool waits = false;
    uint32_t cell = find_in_heap(lookup, address, false, &waits);
    return cell != OWNERS_NONE ? cell : find_elsewhere(lookup, address);
}

void sim_lookup_begin(struct sim_lookup *lookup)
{
    vm_memory_forget();
    sim_bytecodes_look(&lookup->bytecodes);
    lookup->has_maps = false;
    if (lookup->has_heap && !lookup->is_moving)
        heap_walk_look(&lookup->heap);
}

void sim_lookup_move(struct sim_lookup *lookup, bool is_full)
{
    lookup->full_at = is_full || !lookup->has_heap ? 0 : heap_walk_full_count(&lookup->heap);
    lookup->n_full = lookup->full_at == 0 ? 0 : vm_known_u32(lookup->full_at);
    lookup->is_full = lookup->full_at == 0;
    lookup->is_moving = true;
}

void sim_lookup_moved(struct sim_lookup *lookup)
{
    lookup->is_moving = false;
    if (!lookup->has_heap)
        return;
    heap_walk_forget(&lookup->heap);
    vm_classes_forget(&lookup->classes);
}

/* ---- what is told ---- */

void sim_lookup_tables(struct sim_lookup *lookup, const uint64_t *symbols)
{
    if (lookup->has_heap)
        return;
    vm_memory_use(symbols);
    if (vm_tables_read(vm_here(), &lookup->tables, &lookup->why) < 0)
        return;
    lookup->owners.tables = lookup->ranges.tables = &lookup->tables;
    vm_classes_open(&lookup->classes, &lookup->tables);
    lookup->has_heap = heap_walk_open(&lookup->heap, &lookup->tables, &lookup->classes) == 0;
    if (lookup->has_heap)
        vm_classes_forget(&lookup->classes);
    vm_metadata_open(&lookup->metadata, &lookup->tables);
    vm_metadata_look(&lookup->metadata);
    code_heaps_interpreter(vm_here(), &lookup->interpreter, &lookup->interpreter_end);
    code_heaps_range(vm_here(), &lookup->code, &lookup->code_end);
}
