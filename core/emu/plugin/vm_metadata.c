#include "core/emu/plugin/vm_memory.h"

#include "core/emu/model/sim_machine.h"

#define BLOCK_BITS   22
#define ADDRESS_BITS 48
#define BLOCKS       ((size_t)1 << (ADDRESS_BITS - BLOCK_BITS))
#define CODES_MAX    (1u << 20)
#define LOADERS_MAX  100000
#define CLASSES_MAX  1000000
#define METHODS_MAX  65535u
#define AT_ONCE      64u
#define SHARE        8 /* so many times as long as it took, all classes are not gone through again */

void vm_metadata_open(struct vm_metadata *metadata, const struct vm_tables *tables)
{
    size_t n_blocks = BLOCKS / 8, n_codes = CODES_MAX * sizeof *metadata->codes;
    char *at = sim_map(n_blocks + n_codes);
    *metadata = (struct vm_metadata){ .tables = tables, .blocks = (void *)at, .codes = (void *)(at + n_blocks) };
}

/* ---- blocks ---- */

static void mark(struct vm_metadata *metadata, uint64_t address)
{
    uint64_t block = address >> BLOCK_BITS;
    if (address != 0 && block < BLOCKS)
        metadata->blocks[block / 64] |= UINT64_C(1) << block % 64;
}

bool vm_metadata_has(const struct vm_metadata *metadata, uint64_t address)
{
    uint64_t block = address >> BLOCK_BITS;
    return metadata->blocks != NULL && block < BLOCKS && (metadata->blocks[block / 64] >> block % 64 & 1) != 0;
}

/* ---- going through ---- */

static void look_at_method(struct vm_metadata *metadata, const struct vm_bytecodes *code)
{
    const struct vm_tables *t = metadata->tables;
    mark(metadata, code->method);
    mark(metadata, code->parts.constant);
    if (t->counters != VM_NONE)
        mark(metadata, vm_pointer(code->method + t->counters));
    if (t->method_data != VM_NONE)
        mark(metadata, vm_pointer(code->method + t->method_data));
    if (metadata->n_codes < CODES_MAX)
        metadata->codes[metadata->n_codes++] = *code;
}

/* n methods, at most AT_ONCE. */
static void look_at_methods(struct vm_metadata *metadata, uint64_t klass, const uint64_t *methods, size_t n)
{
    uint64_t keys[AT_ONCE];
    struct vm_method_parts parts[AT_ONCE];
    vm_methods_keys(vm_here(), methods, n, keys, parts);
    for (size_t i = 0; i < n; i++)
        if (keys[i] != 0)
            look_at_method(metadata, &(struct vm_bytecodes){ parts[i], klass, methods[i] });
}

static void look_at_class(struct vm_metadata *metadata, uint64_t klass)
{
    const struct vm_tables *t = metadata->tables;
    uint64_t some[AT_ONCE];
    uint32_t helper = 0, n = 0;
    mark(metadata, klass);
    if (!vm_get_u32(klass + t->layout_helper, &helper) || (int32_t)helper <= 0)
        return;
    uint64_t methods = vm_pointer(klass + t->methods);
    mark(metadata, vm_pointer(klass + t->classes.constants));
    mark(metadata, methods);
    if (methods == 0 || !vm_get_u32(methods, &n) || n > METHODS_MAX)
        return;
    for (uint64_t i = 0, now; i < n; i += now) {
        now = n - i < AT_ONCE ? n - i : AT_ONCE;
        if (!vm_get(methods + 8 + 8 * i, some, now * sizeof *some))
            return;
        look_at_methods(metadata, klass, some, now);
    }
}

static void look_at_all(struct vm_metadata *metadata)
{
    const struct vm_tables *t = metadata->tables;
    const uint64_t needed[] = { t->loaders,    t->next_loader,       t->loader_klasses,
                                t->next_klass, t->classes.constants, t->methods };
    metadata->n_codes = 0;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (needed[i] == VM_NONE)
            return;
    uint64_t loader = vm_pointer(t->loaders);
    for (int i = 0, n = 0; loader != 0 && i < LOADERS_MAX; i++) {
        uint64_t klass = vm_pointer(loader + t->loader_klasses);
        for (; klass != 0 && n < CLASSES_MAX; n++) {
            look_at_class(metadata, klass);
            klass = vm_pointer(klass + t->next_klass);
        }
        loader = vm_pointer(loader + t->next_loader);
    }
    qsort(metadata->codes, metadata->n_codes, sizeof *metadata->codes, vm_compare);
}

void vm_metadata_look(struct vm_metadata *metadata)
{
    uint64_t start = sim_clock_own_ns();
    if (metadata->tables == NULL || sim_clock_cpu_ns() < metadata->next_look_ns)
        return;
    vm_memory_forget();
    look_at_all(metadata);
    metadata->next_look_ns = sim_clock_cpu_ns() + SHARE * (sim_clock_own_ns() - start);
}

/* ---- methods ---- */

static const struct vm_bytecodes *find_code(const struct vm_metadata *metadata, uint64_t address)
{
    const struct vm_bytecodes *code = vm_last_before(metadata->codes, metadata->n_codes, sizeof *code, address);
    return code != NULL && address - code->parts.code < code->parts.n_code ? code : NULL;
}

const struct vm_bytecodes *vm_metadata_code(struct vm_metadata *metadata, uint64_t address)
{
    const struct vm_bytecodes *code = find_code(metadata, address);
    if (code != NULL)
        return code;
    vm_metadata_look(metadata);
    return find_code(metadata, address);
}
