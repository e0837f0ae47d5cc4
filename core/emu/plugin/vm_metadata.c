#include "core/emu/plugin/vm_metadata.h"

#include <stdlib.h>

#define BLOCK_BITS  22
#define BLOCKS      (1u << 14) /* 64 GB of metaspace */
#define CODES_MAX   (1u << 20)
#define LOADERS_MAX 100000
#define CLASSES_MAX 1000000
#define METHODS_MAX 65535u
#define HAS_LINES   1u /* of a ConstMethod's flags, JDK 17 to 25 */

int vm_metadata_open(struct vm_metadata *metadata, const struct vm_tables *tables)
{
    size_t n_blocks = BLOCKS * sizeof *metadata->blocks, n_codes = CODES_MAX * sizeof *metadata->codes;
    *metadata = (struct vm_metadata){ .tables = tables };
    char *at = vm_map(n_blocks + n_codes);
    if (at == NULL)
        return -1;
    metadata->blocks = (void *)at;
    metadata->codes = (void *)(at + n_blocks);
    return 0;
}

/* ---- blocks ---- */

/* Where a block is, or has its place; NULL: there is no room. */
static uint64_t *place_of(const struct vm_metadata *metadata, uint64_t block)
{
    uint64_t hash = block * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    for (uint32_t i = 0; i < 256; i++) {
        uint64_t *place = &metadata->blocks[(hash + i) & (BLOCKS - 1)];
        if (*place == block || *place == 0)
            return place;
    }
    return NULL;
}

static void mark(struct vm_metadata *metadata, uint64_t address)
{
    uint64_t *place = address == 0 ? NULL : place_of(metadata, address >> BLOCK_BITS);
    if (place != NULL)
        *place = address >> BLOCK_BITS;
}

bool vm_metadata_has(const struct vm_metadata *metadata, uint64_t address)
{
    const uint64_t *place = place_of(metadata, address >> BLOCK_BITS);
    return place != NULL && *place != 0;
}

/* ---- going through ---- */

static void look_at_method(struct vm_metadata *metadata, uint64_t klass, uint64_t method)
{
    const struct vm_tables *t = metadata->tables;
    uint64_t constant = vm_pointer(method + t->const_method);
    uint16_t n_bytes;
    mark(metadata, method);
    mark(metadata, constant);
    if (t->counters != VM_NONE)
        mark(metadata, vm_pointer(method + t->counters));
    if (t->method_data != VM_NONE)
        mark(metadata, vm_pointer(method + t->method_data));
    if (constant != 0 && metadata->n_codes < CODES_MAX && vm_get_u16(constant + t->code_size, &n_bytes))
        metadata->codes[metadata->n_codes++] =
            (struct vm_bytecodes){ constant + t->const_bytes, klass, constant, n_bytes };
}

static void look_at_class(struct vm_metadata *metadata, uint64_t klass)
{
    const struct vm_tables *t = metadata->tables;
    uint32_t helper = 0, n = 0;
    mark(metadata, klass);
    if (!vm_get_u32(klass + t->layout_helper, &helper) || (int32_t)helper <= 0)
        return;
    uint64_t pool = vm_pointer(klass + t->constants), methods = vm_pointer(klass + t->methods);
    mark(metadata, pool);
    mark(metadata, methods);
    if (methods == 0 || !vm_get_u32(methods, &n) || n > METHODS_MAX)
        return;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t method = vm_pointer(methods + 8 + 8 * i);
        if (method != 0)
            look_at_method(metadata, klass, method);
    }
}

static int by_start(const void *a, const void *b)
{
    const struct vm_bytecodes *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

void vm_metadata_look(struct vm_metadata *metadata)
{
    const struct vm_tables *t = metadata->tables;
    const uint64_t needed[] = { t->loaders, t->next_loader,  t->loader_klasses, t->next_klass, t->constants,
                                t->methods, t->const_method, t->code_size,      t->const_bytes };
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
    qsort(metadata->codes, metadata->n_codes, sizeof *metadata->codes, by_start);
}

/* ---- methods ---- */

const struct vm_bytecodes *vm_metadata_code(const struct vm_metadata *metadata, uint64_t address)
{
    uint32_t low = 0, high = metadata->n_codes;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (metadata->codes[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const struct vm_bytecodes *code = low == 0 ? NULL : &metadata->codes[low - 1];
    return code != NULL && address - code->start < code->n_bytes ? code : NULL;
}

/* A number of HotSpot's: a digit below 192 is the last.  JDK 17 counts digits from 0 there, JDK 21 and later from 1. */
static bool next_number(const struct vm_tables *tables, uint64_t *at, uint32_t *value)
{
    uint32_t sum = 0, excluded = tables->field_stream == VM_NONE ? 0 : 1;
    for (unsigned i = 0; i < 5; i++) {
        uint8_t digit;
        if (!vm_get((*at)++, &digit, 1) || digit < excluded)
            return false;
        sum += (digit - excluded) << (6 * i);
        if (digit < 192 || i == 4)
            break;
    }
    *value = sum;
    return true;
}

static int32_t signed_of(uint32_t value)
{
    return (int32_t)(value >> 1) ^ -(int32_t)(value & 1);
}

/* The lines' steps stand behind the bytecodes: in one byte, or 255 and two numbers. */
uint32_t vm_code_line(const struct vm_tables *tables, const struct vm_bytecodes *code, uint64_t address)
{
    uint64_t at = code->start + code->n_bytes;
    uint32_t flags = 0, line = 0, index, step;
    int32_t here = 0, last = 0;
    uint16_t narrow = 0;
    uint8_t byte;
    if (tables->wide_flags != VM_NONE)
        vm_get_u32(code->method + tables->wide_flags, &flags);
    else if (tables->const_flags != VM_NONE && vm_get_u16(code->method + tables->const_flags, &narrow))
        flags = narrow;
    while ((flags & HAS_LINES) != 0 && vm_get(at++, &byte, 1) && byte != 0) {
        if (byte != 0xff) {
            here += byte >> 3;
            last += byte & 7;
        } else if (next_number(tables, &at, &index) && next_number(tables, &at, &step)) {
            here += signed_of(index);
            last += signed_of(step);
        } else {
            break;
        }
        if (here >= 0 && (uint64_t)here <= address - code->start && last > 0)
            line = (uint32_t)last;
    }
    return line;
}

bool vm_code_text(const struct vm_tables *tables, const struct vm_bytecodes *code, enum vm_code_text which, char *text,
                  size_t n)
{
    uint64_t pool = which == VM_CODE_SOURCE ? vm_pointer(code->klass + tables->constants)
                                            : vm_pointer(code->method + tables->const_constants);
    uint64_t at = which == VM_CODE_NAME         ? code->method + tables->name_index
                  : which == VM_CODE_DESCRIPTOR ? code->method + tables->signature_index
                                                : pool + tables->source_index;
    uint16_t index;
    if (tables->const_constants == VM_NONE || tables->name_index == VM_NONE || tables->signature_index == VM_NONE ||
        tables->source_index == VM_NONE || !vm_get_u16(at, &index) || index == 0)
        return false;
    return vm_pool_text(tables, pool, index, text, n);
}
