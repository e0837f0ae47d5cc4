/* The memory operands of x86-64 instructions as HotSpot's compilers write them. */
#include "core/hotspot/vm_methods.h"

#include "test/unit/tap.h"

static void test_rows(void)
{
    static const struct {
        const char *claim;
        uint8_t bytes[12];
        int32_t offset; /* -1: none */
        bool has_index;
    } rows[] = {
        { "mov 0xc(%r11),%r10d", { 0x45, 0x8b, 0x53, 0x0c }, 12, false },
        { "mov 0x10(%r12,%r11,8),%rax: a compressed reference", { 0x4b, 0x8b, 0x44, 0xdc, 0x10 }, 16, false },
        { "add 0x10(%rsi,%rcx,4),%eax: an element", { 0x03, 0x44, 0x8e, 0x10 }, 16, true },
        { "movsd %xmm0,0x118(%rdx)", { 0xf2, 0x0f, 0x11, 0x82, 0x18, 0x01, 0x00, 0x00 }, 0x118, false },
        { "movzbl 0x14(%rbx),%eax", { 0x0f, 0xb6, 0x43, 0x14 }, 20, false },
        { "vmovdqu 0x20(%rsi,%rdi,4),%ymm1", { 0xc5, 0xfe, 0x6f, 0x4c, 0xbe, 0x20 }, 32, true },
        { "cmp (%r8),%rax: what has no offset", { 0x49, 0x3b, 0x00 }, 0, false },
        { "add %ebx,%eax: registers", { 0x01, 0xd8 }, -1, false },
        { "mov 0x8(%rsp),%rax: the stack", { 0x48, 0x8b, 0x44, 0x24, 0x08 }, -1, false },
        { "mov 0x100(%rip),%rax: a constant", { 0x48, 0x8b, 0x05, 0x00, 0x01, 0x00, 0x00 }, -1, false },
        { "lea 0x10(%rax),%rbx", { 0x48, 0x8d, 0x58, 0x10 }, -1, false },
        { "jne", { 0x0f, 0x85, 0x10, 0x00, 0x00, 0x00 }, -1, false },
        { "vzeroupper", { 0xc5, 0xf8, 0x77, 0x40, 0x10 }, -1, false },
        { "ret", { 0xc3 }, -1, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct memory_operand operand;
        bool is_there = memory_operand_read(rows[i].bytes, sizeof rows[i].bytes, &operand);
        CHECK(rows[i].claim, is_there ? operand.offset == rows[i].offset && operand.has_index == rows[i].has_index
                                      : rows[i].offset == -1);
    }
    struct memory_operand operand;
    CHECK("an instruction that is cut has none", !memory_operand_read(rows[3].bytes, 5, &operand));
}

int main(void)
{
    test_rows();
    return tap_done();
}
