/*
 * The check of rewritten classes: each byte of what the rewriter made is changed, in several ways, and the check must
 * notice it; and what a writer could get wrong as a whole.
 */
#include "core/agent/rewrite/rewrite_parts.h"
#include "test/unit/class_maker.h"

/* All constants that are added are used: a change of one that is not would be harmless. */
static const struct {
    const char *claim;
    uint16_t major, name, max_stack, max_locals;
    const char *code, *handlers, *attributes;
    unsigned n_attributes;
} rows[] = {
    { "a method that only returns", 61, NAME_M, 0, 4, "b1", "", "", 0 },
    { "branches, returns", 61, NAME_M, 1, 4, "03 990004 b1 b1", "", "0008 00000003 0001 05", 1 },
    { "a wide variable", 61, NAME_M, 2, 300, "c484 0005 0001 b1", "", "", 0 },
    { "tableswitch", 61, NAME_M, 1, 4, "03 aa 0000 00000018 00000000 00000001 00000017 00000018 b1 b1", "",
      "0008 00000004 0002 18 00", 1 },
    { "lookupswitch", 49, NAME_M, 1, 4, "03 ab 0000 00000014 00000001 00000007 00000013 b1 b1", "", "", 0 },
    { "handlers", 61, NAME_M, 2, 4, "00 b1 57 b1", "0000 0001 0002 0000  0000 0002 0002 0000",
      "0008 00000006 0001 42 070002", 1 },
    { "a catch", 61, NAME_M, 2, 4, "00 b1 57 b1", "0000 0001 0002 0004", "0008 00000006 0001 42 070004", 1 },
    { "frames: append, chop, one on the stack", 61, NAME_M, 1, 4, "00 00 b1", "", "0008 00000009 0002 fc0000 01 fa0000",
      1 },
    { "an uninitialized object", 61, NAME_M, 2, 4, "00 bb0002 57 b1", "",
      "0008 0000000d 0001 ff0004 0001 01 0001 080001", 1 },
    { "lines and variables", 61, NAME_M, 0, 4, "00 b1 b1", "",
      "0009 0000000e 0003 0000 000a 0001 000b 0002 000c  000a 00000016 0002 0000 0003 0006 000d 0000  0001 0002 0006 "
      "000d 0003",
      2 },
    { "a constructor", 61, NAME_INIT, 4, 4, "bb0004 59 b7000f 57 2a b7000f b1", "", "", 0 },
    { "a constructor with frames", 61, NAME_INIT, 4, 4, "03 990005 01 bf 2a b7000f b1", "",
      "0008 0000000a 0001 ff 0006 0001 06 0000", 1 },
    { "a constructor without frames", 49, NAME_INIT, 4, 4, "03 99000a 2a b7000f a70007 2a b7000f b1", "", "", 0 },
};

static const struct rewrite_flag field = { "G0", "g0", REWRITE_FLAG_FIELD, REWRITE_NO_ARGUMENT };

static bool passes(struct span old, struct span made, const struct rewrite_flag *flag)
{
    const struct verify_expected expected = { "P", flag, 1 };
    struct classfile file;
    struct err err;
    bool ok = classfile_open(&file, old.at, old.n, &err) == 0 && verify_class(&file, made, &expected, &err) == 0;
    classfile_free(&file);
    return ok;
}

/* The stack may be larger than needed. */
static bool is_harmless(struct span made, size_t at, uint8_t byte)
{
    size_t stack = (size_t)(result.code.bytes.at - result.bytes) - 8;
    return (at == stack || at == stack + 1) && byte > made.at[at];
}

static void test_bytes(struct span old, const struct rewrite_flag *flag, const char *claim)
{
    struct span made = { malloc(result.n_bytes), result.n_bytes };
    uint8_t *bytes = (uint8_t *)made.at;
    unsigned n_passed = 0;
    size_t last = 0;
    memcpy(bytes, result.bytes, result.n_bytes);
    for (size_t at = 0; at < made.n; at++)
        for (int i = 0; i < 12; i++) {
            unsigned was = bytes[at];
            uint8_t byte = (uint8_t)(i < 8 ? was ^ 1u << i : i < 10 ? was + 2 * (unsigned)i - 17 : i == 10 ? 0 : 255);
            if (byte == was || is_harmless(made, at, byte))
                continue;
            bytes[at] = byte;
            if (passes(old, made, flag)) {
                n_passed++;
                last = at;
            }
            bytes[at] = (uint8_t)was;
        }
    CHECK_NUMBER(claim, n_passed, 0);
    if (n_passed > 0)
        printf("# the last at %zu of %zu\n", last, made.n);
    free(bytes);
}

/* The last bytes are missing, or there are more. */
static void test_length(struct span old)
{
    unsigned n_passed = 0;
    for (size_t n = 0; n < result.n_bytes; n++)
        n_passed += passes(old, (struct span){ result.bytes, n }, &field);
    CHECK_NUMBER("  it is not cut off", n_passed, 0);
}

static void test_rows(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct recipe r = plain;
        r.major = rows[i].major;
        r.name = rows[i].name;
        r.access = r.name == NAME_INIT ? 1 : 8;
        r.descriptor = r.name == NAME_INIT ? NOTHING : LONG_STRING;
        r.max_stack = rows[i].max_stack;
        r.max_locals = rows[i].max_locals;
        r.code_hex = rows[i].code;
        r.handlers_hex = rows[i].handlers;
        r.attributes_hex = rows[i].attributes;
        r.n_attributes = rows[i].n_attributes;
        struct span old = make_class(&r);
        rewrite(old);
        CHECK_NUMBER(rows[i].claim, result.rc, 1);
        if (result.rc == 1) {
            test_bytes(old, &field, "  each changed byte is noticed");
            test_length(old);
        }
    }
}

/* An entry with an element of an array and an argument. */
static bool choose_element(void *context, const struct protocol_method *method, struct rewrite_flag *flag)
{
    (void)method;
    *flag = *(const struct rewrite_flag *)context;
    return true;
}

static void test_arguments(void)
{
    struct rewrite_flag flag = { "G0", "g0", 77, 0 };
    const struct rewrite_policy policy = { "P", choose_element, NULL, &flag };
    struct recipe r = plain;
    r.descriptor = LONG_STRING;
    r.max_locals = 4;
    for (flag.argument = 1; flag.argument < 3; flag.argument++) {
        struct span old = make_class(&r);
        struct err err;
        uint8_t *bytes;
        size_t n;
        CHECK_NUMBER("an element as its flag, and an argument", rewrite_class(old.at, old.n, &policy, &bytes, &n, &err),
                     1);
        free(result.bytes);
        result.bytes = bytes;
        result.n_bytes = n;
        struct span made = { bytes, n };
        CHECK("  pass", passes(old, made, &flag));
        flag.index++;
        CHECK("  another element does not", !passes(old, made, &flag));
        flag.index--;
        CHECK("  nor does a field", !passes(old, made, &field));
        CHECK("  nor a class that did not change", !passes(old, old, &flag));
    }
}

/* The name of the probe class changes between the two methods of a class. */
static bool choose_and_rename(void *context, const struct protocol_method *method, struct rewrite_flag *flag)
{
    char *probe_class = context;
    *flag = field;
    (void)method;
    probe_class[0]++;
    return true;
}

static void test_doubt(void)
{
    char probe_class[] = "P";
    const struct rewrite_policy policy = { probe_class, choose_and_rename, NULL, probe_class };
    struct recipe r = plain;
    struct err err;
    uint8_t *bytes;
    size_t n;
    r.n_methods = 2;
    struct span old = make_class(&r);
    CHECK_NUMBER("a class that does not pass is not given out", rewrite_class(old.at, old.n, &policy, &bytes, &n, &err),
                 REWRITE_UNSURE);
    CHECK("  there is none", bytes == NULL && n == 0);
    CHECK_TEXT("  its method and what is wrong are said", err.text, "m()V: the probe at the entry");
}

int main(void)
{
    seen.take = true;
    test_rows();
    test_arguments();
    test_doubt();
    classfile_free(&result.file);
    free(result.bytes);
    return tap_done();
}
