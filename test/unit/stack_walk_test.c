/*
 * Walking made stacks by the rules of both processors.  What stack_walk.c asks of a JVM is made here:
 *
 *     a, b, c   compiled methods, with frames of 48, 32 and 32 bytes; i, j: interpreted ones
 *     +0x100    of a method: where a call of Java code returns to; +0x200: one of native code
 */
#include "core/hotspot/stack_walk_internal.h"
#include "core/hotspot/vm.h"
#include "core/hotspot/vm_methods.h"

#include "test/unit/tap.h"

#define CACHE        UINT64_C(0x10000000)
#define INTERPRETER  (CACHE + 0x100)
#define CALL_STUB    (CACHE + 0x1800)
#define CODE(name)   (CACHE + ((uint64_t)(name) << 16))
#define METHOD(name) ((uint64_t)(name) << 4)
#define NATIVE       UINT64_C(0x5000)
#define STACK        UINT64_C(0x7f0000000000)
#define WORDS        64u
#define AT(i)        (STACK + 8 * (uint64_t)(i))

#define CONSTANT_BYTES 64u
#define BYTECODES      10u /* of each method */

static struct made {
    uint64_t words[WORDS];
    unsigned shapes; /* of the innermost frame */
    uint64_t pc;
    struct native_rule rule; /* of native code */
} made;

/* ---- the JVM ---- */

static struct code_blob blobs[] = {
    { .kind = BLOB_NMETHOD, .frame_bytes = 48 },
    { .kind = BLOB_NMETHOD, .frame_bytes = 32 },
    { .kind = BLOB_NMETHOD, .frame_bytes = 32 },
};

struct code_blobs *code_blobs_open(struct vm *vm, const struct frame_rules *rules, struct known_methods *methods,
                                   struct err *err)
{
    (void)vm;
    (void)rules;
    (void)methods;
    (void)err;
    return (struct code_blobs *)&made;
}

void code_blobs_close(struct code_blobs *code)
{
    (void)code;
}

void code_blobs_round(struct code_blobs *code)
{
    (void)code;
}

bool code_blobs_has(const struct code_blobs *code, uint64_t pc)
{
    (void)code;
    return pc >= CACHE && pc < CACHE + 0x10000000;
}

bool code_blobs_is_interpreter(const struct code_blobs *code, uint64_t pc)
{
    (void)code;
    return pc >= CACHE && pc < CACHE + 0x1000;
}

struct known_methods *known_methods_open(struct vm *vm)
{
    (void)vm;
    return (struct known_methods *)&made;
}

void known_methods_close(struct known_methods *methods)
{
    (void)methods;
}

void known_methods_round(struct known_methods *methods)
{
    (void)methods;
}

struct known_method *known_methods_get(struct known_methods *methods, uint64_t address)
{
    static struct known_method all[256];
    struct known_method *method = &all[address >> 4 & 255];
    (void)methods;
    if (address == 0 || address % 8 != 0)
        return NULL;
    *method = (struct known_method){ .address = address,
                                     .key = 1,
                                     .parts = { .code = (address << 12) + CONSTANT_BYTES, .n_code = BYTECODES } };
    return method;
}

const struct code_at *code_blobs_at(struct code_blobs *code, uint64_t pc)
{
    static struct code_at at[64];
    static struct compiled_frame frames[64];
    static unsigned next;
    struct code_at *found = &at[next % 64];
    struct compiled_frame *frame = &frames[next++ % 64];
    uint64_t name = (pc - CACHE) >> 16, offset = pc & 0xffff;
    (void)code;
    *found = (struct code_at){ .pc = pc };
    if (name < 'a' || name > 'c')
        return found;
    found->blob = &blobs[name - 'a'];
    found->blob->begin = CODE(name);
    found->blob->end = CODE(name) + 0x10000;
    *frame = (struct compiled_frame){ known_methods_get(NULL, METHOD(name)), 1 };
    found->frames = frame;
    found->n_frames = 1;
    found->is_call = offset == 0x100 || offset == 0x200;
    found->is_native_call = offset == 0x200;
    found->shapes = (uint8_t)(pc == made.pc ? made.shapes : 0);
    return found;
}

bool vm_read_u64(struct vm *vm, uint64_t address, uint64_t *value)
{
    (void)vm;
    (void)address;
    *value = CALL_STUB;
    return true;
}

bool vm_fields_find(struct vm *vm, struct vm_field *fields, size_t n)
{
    (void)vm;
    for (size_t i = 0; i < n; i++)
        *fields[i].value = fields[i].is_static                             ? 1
                           : strcmp(fields[i].field, "_last_Java_fp") == 0 ? 8
                           : strcmp(fields[i].field, "_last_Java_pc") == 0 ? 16
                                                                           : 0;
    return true;
}

bool vm_constant(struct vm *vm, const char *name, int32_t *value)
{
    (void)vm;
    (void)name;
    (void)value;
    return false;
}

uint64_t vm_type_bytes(struct vm *vm, const char *name)
{
    (void)vm;
    (void)name;
    return CONSTANT_BYTES;
}

bool vm_method_is(struct vm *vm, uint64_t address, const char *class_name, const char *name)
{
    (void)vm;
    (void)address;
    (void)class_name;
    (void)name;
    return false;
}

uint32_t vm_release(struct vm *vm)
{
    (void)vm;
    return 17;
}

struct native_frames *native_frames_open(struct vm *vm)
{
    (void)vm;
    return (struct native_frames *)&made;
}

void native_frames_close(struct native_frames *native)
{
    (void)native;
}

void native_frames_round(struct native_frames *native)
{
    (void)native;
}

const struct native_rule *native_frames_at(struct native_frames *native, uint64_t pc)
{
    (void)native;
    (void)pc;
    return &made.rule;
}

/* ---- stacks ---- */

static const struct frame_rules *rules;
static struct java_stack stack;

static void begin(uint64_t pc, unsigned shapes)
{
    made = (struct made){ .pc = pc, .shapes = shapes };
}

/* From a word on: b's frame, which the JVM's call stub has called, which nothing in Java has called. */
static void put_b(size_t i)
{
    size_t entry = i + 16, wrapper = entry + 2;
    made.words[i + 2] = AT(entry);
    made.words[i + 3] = CALL_STUB;
    made.words[(size_t)((int32_t)entry + rules->call_wrapper)] = AT(wrapper);
}

/* An interpreted frame whose frame pointer is at a word: its caller's registers, and its method's fourth bytecode. */
static void put_interpreted(size_t i, char name, uint64_t sender_sp, uint64_t fp, uint64_t pc)
{
    size_t at = i - 1;
    made.words[i] = fp;
    made.words[i + 1] = pc;
    made.words[at] = sender_sp;
    made.words[(size_t)((int32_t)at + rules->method)] = METHOD(name);
    made.words[(size_t)((int32_t)at + rules->bytecode)] = (METHOD(name) << 12) + CONSTANT_BYTES + 3;
}

/* The frames' methods, the innermost first; '!' behind them: not all of them. */
static const char *walk(uint64_t fp, uint64_t link, uint64_t bytecode)
{
    static char text[16];
    struct err err;
    size_t n = 0;
    struct stack_walker *walker = stack_walker_open(NULL, rules, &err);
    stack_walk(walker,
               &(struct thread_state){ .pc = made.pc,
                                       .sp = STACK,
                                       .fp = fp,
                                       .link = link,
                                       .bytecode = bytecode,
                                       .stack = (const uint8_t *)made.words,
                                       .n_bytes = sizeof made.words },
               &stack);
    stack_walker_close(walker);
    for (; n < stack.n && n < sizeof text - 2; n++)
        text[n] = stack.frames[n].kind == FRAME_STUB ? '?' : (char)(stack.frames[n].method->address >> 4);
    if (stack.end != STACK_WHOLE)
        text[n++] = '!';
    text[n] = '\0';
    return text;
}

#define STALE (CODE('c') + 0x100) /* a call that has returned */
#define TO_B  (CODE('b') + 0x100)

static void test_compiled(void)
{
    begin(CODE('a') + 0x40, 0);
    made.words[5] = TO_B;
    put_b(6);
    CHECK_TEXT("a frame that is there", walk(0, STALE, 0), "ab");

    begin(CODE('a') + 0x40, FRAME_NONE);
    made.words[0] = rules->has_link ? 0 : TO_B;
    put_b(rules->has_link ? 0 : 1);
    CHECK_TEXT("one that is not there yet", walk(0, TO_B, 0), "ab");

    begin(CODE('a') + 0x40, FRAME_PUSHED);
    made.words[1] = TO_B;
    put_b(2);
    CHECK_TEXT("one of two words", walk(0, STALE, 0), "ab");

    begin(CODE('a') + 0x40, FRAME_TAKEN);
    made.words[0] = made.words[1] = STALE;
    made.words[5] = rules->has_link ? STALE : TO_B;
    put_b(6);
    CHECK_TEXT("one in which nothing is stored", walk(0, TO_B, 0), "ab");
}

static void test_interpreted(void)
{
    begin(INTERPRETER, 0);
    put_interpreted(12, 'i', AT(14), 0, TO_B);
    put_b(14);
    CHECK_TEXT("an interpreted frame", walk(AT(12), 0, 0), "ib");
    CHECK_NUMBER("has the bytecode of its latest call", stack.frames[0].index, 3);
    walk(AT(12), 0, (METHOD('i') << 12) + CONSTANT_BYTES + 7);
    CHECK_NUMBER("or the one that a register has", stack.frames[0].index, 7);
}

/* Native code that b has called: c, which b called before, has left a return address that c's frame would go with. */
static void test_native(void)
{
    begin(NATIVE, 0);
    made.words[2] = STALE;
    made.words[6] = CODE('b') + 0x200;
    put_b(7);
    CHECK_TEXT("native code that is not known returns to where native code was called", walk(0, NATIVE + 0x100, 0),
               "b");
    CHECK("which is a guess", stack.is_guessed);

    begin(NATIVE, 0);
    made.rule = (struct native_rule){ .kind = NATIVE_CALLED,
                                      .cfa = { .base = NATIVE_SP, .offset = rules->has_link ? 0 : 16 },
                                      .return_to = { .base = NATIVE_CFA, .offset = -8 },
                                      .is_linked = rules->has_link };
    made.words[1] = rules->has_link ? 0 : CODE('b') + 0x200;
    put_b(rules->has_link ? 0 : 2);
    CHECK_TEXT("by call frame information", walk(0, CODE('b') + 0x200, 0), "b");
    CHECK("which is none", !stack.is_guessed);
}

static void test_aarch64(void)
{
    begin(CODE('a') + 0x40, 0);
    made.words[5] = TO_B | UINT64_C(0xab) << 56;
    put_b(6);
    CHECK_TEXT("a return address may be signed", walk(0, 0, 0), "ab");

    begin(INTERPRETER, 0);
    put_interpreted(12, 'i', AT(11), AT(26), INTERPRETER);
    put_interpreted(26, 'j', AT(28), 0, TO_B);
    put_b(28);
    CHECK_TEXT("an interpreted caller's stack pointer may be below", walk(AT(12), 0, 0), "ijb");

    begin(NATIVE, 0);
    put_b(4);
    CHECK_TEXT("native code may have the return address in the link register", walk(0, CODE('b') + 0x200, 0), "b");

    begin(NATIVE, 0);
    made.words[0] = AT(4);
    made.words[1] = NATIVE + 0x100;
    made.words[5] = CODE('b') + 0x200;
    put_b(8);
    CHECK_TEXT("records of frames are followed", walk(AT(0), NATIVE + 0x200, 0), "b");
}

int main(void)
{
    static const struct frame_rules *const processors[] = { &frame_rules_x86, &frame_rules_aarch64 };
    for (size_t i = 0; i < 2; i++) {
        rules = processors[i];
        printf("# %s\n", rules->has_link ? "aarch64" : "x86-64");
        test_compiled();
        test_interpreted();
        test_native();
    }
    test_aarch64();
    return tap_done();
}
