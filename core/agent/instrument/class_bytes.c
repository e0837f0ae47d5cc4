/*
 * The bootstrap loader's are in package java.lang: that is the one that all of the JDK's own loaders pass on.  They are
 * of Java 5's version: no stack maps are needed.
 *
 *     public class MmprofProbe {
 *         public static int enter(int token) { return token != 0 ? enter0(token) : 0; }
 *         public static void exit(int token) { if (token != 0) exit0(token); }
 *         public static void unwind(int token) { if (token != 0) unwind0(token); }
 *         public static void caught(int token) { if (token != 0) caught0(token); }
 *         public static int object(int token, Object value) { return token != 0 ? object0(token, value) : 0; }
 *         public static int integer(int token, long value) ...
 *         public static int real(int token, double value) ...
 *         private static native int enter0(int token); ...
 *         public static void calibrate(int token, int n) { for (; n > 0; n--) exit(enter(token)); }
 *         public static Class find(String name, ClassLoader loader) { return Class.forName(name, false, loader); }
 *         public static SecurityManager guard() { return System.getSecurityManager(); }
 *     }
 *     public class MmprofFlags7 { public static int g0, g1, ... g255; }
 *
 * A loader's own have the same probes (of Java 8's version: another verifier, which asks the loader for nothing), and
 * all loaders share the flags: compiled code has the address of a final field's array in it, so that a flag costs what
 * it costs in a field.
 *
 *     package mmprof;
 *     public class Probe extends SUPER { ... static native int[] flags0(int block); }
 *     public class Flags0 extends Probe { public static final int[] g = Probe.flags0(0); }
 */
#include "core/agent/instrument/classes.h"

#include "core/base/bytes.h"

#define ACC_PUBLIC 0x0001
#define ACC_STATIC 0x0008
#define ACC_FINAL  0x0010
#define ACC_SUPER  0x0020
#define ACC_NATIVE 0x0100

#define TAG_FIELD  9
#define TAG_METHOD 10

/* ---- building a class file: the pool and what follows it grow in two sinks ---- */

struct class_builder {
    uint8_t pool_bytes[CLASS_BYTES_MAX], body_bytes[CLASS_BYTES_MAX];
    struct sink pool, body;
    uint16_t n_pool, version;
};

static struct class_builder *builder_new(uint16_t version)
{
    struct class_builder *b = malloc(sizeof *b);
    if (b == NULL)
        return NULL;
    b->pool = sink_into(b->pool_bytes, sizeof b->pool_bytes);
    b->body = sink_into(b->body_bytes, sizeof b->body_bytes);
    b->n_pool = 1;
    b->version = version;
    return b;
}

static uint16_t pool_utf8(struct class_builder *b, const char *text)
{
    sink_u8(&b->pool, 1);
    sink_u16be(&b->pool, (uint16_t)strlen(text));
    sink_bytes(&b->pool, text, strlen(text));
    return b->n_pool++;
}

static uint16_t pool_class(struct class_builder *b, const char *name)
{
    uint16_t utf8 = pool_utf8(b, name);
    sink_u8(&b->pool, 7);
    sink_u16be(&b->pool, utf8);
    return b->n_pool++;
}

static uint16_t pool_member(struct class_builder *b, uint8_t tag, uint16_t class_index, uint16_t name,
                            uint16_t descriptor)
{
    sink_u8(&b->pool, 12);
    sink_u16be(&b->pool, name);
    sink_u16be(&b->pool, descriptor);
    uint16_t name_and_type = b->n_pool++;
    sink_u8(&b->pool, tag);
    sink_u16be(&b->pool, class_index);
    sink_u16be(&b->pool, name_and_type);
    return b->n_pool++;
}

/* The whole class file; 0 when it did not fit.  Frees the builder. */
static size_t builder_finish(struct class_builder *b, uint8_t *out)
{
    struct sink s = sink_into(out, CLASS_BYTES_MAX);
    sink_u32be(&s, 0xcafebabe);
    sink_u16be(&s, 0);
    sink_u16be(&s, b->version);
    sink_u16be(&s, b->n_pool);
    sink_bytes(&s, b->pool_bytes, (size_t)(b->pool.at - b->pool_bytes));
    sink_bytes(&s, b->body_bytes, (size_t)(b->body.at - b->body_bytes));
    size_t n = s.full || b->pool.full || b->body.full ? 0 : (size_t)(s.at - out);
    free(b);
    return n;
}

/* None is final: those of the flags extend that of the probes, which their loader must have. */
static void class_head(struct class_builder *b, uint16_t this_class, uint16_t super_class, uint16_t n_fields)
{
    sink_u16be(&b->body, ACC_PUBLIC | ACC_SUPER);
    sink_u16be(&b->body, this_class);
    sink_u16be(&b->body, super_class);
    sink_u16be(&b->body, 0); /* interfaces */
    sink_u16be(&b->body, n_fields);
}

/* ---- the class of the probes ---- */

struct method_text {
    uint16_t flags;
    const char *name, *descriptor;
    uint8_t code[24];
    uint8_t n_code;
    uint8_t frame_at; /* where its only stack map frame is, with the method's arguments; 0: it needs none */
    /* Where the code calls which method, of this table or, behind it, of the JDK's: the operand is filled in. */
    struct {
        uint8_t at, method;
    } calls[2];
    uint8_t n_calls;
};

enum {
    M_ENTER0,
    M_EXIT0,
    M_UNWIND0,
    M_CAUGHT0,
    M_OBJECT0,
    M_INTEGER0,
    M_REAL0,
    M_ENTER,
    M_EXIT,
    M_UNWIND,
    M_CAUGHT,
    M_OBJECT,
    M_INTEGER,
    M_REAL,
    N_OWN
};
enum { M_CALIBRATE = N_OWN, M_FIND, M_GUARD, N_METHODS, M_FOR_NAME = N_METHODS, M_MANAGER, N_ALL };

#define LLOAD_1 0x1f
#define DLOAD_1 0x27
#define ALOAD_1 0x2b

/* iload_0; ifeq 8; iload_0; invokestatic native; 8: return */
#define OF_TOKEN(name, native)                                                                    \
    {                                                                                             \
        0, name, "(I)V", { 0x1a, 0x99, 0, 7, 0x1a, 0xb8, 0, 0, 0xb1 }, 9, 8, { { 6, native } }, 1 \
    }
/* iload_0; ifeq 10; iload_0; load; invokestatic native; ireturn; 10: iconst_0; ireturn */
#define OF_ARGUMENT(name, type, load, native)                                                                       \
    {                                                                                                               \
        0, name, type, { 0x1a, 0x99, 0, 9, 0x1a, load, 0xb8, 0, 0, 0xac, 0x03, 0xac }, 12, 10, { { 7, native } }, 1 \
    }

static const struct method_text methods[N_METHODS] = {
    [M_ENTER0] = { .flags = ACC_NATIVE, .name = "enter0", .descriptor = "(I)I" },
    [M_EXIT0] = { .flags = ACC_NATIVE, .name = "exit0", .descriptor = "(I)V" },
    [M_UNWIND0] = { .flags = ACC_NATIVE, .name = "unwind0", .descriptor = "(I)V" },
    [M_CAUGHT0] = { .flags = ACC_NATIVE, .name = "caught0", .descriptor = "(I)V" },
    [M_OBJECT0] = { .flags = ACC_NATIVE, .name = "object0", .descriptor = "(ILjava/lang/Object;)I" },
    [M_INTEGER0] = { .flags = ACC_NATIVE, .name = "integer0", .descriptor = "(IJ)I" },
    [M_REAL0] = { .flags = ACC_NATIVE, .name = "real0", .descriptor = "(ID)I" },
    /* iload_0; ifeq 9; iload_0; invokestatic enter0; ireturn; 9: iconst_0; ireturn */
    [M_ENTER] = { 0,
                  "enter",
                  "(I)I",
                  { 0x1a, 0x99, 0, 8, 0x1a, 0xb8, 0, 0, 0xac, 0x03, 0xac },
                  11,
                  9,
                  { { 6, M_ENTER0 } },
                  1 },
    [M_EXIT] = OF_TOKEN("exit", M_EXIT0),
    [M_UNWIND] = OF_TOKEN("unwind", M_UNWIND0),
    [M_CAUGHT] = OF_TOKEN("caught", M_CAUGHT0),
    [M_OBJECT] = OF_ARGUMENT("object", "(ILjava/lang/Object;)I", ALOAD_1, M_OBJECT0),
    [M_INTEGER] = OF_ARGUMENT("integer", "(IJ)I", LLOAD_1, M_INTEGER0),
    [M_REAL] = OF_ARGUMENT("real", "(ID)I", DLOAD_1, M_REAL0),
    /* 0: iload_1; ifle 17; iload_0; invokestatic enter; invokestatic exit; iinc 1 -1; goto 0; 17: return */
    [M_CALIBRATE] = { 0,
                      "calibrate",
                      "(II)V",
                      { 0x1b, 0x9e, 0, 16, 0x1a, 0xb8, 0, 0, 0xb8, 0, 0, 0x84, 1, 0xff, 0xa7, 0xff, 0xf2, 0xb1 },
                      18,
                      0,
                      { { 6, M_ENTER }, { 9, M_EXIT } },
                      2 },
    /* aload_0; iconst_0; aload_1; invokestatic Class.forName; areturn */
    [M_FIND] = { 0,
                 "find",
                 "(Ljava/lang/String;Ljava/lang/ClassLoader;)Ljava/lang/Class;",
                 { 0x2a, 0x03, 0x2b, 0xb8, 0, 0, 0xb0 },
                 7,
                 0,
                 { { 4, M_FOR_NAME } },
                 1 },
    /* invokestatic System.getSecurityManager; areturn */
    [M_GUARD] = { 0, "guard", "()Ljava/lang/SecurityManager;", { 0xb8, 0, 0, 0xb0 }, 4, 0, { { 1, M_MANAGER } }, 1 },
};

/* The code of one, as far as the class has it. */
static void put_code(struct class_builder *b, const struct method_text *method, uint16_t code_name,
                     uint16_t frames_name, const uint16_t *refs)
{
    uint8_t code[sizeof method->code];
    bool has_frame = frames_name != 0 && method->frame_at != 0;
    memcpy(code, method->code, sizeof code);
    for (size_t i = 0; i < method->n_calls; i++) {
        code[method->calls[i].at] = (uint8_t)(refs[method->calls[i].method] >> 8);
        code[method->calls[i].at + 1] = (uint8_t)refs[method->calls[i].method];
    }
    sink_u16be(&b->body, 1); /* attributes */
    sink_u16be(&b->body, code_name);
    sink_u32be(&b->body, 12u + method->n_code + (has_frame ? 9 : 0));
    sink_u16be(&b->body, 3); /* max_stack */
    sink_u16be(&b->body, 3); /* max_locals */
    sink_u32be(&b->body, method->n_code);
    sink_bytes(&b->body, code, method->n_code);
    sink_u16be(&b->body, 0); /* exception table */
    sink_u16be(&b->body, has_frame);
    if (has_frame) {
        sink_u16be(&b->body, frames_name);
        sink_u32be(&b->body, 3);
        sink_u16be(&b->body, 1);
        sink_u8(&b->body, method->frame_at); /* same_frame */
    }
}

static void put_method(struct class_builder *b, uint16_t flags, uint16_t name, uint16_t descriptor)
{
    sink_u16be(&b->body, (uint16_t)(ACC_PUBLIC | ACC_STATIC | flags));
    sink_u16be(&b->body, name);
    sink_u16be(&b->body, descriptor);
}

static void add_references(struct class_builder *b, uint16_t this_class, unsigned n, uint16_t refs[N_ALL][3])
{
    for (unsigned i = 0; i < n; i++) {
        refs[i][0] = pool_utf8(b, methods[i].name);
        refs[i][1] = pool_utf8(b, methods[i].descriptor);
        refs[i][2] = pool_member(b, TAG_METHOD, this_class, refs[i][0], refs[i][1]);
    }
}

static uint16_t jdk_method(struct class_builder *b, const char *class_name, const char *name, const char *descriptor)
{
    return pool_member(b, TAG_METHOD, pool_class(b, class_name), pool_utf8(b, name), pool_utf8(b, descriptor));
}

/* The first n methods of the table; with an array of flags the native that gives it. */
static size_t probe_class(struct class_builder *b, const char *name, const char *super_name, unsigned n, uint8_t *out)
{
    uint16_t refs[N_ALL][3], calls[N_ALL] = { 0 };
    bool is_own = n == N_OWN;
    if (b == NULL)
        return 0;
    uint16_t this_class = pool_class(b, name), super_class = pool_class(b, super_name);
    uint16_t code_name = pool_utf8(b, "Code"), frames_name = is_own ? pool_utf8(b, "StackMapTable") : 0;
    add_references(b, this_class, n, refs);
    for (unsigned i = 0; i < n; i++)
        calls[i] = refs[i][2];
    if (!is_own) {
        calls[M_FOR_NAME] = jdk_method(b, "java/lang/Class", "forName",
                                       "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;");
        calls[M_MANAGER] = jdk_method(b, "java/lang/System", "getSecurityManager", "()Ljava/lang/SecurityManager;");
    }
    class_head(b, this_class, super_class, 0);
    sink_u16be(&b->body, (uint16_t)(n + is_own));
    for (unsigned i = 0; i < n; i++) {
        put_method(b, methods[i].flags, refs[i][0], refs[i][1]);
        if (methods[i].flags & ACC_NATIVE)
            sink_u16be(&b->body, 0);
        else
            put_code(b, &methods[i], code_name, frames_name, calls);
    }
    if (is_own) {
        put_method(b, ACC_NATIVE, pool_utf8(b, "flags0"), pool_utf8(b, "(I)[I"));
        sink_u16be(&b->body, 0);
    }
    sink_u16be(&b->body, 0); /* class attributes */
    return builder_finish(b, out);
}

size_t class_bytes_probe(uint8_t *out)
{
    return probe_class(builder_new(49), AGENT_PROBE_CLASS, "java/lang/Object", N_METHODS, out);
}

size_t class_bytes_own_probe(const char *super_name, uint8_t *out)
{
    return probe_class(builder_new(52), AGENT_OWN_PROBE_CLASS, super_name, N_OWN, out);
}

/* ---- the classes of the flags ---- */

size_t class_bytes_flags(const char *name, uint8_t *out)
{
    struct class_builder *b = builder_new(49);
    if (b == NULL)
        return 0;
    uint16_t this_class = pool_class(b, name), super_class = pool_class(b, "java/lang/Object");
    uint16_t descriptor = pool_utf8(b, "I");
    class_head(b, this_class, super_class, CLASSES_FLAGS_PER_CLASS);
    for (uint32_t i = 0; i < CLASSES_FLAGS_PER_CLASS; i++) {
        char field[16];
        snprintf(field, sizeof field, "g%u", i);
        sink_u16be(&b->body, ACC_PUBLIC | ACC_STATIC);
        sink_u16be(&b->body, pool_utf8(b, field));
        sink_u16be(&b->body, descriptor);
        sink_u16be(&b->body, 0);
    }
    sink_u16be(&b->body, 0); /* methods */
    sink_u16be(&b->body, 0); /* class attributes */
    return builder_finish(b, out);
}

size_t class_bytes_own_flags(const char *name, uint32_t block, uint8_t *out)
{
    struct class_builder *b = builder_new(52);
    if (b == NULL)
        return 0;
    uint16_t this_class = pool_class(b, name), super_class = pool_class(b, AGENT_OWN_PROBE_CLASS);
    uint16_t field = pool_utf8(b, AGENT_OWN_FLAGS_FIELD), descriptor = pool_utf8(b, "[I");
    uint16_t get = jdk_method(b, AGENT_OWN_PROBE_CLASS, "flags0", "(I)[I");
    uint16_t put = pool_member(b, TAG_FIELD, this_class, field, descriptor);
    /* bipush block; invokestatic Probe.flags0; putstatic g; return */
    struct method_text init = {
        0, "<clinit>", "()V", { 0x10, (uint8_t)block, 0xb8, 0, 0, 0xb3, 0, 0, 0xb1 }, 9, 0, { { 3, 0 }, { 6, 1 } }, 2
    };
    uint16_t init_name = pool_utf8(b, init.name), init_descriptor = pool_utf8(b, init.descriptor);
    uint16_t code_name = pool_utf8(b, "Code");
    class_head(b, this_class, super_class, 1);
    sink_u16be(&b->body, ACC_PUBLIC | ACC_STATIC | ACC_FINAL);
    sink_u16be(&b->body, field);
    sink_u16be(&b->body, descriptor);
    sink_u16be(&b->body, 0); /* field attributes */
    sink_u16be(&b->body, 1); /* methods */
    sink_u16be(&b->body, ACC_STATIC);
    sink_u16be(&b->body, init_name);
    sink_u16be(&b->body, init_descriptor);
    put_code(b, &init, code_name, 0, (const uint16_t[]){ get, put });
    sink_u16be(&b->body, 0); /* class attributes */
    return builder_finish(b, out);
}
