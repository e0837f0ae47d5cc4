/*
 * Claims are asked of some compilations, of the interpreter and of threads that wait.  One that is false more often
 * than true ends it: the JVM goes on while it is read, so that a few may be.
 */
#include "core/hotspot/vm.h"

#include "core/base/xalloc.h"
#include "core/hotspot/bytecodes.h"
#include "core/hotspot/nmethod.h"
#include "core/hotspot/stack_walk_internal.h"
#include "core/hotspot/vm_state.h"

#define CHECKED_FEW    24u /* compilations that are read where none is doubted, each by some 30 system calls; */
#define CHECKED_MAX    64u /* or at most */
#define CACHE_MAX      ((uint64_t)2 << 30)
#define FEW            8u /* compilations say nothing yet about what most have */
#define BLOCKS_MAX     20000u
#define PROLOGUE_BYTES 96u
#define TIER_MAX       4u
#define TIER_RARE      2u /* most code is never of that one: it is for the time in which C2 has too much to do */
#define STATE_MAX      4
#define THREADS_FEW    12u /* whose stacks are walked where that is not doubted, */
#define THREADS_MAX    64u /* or at most */
#define STACK_BYTES    (128u * 1024)
#define TURNS          10 /* until a thread waits: a JVM that has just been started may have none */

enum claim {
    STATES,
    PLACE,
    SCOPES,
    NAMES,
    TRAITS,
    LOADERS,
    LINES,
    SOURCES,
    KINDS,
    TIERS,
    HEAPS,
    FRAMES,
    HANDLERS,
    NUMBERS,
    ENTRIES,
    STACKS,
    CLAIMS
};

static const char *const is_false[CLAIMS] = {
    [STATES] = "it is not known which compiled code is in use",
    [PLACE] = "compiled code is outside of the code cache",
    [SCOPES] = "compiled code and its debug information are of different methods",
    [NAMES] = "methods' names cannot be read",
    [TRAITS] = "methods' bytecodes and flags do not agree",
    [LOADERS] = "classes of java.lang have several class loaders",
    [LINES] = "many of the JDK's methods have no line numbers",
    [SOURCES] = "the JDK's methods have line numbers, but no source files",
    [KINDS] = "compiled code and its tier do not agree",
    [TIERS] = "most compiled code is of a tier that is rare",
    [HEAPS] = "compiled code is in heaps of other tiers",
    [FRAMES] = "compiled code and the size of its frames do not agree",
    [HANDLERS] = "compiled code and its deoptimization handlers do not agree",
    [NUMBERS] = "compilations have the same number",
    [ENTRIES] = "compiled code is entered outside of its method",
    [STACKS] = "the stacks of waiting threads cannot be walked to their ends",
};

struct check {
    struct vm *vm;
    struct stack_walker *walker;
    struct nmethod nmethod;
    uint64_t low, high;   /* of the code cache */
    uint64_t interpreter; /* the block that it is */
    bool has_points, has_interpreter;
    uint64_t loader; /* of java.lang; 0: not known yet */
    uint32_t last_number;
    uint32_t n_blocks, n_named, n_alive, n_read, n_in_use, n_checked;
    struct answers {
        uint32_t n_asked[CLAIMS], n_false[CLAIMS];
        struct heap_seen {
            uint32_t n_natives, n_counting, n_others; /* counting: of tiers 2 and 3 */
        } heaps[CODE_HEAPS_MAX];
    } answers;
    uint64_t state; /* of an nmethod: an offset */
    /* Where threads have what they have called last. */
    struct vm_thread_list list;
    struct stack_anchors anchors;
    struct scopes_walk walk;
    /* What is read: half a megabyte, which is not cleared. */
    struct vm_method method;
    uint8_t bytecodes[BYTECODES_MAX];
    uint8_t stack[STACK_BYTES], again[STACK_BYTES];
    struct java_stack walked;
};

static bool ask(struct check *c, enum claim claim, bool is_true)
{
    c->answers.n_asked[claim]++;
    c->answers.n_false[claim] += !is_true;
    return is_true;
}

/* ---- methods ---- */

/* Of a name or a descriptor, which may be in any script. */
static bool has_letters(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((uint8_t)text[i] < ' ' || (uint8_t)text[i] == 0x7f)
            return false;
    return n > 0;
}

static bool is_word(const char *text, size_t n)
{
    return has_letters(text, n) && memchr(text, '(', n) == NULL;
}

/* "(I[Ljava/lang/String;)V": as far as one that is cut goes. */
static bool is_descriptor(const char *text, size_t n)
{
    if (n < 3 || text[0] != '(' || !has_letters(text, n))
        return false;
    const char *end = memchr(text, ')', n);
    return n >= WIRE_TEXT_SHORT_BYTES - 4 ||
           (end != NULL && end + 1 < text + n && strchr("BCDFIJSZVL[", end[1]) != NULL);
}

static bool is_named(struct check *c, uint64_t address)
{
    const struct vm_method *m = &c->method;
    struct vm_method_parts parts;
    uint64_t key;
    vm_methods_keys(c->vm, &address, 1, &key, &parts);
    return key != 0 && vm_method_read_parts(c->vm, &c->method, address, &parts, c->bytecodes) &&
           is_word(m->class_name, m->n_class_name) && is_word(m->name, m->n_name) &&
           is_descriptor(m->descriptor, m->n_descriptor);
}

static bool begins(const char *text, size_t n, const char *with)
{
    return n >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

/* What only names of the JDK's own classes tell. */
static void check_class(struct check *c)
{
    const struct vm_method *m = &c->method;
    size_t n_end = sizeof ".java" - 1;
    if (begins(m->class_name, m->n_class_name, "java/lang/") && !m->code.is_hidden) {
        c->loader = c->loader == 0 ? m->loader : c->loader;
        ask(c, LOADERS, m->loader == c->loader);
    }
    if (m->code.n_bytes > 0 && begins(m->class_name, m->n_class_name, "java/") &&
        !begins(m->class_name, m->n_class_name, "java/lang/invoke/") && ask(c, LINES, m->n_lines > 0))
        ask(c, SOURCES, m->n_source > n_end && memcmp(m->source + m->n_source - n_end, ".java", n_end) == 0);
}

static bool has_code(const struct check *c)
{
    const struct vm_method *m = &c->method;
    struct bytecodes_summary summary;
    return !m->code.is_native && !m->code.is_abstract && bytecodes_scan(c->bytecodes, m->code.n_bytes, &summary) &&
           (m->n_lines == 0 || m->lines[m->n_lines - 1].index < m->code.n_bytes);
}

static bool check_method(struct check *c, uint64_t address)
{
    const struct vm_code *code = &c->method.code;
    if (!ask(c, NAMES, is_named(c, address)))
        return false;
    ask(c, TRAITS, code->n_bytes == 0 ? code->is_native || code->is_abstract : has_code(c));
    check_class(c);
    return true;
}

/* ---- compiled code ---- */

static uint32_t pc_of(const struct scopes *scopes, size_t at)
{
    return (uint32_t)vm_number(scopes->pcs, scopes->n_pcs_bytes, at + scopes->at_pc, 4);
}

/* The first PcDesc is in front of the code, the last behind it, and each behind the one before; or there are none. */
static bool are_pcs(const struct scopes *scopes)
{
    size_t n_bytes = scopes->pc_bytes, n = scopes->n_pcs_bytes / n_bytes;
    int64_t last = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        int32_t pc = (int32_t)pc_of(scopes, i * n_bytes);
        if (pc <= last || pc < -1 || (i == 0) != (pc == -1) || (i + 1 == n) != (pc > (int64_t)scopes->code_bytes))
            return false;
        last = pc;
    }
    return scopes->n_pcs_bytes % n_bytes == 0;
}

/* The outermost frame of each point is of the method that was compiled; getters have no points. */
static bool is_of_its_method(struct check *c)
{
    if (!are_pcs(&c->nmethod.scopes))
        return false;
    scopes_begin(&c->walk, &c->nmethod.scopes);
    while (scopes_next(&c->walk)) {
        c->has_points = true;
        if (c->walk.n_frames < CODE_FRAMES_MAX && c->walk.frames[c->walk.n_frames - 1].method != c->nmethod.method)
            return false;
    }
    return !c->walk.is_bad;
}

static bool takes_its_frame(const struct check *c, const struct code_blob *blob)
{
    uint8_t code[PROLOGUE_BYTES];
    if (blob->complete == FRAME_UNKNOWN || blob->complete <= c->nmethod.start || blob->complete > blob->end)
        return false;
    uint64_t n = blob->complete - c->nmethod.start;
    n = n < sizeof code ? n : sizeof code;
    return vm_read(c->vm, blob->complete - n, code, n) && c->walker->rules->takes(code, n, blob->frame_bytes);
}

static void check_blob(struct check *c)
{
    const struct nmethod *nmethod = &c->nmethod;
    const struct code_blob *blob = code_blobs_at(c->walker->blobs, nmethod->start + nmethod->n_bytes / 2)->blob;
    bool is_same = blob != NULL && blob->address == nmethod->address;
    ask(c, KINDS, is_same && nmethod->tier <= TIER_MAX && (blob->kind == BLOB_NATIVE) == (nmethod->tier == 0));
    ask(c, TIERS, nmethod->tier != TIER_RARE);
    int heap = code_heaps_of(c->vm, nmethod->address);
    if (heap >= 0 && is_same) {
        bool is_native = blob->kind == BLOB_NATIVE, is_counting = nmethod->tier == 2 || nmethod->tier == 3;
        c->answers.heaps[heap].n_natives += is_native;
        c->answers.heaps[heap].n_counting += !is_native && is_counting;
        c->answers.heaps[heap].n_others += !is_native && !is_counting;
    }
    if (!is_same || blob->kind != BLOB_NMETHOD)
        return;
    ask(c, FRAMES, takes_its_frame(c, blob));
    ask(c, HANDLERS,
        blob->deopt[0] > nmethod->start && blob->deopt[0] < blob->end && blob->original_pc % 8 == 0 &&
            blob->original_pc + 16 <= blob->frame_bytes);
    ask(c, ENTRIES, nmethod->entry_index >= -1 && nmethod->entry_index < (int32_t)BYTECODES_MAX);
    ask(c, NUMBERS, nmethod->number != c->last_number);
    c->last_number = nmethod->number;
}

static bool is_inside(const struct check *c)
{
    const struct nmethod *nmethod = &c->nmethod;
    return nmethod->start > nmethod->address && nmethod->start < c->high && nmethod->n_bytes < c->high - nmethod->start;
}

static void check_code(struct check *c)
{
    c->has_points = false;
    if (ask(c, PLACE, is_inside(c)) && ask(c, SCOPES, nmethod_copy(c->vm, &c->nmethod) && is_of_its_method(c)) &&
        check_method(c, c->nmethod.method))
        check_blob(c);
}

/*
 * Where more than one answer in so many is false, that is no chance.  What code and methods say of themselves is never
 * false; prologues and names of files are habits, and stacks of some threads, as those that carry virtual ones, may not
 * be walked.
 */
static const uint32_t false_one_in[CLAIMS] = {
    [STATES] = 64,  [PLACE] = 16,  [SCOPES] = 32, [NAMES] = 32, [TRAITS] = 8, [LOADERS] = 4,
    [LINES] = 3,    [SOURCES] = 4, [KINDS] = 64,  [TIERS] = 2,  [HEAPS] = 4,  [FRAMES] = 4,
    [HANDLERS] = 4, [NUMBERS] = 8, [ENTRIES] = 8, [STACKS] = 3,
};

static bool is_doubted(const struct check *c, int claim)
{
    if (claim == LINES && (c->answers.n_false[claim] == c->answers.n_asked[claim] || c->answers.n_asked[claim] < FEW))
        return false; /* a JDK without debug information */
    return c->answers.n_false[claim] > c->answers.n_asked[claim] / false_one_in[claim];
}

/* Most JVMs are as they say: few compilations show it. */
static bool is_enough(const struct check *c)
{
    bool is_any_doubted = c->n_checked < CHECKED_FEW;
    for (int i = 0; i < CLAIMS && !is_any_doubted; i++)
        is_any_doubted = is_doubted(c, i);
    return !is_any_doubted || c->n_checked == CHECKED_MAX;
}

static void check_block(void *context, uint64_t address)
{
    struct check *c = context;
    struct nmethod *nmethod = &c->nmethod;
    int8_t state;
    bool is_alive;
    c->has_interpreter |= address == c->interpreter;
    if (is_enough(c) || ++c->n_blocks > BLOCKS_MAX || !nmethod_is_named(c->vm, address, &is_alive))
        return;
    c->n_named++;
    c->n_alive += is_alive;
    if (!vm_read(c->vm, address + c->state, &state, sizeof state) ||
        !ask(c, STATES, state >= -1 && state <= STATE_MAX) || !nmethod_find_at(c->vm, nmethod, address))
        return;
    c->n_read++;
    if (!nmethod->is_in_use)
        return;
    c->n_in_use++;
    const struct answers before = c->answers;
    check_code(c);
    vm_remember(c->vm, true);
    if (!nmethod_is_there(c->vm, nmethod)) /* it was thrown away meanwhile */
        c->answers = before;
    else
        c->n_checked += c->has_points; /* others say less */
}

/* ---- where the JVM says that things are ---- */

/* Not all releases export it. */
static bool is_whole_cache(const struct check *c)
{
    uint64_t low_at, high_at, low, high;
    struct vm_field bounds[] = { { "CodeCache", "_low_bound", &low_at, true },
                                 { "CodeCache", "_high_bound", &high_at, true } };
    return !vm_fields_find(c->vm, bounds, sizeof bounds / sizeof *bounds) || !vm_read_u64(c->vm, low_at, &low) ||
           !vm_read_u64(c->vm, high_at, &high) || (low == c->low && high == c->high);
}

/* A field that is taken for its neighbour shows only in code that has both: with oops, say, which most has not. */
static bool are_parts_apart(const struct check *c)
{
    static const char *const names[] = { "_exception_offset",     "_deoptimize_offset",   "_consts_offset",
                                         "_stub_offset",          "_oops_offset",         "_metadata_offset",
                                         "_scopes_data_offset",   "_scopes_pcs_offset",   "_dependencies_offset",
                                         "_handler_table_offset", "_nul_chk_table_offset" };
    uint64_t at[sizeof names / sizeof *names];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct vm_field field = { "nmethod", names[i], &at[i], false };
        vm_fields_find(c->vm, &field, 1);
        for (size_t other = 0; other < i; other++)
            if (at[i] != VM_NONE && at[i] == at[other])
                return false;
    }
    return true;
}

/* The interpreter is a block of the code cache with that name, all of which it uses. */
static bool is_interpreter(struct check *c)
{
    uint64_t low, high;
    if (!code_heaps_interpreter(c->vm, &low, &high) || low < c->low || high > c->high)
        return false;
    const struct code_blob *blob = code_blobs_at(c->walker->blobs, low)->blob;
    c->interpreter = blob == NULL ? 0 : blob->address;
    return blob != NULL && blob->kind == BLOB_INTERPRETER && low == blob->begin && high == blob->end;
}

/* An anchor has three different words. */
static bool is_anchor(const struct stack_walker *walker, uint64_t n_bytes)
{
    uint64_t sp = walker->last_sp, fp = walker->last_fp, pc = walker->last_pc;
    return n_bytes < VM_NONE && sp + 8 <= n_bytes && fp + 8 <= n_bytes && pc + 8 <= n_bytes && sp != fp && sp != pc &&
           fp != pc;
}

/* The JVM's calls of Java code, and those of virtual threads, which are of stubs whose frames hold such an entry. */
static bool are_entries(const struct check *c)
{
    const struct stack_walker *walker = c->walker;
    uint64_t wrapper = vm_type_bytes(c->vm, "JavaCallWrapper"), anchor = vm_type_bytes(c->vm, "JavaFrameAnchor"), pc;
    const struct code_blob *stub = code_blobs_at(walker->blobs, walker->call_return)->blob;
    if (!is_anchor(walker, anchor) || stub == NULL || stub->kind != BLOB_ROUTINES || stub->is_continuation ||
        walker->wrapper_anchor + anchor + sizeof(uint64_t) != wrapper)
        return false;
    if (walker->entry_return == 0)
        return true;
    if (!vm_read_u64(c->vm, walker->entry_return, &pc))
        return false;
    const struct code_blob *enter = code_blobs_at(walker->blobs, pc)->blob;
    return pc == 0 || (enter != NULL && enter->frame_bytes - 16 - walker->entry_bytes < 16);
}

/* ---- threads ---- */

/* The stack's innermost bytes, from two words in front of its last frame on.  Returns how many; *is_cut: not all. */
static size_t copy_stack(const struct check *c, const struct stack_anchor *anchor, uint8_t *stack, bool *is_cut)
{
    uint64_t low = anchor->sp - STACK_ANCHOR_BYTES, n = anchor->base < low ? 0 : anchor->base - low;
    *is_cut = n > STACK_BYTES;
    return vm_read_some(c->vm, low, stack, *is_cut ? STACK_BYTES : (size_t)n) & ~(size_t)7;
}

/* It is a thread's own as long as that waits: then it is the same when it is read again. */
static bool is_waiting(struct check *c, uint64_t thread, const struct stack_anchor *anchor, size_t n)
{
    bool is_cut;
    struct stack_anchor now = stack_anchor_read(c->walker, &c->anchors, thread);
    return memcmp(&now, anchor, sizeof now) == 0 && copy_stack(c, &now, c->again, &is_cut) == n &&
           memcmp(c->again, c->stack, n) == 0;
}

/* Asks nothing where the thread does not wait, or its stack is too deep. */
static void check_thread(struct check *c, uint64_t address)
{
    struct stack_anchor anchor = stack_anchor_read(c->walker, &c->anchors, address);
    bool is_cut;
    if (anchor.sp == 0)
        return;
    size_t n = copy_stack(c, &anchor, c->stack, &is_cut);
    const struct thread_state thread = { .sp = anchor.sp - STACK_ANCHOR_BYTES, .stack = c->stack, .n_bytes = n };
    stack_walk_anchor(c->walker, &thread, anchor, &c->walked);
    enum stack_end end = c->walked.end;
    if (!is_waiting(c, address, &anchor, n) || end == STACK_TOO_DEEP || (end == STACK_CUT && is_cut))
        return;
    ask(c, STACKS, end == STACK_WHOLE && c->walked.n > 0);
}

/* The JVM's own threads wait always: Reference Handler, for one. */
static bool have_threads(struct check *c)
{
    uint64_t threads[THREADS_MAX];
    if (!vm_thread_list_find(c->vm, &c->list) || !stack_anchors_find(c->vm, &c->anchors))
        return false;
    for (int turn = 0; turn < TURNS; turn++) {
        int64_t n = vm_thread_list_read(c->vm, &c->list, threads, THREADS_MAX);
        for (int64_t i = 0; i < n && i < (int64_t)THREADS_MAX; i++)
            if (c->answers.n_asked[STACKS] < THREADS_FEW || is_doubted(c, STACKS))
                check_thread(c, threads[i]);
        if (c->answers.n_asked[STACKS] > 0)
            return true;
        nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
    }
    return false;
}

/* ---- the verdict ---- */

static const char *why_no_code(const struct check *c)
{
    return !c->has_interpreter                      ? "blocks of the code cache are not where the JVM says"
           : c->n_named > FEW && c->n_in_use == 0   ? is_false[STATES]
           : c->n_read < c->n_alive / 2             ? "compiled code cannot be read"
           : c->n_in_use > FEW && c->n_checked == 0 ? "compiled code has no debug information"
                                                    : NULL;
}

/* The heap with natives has no code that counts, and no other heap has other code. */
static void check_heaps(struct check *c)
{
    uint32_t n_with_natives = 0;
    for (int i = 0; i < CODE_HEAPS_MAX; i++)
        n_with_natives += c->answers.heaps[i].n_natives > 0;
    for (int i = 0; i < CODE_HEAPS_MAX && n_with_natives == 1 && code_heaps_are_apart(c->vm); i++) {
        const struct heap_seen *heap = &c->answers.heaps[i];
        c->answers.n_asked[HEAPS] += heap->n_counting + heap->n_others;
        c->answers.n_false[HEAPS] += heap->n_natives > 0 ? heap->n_counting : heap->n_others;
    }
}

/* What does not agree, or NULL. */
static const char *disagreement(struct check *c)
{
    if (!code_heaps_range(c->vm, &c->low, &c->high) || c->high - c->low > CACHE_MAX || c->high % 4096 != 0 ||
        !is_whole_cache(c))
        return "the code cache is not where the JVM says";
    if (!are_parts_apart(c))
        return "two parts of compiled code begin at one place";
    struct vm_field state = { "nmethod", "_state", &c->state, false };
    if (!is_interpreter(c) || !vm_fields_find(c->vm, &state, 1))
        return "the interpreter is not where the JVM says";
    vm_remember(c->vm, true);
    code_heaps_walk(c->vm, check_block, c);
    vm_remember(c->vm, false);
    nmethod_free(&c->nmethod);
    check_heaps(c);
    for (int i = 0; i < CLAIMS; i++)
        if (is_doubted(c, i))
            return is_false[i];
    const char *why = why_no_code(c);
    if (why == NULL && !are_entries(c))
        why = "calls of Java code are not where the JVM says";
    if (why == NULL && !have_threads(c))
        why = "no waiting thread's stack is where the JVM says";
    return why == NULL && is_doubted(c, STACKS) ? is_false[STACKS] : why;
}

static const char *checked(struct check *c, struct stack_walker *walker)
{
    memset(c, 0, offsetof(struct check, method));
    c->vm = walker->vm;
    c->walker = walker;
    return disagreement(c);
}

/* Which digits the JVM's streams have is guessed by its release: where that does not agree, it has the other ones. */
int vm_check_stacks(struct stack_walker *walker, struct err *err)
{
    struct check *c = xmalloc(sizeof *c);
    const char *why = checked(c, walker), *again = why;
    if (why != NULL) {
        vm_exclude_digits(walker->vm, !vm_excluded_digits(walker->vm));
        again = checked(c, walker);
    }
    if (why != NULL && again != NULL)
        vm_exclude_digits(walker->vm, !vm_excluded_digits(walker->vm));
    why = again == NULL ? NULL : why;
    free(c);
    if (why == NULL)
        return 0;
    err_set(err, "the layout of this JVM's stacks is not known (JDK %u): %s", (unsigned)vm_release(walker->vm), why);
    return err_next(err, "use --mechanism polling, which asks the JVM itself");
}
