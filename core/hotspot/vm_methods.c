#include "core/hotspot/vm_methods.h"
#include "core/base/hash.h"
#include "core/hotspot/vm_state.h"
#include "core/hotspot/nmethod.h"

#define HAS_LINES       1u /* of a ConstMethod's flags; vm_check finds out if it is another one */
#define ACCESS_NATIVE   0x0100u
#define ACCESS_ABSTRACT 0x0400u
#define HEADER_MAX      256u
#define OFFSET_MAX      (HEADER_MAX - 8)
#define METHOD_BYTES    1024u /* of a ConstMethod and what is behind it: most are shorter */
#define METHOD_MAX      ((size_t)1 << 20)
#define SYMBOL_BYTES    128u /* most are shorter */

static void know(struct vm *vm)
{
    struct vm_methods *at = &vm->methods;
    struct vm_field fields[] = {
        { "Method", "_constMethod", &at->constant, false },
        { "Method", "_access_flags", &at->access_flags, false },
        { "ConstMethod", "_constants", &at->pool, false },
        { "ConstMethod", "_code_size", &at->code_size, false },
        { "ConstMethod", "_constMethod_size", &at->n_words, false },
        { "ConstMethod", "_name_index", &at->name, false },
        { "ConstMethod", "_signature_index", &at->descriptor, false },
        { "ConstMethod", "_flags", &at->flags, false },
        { "ConstMethod", "_flags._flags", &at->wide_flags, false },
        { "ConstantPool", "_pool_holder", &at->holder, false },
        { "ConstantPool", "_source_file_name_index", &at->source, false },
        { "InstanceKlass", "_source_file_name_index", &at->class_source, false }, /* before JDK 17 */
        { "Klass", "_name", &at->class_name, false },
        { "Klass", "_class_loader_data", &at->loader, false }, /* until JDK 27 */
        { "InstanceKlass", "_constants", &at->constants, false },
        { "InstanceKlass", "_source_debug_extension", &at->smap, false },
        { "Symbol", "_length", &at->length, false },
        { "Symbol", "_body", &at->body, false },
    };
    vm_fields_find(vm, fields, sizeof fields / sizeof *fields);
    at->constant_bytes = vm_type_bytes(vm, "ConstMethod");
    at->pool_bytes = vm_type_bytes(vm, "ConstantPool");
    const uint64_t needed[] = { at->constant,   at->pool,      at->code_size,  at->n_words,     at->name,
                                at->descriptor, at->holder,    at->length,     at->body,        at->constant_bytes,
                                at->pool_bytes, at->constants, at->class_name, at->access_flags };
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (needed[i] > OFFSET_MAX)
            at->why_not = "the layout of methods is not known, or cannot be read";
    if ((at->flags > OFFSET_MAX && at->wide_flags > OFFSET_MAX) ||
        (at->source > OFFSET_MAX && at->class_source == VM_NONE))
        at->why_not = "the layout of methods is not known, or cannot be read";
}

const char *vm_methods_why_not(struct vm *vm)
{
    vm_once(vm, &vm->methods.once, know);
    return vm->methods.why_not;
}

/* ---- texts ---- */

struct text {
    uint64_t symbol; /* its address; 0: there is none */
    char *at;
    size_t *n;
};

static bool take_symbol(struct vm *vm, const struct text *text, const uint8_t *bytes, size_t got)
{
    struct vm_methods *at = &vm->methods;
    if (got < at->body || got < at->length + 2)
        return false;
    size_t n = vm_number(bytes, got, at->length, 2);
    *text->n = n < WIRE_TEXT_SHORT_BYTES ? n : WIRE_TEXT_SHORT_BYTES;
    if (*text->n > got - at->body)
        return vm_read(vm, text->symbol + at->body, text->at, *text->n);
    memcpy(text->at, bytes + at->body, *text->n);
    return true;
}

static bool read_symbol(struct vm *vm, const struct text *text)
{
    uint8_t bytes[SYMBOL_BYTES];
    *text->n = 0;
    return text->symbol == 0 || take_symbol(vm, text, bytes, vm_read_some(vm, text->symbol, bytes, sizeof bytes));
}

/* All at once, unless one is where nothing is behind it. */
static bool read_symbols(struct vm *vm, const struct text *texts, size_t n)
{
    struct vm_piece pieces[VM_PIECES_MAX];
    uint8_t bytes[VM_PIECES_MAX][SYMBOL_BYTES];
    for (size_t i = 0; i < n; i++)
        pieces[i] = (struct vm_piece){ texts[i].symbol, texts[i].symbol == 0 ? 0 : SYMBOL_BYTES };
    bool are_read = texts[n - 1].symbol != 0 && vm_read_pieces(vm, pieces, n, bytes);
    for (size_t i = 0; i < n; i++)
        if (!(are_read ? take_symbol(vm, &texts[i], bytes[i], SYMBOL_BYTES) : read_symbol(vm, &texts[i])))
            return false;
    return true;
}

/*
 * A hidden class is called "p/C+0x00007f0123456789"; JVMTI says so with a dot, as it may be in no class's own name
 * (JVMTI, GetClassSignature).
 */
static bool is_hidden(const char *name, size_t n, size_t *at_plus)
{
    size_t i = n;
    while (i > 0 && ((name[i - 1] >= '0' && name[i - 1] <= '9') || (name[i - 1] >= 'a' && name[i - 1] <= 'f')))
        i--;
    *at_plus = i - 3;
    return i < n && i >= 3 && name[i - 3] == '+' && name[i - 2] == '0' && name[i - 1] == 'x';
}

static void name_as_told(char *name, size_t n)
{
    size_t at_plus;
    if (is_hidden(name, n, &at_plus))
        name[at_plus] = '.';
}

/* ---- constants ---- */

/* A class's pool: its header, and of two of its constants, which are names, their symbols' addresses. */
struct pool {
    uint8_t header[HEADER_MAX];
    uint64_t symbols[2];
};

/* A constant is a word behind the header. */
static struct vm_piece constant_of(struct vm *vm, uint64_t pool, uint64_t index)
{
    return (struct vm_piece){ pool + vm->methods.pool_bytes + 8 * index, 8 };
}

static bool read_pool(struct vm *vm, uint64_t address, const uint32_t *indexes, size_t n, struct pool *pool)
{
    struct vm_methods *at = &vm->methods;
    struct vm_piece pieces[3] = { { address, at->pool_bytes } };
    uint8_t bytes[HEADER_MAX + sizeof pool->symbols];
    for (size_t i = 0; i < n; i++)
        pieces[1 + i] = constant_of(vm, address, indexes[i]);
    if (!vm_read_pieces(vm, pieces, 1 + n, bytes))
        return false;
    memcpy(pool->header, bytes, at->pool_bytes);
    memcpy(pool->symbols, bytes + at->pool_bytes, 8 * n);
    return true;
}

/* Before JDK 17 the class knows its source file, too. */
static bool find_class_in_class(struct vm *vm, uint64_t holder, uint64_t *name, uint64_t *source)
{
    struct vm_methods *at = &vm->methods;
    uint64_t its[3];
    const struct vm_piece pieces[3] = { { holder + at->class_name, 8 },
                                        { holder + at->constants, 8 },
                                        { holder + at->class_source, 8 } };
    vm_read_each(vm, pieces, 3, its);
    uint16_t index = (uint16_t)its[2];
    *name = its[0];
    *source = 0;
    return its[0] != 0 && its[1] != 0 &&
           (index == 0 || vm_read_u64(vm, constant_of(vm, its[1], index).address, source));
}

/*
 * The class that the method's pool is of knows its name, and its own pool, which may be another one (of a method before
 * the class was changed; of what the JVM makes of method handles), knows its source file.
 */
static bool find_class(struct vm *vm, uint64_t address, struct pool *pool, uint64_t *name, uint64_t *source)
{
    struct vm_methods *at = &vm->methods;
    uint64_t holder = vm_number(pool->header, at->pool_bytes, at->holder, 8), its[3];
    if (at->source > OFFSET_MAX)
        return find_class_in_class(vm, holder, name, source);
    uint64_t index = vm_number(pool->header, at->pool_bytes, at->source, 2);
    const struct vm_piece pieces[3] = { { holder + at->class_name, 8 },
                                        { holder + at->constants, 8 },
                                        constant_of(vm, address, index) };
    vm_read_each(vm, pieces, 3, its); /* the last is not there where the pool is another one, and small */
    if (its[0] == 0 || its[1] == 0)
        return false;
    *name = its[0];
    *source = index == 0 ? 0 : its[2];
    if (its[1] == address)
        return true;
    if (!read_pool(vm, its[1], NULL, 0, pool))
        return false;
    index = vm_number(pool->header, at->pool_bytes, at->source, 2);
    *source = 0;
    return index == 0 || vm_read_u64(vm, constant_of(vm, its[1], index).address, source);
}

static bool read_texts(struct vm *vm, struct vm_method *method, uint64_t address, struct pool *pool)
{
    const uint64_t symbols[2] = { pool->symbols[0], pool->symbols[1] };
    uint64_t class_name, source;
    size_t at_plus;
    if (symbols[0] == 0 || symbols[1] == 0 || !find_class(vm, address, pool, &class_name, &source))
        return false;
    const struct text texts[4] = { { symbols[0], method->name, &method->n_name },
                                   { symbols[1], method->descriptor, &method->n_descriptor },
                                   { class_name, method->class_name, &method->n_class_name },
                                   { source, method->source, &method->n_source } };
    if (!read_symbols(vm, texts, 4))
        return false;
    method->code.is_hidden = is_hidden(method->class_name, method->n_class_name, &at_plus);
    name_as_told(method->class_name, method->n_class_name);
    return true;
}

/* ---- methods ---- */

#define WORDS_AT_ONCE 128u

static struct vm_method_parts parts_of(struct vm *vm, const uint8_t *header, uint64_t constant)
{
    struct vm_methods *at = &vm->methods;
    size_t n = (size_t)at->constant_bytes;
    return (struct vm_method_parts){ .constant = constant,
                                     .pool = vm_number(header, n, at->pool, 8),
                                     .code = constant + at->constant_bytes,
                                     .n_code = (uint32_t)vm_number(header, n, at->code_size, 2),
                                     .n_bytes = 8 * (uint32_t)vm_number(header, n, at->n_words, 4),
                                     .name = (uint32_t)vm_number(header, n, at->name, 2),
                                     .descriptor = (uint32_t)vm_number(header, n, at->descriptor, 2) };
}

static void find_keys(struct vm *vm, const uint64_t *addresses, size_t n, uint64_t *keys, struct vm_method_parts *parts)
{
    struct vm_methods *at = &vm->methods;
    uint64_t constants[WORDS_AT_ONCE];
    struct vm_piece pieces[WORDS_AT_ONCE] = { { 0 } };
    uint8_t bytes[WORDS_AT_ONCE * HEADER_MAX];
    for (size_t i = 0; i < n; i++)
        pieces[i] = (struct vm_piece){ addresses[i] + at->constant, sizeof *constants };
    vm_read_each(vm, pieces, n, constants);
    for (size_t i = 0; i < n; i++)
        pieces[i] = (struct vm_piece){ constants[i], (size_t)at->constant_bytes };
    vm_read_each(vm, pieces, n, bytes);
    for (size_t i = 0; i < n; i++) {
        const uint8_t *header = bytes + i * at->constant_bytes;
        const struct vm_method_parts its = parts_of(vm, header, constants[i]);
        uint64_t key = hash_text(HASH_START, (const char *)&addresses[i], sizeof *addresses);
        key = hash_text(key, (const char *)&constants[i], sizeof *constants);
        keys[i] = its.pool == 0 ? 0 : hash_text(key, (const char *)header, (size_t)at->constant_bytes) | 1;
        if (parts != NULL)
            parts[i] = its;
    }
}

void vm_methods_keys(struct vm *vm, const uint64_t *addresses, size_t n, uint64_t *keys, struct vm_method_parts *parts)
{
    bool is_known = vm_methods_why_not(vm) == NULL;
    memset(keys, 0, n * sizeof *keys);
    for (size_t i = 0; is_known && i < n; i += WORDS_AT_ONCE)
        find_keys(vm, addresses + i, n - i < WORDS_AT_ONCE ? n - i : WORDS_AT_ONCE, keys + i,
                  parts == NULL ? NULL : parts + i);
}

static bool has_lines(struct vm *vm, const uint8_t *header, size_t n)
{
    struct vm_methods *at = &vm->methods;
    uint64_t flags =
        at->wide_flags != VM_NONE ? vm_number(header, n, at->wide_flags, 4) : vm_number(header, n, at->flags, 2);
    return (flags & HAS_LINES) != 0;
}

/* What is behind the header: bytecodes, then line numbers, which methods without bytecodes have not. */
static bool take_lines(struct vm *vm, struct vm_method *method, const uint8_t *bytes, size_t n)
{
    struct vm_methods *at = &vm->methods;
    size_t n_code = (size_t)vm_number(bytes, n, at->code_size, 2), lines = at->constant_bytes + n_code;
    bool is_bad = false;
    method->n_lines = 0;
    if (n_code > 0 && has_lines(vm, bytes, n))
        method->n_lines = lines > n ? 0
                                    : line_stream_read(bytes + lines, n - lines, vm_excluded_digits(vm), method->lines,
                                                       CODE_LINES_MAX, &is_bad);
    return lines <= n && !is_bad;
}

static void take_loader(struct vm *vm, struct vm_method *method, uint64_t holder)
{
    struct vm_methods *at = &vm->methods;
    method->loader = 0;
    if (at->loader != VM_NONE && !vm_read_u64(vm, holder + at->loader, &method->loader))
        method->loader = 0;
}

static void take_smap(struct vm *vm, struct vm_method *method, uint64_t holder)
{
    struct vm_methods *at = &vm->methods;
    uint64_t address;
    if (!smap_is_of(method->source, method->n_source) || at->smap == VM_NONE || method->n_lines == 0 ||
        !vm_read_u64(vm, holder + at->smap, &address) || address == 0)
        return;
    char *text = malloc(SMAP_BYTES_MAX);
    size_t n = text == NULL ? 0 : vm_read_some(vm, address, text, SMAP_BYTES_MAX);
    if (text != NULL)
        smap_take_calls(text, strnlen(text, n), method->lines, method->n_lines);
    free(text);
}

/* bytes: room for the pool's header, two constants, flags and the ConstMethod. */
static bool read_parts(struct vm *vm, struct vm_method *method, uint64_t address, const struct vm_method_parts *parts,
                       uint8_t *code, uint8_t *bytes)
{
    struct vm_methods *at = &vm->methods;
    const struct vm_piece pieces[] = { { parts->pool, at->pool_bytes },
                                       constant_of(vm, parts->pool, parts->name),
                                       constant_of(vm, parts->pool, parts->descriptor),
                                       { address + at->access_flags, 2 },
                                       { parts->constant, parts->n_bytes } };
    const uint8_t *constant = bytes + at->pool_bytes + 16 + 2;
    struct pool pool;
    if (!vm_read_pieces(vm, pieces, sizeof pieces / sizeof *pieces, bytes))
        return false;
    memcpy(pool.header, bytes, at->pool_bytes);
    memcpy(pool.symbols, bytes + at->pool_bytes, sizeof pool.symbols);
    uint64_t flags = vm_number(constant - 2, 2, 0, 2);
    method->code = (struct vm_code){ .n_bytes = parts->n_code,
                                     .is_native = (flags & ACCESS_NATIVE) != 0,
                                     .is_abstract = (flags & ACCESS_ABSTRACT) != 0 };
    if (vm_number(constant, parts->n_bytes, at->code_size, 2) != parts->n_code ||
        at->constant_bytes + parts->n_code > parts->n_bytes)
        return false;
    if (code != NULL) {
        memcpy(code, constant + at->constant_bytes, parts->n_code);
        vm_bytecodes_renumber(vm, code, parts->n_code);
    }
    if (!read_texts(vm, method, parts->pool, &pool) || !take_lines(vm, method, constant, parts->n_bytes))
        return false;
    uint64_t holder = vm_number(bytes, at->pool_bytes, at->holder, 8);
    take_loader(vm, method, holder);
    take_smap(vm, method, holder);
    return true;
}

bool vm_method_read_parts(struct vm *vm, struct vm_method *method, uint64_t address,
                          const struct vm_method_parts *parts, uint8_t *code)
{
    struct vm_methods *at = &vm->methods;
    uint8_t few[METHOD_BYTES];
    size_t n = (size_t)at->pool_bytes + 18 + parts->n_bytes;
    uint8_t *bytes = n <= sizeof few ? few : parts->n_bytes > METHOD_MAX ? NULL : malloc(n);
    bool is_read =
        bytes != NULL && parts->n_bytes >= at->constant_bytes && read_parts(vm, method, address, parts, code, bytes);
    if (bytes != few)
        free(bytes);
    return is_read;
}

bool vm_method_read(struct vm *vm, struct vm_method *method, uint64_t address)
{
    struct vm_method_parts parts;
    uint64_t key;
    vm_methods_keys(vm, &address, 1, &key, &parts);
    return key != 0 && vm_method_read_parts(vm, method, address, &parts, NULL);
}

uint32_t vm_method_line(struct vm *vm, const struct vm_method_parts *parts, uint64_t bytecode)
{
    struct vm_methods *at = &vm->methods;
    uint8_t header[HEADER_MAX], lines[CODE_LINES_MAX];
    uint64_t begin = parts->code + parts->n_code, end = parts->constant + parts->n_bytes;
    if (begin >= end || !vm_read(vm, parts->constant, header, (size_t)at->constant_bytes) ||
        !has_lines(vm, header, (size_t)at->constant_bytes))
        return 0;
    size_t n = vm_read_some(vm, begin, lines, end - begin < sizeof lines ? (size_t)(end - begin) : sizeof lines);
    return line_stream_find(lines, n, vm_excluded_digits(vm), (uint32_t)(bytecode - parts->code));
}

static bool is_text(struct vm *vm, uint64_t symbol, const char *expected)
{
    char text[WIRE_TEXT_SHORT_BYTES] = "";
    size_t n = 0;
    return symbol != 0 && read_symbol(vm, &(struct text){ symbol, text, &n }) && n == strlen(expected) &&
           memcmp(text, expected, n) == 0;
}

bool vm_method_is(struct vm *vm, uint64_t address, const char *class_name, const char *name)
{
    struct vm_method_parts parts;
    uint64_t key, holder_name, source;
    struct pool pool;
    vm_methods_keys(vm, &address, 1, &key, &parts);
    return key != 0 && read_pool(vm, parts.pool, &parts.name, 1, &pool) && is_text(vm, pool.symbols[0], name) &&
           find_class(vm, parts.pool, &pool, &holder_name, &source) && is_text(vm, holder_name, class_name);
}

struct code_entry vm_method_entry(const struct vm_method *method, uint32_t number)
{
    return (struct code_entry){ .kind = CODE_METHOD,
                                .method = number,
                                .class_name = { method->class_name, method->n_class_name },
                                .name = { method->name, method->n_name },
                                .descriptor = { method->descriptor, method->n_descriptor },
                                .source = { method->source, method->n_source },
                                .lines = method->lines,
                                .n_lines = method->n_lines };
}

/* ---- methods among other things ---- */

static bool is_table(struct vm *vm, uint64_t address)
{
    struct vm_methods *at = &vm->methods;
    for (size_t i = 0; i < at->n_tables; i++)
        if (at->tables[i] == address)
            return true;
    return false;
}

bool vm_methods_learn(struct vm *vm, const uint64_t *methods, size_t n)
{
    struct vm_methods *at = &vm->methods;
    uint64_t words[WORDS_AT_ONCE];
    size_t n_before = at->n_tables;
    n = n < WORDS_AT_ONCE ? n : WORDS_AT_ONCE;
    vm_read_words(vm, methods, n, words);
    for (size_t i = 0; i < n; i++)
        if (words[i] != 0 && at->n_tables < VM_METHOD_TABLES && !is_table(vm, words[i]))
            at->tables[at->n_tables++] = words[i];
    return at->n_tables > n_before;
}

/* The words behind words: of those that are not 0. */
static void follow(struct vm *vm, uint64_t *words, size_t n, uint64_t offset)
{
    uint64_t addresses[WORDS_AT_ONCE] = { 0 }, found[WORDS_AT_ONCE];
    size_t n_addresses = 0, k = 0;
    for (size_t i = 0; i < n; i++)
        if (words[i] != 0)
            addresses[n_addresses++] = words[i] + offset;
    vm_read_words(vm, addresses, n_addresses, found);
    for (size_t i = 0; i < n; i++)
        words[i] = words[i] != 0 ? found[k++] : 0;
}

/* A Method's first word tells that it is one, its pool is behind another word: both in one piece. */
static void find_pools(struct vm *vm, const uint64_t *addresses, size_t n, uint64_t *pools)
{
    struct vm_methods *at = &vm->methods;
    struct vm_piece pieces[WORDS_AT_ONCE] = { { 0 } };
    char bytes[WORDS_AT_ONCE * HEADER_MAX];
    size_t n_bytes = (size_t)at->constant + sizeof *pools;
    for (size_t i = 0; i < n; i++)
        pieces[i] = (struct vm_piece){ addresses[i], n_bytes };
    vm_read_each(vm, pieces, n, bytes);
    for (size_t i = 0; i < n; i++) {
        uint64_t table;
        memcpy(&table, bytes + i * n_bytes, sizeof table);
        memcpy(&pools[i], bytes + i * n_bytes + at->constant, sizeof *pools);
        if (!is_table(vm, table))
            pools[i] = 0;
    }
    follow(vm, pools, n, at->pool);
}

void vm_methods_pools(struct vm *vm, const uint64_t *addresses, size_t n, uint64_t *pools)
{
    if (vm_methods_why_not(vm) != NULL)
        n = 0;
    for (size_t i = 0; i < n; i += WORDS_AT_ONCE)
        find_pools(vm, addresses + i, n - i < WORDS_AT_ONCE ? n - i : WORDS_AT_ONCE, pools + i);
}

void vm_methods_names(struct vm *vm, uint64_t *pools, size_t n)
{
    struct vm_methods *at = &vm->methods;
    for (size_t i = 0; i < n; i += WORDS_AT_ONCE) {
        size_t now = n - i < WORDS_AT_ONCE ? n - i : WORDS_AT_ONCE;
        follow(vm, pools + i, now, at->holder);
        follow(vm, pools + i, now, at->class_name);
    }
}

bool vm_methods_class(struct vm *vm, uint64_t symbol, char *name, size_t *n)
{
    if (symbol == 0 || !read_symbol(vm, &(struct text){ symbol, name, n }))
        return false;
    name_as_told(name, *n);
    return true;
}
