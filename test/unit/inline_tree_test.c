/* Inline trees of made-up debug information; what blobs are called; and what the JVM counted of calls. */
#include "core/hotspot/jit_code.h"
#include "core/hotspot/vm_methods.h"

#include "test/unit/tap.h"

#define A 0x1000u
#define B 0x2000u
#define C 0x3000u

/*
 * A calls B at 3 and at 9; B is inlined at both, and calls C at 5, which is inlined at the first one only.  Scopes: the
 * offset of the sender's, the method, 1 more than the bytecode's index.
 */
static const uint8_t scope_bytes[] = { 0,           /* nothing */
                                       0,  1, 4,    /* 1: A at 3 */
                                       1,  2, 6,    /* 4: B at 5, in A at 3 */
                                       4,  3, 1,    /* 7: C at 0, in that */
                                       0,  1, 10,   /* 10: A at 9 */
                                       10, 2, 6,    /* 13: B at 5, in A at 9 */
                                       0,  1, 13 }; /* 16: A at 12 */

static const struct {
    uint32_t pc, scope;
    unsigned flags;
} points[] = { { 8, 7, INLINE_ALLOCATES }, { 16, 13, INLINE_CALLS }, { 20, 13, INLINE_TRAPS }, { 24, 16, 0 } };

static unsigned flags_of(void *context, uint64_t offset)
{
    (void)context;
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        if (points[i].pc == offset)
            return points[i].flags;
    return 0;
}

static int read_tree(struct inline_tree *tree, size_t n_bytes)
{
    uint8_t methods[24], pcs[8 * sizeof points / sizeof *points];
    struct sink m = sink_into(methods, sizeof methods), p = sink_into(pcs, sizeof pcs);
    sink_u64le(&m, A);
    sink_u64le(&m, B);
    sink_u64le(&m, C);
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        sink_u32le(&p, points[i].pc);
        sink_u32le(&p, points[i].scope);
    }
    const struct scopes scopes = { .pcs = pcs,
                                   .bytes = scope_bytes,
                                   .methods = methods,
                                   .n_pcs_bytes = sizeof pcs,
                                   .n_bytes = n_bytes,
                                   .n_methods_bytes = sizeof methods,
                                   .pc_bytes = 8,
                                   .at_scope = 4,
                                   .code_bytes = 32 };
    return inline_tree_read(tree, &scopes, flags_of, NULL);
}

static void check_tree(void)
{
    struct inline_tree tree = { .nodes = NULL };
    CHECK("a tree is read", read_tree(&tree, sizeof scope_bytes) == 0);
    CHECK_NUMBER("a node for each copy of a method", tree.n_nodes, 4);
    CHECK("the first is what was compiled", tree.nodes[0].method == A && tree.nodes[0].caller == INLINE_ROOT);
    CHECK("then what is inlined in it, with its place", tree.nodes[1].method == B && tree.nodes[1].caller == 0 &&
                                                            tree.nodes[1].index == 3 && tree.nodes[2].method == C &&
                                                            tree.nodes[2].caller == 1 && tree.nodes[2].index == 5);
    CHECK("an allocation is at its own copy", inline_tree_flags(&tree, 2, 0) == INLINE_ALLOCATES);
    CHECK("a call and a trap of one bytecode are both there",
          inline_tree_flags(&tree, 3, 5) == (INLINE_CALLS | INLINE_TRAPS));
    CHECK("and not in the other copy, where it is inlined",
          inline_tree_flags(&tree, 1, 5) == 0 && inline_tree_has_inlined(&tree, 1, 5));
    CHECK("what is inlined is below what it is in",
          inline_tree_is_below(&tree, 2, 0) && inline_tree_is_below(&tree, 2, 1) && !inline_tree_is_below(&tree, 2, 3));
    CHECK("what left no trace can be added", inline_tree_add(&tree, 0, 20, C) == 4 && tree.nodes[4].is_left_out);
    CHECK("a tree is read again", read_tree(&tree, sizeof scope_bytes) == 0 && tree.n_nodes == 4);
    CHECK("damaged debug information is refused", read_tree(&tree, 12) < 0);
    inline_tree_free(&tree);
}

static void check_targets(void)
{
    static const struct {
        const char *name;
        enum call_target target;
    } rows[] = {
        { "nmethod", CALL_OF_JAVA },
        { "native nmethod", CALL_OF_JAVA },
        { "I2C/C2I adapters(0xbaabbaa)", CALL_OF_JAVA },
        { "vtable chunks", CALL_OF_JAVA },
        { "resolve_opt_virtual_call", CALL_OF_JAVA },
        { "Shared Runtime resolve_static_call_blob", CALL_OF_JAVA },
        { "Shared Runtime ic_miss_blob", CALL_OF_JAVA },
        { "UncommonTrapBlob", CALL_OF_TRAP },
        { "C2 Runtime uncommon_trap_blob", CALL_OF_TRAP },
        { "_new_instance_Java", CALL_OF_ALLOCATION },
        { "C2 Runtime new_array_nozero", CALL_OF_ARRAY },
        { "C1 Runtime new_type_array_blob", CALL_OF_ARRAY },
        { "_multianewarray2_Java", CALL_OF_ARRAY },
        { "_complete_monitor_locking_Java", CALL_OF_OTHER },
        { "", CALL_OF_OTHER },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(rows[i].name, call_target_named(rows[i].name) == rows[i].target);
}

/* A word: tag, index of the bytecode; then cells. */
#define ENTRY(tag, index) ((uint64_t)(index) << 16 | (tag))

static bool check_profile_of(const uint64_t *words, size_t n_bytes, unsigned extra, const char *claim)
{
    struct vm_profile profile = { .bytes = (uint8_t *)words, .n_bytes = n_bytes };
    struct vm_call_profile call;
    bool is_read = vm_profile_check(&profile, 100) && profile.extra == extra;
    bool is_counted = is_read && vm_profile_call(&profile, 4, &call) && call.n == 17 && !call.is_virtual;
    bool is_virtual = is_counted && vm_profile_call(&profile, 30, &call) && call.n == 12 && call.n_others == 2 &&
                      call.n_receivers == 1 && call.receivers[0].klass == 0x7000 && call.receivers[0].n == 10;
    return CHECK(claim, is_virtual && !vm_profile_call(&profile, 9, &call) && !vm_profile_call(&profile, 31, &call));
}

static void check_profiles(void)
{
    const uint64_t plain[] = { ENTRY(2, 4), 17, ENTRY(7, 9), 1, 0, 2, ENTRY(5, 30), 2, 0x7000, 10, 0, 0 };
    const uint64_t more[] = { ENTRY(2, 4), 17, ENTRY(8, 9), 2, 1, 2, ENTRY(11, 30), 2, 99, 0x7000, 10, 0, 0, 1, 5 };
    struct vm_profile profile = { .bytes = (uint8_t *)plain, .n_bytes = sizeof plain };
    check_profile_of(plain, sizeof plain, 0, "calls and receivers are counted");
    check_profile_of(more, sizeof more, 1, "and where an entry has a cell more, and types behind it");
    CHECK("a bytecode behind the code's end is refused", !vm_profile_check(&profile, 30));
    profile.n_bytes -= 8;
    CHECK("and a profile that is cut", !vm_profile_check(&profile, 100));
}

int main(void)
{
    check_tree();
    check_targets();
    check_profiles();
    return tap_done();
}
