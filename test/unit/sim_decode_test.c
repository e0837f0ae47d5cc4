#include "core/emu/model/sim_foreseen.h"

#include "test/unit/tap.h"

static void test_x86(void)
{
    static const struct {
        const char *claim;
        uint8_t bytes[16];
        size_t n;
        enum sim_branch_kind kind;
    } rows[] = {
        { "jne rel8", { 0x75, 0xfe }, 2, SIM_CONDITIONAL },
        { "jae rel32", { 0x0f, 0x83, 1, 2, 3, 4 }, 6, SIM_CONDITIONAL },
        { "loop", { 0xe2, 0xfe }, 2, SIM_CONDITIONAL },
        { "jrcxz", { 0xe3, 0x10 }, 2, SIM_CONDITIONAL },
        { "jmp rel32", { 0xe9, 1, 2, 3, 4 }, 5, SIM_NO_BRANCH },
        { "jmp rel8", { 0xeb, 0x10 }, 2, SIM_NO_BRANCH },
        { "call rel32", { 0xe8, 1, 2, 3, 4 }, 5, SIM_CALL },
        { "call *%rax", { 0xff, 0xd0 }, 2, SIM_INDIRECT_CALL },
        { "call *8(%r10)", { 0x41, 0xff, 0x52, 0x08 }, 4, SIM_INDIRECT_CALL },
        { "jmp *%r11", { 0x41, 0xff, 0xe3 }, 3, SIM_INDIRECT },
        { "bnd jmp *0(%rip)", { 0xf2, 0xff, 0x25, 1, 2, 3, 4 }, 7, SIM_INDIRECT },
        { "push (%rax) is no branch", { 0xff, 0x30 }, 2, SIM_NO_BRANCH },
        { "incl (%rax) is no branch", { 0xff, 0x00 }, 2, SIM_NO_BRANCH },
        { "ret", { 0xc3 }, 1, SIM_RETURN },
        { "rep ret", { 0xf3, 0xc3 }, 2, SIM_RETURN },
        { "ret imm16", { 0xc2, 8, 0 }, 3, SIM_RETURN },
        { "rep movsb is no branch", { 0xf3, 0xa4 }, 2, SIM_NO_BRANCH },
        { "setne is no branch", { 0x0f, 0x95, 0xc0 }, 3, SIM_NO_BRANCH },
        { "a cut call is none", { 0xff }, 1, SIM_NO_BRANCH },
        { "prefixes alone are none", { 0x66, 0xf3 }, 2, SIM_NO_BRANCH },
        { "nothing is none", { 0 }, 0, SIM_NO_BRANCH },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_NUMBER(rows[i].claim, sim_decode_x86(rows[i].bytes, rows[i].n), rows[i].kind);
}

static void test_dispatch(void)
{
    static const uint8_t near[] = { 0x41, 0x0f, 0xb6, 0x5d, 0x02 }, far[] = { 0x41, 0x0f, 0xb6, 0x9d, 0, 1, 0, 0 };
    static const uint8_t other[] = { 0x41, 0x0f, 0xb6, 0x45, 0x02 }; /* into eax */
    CHECK("movzbl 2(%r13), %ebx fetches a bytecode", sim_decode_is_dispatch(near, sizeof near));
    CHECK("so does one with a long offset", sim_decode_is_dispatch(far, sizeof far));
    CHECK("a load into another register does not", !sim_decode_is_dispatch(other, sizeof other));
    CHECK("nor does half of one", !sim_decode_is_dispatch(near, 4));
}

static void test_arm64(void)
{
    static const struct {
        const char *claim;
        uint32_t code;
        enum sim_branch_kind kind;
    } rows[] = {
        { "b.ne", 0x54000041, SIM_CONDITIONAL },
        { "cbz w0", 0x34000040, SIM_CONDITIONAL },
        { "cbnz x3", 0xb5000043, SIM_CONDITIONAL },
        { "tbz w1, #3", 0x36180041, SIM_CONDITIONAL },
        { "tbnz x1, #40", 0xb7400041, SIM_CONDITIONAL },
        { "b", 0x14000004, SIM_NO_BRANCH },
        { "bl", 0x94000010, SIM_CALL },
        { "br x16", 0xd61f0200, SIM_INDIRECT },
        { "blr x8", 0xd63f0100, SIM_INDIRECT_CALL },
        { "ret", 0xd65f03c0, SIM_RETURN },
        { "retaa", 0xd65f0bff, SIM_RETURN },
        { "ldr x0, [x1] is no branch", 0xf9400020, SIM_NO_BRANCH },
        { "svc is no branch", 0xd4000001, SIM_NO_BRANCH },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint8_t bytes[] = { (uint8_t)rows[i].code, (uint8_t)(rows[i].code >> 8), (uint8_t)(rows[i].code >> 16),
                                  (uint8_t)(rows[i].code >> 24) };
        CHECK_NUMBER(rows[i].claim, sim_decode_arm64(bytes, sizeof bytes), rows[i].kind);
    }
}

int main(void)
{
    test_x86();
    test_arm64();
    test_dispatch();
    return tap_done();
}
