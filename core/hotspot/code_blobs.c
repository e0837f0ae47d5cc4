#include "core/hotspot/known_methods.h"
#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/base/xalloc.h"
#include "core/hotspot/nmethod.h"
#include "core/hotspot/vm.h"

#define HEADER_BYTES 512u
#define AT_ONCE      256u
#define PCS          (1u << 17) /* when half of them are used all is forgotten */

struct blob_layout {
    bool is_apart;  /* JDK 23 and later: offsets from the header, of 16 bits some of them, in place of addresses */
    bool is_former; /* JDK 8: likewise, of 32 bits */
    uint64_t name, size, frame_words, complete;
    uint64_t code_begin, code_offset, data_offset, original_pc;
    uint64_t deopt, deopt_handles, deopt_offset, deopt_handles_offset;
};

struct code_blobs {
    struct vm *vm; /* borrowed */
    const struct frame_rules *rules;
    struct known_methods *methods; /* borrowed */
    struct blob_layout at;
    struct arena arena;                /* blobs, frames */
    struct hash_set by_address, by_pc; /* indexes in 'all' and 'pcs', plus 1 */
    struct code_blob **all;            /* owned */
    struct code_at *pcs;               /* owned */
    uint32_t n, room, n_pcs;
    struct code_blob **recent; /* owned */
    size_t n_recent, recent_room;
    uint64_t round;
    uint64_t low, high; /* of the code cache */
    uint64_t interpreter_low, interpreter_high;
    uint64_t nmethod_name; /* where it is; 0: not known yet */
    struct scopes_walk walk;
};

static bool find_layout(struct vm *vm, struct blob_layout *at)
{
    struct vm_field needed[] = {
        { "CodeBlob", "_name", &at->name, false },
        { "CodeBlob", "_size", &at->size, false },
        { "CodeBlob", "_frame_size", &at->frame_words, false },
        { "CodeBlob", "_frame_complete_offset", &at->complete, false },
        { "nmethod", "_orig_pc_offset", &at->original_pc, false },
    };
    struct vm_field together[] = {
        { "CodeBlob", "_code_begin", &at->code_begin, false },
        { "CompiledMethod", "_deopt_handler_begin", &at->deopt, false },
        { "CompiledMethod", "_deopt_mh_handler_begin", &at->deopt_handles, false },
    };
    struct vm_field apart[] = {
        { "CodeBlob", "_code_offset", &at->code_offset, false },
        { "CodeBlob", "_data_offset", &at->data_offset, false },
        { "nmethod", "_deopt_handler_offset", &at->deopt_offset, false },
        { "nmethod", "_deopt_handler_entry_offset", &at->deopt_offset, false }, /* JDK 26 and later */
    };
    struct vm_field former[] = {
        { "CodeBlob", "_code_offset", &at->code_offset, false },
        { "CodeBlob", "_data_offset", &at->data_offset, false },
        { "nmethod", "_deoptimize_offset", &at->deopt_offset, false },
        { "nmethod", "_deoptimize_mh_offset", &at->deopt_handles_offset, false },
    };
    bool is_known = vm_fields_find(vm, needed, sizeof needed / sizeof *needed);
    at->is_apart = vm_fields_find(vm, apart, sizeof apart / sizeof *apart);
    at->is_former = !at->is_apart && vm_fields_find(vm, former, sizeof former / sizeof *former);
    return is_known &&
           (at->is_apart || at->is_former || vm_fields_find(vm, together, sizeof together / sizeof *together));
}

struct code_blobs *code_blobs_open(struct vm *vm, const struct frame_rules *rules, struct known_methods *methods,
                                   struct err *err)
{
    struct code_blobs *blobs = xcalloc(1, sizeof *blobs);
    blobs->pcs = xcalloc(PCS, sizeof *blobs->pcs);
    blobs->vm = vm;
    blobs->rules = rules;
    blobs->methods = methods;
    blobs->round = RECENT_ROUNDS + 1;
    if (nmethod_why_not(vm) == NULL && find_layout(vm, &blobs->at) &&
        code_heaps_interpreter(vm, &blobs->interpreter_low, &blobs->interpreter_high) &&
        code_heaps_range(vm, &blobs->low, &blobs->high))
        return blobs;
    code_blobs_close(blobs);
    err_set(err, "the layout of this JVM's code is not known (JDK %u)", (unsigned)vm_release(vm));
    err_next(err, "use --mechanism polling, which asks the JVM itself");
    return NULL;
}

/* ---- what is kept ---- */

static void free_all(struct code_blobs *blobs)
{
    for (uint32_t i = 0; i < blobs->n; i++)
        nmethod_free(&blobs->all[i]->nmethod);
    blobs->n = blobs->n_pcs = 0;
    hash_clear(&blobs->by_address);
    hash_clear(&blobs->by_pc);
    arena_free(&blobs->arena);
}

static void forget_all(struct code_blobs *blobs)
{
    free_all(blobs);
    known_methods_let_go(blobs->methods);
    blobs->n_recent = 0;
}

void code_blobs_close(struct code_blobs *blobs)
{
    if (blobs == NULL)
        return;
    free_all(blobs);
    hash_free(&blobs->by_address);
    hash_free(&blobs->by_pc);
    free(blobs->all);
    free(blobs->pcs);
    free(blobs->recent);
    free(blobs);
}

bool code_blobs_has(const struct code_blobs *blobs, uint64_t pc)
{
    return pc >= blobs->low && pc < blobs->high;
}

bool code_blobs_is_interpreter(const struct code_blobs *blobs, uint64_t pc)
{
    return pc >= blobs->interpreter_low && pc < blobs->interpreter_high;
}

/* ---- a blob ---- */

static uint64_t field(const uint8_t *header, uint64_t offset, size_t n)
{
    return vm_number(header, HEADER_BYTES, offset, n);
}

static enum blob_kind kind_of(const struct code_blob *blob)
{
    if (strcmp(blob->name, "nmethod") == 0)
        return BLOB_NMETHOD;
    if (strcmp(blob->name, "native nmethod") == 0)
        return BLOB_NATIVE;
    if (strncmp(blob->name, "I2C/C2I", sizeof "I2C/C2I" - 1) == 0 || strncmp(blob->name, "vtable", 6) == 0)
        return BLOB_ADAPTER;
    if (strcmp(blob->name, "Interpreter") == 0)
        return BLOB_INTERPRETER;
    return blob->frame_bytes > 0 ? BLOB_STUB : BLOB_ROUTINES;
}

static void take_frame(const struct blob_layout *at, struct code_blob *blob, const uint8_t *header)
{
    int32_t words = (int32_t)field(header, at->frame_words, 4);
    int32_t complete = at->is_apart ? (int16_t)field(header, at->complete, 2) : (int32_t)field(header, at->complete, 4);
    bool is_by_offset = at->is_apart || at->is_former;
    blob->begin = is_by_offset ? blob->address + field(header, at->code_offset, 2) : field(header, at->code_begin, 8);
    blob->end = blob->address + field(header, is_by_offset ? at->data_offset : at->size, 4);
    blob->frame_bytes = words > 0 ? (uint64_t)words * 8 : 0;
    blob->complete = complete < 0 ? FRAME_UNKNOWN : blob->begin + (uint64_t)complete;
}

static bool take_nmethod(struct vm *vm, const struct blob_layout *at, struct code_blob *blob, const uint8_t *header)
{
    if (!nmethod_take(vm, &blob->nmethod, blob->address, header, HEADER_BYTES))
        return false;
    blob->end = blob->nmethod.start + blob->nmethod.n_bytes;
    blob->original_pc = field(header, at->original_pc, at->is_apart ? 2 : 4);
    bool is_by_offset = at->is_apart || at->is_former;
    blob->deopt[0] = is_by_offset ? blob->address + field(header, at->deopt_offset, 4) : field(header, at->deopt, 8);
    blob->deopt[1] = at->is_former  ? blob->address + field(header, at->deopt_handles_offset, 4)
                     : at->is_apart ? 0
                                    : field(header, at->deopt_handles, 8);
    return true;
}

/* Names are texts of libjvm.so: that of compiled methods is asked for once. */
static bool read_name(struct code_blobs *blobs, struct code_blob *blob, uint64_t address)
{
    static const char nmethod[] = "nmethod";
    memset(blob->name, 0, sizeof blob->name);
    if (address != 0 && address == blobs->nmethod_name)
        memcpy(blob->name, nmethod, sizeof nmethod);
    else if (address != 0)
        vm_read_some(blobs->vm, address, blob->name, sizeof blob->name - 1); /* a longer one is cut */
    if (strcmp(blob->name, nmethod) == 0)
        blobs->nmethod_name = address;
    return blob->name[0] != '\0';
}

/* Returns false where there is no code any more. */
static bool read_blob(struct code_blobs *blobs, struct code_blob *blob)
{
    uint8_t header[HEADER_BYTES] = { 0 };
    if (vm_read_some(blobs->vm, blob->address, header, sizeof header) == 0)
        return false;
    if (!read_name(blobs, blob, field(header, blobs->at.name, 8)))
        return false;
    take_frame(&blobs->at, blob, header);
    blob->kind = kind_of(blob);
    blob->is_continuation = blob->kind == BLOB_ROUTINES && strstr(blob->name, "ontinuation") != NULL;
    blob->is_upcall = strncmp(blob->name, "upcall_stub", 11) == 0;
    blob->has_scopes = false;
    return (blob->kind != BLOB_NMETHOD && blob->kind != BLOB_NATIVE) ||
           take_nmethod(blobs->vm, &blobs->at, blob, header);
}

/* As known_methods.c does it: what is asked for once is not likely to be asked for again soon. */
static void note(struct code_blobs *blobs, struct code_blob *blob)
{
    bool is_again = blob->asked != blobs->round && blobs->round - blob->asked <= RECENT_ROUNDS;
    blob->asked = blobs->round;
    if (!is_again || blob->is_recent)
        return;
    *xpush(blobs->recent, blobs->recent_room, blobs->n_recent) = blob;
    blob->is_recent = true;
}

/* Is it what it was?  Only compiled methods come and go. */
static bool is_there(struct code_blobs *blobs, struct code_blob *blob)
{
    bool is_compiled = blob->kind == BLOB_NMETHOD || blob->kind == BLOB_NATIVE;
    if (is_compiled)
        note(blobs, blob);
    if (blob->compared == blobs->round)
        return true;
    if (is_compiled && !nmethod_is_there(blobs->vm, &blob->nmethod))
        return false;
    blob->compared = blobs->round;
    return true;
}

/* What is not there any more is found out again when it is asked for. */
static void compare(const struct code_blobs *blobs, struct code_blob *const *some, size_t n)
{
    const struct nmethod *nmethods[AT_ONCE] = { NULL };
    bool are_there[AT_ONCE];
    for (size_t i = 0; i < n; i++)
        nmethods[i] = &some[i]->nmethod;
    nmethods_are_there(blobs->vm, nmethods, n, are_there);
    for (size_t i = 0; i < n; i++)
        if (are_there[i])
            some[i]->compared = blobs->round;
}

void code_blobs_round(struct code_blobs *blobs)
{
    size_t n = 0;
    blobs->round++;
    code_heaps_round(blobs->vm);
    if (blobs->n_pcs >= PCS / 2)
        forget_all(blobs);
    for (size_t i = 0; i < blobs->n_recent; i++) {
        struct code_blob *blob = blobs->recent[i];
        blob->is_recent = blobs->round - blob->asked <= RECENT_ROUNDS;
        if (blob->is_recent)
            blobs->recent[n++] = blob;
    }
    blobs->n_recent = n;
    for (size_t i = 0; i < n; i += AT_ONCE)
        compare(blobs, blobs->recent + i, n - i < AT_ONCE ? n - i : AT_ONCE);
}

/* Of an address that has none. */
static struct code_blob *add_blob(struct code_blobs *blobs, struct hash_slot *slot, uint64_t address)
{
    struct code_blob *blob = arena_alloc(&blobs->arena, sizeof *blob);
    blob->address = address;
    *xpush(blobs->all, blobs->room, blobs->n) = blob;
    slot->value = blobs->n;
    return blob;
}

static struct code_blob *find_blob(struct code_blobs *blobs, uint64_t pc)
{
    uint64_t address = code_heaps_find(blobs->vm, pc);
    if (address == 0)
        return NULL;
    struct hash_slot *slot = xhash_put(&blobs->by_address, hash_address(address));
    struct code_blob *blob = slot->value == 0 ? add_blob(blobs, slot, address) : blobs->all[slot->value - 1];
    if (blob->life > 0 && is_there(blobs, blob))
        return blob;
    blob->life++;
    blob->compared = blob->asked = blobs->round;
    return read_blob(blobs, blob) ? blob : NULL;
}

/* ---- an address ---- */

/* Code that was found to be there in this round keeps the methods that were found for it. */
static bool is_kept(const struct code_blobs *blobs, const struct known_method *method)
{
    const struct code_blob *holder = method == NULL ? NULL : method->holder;
    return holder != NULL && holder->compared == blobs->round && holder->life == method->holder_life;
}

static void keep_frames(struct code_blobs *blobs, struct code_at *at)
{
    const struct scopes_walk *walk = &blobs->walk;
    uint64_t others[CODE_FRAMES_MAX] = { 0 };
    uint32_t n_others = 0;
    for (uint32_t i = 0; i < walk->n_frames; i++)
        if (!is_kept(blobs, known_methods_last(blobs->methods, walk->frames[i].method)))
            others[n_others++] = walk->frames[i].method;
    known_methods_compare(blobs->methods, others, n_others);
    struct compiled_frame *frames = arena_alloc(&blobs->arena, walk->n_frames * sizeof *frames);
    for (uint32_t i = 0; i < walk->n_frames; i++) {
        struct known_method *method = known_methods_last(blobs->methods, walk->frames[i].method);
        frames[i] = (struct compiled_frame){ method, walk->frames[i].index };
        if (method != NULL) {
            method->holder = at->blob;
            method->holder_life = at->blob->life;
        }
    }
    at->frames = frames;
    at->n_frames = walk->n_frames;
}

/*
 * Of a compiled method: the frames of the first point of its debug information that is not before the address, and has
 * any: calls of the JVM's routines have none.  Behind the last one, what was compiled is where that one is, and without
 * any, at its entry.
 */
static void take_frames(struct code_blobs *blobs, struct code_at *at)
{
    struct code_blob *blob = at->blob;
    struct scopes_walk *walk = &blobs->walk;
    uint64_t offset = at->pc - blob->nmethod.start;
    if (!blob->has_scopes)
        blob->has_scopes = blob->kind == BLOB_NMETHOD && nmethod_copy(blobs->vm, &blob->nmethod);
    bool is_found = false;
    int32_t last = 0;
    scopes_begin(walk, &blob->nmethod.scopes);
    while (blob->has_scopes && !is_found && scopes_next(walk)) {
        at->is_call |= walk->end == offset;
        is_found = walk->end >= offset && walk->n_frames > 0;
        last = walk->n_frames > 0 ? walk->frames[walk->n_frames - 1].index : last;
    }
    if (!is_found) {
        walk->n_frames = 1;
        walk->frames[0] = (struct scope_frame){ blob->nmethod.method, blob->has_scopes && !walk->is_bad ? last : -1 };
    }
    if (blob->has_scopes && !walk->is_bad && walk->frames[0].index < 0)
        walk->frames[0].index = 0; /* an entry */
    keep_frames(blobs, at);
}

/*
 * A call of native code that needs no safepoint has no debug information.  Compiled code calls Java code and stubs
 * directly, and native code, which is far, by a register.
 */
static void take_call(const struct code_blobs *blobs, struct code_at *at, const uint8_t *before)
{
    int64_t distance = 0;
    enum frame_call call = blobs->rules->call(before, &distance);
    at->is_behind_call = at->is_call && call != FRAME_CALL_NONE;
    at->is_call |= call != FRAME_CALL_NONE;
    at->is_native_call = call == FRAME_CALL_INDIRECT ||
                         (call == FRAME_CALL_DIRECT && !code_blobs_has(blobs, at->pc + (uint64_t)distance));
}

static void look_up(struct code_blobs *blobs, struct code_at *at, uint64_t pc)
{
    uint8_t bytes[FRAME_CALL_BYTES + FRAME_CODE_BYTES] = { 0 }, *code = bytes + FRAME_CALL_BYTES;
    *at = (struct code_at){ .pc = pc, .round = blobs->round };
    at->blob = find_blob(blobs, pc);
    if (at->blob == NULL)
        return;
    at->life = at->blob->life;
    if (pc < at->blob->begin || pc >= at->blob->end) {
        at->blob = NULL;
        return;
    }
    vm_read_some(blobs->vm, pc - FRAME_CALL_BYTES, bytes, sizeof bytes); /* in front of code is a header */
    at->shapes = (uint8_t)blobs->rules->shapes(code, at->blob->complete == FRAME_UNKNOWN ? FRAME_UNKNOWN
                                                     : pc < at->blob->complete           ? at->blob->complete - pc
                                                                                         : 0);
    if (at->blob->kind != BLOB_NMETHOD && at->blob->kind != BLOB_NATIVE)
        return;
    take_frames(blobs, at);
    take_call(blobs, at, bytes);
}

const struct code_at *code_blobs_at(struct code_blobs *blobs, uint64_t pc)
{
    static const struct code_at none;
    uint64_t key = hash_address(pc);
    const struct hash_slot *known = hash_get(&blobs->by_pc, key);
    struct code_at *at = known == NULL ? NULL : &blobs->pcs[known->value - 1];
    if (at != NULL &&
        (at->blob == NULL ? at->round == blobs->round : is_there(blobs, at->blob) && at->life == at->blob->life))
        return at;
    if (at == NULL) {
        struct hash_slot *slot = blobs->n_pcs < PCS ? xhash_put(&blobs->by_pc, key) : NULL;
        if (slot == NULL)
            return &none;
        at = &blobs->pcs[blobs->n_pcs];
        slot->value = ++blobs->n_pcs;
    }
    look_up(blobs, at, pc);
    return at;
}
