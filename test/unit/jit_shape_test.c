/* JIT events: what is written is read; and what they say of a method's shape. */
#include "phases/tree/jit_shape.h"
#include "test/unit/tap.h"

#include <stdlib.h>

static struct jit_shapes *shapes;
static struct jit_event event, again;
static struct err err;

static struct wire_text text(const char *t)
{
    return (struct wire_text){ t, strlen(t) };
}

static int add(void)
{
    return jit_shapes_add(shapes, &event, &err);
}

static void method(uint32_t number, const char *name)
{
    event.kind = JIT_METHOD;
    event.method = number;
    event.class_name = text(strncmp(name, "enter", 5) == 0 ? "java/lang/MmprofProbe" : "Main");
    event.name = text(name);
    event.descriptor = text("()V");
    add();
}

/* Methods 0 to 4. */
static void start(void)
{
    static const char *const names[] = { "main", "outer", "inner", "leaf", "enter" };
    jit_shapes_close(shapes);
    shapes = jit_shapes_open();
    for (uint32_t i = 0; i < 5; i++)
        method(i, names[i]);
}

/* Pairs as digits: "32 21": 3 is inlined where 2 calls it, 2 where 1 does. */
static int compiled(uint32_t root, unsigned flags, const char *pairs)
{
    event.kind = JIT_COMPILED;
    event.method = root;
    event.flags = flags;
    event.n_inlined = 0;
    for (; *pairs != '\0'; pairs += pairs[2] == ' ' ? 3 : 2)
        event.inlined[event.n_inlined++] =
            (struct jit_inlined){ (uint32_t)(pairs[0] - '0'), (uint32_t)(pairs[1] - '0') };
    return add();
}

static void simple(enum jit_kind kind, uint32_t number)
{
    event.kind = kind;
    event.method = number;
    add();
}

static struct jit_shape shape_of(const char *name)
{
    struct jit_shape shape;
    if (!jit_shapes_find(shapes, "Main", name, "()V", &shape))
        shape.marks = 99;
    return shape;
}

static const char *text_of(const char *name)
{
    static char words[200];
    struct jit_shape shape = shape_of(name);
    return jit_shape_text(&shape, words, sizeof words);
}

static const char *call_text_of(const char *callee, const char *caller)
{
    return jit_shapes_call_text(shapes, &(struct method_name){ "Main", callee, "()V" },
                                &(struct method_name){ "Main", caller, "()V" });
}

static void test_not_inlined(void)
{
    start();
    compiled(1, JIT_WAS_THERE, "21 32");
    compiled(0, JIT_WAS_THERE, "20");
    simple(JIT_WATCHED, 2);
    CHECK_TEXT("as long as nothing was compiled, nothing is known to have changed", text_of("inner"), "");
    compiled(1, 0, "");
    CHECK_TEXT("a caller compiled without it has lost it", text_of("inner"),
               "not inlined any more (1 of 2 callers), inlines less (1 of 1 calls)");
    compiled(0, 0, "20");
    CHECK_TEXT("of the two of a call", call_text_of("inner", "outer"), "not inlined any more");
    CHECK_TEXT("another one has it as before", call_text_of("inner", "main"), "inlined, as before");
    CHECK_TEXT("of what was never inlined nothing is said", call_text_of("leaf", "outer"), "");
    CHECK("one that has it again has not", shape_of("inner").n_callers_lost == 1);
    compiled(1, 0, "21 32");
    CHECK_TEXT("and when both have it, its shape is what it was", text_of("inner"), "");
    CHECK_NUMBER("a method that is not watched has no shape", shape_of("outer").marks, 99);
}

static void test_callees(void)
{
    start();
    compiled(2, JIT_WAS_THERE, "32");
    simple(JIT_WATCHED, 2);
    compiled(2, 0, "42");
    CHECK_TEXT("a callee that is called out of line is counted, the probe is not", text_of("inner"),
               "inlines less (1 of 1 calls)");
    compiled(2, 0, "42 32");
    CHECK_TEXT("a later code that inlines it puts it right", text_of("inner"), "");
}

static void test_recompiled(void)
{
    start();
    compiled(2, 0, "");
    compiled(2, 0, "");
    compiled(2, 0, "");
    simple(JIT_WATCHED, 2);
    for (int i = 0; i < 6; i++)
        compiled(2, 0, "");
    CHECK_TEXT("compiled twice by two compilers, and two of these again, is no mark", text_of("inner"), "");
    compiled(2, JIT_WAS_THERE, "");
    CHECK_TEXT("to be there is not to be compiled", text_of("inner"), "");
    simple(JIT_WATCHED, 2);
    compiled(2, 0, "");
    CHECK_TEXT("a third one is; asked for again, it counts on", text_of("inner"), "compiled 7 times");
    simple(JIT_DISCARDED, 2);
    CHECK_NUMBER("thrown away code is counted", shape_of("inner").n_discarded, 1);
}

static void test_old_code(void)
{
    start();
    compiled(1, JIT_WAS_THERE, "21");
    simple(JIT_WATCHED, 2);
    compiled(1, 0, "");
    compiled(1, JIT_WAS_THERE, "21");
    CHECK("old code that is still there proves nothing", shape_of("inner").n_callers_lost == 1);
}

static void test_refusals(void)
{
    start();
    CHECK("a method that was not described is refused", compiled(9, 0, "") < 0);
    CHECK("also as an inlined one", compiled(1, 0, "91") < 0);
    CHECK_TEXT("and it is said", err.text, "the trace's JIT events are damaged: a method without a name");
}

static void test_codec(void)
{
    uint8_t bytes[256];
    struct sink s = sink_into(bytes, sizeof bytes);
    event = (struct jit_event){ .kind = JIT_COMPILED,
                                .method = 7,
                                .ticks = UINT64_MAX,
                                .flags = JIT_IS_CUT,
                                .code_bytes = 300000,
                                .n_inlined = 2,
                                .inlined = { { 1, 7 }, { 65535, 1 } } };
    jit_events_put(&s, &event);
    size_t n = (size_t)(s.at - bytes);
    struct cursor c = cursor_over(bytes, n);
    CHECK("a compilation is read as it was written",
          jit_events_get(&c, &again) == 1 && again.kind == JIT_COMPILED && again.method == 7 &&
              again.ticks == UINT64_MAX && again.flags == JIT_IS_CUT && again.code_bytes == 300000 &&
              again.n_inlined == 2 && again.inlined[1].method == 65535 && again.inlined[1].caller == 1);
    CHECK("then nothing", jit_events_get(&c, &again) == 0);
    bool waits = true;
    for (size_t part = 0; part < n; part++) {
        c = cursor_over(bytes, part);
        waits = waits && jit_events_get(&c, &again) == 0 && c.at == bytes;
    }
    CHECK("a part of an entry is not taken", waits);
    static const struct {
        const char *claim;
        uint8_t bytes[10];
        size_t n;
    } rows[] = {
        { "an entry without a kind is refused", { 0, 0, 0, 0 }, 4 },
        { "a kind that is not known is refused", { 3, 0, 0, 0, 4, 0, 0 }, 7 },
        { "more inlined methods than there are is refused", { 6, 0, 0, 0, 1, 0, 0, 0, 0, 1 }, 10 },
        { "bytes behind the end are refused", { 4, 0, 0, 0, 2, 0, 0, 0 }, 8 },
        { "a flag that is not known is refused", { 6, 0, 0, 0, 1, 0, 0, 4, 0, 0 }, 10 },
        { "an entry of 2 GB is refused before it comes", { 0xff, 0xff, 0xff, 0x7f }, 4 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        c = cursor_over(rows[i].bytes, rows[i].n);
        CHECK(rows[i].claim, jit_events_get(&c, &again) == -1);
    }
}

int main(void)
{
    test_not_inlined();
    test_callees();
    test_recompiled();
    test_old_code();
    test_refusals();
    test_codec();
    jit_shapes_close(shapes);
    return tap_done();
}
