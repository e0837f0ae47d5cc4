/*
 * Classes made byte by byte for the tests of the rewriter, and a look at what it made of them.  Code and attributes
 * are written in hex; blanks between bytes do not count.
 */
#ifndef TEST_UNIT_CLASS_MAKER_H
#define TEST_UNIT_CLASS_MAKER_H

#include "core/agent/rewrite/classfile.h"
#include "core/agent/rewrite/rewrite.h"
#include "test/unit/tap.h"

#include <stdlib.h>

/* The constants of the made classes, by index. */
#define UTF8_COUNT 20
static const char *const utf8[UTF8_COUNT] = {
    [1] = "T",
    [3] = "java/lang/Object",
    [5] = "Code",
    [6] = "m",
    [7] = "(JLjava/lang/String;)V",
    [8] = "StackMapTable",
    [9] = "LineNumberTable",
    [10] = "LocalVariableTable",
    [11] = "RuntimeVisibleTypeAnnotations",
    [12] = "<init>",
    [13] = "()V",
    [16] = "SourceFile",
    [17] = "T.java",
    [18] = "Unknown",
    [19] = "finalize",
};

enum { CLASS_T = 2, CLASS_OBJECT = 4, SUPER_INIT = 15, NAME_M = 6, NAME_INIT = 12, NAME_FINALIZE = 19 };
enum { LONG_STRING = 7, NOTHING = 13 }; /* descriptors */

/* What is added, in this order, behind the 20 constants above: getstatic 25, and so on. */
#define ENTER    "b20019b8001f"
#define EXIT     "b80023"
#define UNWIND   "b80026"
#define ENTER_0  ENTER "3b"
#define EXIT_0   "1a" EXIT
#define UNWIND_0 "1a" UNWIND "bf"
#define CAUGHT_0 "1a b80029" /* the constant is made only for a method that catches */
#define ENTER_1  ENTER "3c"
#define EXIT_1   "1b" EXIT
#define UNWIND_1 "1b" UNWIND "bf"

struct recipe {
    uint16_t major, this_class, access, name, descriptor, max_stack, max_locals;
    const uint8_t *code; /* instead of code_hex */
    uint32_t n_code;
    const char *code_hex, *handlers_hex, *attributes_hex; /* without their counts; attributes: name and body */
    unsigned n_attributes, n_handlers, n_methods;
    unsigned n_filler;  /* more constants */
    unsigned last_long; /* and a long that has so many indices: 2, or 1, which is one too few */
};

static const struct recipe plain = { .major = 61,
                                     .this_class = CLASS_T,
                                     .access = 8,
                                     .name = NAME_M,
                                     .descriptor = NOTHING,
                                     .code_hex = "b1",
                                     .handlers_hex = "",
                                     .attributes_hex = "",
                                     .n_methods = 1 };

static inline size_t from_hex(const char *hex, uint8_t *out)
{
    size_t n = 0;
    for (; hex[0] != '\0'; hex += hex[0] == ' ' ? 1 : 2) {
        unsigned byte;
        if (hex[0] != ' ' && sscanf(hex, "%2x", &byte) == 1)
            out[n++] = (uint8_t)byte;
    }
    return n;
}

static inline void to_hex(struct span span, char *out, size_t n_out)
{
    out[0] = '\0';
    for (size_t i = 0; i < span.n && 2 * i + 3 < n_out; i++)
        snprintf(out + 2 * i, 3, "%02x", span.at[i]);
}

static inline void put_pool(struct sink *s, const struct recipe *r)
{
    sink_u16be(s, (uint16_t)(UTF8_COUNT + r->n_filler + r->last_long));
    for (unsigned i = 1; i < UTF8_COUNT; i++) {
        if (utf8[i] != NULL) {
            sink_u8(s, CONSTANT_UTF8);
            sink_u16be(s, (uint16_t)strlen(utf8[i]));
            sink_bytes(s, utf8[i], strlen(utf8[i]));
        } else if (i == CLASS_T || i == CLASS_OBJECT) {
            sink_u8(s, CONSTANT_CLASS);
            sink_u16be(s, (uint16_t)(i - 1));
        } else {
            sink_u8(s, i == SUPER_INIT ? CONSTANT_METHOD : CONSTANT_NAME_AND_TYPE);
            sink_u16be(s, i == SUPER_INIT ? CLASS_OBJECT : NAME_INIT);
            sink_u16be(s, i == SUPER_INIT ? SUPER_INIT - 1 : NOTHING);
        }
    }
    for (unsigned i = 0; i < r->n_filler; i++)
        sink_bytes(s, "\3\0\0\0\0", 5);
    if (r->last_long > 0)
        sink_bytes(s, "\5\0\0\0\0\0\0\0", 9);
}

static inline void put_method(struct sink *s, const struct recipe *r)
{
    static uint8_t code[70000], handlers[8 * 65536];
    size_t n_code = r->n_code, n_handlers = from_hex(r->handlers_hex, handlers);
    uint8_t attributes[8192];
    size_t n_attributes = from_hex(r->attributes_hex, attributes);
    if (r->code == NULL)
        n_code = from_hex(r->code_hex, code);
    for (; n_handlers < 8 * (size_t)r->n_handlers; n_handlers += 8)
        memcpy(handlers + n_handlers, "\0\0\0\1\0\0\0\0", 8);
    sink_u16be(s, r->access);
    sink_u16be(s, r->name);
    sink_u16be(s, r->descriptor);
    sink_u16be(s, 1);
    sink_u16be(s, 5);
    sink_u32be(s, (uint32_t)(12 + n_code + n_handlers + n_attributes));
    sink_u16be(s, r->max_stack);
    sink_u16be(s, r->max_locals);
    sink_u32be(s, (uint32_t)n_code);
    sink_bytes(s, r->code == NULL ? code : r->code, n_code);
    sink_u16be(s, (uint16_t)(n_handlers / 8));
    sink_bytes(s, handlers, n_handlers);
    sink_u16be(s, (uint16_t)r->n_attributes);
    sink_bytes(s, attributes, n_attributes);
}

static inline struct span make_class(const struct recipe *r)
{
    static uint8_t bytes[2000000];
    struct sink s = sink_into(bytes, sizeof bytes);
    sink_u32be(&s, 0xcafebabe);
    sink_u32be(&s, r->major);
    put_pool(&s, r);
    sink_u16be(&s, 0x21);
    sink_u16be(&s, r->this_class);
    sink_u16be(&s, r->this_class == CLASS_OBJECT ? 0 : CLASS_OBJECT);
    sink_u32be(&s, 0); /* interfaces, fields */
    sink_u16be(&s, (uint16_t)r->n_methods);
    for (unsigned i = 0; i < r->n_methods; i++)
        put_method(&s, r);
    sink_u16be(&s, 1);
    sink_bytes(&s, "\0\x10\0\0\0\2\0\x11", 8);
    return (struct span){ bytes, (size_t)(s.at - bytes) };
}

/* What the policy saw and does. */
static struct seen {
    unsigned n_offered, n_skipped;
    enum rewrite_skip why;
    struct protocol_method last;
    bool take, gives; /* gives: the argument */
    int16_t argument;
} seen;

static inline bool choose(void *context, const struct protocol_method *method, struct rewrite_flag *flag)
{
    struct seen *s = context;
    s->n_offered++;
    s->last = *method;
    snprintf(flag->class_name, sizeof flag->class_name, "G0");
    snprintf(flag->field_name, sizeof flag->field_name, "g0");
    if (s->gives)
        flag->argument = s->argument;
    return s->take;
}

static inline void skipped(void *context, const struct protocol_method *method, const struct rewrite_flag *flag,
                           enum rewrite_skip why)
{
    struct seen *s = context;
    (void)method;
    (void)flag;
    s->n_skipped++;
    s->why = why;
}

/* The outcome of rewriting a made class, and the first method of the result. */
static struct result {
    int rc;
    uint8_t *bytes;
    size_t n_bytes;
    struct err err;
    struct classfile file;
    struct classfile_code code;
} result;

static inline void rewrite(struct span bytes)
{
    static const struct rewrite_policy policy = { "P", choose, skipped, &seen };
    classfile_free(&result.file);
    free(result.bytes);
    memset(&result, 0, sizeof result);
    seen = (struct seen){ .take = seen.take, .gives = seen.gives, .argument = seen.argument };
    result.rc = rewrite_class(bytes.at, bytes.n, &policy, &result.bytes, &result.n_bytes, &result.err);
    if (result.bytes == NULL || classfile_open(&result.file, result.bytes, result.n_bytes, &result.err) < 0)
        return;
    struct cursor c = cursor_over(result.bytes + result.file.methods, result.n_bytes - result.file.methods);
    struct classfile_method method;
    cursor_u16be(&c);
    if (classfile_next_method(&result.file, &c, &method, &result.err) == 0)
        classfile_code(&result.file, &method, &result.code, &result.err);
}

static inline void rewrite_recipe(struct recipe r)
{
    rewrite(make_class(&r));
}

/* The body of an attribute of the result's Code, in hex, or "-". */
static inline const char *attribute_hex(const char *name)
{
    static char text[8192];
    struct cursor c = cursor_over(result.code.attributes.at, result.code.attributes.n);
    struct classfile_attribute a;
    while (classfile_next_attribute(&result.file, &c, &a))
        if (span_is(a.name, name)) {
            to_hex(a.body, text, sizeof text);
            return text;
        }
    return "-";
}

static inline void same_hex(const char *claim, const char *actual, const char *expected)
{
    uint8_t bytes[4096];
    char text[8192] = "-";
    if (expected[0] != '-')
        to_hex((struct span){ bytes, from_hex(expected, bytes) }, text, sizeof text);
    CHECK_TEXT(claim, actual, text);
}

static inline void check_code(const char *claim, const char *code, const char *handlers)
{
    char text[8192];
    to_hex(result.code.bytes, text, sizeof text);
    same_hex(claim, text, code);
    to_hex(result.code.handlers, text, sizeof text);
    same_hex("  its handlers", text, handlers);
}

#endif
