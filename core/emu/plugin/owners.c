#include "core/emu/plugin/sim_misses.h"

#include "core/hotspot/vm_methods.h"

#define NAMES     (1u << 21)
#define LOG_BYTES ((size_t)256 * 1024)
#define LOG_MAX   (UINT64_C(4) << 30)

/* What a number is of: enough to tell it from all others. */
struct owners_name {
    uint64_t what, first, second; /* what: 0 for an empty place */
    uint32_t number;
};

enum what { OWNER = 1, CLASS, STATICS, CELL, METHOD, BYTECODE };

void owners_open(struct owners *owners, int fd)
{
    size_t n_names = NAMES * sizeof(struct owners_name);
    *owners = (struct owners){ .log.fd = fd };
    char *at = sim_map(n_names + LOG_BYTES);
    owners->names = (struct vm_table){ at, NAMES - 1, 128 };
    owners->log.bytes = (void *)(at + n_names);
}

/* ---- the log ---- */

void owners_flush(struct owners *owners)
{
    struct owners_log *log = &owners->log;
    for (size_t at = 0; at < log->n && !log->is_full;) {
        ssize_t n = write(log->fd, log->bytes + at, log->n - at);
        log->is_full = n <= 0 || log->n_written > LOG_MAX;
        at += n > 0 ? (size_t)n : 0;
        log->n_written += n > 0 ? (uint64_t)n : 0;
    }
    log->n = 0;
}

/* Entries are whole in what is written at once, so that a reader never sees half of one at the end for long. */
void owners_log(struct owners *owners, const struct miss_entry *entry)
{
    struct owners_log *log = &owners->log;
    if (LOG_BYTES - log->n < LOCATION_ENTRY_BYTES + 4)
        owners_flush(owners);
    struct sink s = sink_into(log->bytes + log->n + 4, LOG_BYTES - log->n - 4);
    misses_put(&s, entry);
    size_t n = (size_t)(s.at - (log->bytes + log->n + 4));
    struct sink length = sink_into(log->bytes + log->n, 4);
    sink_u32le(&length, (uint32_t)n);
    log->n += s.full ? 0 : n + 4;
}

/* ---- numbers ---- */

/* The place of a name; with number NONE if it is new; NULL: there is no room. */
static struct owners_name *find_name(struct owners *owners, enum what what, uint64_t first, uint64_t second)
{
    const uint64_t key[3] = { what, first, second };
    uint64_t hash = vm_hash(first ^ second << 21 ^ second >> 40) + what;
    struct owners_name *name = vm_table_find(&owners->names, sizeof *name, hash, key, sizeof key);
    if (name != NULL && name->what == 0)
        *name = (struct owners_name){ what, first, second, OWNERS_NONE };
    return name;
}

static uint32_t describe(struct owners *owners, struct owners_name *name, enum miss_owner kind, const char *text)
{
    if (owners->n_owners + 1 >= MISSES_NUMBERS_MAX)
        return OWNERS_NONE;
    name->number = owners->n_owners++;
    const struct miss_entry entry = {
        .kind = MISS_OWNER, .number = name->number, .owner_kind = kind, .name = wire_text(text)
    };
    owners_log(owners, &entry);
    return name->number;
}

static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text != '\0'; text++)
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return hash;
}

uint32_t owners_named(struct owners *owners, enum miss_owner kind, const char *text)
{
    struct owners_name *name = find_name(owners, OWNER, kind, hash_of(text));
    if (name == NULL || name->number != OWNERS_NONE)
        return name == NULL ? OWNERS_NONE : name->number;
    return describe(owners, name, kind, text);
}

static uint32_t owners_class(struct owners *owners, uint64_t klass, uint64_t symbol, bool is_static)
{
    char text[VM_TEXT_BYTES] = "";
    struct owners_name *name = find_name(owners, is_static ? STATICS : CLASS, klass, symbol);
    if (name == NULL || name->number != OWNERS_NONE)
        return name == NULL ? OWNERS_NONE : name->number;
    if (owners->tables == NULL || !vm_class_name(owners->tables, klass, text, sizeof text))
        return OWNERS_NONE;
    return describe(owners, name, is_static ? MISS_STATICS : MISS_OBJECTS, text);
}

static uint32_t describe_cell(struct owners *owners, struct owners_name *name, uint32_t owner, enum miss_space space,
                              uint32_t offset, const char *text)
{
    if (owners->n_cells + 1 >= MISSES_NUMBERS_MAX)
        return OWNERS_NONE;
    name->number = owners->n_cells++;
    const struct miss_entry entry = { .kind = MISS_CELL,
                                      .number = name->number,
                                      .owner = owner,
                                      .space = space,
                                      .offset = offset,
                                      .name = wire_text(text) };
    owners_log(owners, &entry);
    return name->number;
}

uint32_t owners_cell(struct owners *owners, uint32_t owner, enum miss_space space)
{
    struct owners_name *name = owner == OWNERS_NONE ? NULL : find_name(owners, CELL, (uint64_t)owner << 8 | space, 0);
    if (name == NULL || name->number != OWNERS_NONE)
        return name == NULL ? OWNERS_NONE : name->number;
    return describe_cell(owners, name, owner, space, 0, "");
}

/* ---- objects ---- */

static bool is_in_statics(const struct vm_classes *classes, const struct heap_object *object, uint64_t address)
{
    return object->class->shape == VM_MIRROR && address - object->start >= object->class->n_bytes &&
           vm_mirrored(classes, object->start) != 0;
}

uint32_t owners_of(struct owners *owners, const struct vm_classes *classes, const struct heap_object *object,
                   uint64_t address)
{
    if (!is_in_statics(classes, object, address))
        return owners_class(owners, object->class->klass, object->class->name, false);
    uint64_t klass = vm_mirrored(classes, object->start);
    return owners_class(owners, klass, vm_pointer(klass + classes->tables->classes.name), true);
}

/*
 * Elements of arrays are told by ranges of their index, each twice as long as the one before: 0, 1, 2 and 3, 4 to 7,
 * ... Each element would be too many cells; which half, quarter, ... of long arrays misses is seen nonetheless.
 */
static unsigned range_of(uint64_t index)
{
    return index == 0 ? 0 : 64 - (unsigned)__builtin_clzll(index);
}

static uint64_t range_first(unsigned range)
{
    return range == 0 ? 0 : UINT64_C(1) << (range - 1);
}

static uint32_t range_cell(struct owners *owners, struct owners_name *name, uint32_t owner, enum miss_space space,
                           const struct vm_class *class, unsigned range)
{
    char text[VM_TEXT_BYTES];
    uint64_t first = range_first(range), last = range_first(range + 1) - 1;
    uint64_t offset = class->n_bytes + (first << class->log2);
    snprintf(text, sizeof text, first == last ? "[%" PRIu64 "]" : "[%" PRIu64 "..%" PRIu64 "]", first, last);
    return describe_cell(owners, name, owner, space, offset < UINT32_MAX ? (uint32_t)offset : UINT32_MAX - 1, text);
}

static uint32_t field_cell(struct owners *owners, struct owners_name *name, uint32_t owner, enum miss_space space,
                           uint64_t klass, uint32_t offset, bool is_static)
{
    char text[VM_TEXT_BYTES] = "header";
    if (offset != 0) {
        text[0] = '\0';
        vm_field_name(owners->tables, klass, offset, is_static, text, sizeof text);
    }
    return describe_cell(owners, name, owner, space, offset, text);
}

uint32_t owners_field(struct owners *owners, uint32_t owner, enum miss_space space, const struct vm_classes *classes,
                      const struct heap_object *object, uint64_t address)
{
    const struct vm_class *class = object->class;
    uint64_t offset = address - object->start, header = classes->tables->has_narrow_klass ? 12 : 16;
    bool is_array = class->shape == VM_ARRAY, is_static = is_in_statics(classes, object, address);
    unsigned range = 0;
    if (is_array && offset >= class->n_bytes)
        range = range_of((offset - class->n_bytes) >> class->log2);
    else if (is_array || offset < header)
        offset = 0;
    uint64_t which = offset == 0 || !is_array ? offset : range + 1;
    struct owners_name *name =
        owner == OWNERS_NONE ? NULL : find_name(owners, CELL, (uint64_t)owner << 8 | space, which + 1);
    if (name == NULL || name->number != OWNERS_NONE)
        return name == NULL ? OWNERS_NONE : name->number;
    if (is_array && offset != 0)
        return range_cell(owners, name, owner, space, class, range);
    uint64_t klass = is_static ? vm_mirrored(classes, object->start) : class->klass;
    return field_cell(owners, name, owner, space, klass, (uint32_t)offset, is_static);
}

/* ---- methods ---- */

/* Its class may have been unloaded meanwhile. */
static bool are_texts(const struct wire_text *texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (texts[i].n > 0 && memchr(texts[i].at, '\0', texts[i].n) != NULL)
            return false;
    return true;
}

uint32_t owners_method(struct owners *owners, const struct vm_bytecodes *code)
{
    static struct vm_method method; /* too large for a thread of QEMU's */
    struct owners_name *name = find_name(owners, METHOD, code->parts.constant, code->klass);
    if (name == NULL || name->number != OWNERS_NONE)
        return name == NULL ? OWNERS_NONE : name->number;
    if (owners->n_methods + 1 >= MISSES_NUMBERS_MAX / 2 ||
        !vm_method_read_parts(vm_here(), &method, code->method, &code->parts, NULL))
        return OWNERS_NONE;
    const struct code_entry its = vm_method_entry(&method, owners->n_methods);
    const struct wire_text texts[] = { its.class_name, its.name, its.descriptor, its.source };
    if (!are_texts(texts, sizeof texts / sizeof *texts))
        return OWNERS_NONE;
    name->number = owners->n_methods++;
    const struct miss_entry entry = { .kind = MISS_METHOD,
                                      .number = name->number,
                                      .class_name = its.class_name,
                                      .name = its.name,
                                      .descriptor = its.descriptor,
                                      .source = its.source };
    owners_log(owners, &entry);
    return name->number;
}

/* ---- bytecodes ---- */

uint32_t owners_bytecode(struct owners *owners, const struct vm_method_parts *method, uint32_t index)
{
    static struct vm_instruction its; /* too large for a thread of QEMU's */
    struct owners_name *name = find_name(owners, BYTECODE, method->constant, method->pool << 16 | (index & 0xffff));
    if (name == NULL || name->number != OWNERS_NONE)
        return name == NULL ? OWNERS_NONE : name->number;
    if (owners->n_bytecodes + 1 >= MISSES_NUMBERS_MAX || !vm_instruction_read(vm_here(), &its, method, index))
        return OWNERS_NONE;
    name->number = owners->n_bytecodes++;
    const struct miss_entry entry = { .kind = MISS_BYTECODE,
                                      .number = name->number,
                                      .index = index,
                                      .opcode = its.opcode,
                                      .class_name = { its.class_name, its.n_class_name },
                                      .name = { its.name, its.n_name },
                                      .descriptor = { its.descriptor, its.n_descriptor } };
    owners_log(owners, &entry);
    return name->number;
}
