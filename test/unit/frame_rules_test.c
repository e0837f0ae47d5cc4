/* How much of a compiled frame is there at an instruction, and what a return address is behind of: both processors. */
#include "core/hotspot/known_methods.h"

#include "test/unit/tap.h"

#include <stdlib.h>

struct shape_case {
    const char *claim, *code; /* in hexadecimal, as it is in memory, or words of four bytes */
    unsigned shapes;
    uint64_t n_before;
};

static const struct shape_case x86[] = {
    { "x86-64: nothing is there in front of 'push rbp'", "55 4883ec20 90", FRAME_NONE, 5 },
    { "nor where the page below is touched", "898424 00c0feff 55 4883ec20", FRAME_NONE, 12 },
    { "behind it are return address and frame pointer", "4883ec20 90", FRAME_PUSHED, 4 },
    { "a large frame is the same", "4881ec20020000 90", FRAME_PUSHED, 7 },
    { "so is one with 'mov rbp, rsp'", "488bec 4883ec20", FRAME_PUSHED, 7 },
    { "a frame may begin with 'sub rsp'", "4881ec20000000 48896c2410", FRAME_NONE, 12 },
    { "and store the frame pointer then", "48896c2410 90", FRAME_TAKEN, 5 },
    { "the collector's barrier has the whole frame", "41817f20 01000000 0f8500000000", 0, 14 },
    { "so has its jump", "0f8510000000 90", 0, 6 },
    { "a method's body has it", "4889d8 c3", 0, 0 },
    { "a loop's 'test eax, eax' is no end", "85c0 7410", 0, 0 },
    { "'pop rbp' has both words", "5d c3", FRAME_PUSHED, 0 },
    { "a poll in front of 'ret' has the return address", "493ba7a8030000 0f8710000000 c3", FRAME_NONE, 0 },
    { "so has its jump", "0f8710000000 c3", FRAME_NONE, 0 },
    { "and 'ret'", "c3", FRAME_NONE, 0 },
    { "a loop's poll is in a frame", "493ba7a8030000 0f8710000000 90", 0, 0 },
    { "behind a stub's 'push rbp' are both words", "488bec 4883ec20", FRAME_PUSHED, FRAME_UNKNOWN },
    { "a stub that does not tell may have either", "4889d8", FRAME_NONE | FRAME_PUSHED, FRAME_UNKNOWN },
};

/* Words as a disassembler prints them. */
static const struct shape_case aarch64[] = {
    { "aarch64: nothing is there in front of 'sub sp'", "d100c3ff a9027bfd aa0103e0", FRAME_NONE, 8 },
    { "nor in front of the touch of the page below", "f900013f d100c3ff a9027bfd", FRAME_NONE, 12 },
    { "nor in front of a check that jumps away", "54000040 14000400 d503201f d100c3ff a9027bfd", FRAME_NONE, 20 },
    { "behind it there is room, and nothing in it", "a9027bfd aa0103e0", FRAME_TAKEN, 4 },
    { "a large frame begins with 'stp'", "a9bf7bfd d10843ff", FRAME_NONE, 8 },
    { "behind that are frame pointer and return address", "d10843ff aa0103e0", FRAME_PUSHED, 4 },
    { "also where the size needs a register", "d2880008 cb2863ff", FRAME_PUSHED, 8 },
    { "the collector's barrier has the whole frame", "b9400108 6b09011f 54000040", 0, 12 },
    { "a method's body has it, also of another method ahead", "aa0103e0 d100c3ff a9027bfd", 0, 0 },
    { "so has 'ldp'", "a9427bfd 9100c3ff d65f03c0", 0, 0 },
    { "'add sp' has it still", "9100c3ff d65f03c0", 0, 0 },
    { "'ldp' of a large frame has both words", "a8c17bfd d65f03c0", FRAME_PUSHED, 0 },
    { "a poll in front of 'ret' has the link register", "f941d788 eb2863ff 54000208 d65f03c0", FRAME_NONE, 0 },
    { "so has its comparison", "eb2863ff 54000208 d65f03c0", FRAME_NONE, 0 },
    { "and the authentication of its address", "d503239f f941d788 eb2863ff 54000208 d65f03c0", FRAME_NONE, 0 },
    { "and 'ret'", "d65f03c0", FRAME_NONE, 0 },
    { "a loop's poll is in a frame", "f941d788 eb2863ff 54000208 aa0103e0", 0, 0 },
    { "a stub's first instruction has nothing", "a9bf7bfd 910003fd", FRAME_NONE, FRAME_UNKNOWN },
    { "its second has both words", "910003fd d10043ff", FRAME_PUSHED, FRAME_UNKNOWN },
    { "what comes behind a stub's jump is not its prologue", "14000400 a9bf7bfd", 0, FRAME_UNKNOWN },
};

/* Hexadecimal digits; 'is_words': eight of them are a word, whose lowest byte comes first. */
static void read_code(const char *hex, bool is_words, uint8_t *code, size_t n)
{
    char digits[3] = "";
    size_t i = 0;
    memset(code, 0, n);
    for (; *hex != '\0' && i < n; hex += *hex == ' ' ? 1 : 2) {
        if (*hex == ' ')
            continue;
        memcpy(digits, hex, 2);
        code[is_words ? i - i % 4 + 3 - i % 4 : i] = (uint8_t)strtoul(digits, NULL, 16);
        i++;
    }
}

static void test_shapes(const struct frame_rules *rules, const struct shape_case *cases, size_t n)
{
    uint8_t code[FRAME_CODE_BYTES];
    for (size_t i = 0; i < n; i++) {
        read_code(cases[i].code, rules->has_link, code, sizeof code);
        CHECK_NUMBER(cases[i].claim, rules->shapes(code, cases[i].n_before), cases[i].shapes);
    }
}

static const struct {
    const char *claim, *code;
    enum frame_call call;
    int64_t distance;
    bool is_aarch64;
} calls[] = {
    { "x86-64: 'call rel32'", "909090 e800010000", FRAME_CALL_DIRECT, 0x100, false },
    { "back", "909090 e800ffffff", FRAME_CALL_DIRECT, -0x100, false },
    { "'call r10'", "9090909090 41ffd2", FRAME_CALL_INDIRECT, 0, false },
    { "'call [rax + 16]'", "9090909090 ff5010", FRAME_CALL_INDIRECT, 0, false },
    { "another instruction is none", "909090909090 89d8", FRAME_CALL_NONE, 0, false },
    { "aarch64: 'bl'", "d503201f 94000400", FRAME_CALL_DIRECT, 0xffc, true },
    { "back", "d503201f 97fffc00", FRAME_CALL_DIRECT, -0x1004, true },
    { "'blr x8'", "d503201f d63f0100", FRAME_CALL_INDIRECT, 0, true },
    { "'b' is none", "d503201f 14000400", FRAME_CALL_NONE, 0, true },
};

static void test_calls(void)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const struct frame_rules *rules = calls[i].is_aarch64 ? &frame_rules_aarch64 : &frame_rules_x86;
        uint8_t code[FRAME_CALL_BYTES];
        int64_t distance = 0;
        read_code(calls[i].code, calls[i].is_aarch64, code, sizeof code);
        CHECK(calls[i].claim, rules->call(code, &distance) == calls[i].call && distance == calls[i].distance);
    }
}

static const struct {
    const char *claim, *code;
    uint64_t frame_bytes;
    bool takes, is_aarch64;
} prologues[] = {
    { "x86-64: 'push rbp; sub rsp' takes 16 bytes more", "898424 00c0feff 55 4883ec20", 48, true, false },
    { "and no others", "898424 00c0feff 55 4883ec20", 64, false, false },
    { "a large frame takes them, too", "55 4881ec20020000 90", 0x230, true, false },
    { "'sub rsp; mov [rsp + n], rbp' takes 8 bytes more", "4883ec18 48896c2410", 32, true, false },
    { "the collector's barrier may follow", "55 4883ec20 41817f2001000000 0f8500000000", 48, true, false },
    { "the smallest frame is what is pushed", "55 488bec", 16, true, false },
    { "code without a prologue takes none", "4889d8 90", 16, false, false },
    { "aarch64: 'sub sp' takes the whole frame", "f900013f d100c3ff a9027bfd", 48, true, true },
    { "and no other", "f900013f d100c3ff a9027bfd", 64, false, true },
    { "'stp; sub sp' takes 16 bytes more", "a9bf7bfd d10843ff", 0x220, true, true },
    { "a register may take much", "a9bf7bfd d2880008 cb2863ff", 0x4010, true, true },
    { "but not little", "a9bf7bfd d2880008 cb2863ff", 48, false, true },
    { "the smallest frame is what 'stp' pushes", "a9bf7bfd 910003fd", 16, true, true },
    { "code without a prologue takes none", "aa0103e0 d503201f", 16, false, true },
};

static void test_prologues(void)
{
    for (size_t i = 0; i < sizeof prologues / sizeof *prologues; i++) {
        const struct frame_rules *rules = prologues[i].is_aarch64 ? &frame_rules_aarch64 : &frame_rules_x86;
        uint8_t code[32];
        size_t n = 0;
        for (const char *at = prologues[i].code; *at != '\0'; at++)
            n += *at != ' ';
        read_code(prologues[i].code, prologues[i].is_aarch64, code, sizeof code);
        CHECK(prologues[i].claim, rules->takes(code, n / 2, prologues[i].frame_bytes) == prologues[i].takes);
    }
}

int main(void)
{
    test_shapes(&frame_rules_x86, x86, sizeof x86 / sizeof *x86);
    test_shapes(&frame_rules_aarch64, aarch64, sizeof aarch64 / sizeof *aarch64);
    test_calls();
    test_prologues();
    return tap_done();
}
