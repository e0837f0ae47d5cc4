#include "core/hotspot/jit_code.h"

#include "core/base/text.h"
#include "core/base/xalloc.h"
#include "core/hotspot/known_methods.h"
#include "core/hotspot/vm.h"

#define NO_METHOD   UINT32_MAX
#define NOT_WANTED  UINT32_MAX
#define NATIVE_TIER 0u

/* Of what was inlined without a trace no more is followed. */
#define NODES_MAX 4096u
#define DEPTH_MAX 15u /* MaxInlineLevel */

/* What reading needs, and is nobody else's. */
struct jit_reader {
    jit_wanted_fn *wanted;
    void *context; /* borrowed */
    struct known_methods *methods;
    struct call_targets targets;
    struct vm_profile profile;
    struct hash_set by_name; /* methods: the number of the latest, plus 1 */
    struct hash_set seen;    /* compilations: the index in 'all', plus 1, or NOT_WANTED */
    struct nmethod group[NMETHODS_MAX];
    uint64_t headers[NMETHODS_MAX];
    size_t n_headers;
    struct vm_method method;
    uint8_t bytes[BYTECODES_MAX];
    struct inline_tree tree;
    struct vm_instruction named;
    uint64_t always_there;
};

int jit_codes_open(struct vm *vm, struct jit_codes *codes, jit_wanted_fn *wanted, void *context, struct err *err)
{
    const char *why = nmethod_why_not(vm) != NULL ? nmethod_why_not(vm) : vm_methods_why_not(vm);
    memset(codes, 0, sizeof *codes);
    codes->vm = vm;
    if (why != NULL) {
        err_set(err, "the compiled code of this JVM cannot be read: %s", why);
        return err_next(err, "'mmprof doctor -p PID' says what of this JVM can be read");
    }
    codes->reader = xcalloc(1, sizeof *codes->reader);
    codes->reader->methods = known_methods_open(vm);
    struct vm_field field = { "StubRoutines", "_call_stub_return_address", &codes->reader->always_there, true };
    vm_fields_find(vm, &field, 1);
    codes->reader->wanted = wanted;
    codes->reader->context = context;
    call_targets_open(vm, &codes->reader->targets);
    return 0;
}

void jit_codes_close(struct jit_codes *codes)
{
    struct jit_reader *reader = codes->reader;
    for (uint32_t i = 0; i < codes->n; i++) {
        inline_tree_free(&codes->all[i].tree);
        free(codes->all[i].methods);
    }
    free(codes->all);
    free(codes->methods);
    arena_free(&codes->arena);
    if (reader == NULL)
        return;
    for (size_t i = 0; i < NMETHODS_MAX; i++)
        nmethod_free(&reader->group[i]);
    known_methods_close(reader->methods);
    call_targets_free(&reader->targets);
    vm_profile_free(&reader->profile);
    inline_tree_free(&reader->tree);
    hash_free(&reader->by_name);
    hash_free(&reader->seen);
    free(reader);
}

/* ---- methods ---- */

static uint64_t key_of_names(const char *class_name, const char *name, const char *descriptor)
{
    uint64_t key = hash_text(HASH_START, class_name, strlen(class_name));
    key = hash_text(key, name, strlen(name));
    return hash_text(key, descriptor, strlen(descriptor)) | 1;
}

static uint32_t describe(struct jit_codes *codes, const struct known_method *at)
{
    struct jit_reader *reader = codes->reader;
    if (!vm_method_read_parts(codes->vm, &reader->method, at->address, &at->parts, NULL))
        return NO_METHOD;
    struct compiled_method *method = arena_alloc(&codes->arena, sizeof *method);
    method->address = at->address;
    method->class_name = text_utf8(&codes->arena, reader->method.class_name, reader->method.n_class_name);
    method->name = text_utf8(&codes->arena, reader->method.name, reader->method.n_name);
    method->descriptor = text_utf8(&codes->arena, reader->method.descriptor, reader->method.n_descriptor);
    *xpush(codes->methods, codes->methods_room, codes->n_methods) = method;
    xhash_put(&reader->by_name, key_of_names(method->class_name, method->name, method->descriptor))->value =
        codes->n_methods;
    return codes->n_methods - 1;
}

/* The number of the one at an address now; NO_METHOD: there is none. */
static uint32_t number_of(struct jit_codes *codes, uint64_t address)
{
    struct known_method *known = known_methods_get(codes->reader->methods, address);
    if (known == NULL)
        return NO_METHOD;
    if (!known->is_numbered) {
        known->number = describe(codes, known);
        known->is_numbered = known->number != NO_METHOD;
    }
    return known->number;
}

/* One that was met before, and is still there. */
static uint32_t number_of_names(struct jit_codes *codes, const char *class_name, const char *name,
                                const char *descriptor)
{
    const struct hash_slot *slot = hash_get(&codes->reader->by_name, key_of_names(class_name, name, descriptor));
    uint32_t number = slot == NULL ? NO_METHOD : slot->value - 1;
    return number != NO_METHOD && number_of(codes, codes->methods[number]->address) == number ? number : NO_METHOD;
}

/* ---- what is in a method ---- */

static uint32_t line_of(const struct vm_method *method, uint32_t index)
{
    uint32_t line = 0, latest = 0;
    for (uint32_t i = 0; i < method->n_lines; i++)
        if (method->lines[i].index <= index && (line == 0 || method->lines[i].index >= latest)) {
            line = method->lines[i].line;
            latest = method->lines[i].index;
        }
    return line;
}

static void take_instruction(struct jit_codes *codes, const struct known_method *at, uint32_t index,
                             struct jit_instruction *instruction)
{
    struct jit_reader *reader = codes->reader;
    const struct opcode *opcode = bytecodes_at(reader->bytes, at->parts.n_code, index);
    bool is_allocation = opcode->kind == OPCODE_ALLOCATION;
    *instruction = (struct jit_instruction){ .index = (int32_t)index,
                                             .line = line_of(&reader->method, index),
                                             .is_allocation = is_allocation,
                                             .is_array = is_allocation && opcode->java != OPCODE_NEW,
                                             .is_virtual = opcode->kind == OPCODE_CALL_VIRTUAL ||
                                                           opcode->kind == OPCODE_CALL_INTERFACE };
    struct vm_instruction *named = &reader->named;
    bool is_named = is_allocation ? vm_instruction_read_made(codes->vm, named, &at->parts, index)
                                  : opcode->kind != OPCODE_CALL_DYNAMIC &&
                                        vm_instruction_read(codes->vm, named, &at->parts, index) && named->n_name > 0;
    if (!is_named)
        return;
    instruction->class_name = text_utf8(&codes->arena, named->class_name, named->n_class_name);
    instruction->name = text_utf8(&codes->arena, named->name, named->n_name);
    instruction->descriptor = text_utf8(&codes->arena, named->descriptor, named->n_descriptor);
}

static bool is_site(const struct opcode *opcode)
{
    return opcode != NULL && (opcode->kind == OPCODE_ALLOCATION ||
                              (opcode->kind >= OPCODE_CALL_VIRTUAL && opcode->kind <= OPCODE_CALL_DYNAMIC));
}

static bool ends_straight_code(const struct opcode *opcode)
{
    return opcode == NULL || opcode->kind == OPCODE_BRANCH || opcode->kind == OPCODE_SWITCH ||
           opcode->kind == OPCODE_RETURN || opcode->kind == OPCODE_THROW;
}

static void read_instructions(struct jit_codes *codes, struct compiled_method *method)
{
    struct jit_reader *reader = codes->reader;
    const struct known_method *at = known_methods_get(reader->methods, method->address);
    uint32_t n = 0, n_bytes = at == NULL ? 0 : at->parts.n_code;
    if (n_bytes == 0 || !vm_method_read_parts(codes->vm, &reader->method, at->address, &at->parts, reader->bytes))
        return;
    method->n_straight = n_bytes;
    for (size_t i = 0, step; i < n_bytes; i += step) {
        const struct opcode *opcode = bytecodes_at(reader->bytes, n_bytes, i);
        if (ends_straight_code(opcode) && i < method->n_straight)
            method->n_straight = (uint32_t)i;
        n += is_site(opcode);
        step = bytecodes_length(reader->bytes, n_bytes, i);
        if (step == 0)
            break;
    }
    method->instructions = n == 0 ? NULL : arena_alloc(&codes->arena, n * sizeof *method->instructions);
    for (size_t i = 0, step; method->n_instructions < n && i < n_bytes; i += step) {
        if (is_site(bytecodes_at(reader->bytes, n_bytes, i)))
            take_instruction(codes, at, (uint32_t)i, &method->instructions[method->n_instructions++]);
        step = bytecodes_length(reader->bytes, n_bytes, i);
    }
    method->has_instructions = true;
}

static void take_counts(struct jit_codes *codes, const struct vm_call_profile *call,
                        struct jit_instruction *instruction)
{
    char name[WIRE_TEXT_SHORT_BYTES];
    instruction->is_counted = true;
    instruction->n_reached = call->n;
    instruction->n_receivers = 0;
    for (uint32_t i = 0; i < call->n_receivers; i++) {
        const char *text = vm_profile_class(codes->vm, &call->receivers[i], name, sizeof name)
                               ? text_utf8(&codes->arena, name, strlen(name))
                               : NULL;
        if (text != NULL)
            instruction->receivers[instruction->n_receivers++] = (struct jit_receiver){ text, call->receivers[i].n };
    }
}

int jit_instruction_reached(const struct compiled_method *method, const struct jit_instruction *at)
{
    if (at->is_counted)
        return at->n_reached > 0;
    return (uint32_t)at->index < method->n_straight ? 1 : -1;
}

/* What was counted may have grown since. */
static void read_counts(struct jit_codes *codes, struct compiled_method *method)
{
    struct jit_reader *reader = codes->reader;
    struct vm_call_profile call;
    const struct known_method *at = known_methods_get(reader->methods, method->address);
    method->is_profiled = at != NULL && vm_profile_read(codes->vm, &reader->profile, method->address, at->parts.n_code);
    method->counts = at != NULL ? reader->profile.counts : (struct vm_code_counts){ .is_known = false };
    for (uint32_t i = 0; method->is_profiled && i < method->n_instructions; i++) {
        struct jit_instruction *instruction = &method->instructions[i];
        if (vm_profile_call(&reader->profile, (uint32_t)instruction->index, &call))
            take_counts(codes, &call, instruction);
    }
}

/* ---- code ---- */

static unsigned no_flags(void *context, uint64_t offset)
{
    (void)context;
    (void)offset;
    return 0;
}

static unsigned flags_at(void *context, uint64_t offset)
{
    switch (call_targets_at(context, offset)) {
    case CALL_OF_JAVA:
        return INLINE_CALLS;
    case CALL_OF_TRAP:
        return INLINE_TRAPS;
    case CALL_OF_ALLOCATION:
        return INLINE_ALLOCATES;
    case CALL_OF_ARRAY:
        return INLINE_MAKES_ARRAY;
    case CALL_OF_NONE:
    case CALL_OF_OTHER:
        break;
    }
    return 0;
}

static bool is_method_wanted(struct jit_codes *codes, uint64_t address)
{
    uint32_t number = number_of(codes, address);
    struct compiled_method *method = number == NO_METHOD ? NULL : codes->methods[number];
    if (method != NULL && !method->is_asked) {
        method->is_asked = true;
        method->is_wanted = codes->reader->wanted(codes->reader->context, method);
    }
    return method != NULL && method->is_wanted;
}

static bool has_wanted(struct jit_codes *codes, const struct nmethod *nmethod, const struct inline_tree *tree)
{
    bool has = is_method_wanted(codes, nmethod->method);
    for (uint32_t i = 0; i < tree->n_nodes && !has; i++)
        has = is_method_wanted(codes, tree->nodes[i].method);
    return has;
}

/* The method of a node, with what is in it.  Returns false: it is not there any more. */
static bool take_method(struct jit_codes *codes, struct jit_code *code, uint32_t node)
{
    uint32_t number = number_of(codes, code->tree.nodes[node].method);
    if (number == NO_METHOD)
        return false;
    xgrow(code->methods, code->methods_room, node + 1);
    struct compiled_method *method = codes->methods[number];
    code->methods[node] = number;
    if (!method->has_instructions)
        read_instructions(codes, method);
    read_counts(codes, method);
    return true;
}

/* Is it one of the methods that a node is inlined in, or are these too many? */
static bool is_around(const struct jit_code *code, uint32_t node, uint32_t number)
{
    uint32_t depth = 0;
    for (; node != INLINE_ROOT; node = code->tree.nodes[node].caller, depth++)
        if (code->methods[node] == number || depth == DEPTH_MAX)
            return true;
    return false;
}

static void add_left_out(struct jit_codes *codes, struct jit_code *code, uint32_t node,
                         const struct jit_instruction *at, const char *class_name)
{
    uint32_t number = number_of_names(codes, class_name, at->name, at->descriptor);
    if (number == NO_METHOD || code->tree.n_nodes >= NODES_MAX || is_around(code, node, number))
        return;
    uint32_t added = inline_tree_add(&code->tree, node, at->index, codes->methods[number]->address);
    if (!take_method(codes, code, added))
        code->tree.n_nodes--;
}

/*
 * Calls of which nothing is left although they were reached, were inlined: what they call is known by its name, or by
 * the classes that were counted.
 */
static void find_left_out(struct jit_codes *codes, struct jit_code *code, uint32_t node)
{
    const struct compiled_method *method = codes->methods[code->methods[node]];
    for (uint32_t i = 0; i < method->n_instructions; i++) {
        const struct jit_instruction *at = &method->instructions[i];
        if (at->is_allocation || at->name == NULL || jit_instruction_reached(method, at) != 1 ||
            inline_tree_flags(&code->tree, node, at->index) != 0 ||
            inline_tree_has_inlined(&code->tree, node, at->index))
            continue;
        if (!at->is_virtual || at->n_receivers == 0)
            add_left_out(codes, code, node, at, at->class_name);
        for (uint32_t k = 0; at->is_virtual && k < at->n_receivers; k++)
            add_left_out(codes, code, node, at, at->receivers[k].class_name);
    }
}

/* The methods of a tree; it grows meanwhile.  Returns false: one is not there any more. */
static bool take_methods(struct jit_codes *codes, struct jit_code *code)
{
    for (uint32_t i = 0; i < code->tree.n_nodes; i++)
        if (!take_method(codes, code, i))
            return false;
    for (uint32_t i = 0; i < code->tree.n_nodes; i++)
        find_left_out(codes, code, i);
    return true;
}

/* Is what is inlined in it to be read? */
static bool has_tree_read(const struct jit_codes *codes, const struct nmethod *nmethod)
{
    return codes->has_all_tiers || nmethod->tier == JIT_TIER_C1 || nmethod->tier == JIT_TIER_C2;
}

/* Code that neither calls nor waits may have no debug information at all: then only its method is known. */
static void add_root(struct inline_tree *tree, uint64_t method)
{
    if (tree->n_nodes == 0)
        inline_tree_add(tree, INLINE_ROOT, -1, method);
}

/* Returns false: it is not known what it is, as it is gone. */
static bool read_code(struct jit_codes *codes, struct nmethod *nmethod, struct jit_code *code)
{
    struct jit_reader *reader = codes->reader;
    *code = (struct jit_code){ .address = nmethod->address,
                               .number = nmethod->number,
                               .tier = nmethod->tier,
                               .entry_index = nmethod->entry_index,
                               .method = number_of(codes, nmethod->method),
                               .is_there = true };
    if (code->method == NO_METHOD)
        return false;
    if (!has_tree_read(codes, nmethod)) {
        read_counts(codes, codes->methods[code->method]);
        return nmethod_is_there(codes->vm, nmethod);
    }
    if (!call_targets_take(&reader->targets, nmethod) ||
        inline_tree_read(&code->tree, &nmethod->scopes, flags_at, &reader->targets) < 0)
        return false;
    add_root(&code->tree, nmethod->method);
    return take_methods(codes, code) && nmethod_is_there(codes->vm, nmethod);
}

/* The key of a compilation. */
static uint64_t key_of(const struct nmethod *nmethod)
{
    return hash_text(hash_address(nmethod->address), (const char *)&nmethod->number, sizeof nmethod->number) | 1;
}

static void add_code(struct jit_codes *codes, struct nmethod *nmethod)
{
    struct jit_reader *reader = codes->reader;
    struct inline_tree *tree = &reader->tree;
    bool has_tree = has_tree_read(codes, nmethod) && nmethod_copy(codes->vm, nmethod) &&
                    inline_tree_read(tree, &nmethod->scopes, no_flags, NULL) == 0;
    if (!has_tree)
        tree->n_nodes = 0;
    bool wanted = has_wanted(codes, nmethod, tree);
    if (!nmethod_is_there(codes->vm, nmethod) || (has_tree_read(codes, nmethod) && !has_tree))
        return;
    struct hash_slot *slot = xhash_put(&reader->seen, key_of(nmethod));
    slot->value = NOT_WANTED;
    if (!wanted)
        return;
    xgrow(codes->all, codes->room, codes->n + 1);
    struct jit_code *code = &codes->all[codes->n];
    if (read_code(codes, nmethod, code)) {
        slot->value = ++codes->n;
        return;
    }
    inline_tree_free(&code->tree);
    free(code->methods);
    slot->value = 0;
}

static void take_group(struct jit_codes *codes)
{
    struct jit_reader *reader = codes->reader;
    size_t n = nmethods_find_at(codes->vm, reader->group, reader->headers, reader->n_headers);
    reader->n_headers = 0;
    for (size_t i = 0; i < n; i++) {
        struct nmethod *nmethod = &reader->group[i];
        if (!nmethod->is_in_use || nmethod->tier == NATIVE_TIER)
            continue;
        const struct hash_slot *seen = hash_get(&reader->seen, key_of(nmethod));
        if (seen == NULL || seen->value == 0)
            add_code(codes, nmethod);
        else if (seen->value != NOT_WANTED)
            codes->all[seen->value - 1].is_there = true;
    }
}

static void take_block(void *context, uint64_t header)
{
    struct jit_codes *codes = context;
    struct jit_reader *reader = codes->reader;
    reader->headers[reader->n_headers++] = header;
    if (reader->n_headers == NMETHODS_MAX)
        take_group(codes);
}

bool jit_codes_look(struct jit_codes *codes)
{
    struct jit_reader *reader = codes->reader;
    uint64_t value;
    known_methods_round(reader->methods);
    code_heaps_round(codes->vm);
    call_targets_forget(&reader->targets);
    for (uint32_t i = 0; i < codes->n; i++)
        codes->all[i].is_there = false;
    code_heaps_walk(codes->vm, take_block, codes);
    take_group(codes);
    return vm_read_u64(codes->vm, reader->always_there, &value);
}
