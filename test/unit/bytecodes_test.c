/* Java's instructions in a running JVM: those that HotSpot writes, damaged code, what a scan says. */
#include "core/hotspot/bytecodes.h"

#include "core/agent/rewrite/classfile.h"
#include "test/unit/tap.h"

#define SCAN(...)                                      \
    scan((const uint8_t[]){ 0x00, 0x00, __VA_ARGS__ }, \
         sizeof((const uint8_t[]){ 0x00, 0x00, __VA_ARGS__ })) /* two nops in front: jumps have where to go to */

static struct bytecodes_summary scan(const uint8_t *code, size_t n)
{
    struct bytecodes_summary summary;
    bytecodes_scan(code, n, &summary);
    return summary;
}

static void check_table(void)
{
    const char *wrong = "";
    size_t n_java = 0, n_rewritten = 0;
    for (size_t i = 0; i < 256; i++) {
        const struct opcode *o = &opcodes[i];
        n_java += o->name != NULL && o->java == i;
        n_rewritten += o->name != NULL && o->java != i;
        if (o->name == NULL ? o->kind != OPCODE_INVALID
                            : o->kind == OPCODE_INVALID || opcodes[o->java].n_bytes != o->n_bytes ||
                                  (o->java != i && opcodes[o->java].kind != o->kind && i != 0xe9))
            wrong = o->name;
        if (i < 203 && (bytecodes[i].kind == BYTECODE_INVALID) != (o->kind == OPCODE_INVALID))
            wrong = "one that is a class file's in one table only";
    }
    CHECK_TEXT("a rewritten instruction has kind and length of the one that it replaces", wrong, "");
    CHECK_NUMBER("class files have 202 instructions", n_java, 202);
    CHECK_NUMBER("HotSpot has 37 of its own", n_rewritten, 37);
    CHECK_TEXT("203 is fast_agetfield", opcodes[203].name, "fast_agetfield");
    CHECK_TEXT("237 is nofast_iload", opcodes[237].name, "nofast_iload");
    for (int i = 0; i < OPCODE_KINDS; i++)
        wrong = opcode_kind_name((enum opcode_kind)i) == NULL ? "one without" : wrong;
    CHECK_TEXT("each kind has a name", wrong, "");
}

static void check_lengths(void)
{
    const uint8_t linear[] = { 0, 0xe4, 0, 0, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 20, 0xb1 };
    const uint8_t table[] = { 0xaa, 0, 0, 0, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 24, 0, 0, 0, 24, 0xb1 };
    const uint8_t many[] = { 0xe5, 0, 0, 0, 0, 0, 0, 40, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0 };
    const uint8_t wide[] = { 0xc4, 0x84, 0, 1, 0, 1 }, wide_fast[] = { 0xc4, 0xe0, 0, 1, 0, 1 };
    CHECK_NUMBER("a linear switch is as long as a lookupswitch", bytecodes_length(linear, sizeof linear, 1), 19);
    CHECK_NUMBER("a table switch ends behind its last entry", bytecodes_length(table, sizeof table, 0), 24);
    CHECK_NUMBER("a switch with more pairs than there are bytes is none", bytecodes_length(many, sizeof many, 0), 0);
    CHECK_NUMBER("wide iinc has 6 bytes", bytecodes_length(wide, sizeof wide, 0), 6);
    CHECK_TEXT("and is an iinc", bytecodes_at(wide, sizeof wide, 0)->name, "iinc");
    CHECK_NUMBER("no rewritten instruction is wide", bytecodes_length(wide_fast, sizeof wide_fast, 0), 0);
    CHECK_NUMBER("what passes the end is none", bytecodes_length(wide, 5, 0), 0);
    CHECK_NUMBER("there is none behind the end", bytecodes_length(wide, sizeof wide, 6), 0);
}

static void check_scans(void)
{
    struct bytecodes_summary s = SCAN(0xdd, 0xd0, 1, 0, 0xac);
    CHECK("a getter that the JVM rewrote is straight, without calls",
          s.is_whole && s.is_straight && !s.has_calls && !s.has_loop && s.n_instructions == 5);
    s = SCAN(0x1a, 0x99, 0, 4, 0x00, 0xb1);
    CHECK("a jump forward is no loop", s.is_whole && !s.is_straight && !s.has_loop);
    s = SCAN(0x1a, 0x9a, 0xff, 0xff, 0xb1);
    CHECK("a jump back is a loop", s.is_whole && s.has_loop && !s.is_straight);
    s = SCAN(0xc8, 0xff, 0xff, 0xff, 0xfe);
    CHECK("goto_w goes back, too", s.is_whole && s.has_loop);
    s = SCAN(0xaa, 0, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 24, 0xff, 0xff, 0xff, 0xfe, 0xb1);
    CHECK("and so does a case of a switch", s.is_whole && s.has_loop);
    s = SCAN(0xe9, 1, 0, 0xb9, 1, 0, 1, 0, 0xe3, 1, 0, 0xba, 1, 0, 0, 0, 0xb1);
    CHECK("calls are counted, rewritten ones, too", s.is_whole && s.has_calls && s.n_calls == 4 && s.is_straight);
    s = SCAN(0xb6, 0, 1, 0xca, 0, 1, 0xb8, 0, 1);
    CHECK("a breakpoint ends a scan", !s.is_whole && s.has_calls && s.n_calls == 1 && s.n_instructions == 3);
}

/* Whatever the bytes are: the end is found. */
static void check_damaged(void)
{
    uint8_t code[512];
    uint64_t state = 42;
    size_t n_whole = 0;
    for (int round = 0; round < 20000; round++) {
        size_t n = 1 + (state >> 40) % sizeof code;
        for (size_t i = 0; i < n; i++) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
            code[i] = (uint8_t)(state >> 56) % 238;
        }
        n_whole += scan(code, n).is_whole;
    }
    CHECK("damaged code ends a scan", n_whole > 0 && n_whole < 20000);
}

int main(void)
{
    check_table();
    check_lengths();
    check_scans();
    check_damaged();
    return tap_done();
}
