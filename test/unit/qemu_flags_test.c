#include "core/emu/plugin/qemu_api.h"

#include "test/unit/tap.h"

#if defined(__x86_64__)

#define AC UINT64_C(0x40000)

/* As QEMU has it: its numbers, then the state, and code that begins as its blocks do, the way out, and a syscall. */
static struct {
    int32_t numbers[128 / 4]; /* [12]: the thread's, at -80; [30]: attention, at -8 */
    uint64_t state[20];
    uint8_t code[128 + 48];
} qemu __attribute__((aligned(16)));

static uint8_t *const state = (uint8_t *)qemu.state;

/* As QEMU 7.2 of Debian 12 wrote it: a block that is tested, calls a plugin, and at 0x5a is left. */
static const uint8_t block[] = { 0x8b, 0x5d, 0xf8, 0x85, 0xdb, 0x0f, 0x8c, 0x4f, 0x00, 0x00,
                                 0x00, 0x8b, 0x7d, 0xb0, 0x48, 0xbe, 0xe0, 0x4e, 0x03, 0x07,
                                 0x7c, 0x55, 0x00, 0x00, 0xe8, 0xd3, 0x50, 0x01, 0x0f };
#define BLOCK_AT 64 /* of qemu.code */

static const struct qemu_flags_call call = { 39, { 1, 2, 3, 4, 5, 6 } };

static void make(void)
{
    memset(&qemu, 0, sizeof qemu);
    qemu.numbers[12] = 3;
    static const uint8_t order[6] = { 7, 6, 2, 10, 8, 9 };
    for (int i = 0; i < 6; i++)
        qemu.state[order[i]] = call.arguments[i];
    qemu.state[0] = 39;
    qemu.state[16] = (uint64_t)(uintptr_t)(qemu.code + 10);
    qemu.state[17] = 0x246;
    memcpy(qemu.code + 8, (uint8_t[]){ 0x0f, 0x05 }, 2);
    memcpy(qemu.code + BLOCK_AT, block, sizeof block);
    uint8_t *out = qemu.code + BLOCK_AT + 0x5a;
    const uint8_t way[] = { 0x48, 0x8d, 0x05, 0, 0, 0, 0 };
    memcpy(out, way, sizeof way);
    out[3] = (uint8_t)(3 - ((uintptr_t)out + sizeof way)) & 7; /* of rel32, so that the address ends in 3 */
}

static bool is_seen(unsigned vcpu, struct qemu_flags *flags)
{
    qemu_flags_begin(flags, vcpu, state, qemu.code + BLOCK_AT + sizeof block);
    return qemu_flags_see(flags, &call);
}

static void test_seeing(void)
{
    struct qemu_flags flags;
    static const struct {
        const char *claim;
        int at; /* of the state's numbers */
        uint64_t value;
    } rows[] = {
        { "not with another number", 0, 40 },      { "not with another argument", 7, 9 },
        { "not with the last one another", 9, 0 }, { "not behind another instruction", 16, 0 },
        { "not without the flag that is", 17, 0 }, { "not with one that cannot be", 17, 0x20202 },
    };
    make();
    CHECK("the state is seen at a system call", is_seen(3, &flags) && flags.attention_at == -8);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        make();
        qemu.state[rows[i].at] = rows[i].value;
        uint64_t before = qemu.state[17];
        bool is_found = is_seen(3, &flags);
        qemu_flags_choose(&flags, true);
        qemu_flags_look_again(&flags);
        CHECK(rows[i].claim, !is_found && qemu.state[17] == before && qemu.numbers[30] == 0);
    }
    make();
    qemu_flags_begin(&flags, 3, NULL, NULL);
    CHECK("not where a register does not say where it is", !qemu_flags_see(&flags, &call));
    qemu_flags_begin(&flags, 3, (void *)(uintptr_t)4096, (const uint8_t *)(uintptr_t)4096);
    CHECK("not where nothing is there", !qemu_flags_see(&flags, &call));
}

static void test_choosing(void)
{
    struct qemu_flags flags;
    make();
    is_seen(3, &flags);
    CHECK("at first translations are light", !qemu_flags_are_heavy(&flags));
    qemu_flags_choose(&flags, true);
    CHECK("heavy ones are chosen by one flag", qemu.state[17] == (0x246 | AC) && qemu_flags_are_heavy(&flags));
    qemu_flags_choose(&flags, false);
    CHECK("and given up", qemu.state[17] == 0x246);
    qemu_flags_look_again(&flags);
    CHECK("the thread leaves its blocks by the upper half of a number", qemu.numbers[30] == (int32_t)0xffff0000);
}

static void test_leaving(void)
{
    struct qemu_flags flags;
    static const struct {
        const char *claim;
        int at; /* of the block's code */
        uint8_t byte;
    } rows[] = {
        { "not where another register is tested", 4, 0xc0 },
        { "not where it is tested for something else", 6, 0x8d },
        { "not where the number is above the state", 2, 0x08 },
        { "not where the thread's number is elsewhere", 13, 0xb4 },
        { "not where the way out is another", 7, 0x47 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        make();
        qemu.code[BLOCK_AT + rows[i].at] = rows[i].byte;
        bool is_known = is_seen(3, &flags);
        qemu_flags_look_again(&flags);
        CHECK(rows[i].claim, is_known && flags.attention_at == 0 && qemu.numbers[30] == 0);
    }
    make();
    CHECK("not of another thread", is_seen(4, &flags) && flags.attention_at == 0);
    make();
    qemu.numbers[30] = 1;
    CHECK("not where the number is not 0", is_seen(3, &flags) && flags.attention_at == 0);
}

int main(void)
{
    test_seeing();
    test_choosing();
    test_leaving();
    return tap_done();
}

#else

int main(void)
{
    SKIP("the flags of QEMU are seen", "QEMU's code is known for x86-64 only");
    return tap_done();
}

#endif
