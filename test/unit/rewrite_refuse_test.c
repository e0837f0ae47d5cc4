/*
 * What the class file rewriter refuses: methods that it leaves alone, and classes that are none.
 */
#include "test/unit/class_maker.h"

/* --- What is left alone. --- */

static const struct {
    const char *claim;
    struct recipe r;
    enum rewrite_skip why;
} skip_rows[] = {
#define COMMON  .this_class = CLASS_T, .descriptor = NOTHING, .n_methods = 1
#define METHOD  COMMON, .major = 61, .access = 8, .name = NAME_M
#define INIT    COMMON, .major = 49, .access = 1, .name = NAME_INIT
#define NO_MORE .handlers_hex = "", .attributes_hex = ""
    { "65535 locals", { METHOD, .code_hex = "b1", NO_MORE, .max_locals = 65535 }, REWRITE_SKIP_LIMITS },
    { "65535 stack slots", { METHOD, .code_hex = "b1", NO_MORE, .max_stack = 65535 }, REWRITE_SKIP_LIMITS },
    { "65535 handlers", { METHOD, .code_hex = "b1", NO_MORE, .n_handlers = 65535 }, REWRITE_SKIP_LIMITS },
    { "a full constant pool", { METHOD, .code_hex = "b1", NO_MORE, .n_filler = 65510 }, REWRITE_SKIP_LIMITS },
    { "an unknown instruction", { METHOD, .code_hex = "cb", NO_MORE }, REWRITE_SKIP_UNUSUAL },
    { "an instruction that is cut off", { METHOD, .code_hex = "b1 11 00", NO_MORE }, REWRITE_SKIP_UNUSUAL },
    { "a branch into an instruction", { METHOD, .code_hex = "a70001", NO_MORE }, REWRITE_SKIP_UNUSUAL },
    { "a branch out of the code", { METHOD, .code_hex = "a70003", NO_MORE }, REWRITE_SKIP_UNUSUAL },
    { "a tableswitch from 1 to 0",
      { METHOD, .code_hex = "aa000000 00000000 00000001 00000000", NO_MORE },
      REWRITE_SKIP_UNUSUAL },
    { "a lookupswitch with -1 pairs",
      { METHOD, .code_hex = "ab000000 00000000 ffffffff", NO_MORE },
      REWRITE_SKIP_UNUSUAL },
    { "a handler out of the code",
      { METHOD, .code_hex = "b1", .handlers_hex = "0000 0001 0001 0000", .attributes_hex = "" },
      REWRITE_SKIP_UNUSUAL },
    { "a range that ends before it starts",
      { METHOD, .code_hex = "b1", .handlers_hex = "0001 0001 0000 0000", .attributes_hex = "" },
      REWRITE_SKIP_UNUSUAL },
    { "a line behind the code",
      { METHOD, .code_hex = "b1", .handlers_hex = "", .n_attributes = 1,
        .attributes_hex = "0009 00000006 0001 0001 0001" },
      REWRITE_SKIP_UNUSUAL },
    { "a line table that is cut off",
      { METHOD, .code_hex = "b1", .handlers_hex = "", .n_attributes = 1,
        .attributes_hex = "0009 00000006 0002 0000 0001" },
      REWRITE_SKIP_UNUSUAL },
    { "a frame with an unknown tag",
      { METHOD, .code_hex = "b1", .handlers_hex = "", .n_attributes = 1, .attributes_hex = "0008 00000003 0001 80" },
      REWRITE_SKIP_UNUSUAL },
    { "a frame that chops what is not there",
      { METHOD, .code_hex = "b1", .handlers_hex = "", .n_attributes = 1,
        .attributes_hex = "0008 00000005 0001 f80000" },
      REWRITE_SKIP_UNUSUAL },
    { "a frame with more locals than there are",
      { METHOD, .code_hex = "b1", .handlers_hex = "", .n_attributes = 1,
        .attributes_hex = "0008 00000006 0001 fc0000 01" },
      REWRITE_SKIP_UNUSUAL },
    { "two tables of frames",
      { METHOD, .code_hex = "b1", .handlers_hex = "", .n_attributes = 2,
        .attributes_hex = "0008 00000002 0000  0008 00000002 0000" },
      REWRITE_SKIP_UNUSUAL },
    { "jsr in a constructor",
      { INIT, .code_hex = "a80003 57 2a b7000f b1", NO_MORE, .max_stack = 2, .max_locals = 1 },
      REWRITE_SKIP_UNUSUAL },
    { "super() on one of two ways",
      { INIT, .code_hex = "03 990007 2a b7000f b1", NO_MORE, .max_stack = 2, .max_locals = 1 },
      REWRITE_SKIP_UNUSUAL },
    { "a constructor whose stack runs over",
      { INIT, .code_hex = "2a 2a 57 b7000f b1", NO_MORE, .max_stack = 1, .max_locals = 1 },
      REWRITE_SKIP_UNUSUAL },
    { "a constructor whose stack runs empty",
      { INIT, .code_hex = "57 2a b7000f b1", NO_MORE, .max_stack = 1, .max_locals = 1 },
      REWRITE_SKIP_UNUSUAL },
    { "a constructor that runs off its end",
      { INIT, .code_hex = "00", NO_MORE, .max_stack = 1, .max_locals = 1 },
      REWRITE_SKIP_UNUSUAL },
    { "uninitialized this in another local than 0",
      { INIT, .code_hex = "2a 4c 01 4b 2b b7000f b1", NO_MORE, .max_stack = 1, .max_locals = 2 },
      REWRITE_SKIP_UNUSUAL },
};

static void test_skips(void)
{
    for (size_t i = 0; i < sizeof skip_rows / sizeof skip_rows[0]; i++) {
        rewrite_recipe(skip_rows[i].r);
        bool left = result.rc == 0 && result.bytes == NULL && seen.n_skipped == 1 && seen.why == skip_rows[i].why;
        if (!CHECK(skip_rows[i].claim, left))
            printf("# rc %d, %u skipped, why %d\n", result.rc, seen.n_skipped, (int)seen.why);
    }
}

static void test_large(void)
{
    static uint8_t code[65535];
    struct recipe r = plain;
    r.code = code;
    r.n_code = 65535 - 17;
    code[r.n_code - 1] = 0xb1;
    rewrite_recipe(r);
    CHECK_NUMBER("code may grow to 65535 bytes", result.rc == 1 ? result.code.bytes.n : 0, 65535 - 1);
    code[r.n_code - 1] = 0;
    code[r.n_code++] = 0xb1;
    rewrite_recipe(r);
    CHECK_NUMBER("to just that", result.rc == 1 ? result.code.bytes.n : 0, 65535);
    code[r.n_code - 1] = 0;
    code[r.n_code++] = 0xb1;
    rewrite_recipe(r);
    CHECK("but not to 65536", result.rc == 0 && seen.n_skipped == 1 && seen.why == REWRITE_SKIP_TOO_LARGE);

    code[r.n_code - 1] = 0;
    r.n_code = 8000 - 16;
    code[r.n_code - 1] = 0xb1;
    rewrite_recipe(r);
    CHECK_NUMBER("code may grow to 8000 bytes", result.rc == 1 ? result.code.bytes.n : 0, 8000);
    code[r.n_code - 1] = 0;
    code[r.n_code++] = 0xb1;
    rewrite_recipe(r);
    CHECK("but not pass them: HotSpot would not compile it", result.rc == 0 && seen.why == REWRITE_SKIP_TOO_LARGE);

    memset(code, 0, sizeof code);
    memcpy(code, "\xa7\x7f\xff", 3);
    r.n_code = 32768;
    code[32767] = 0xb1;
    rewrite_recipe(r);
    CHECK("a branch of 32767 bytes stays", result.rc == 1);
    code[100] = 0xb1;
    rewrite_recipe(r);
    CHECK("a branch that passes 32767 bytes does not", result.rc == 0 && seen.why == REWRITE_SKIP_TOO_LARGE);
}

/* 1200 frames with 60000 locals each: 4 KB would become 72 MB. */
static void test_growth(void)
{
    static uint8_t code[65000];
    static char hex[10000] = "0008 0000106a 04b0 ";
    code[sizeof code - 1] = 0xb1;
    struct recipe r = plain;
    r.code = code;
    r.n_code = sizeof code;
    r.max_locals = 60000;
    r.n_attributes = 1;
    for (size_t at = strlen(hex), i = 0; i < 600; i++, at += 14)
        snprintf(hex + at, sizeof hex - at, "fc000001fa0000");
    r.attributes_hex = hex;
    rewrite_recipe(r);
    CHECK("frames that would grow without bounds are refused", result.rc == 0 && seen.why == REWRITE_SKIP_LIMITS);
}

/* --- Malformed classes. --- */

static void test_malformed(void)
{
    static const struct {
        const char *claim;
        size_t at;
        uint8_t byte;
    } rows[] = {
        { "a bad magic number", 0, 0xcb },
        { "no constants", 9, 0 },
        { "an unknown tag", 10, 2 },
        { "a constant that passes the end", 11, 0xff },
    };
    static uint8_t copy[4096];
    struct span whole = make_class(&plain);
    rewrite(whole);
    CHECK("the whole class is rewritten", result.rc == 1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        memcpy(copy, whole.at, whole.n);
        copy[rows[i].at] = rows[i].byte;
        rewrite((struct span){ copy, whole.n });
        CHECK(rows[i].claim, result.rc == -1 && result.bytes == NULL && strstr(result.err.text, "\n  next: ") != NULL);
    }
    size_t n_refused = 0;
    for (size_t n = 0; n < whole.n; n++) {
        rewrite((struct span){ whole.at, n });
        n_refused += result.rc == -1 && result.bytes == NULL;
    }
    CHECK_NUMBER("a class that is cut off anywhere is refused", n_refused, whole.n);
    memcpy(copy, whole.at, whole.n);
    rewrite((struct span){ copy, whole.n + 1 });
    CHECK("bytes behind the end are refused", result.rc == -1);
    CHECK_TEXT("the error says what is wrong and what to do", result.err.text,
               "malformed class file: something follows its last attribute\n"
               "  next: the class is left as it is; 'javap -v' shows where it breaks");
    struct recipe r = plain;
    r.last_long = 2;
    rewrite_recipe(r);
    CHECK("a long as the last constant has two indices", result.rc == 1);
    r.last_long = 1;
    rewrite_recipe(r);
    CHECK("a long as the last constant with one index is refused", result.rc == -1);
    r = plain;
    r.code_hex = "";
    rewrite_recipe(r);
    CHECK("empty code is refused", result.rc == -1);
    r = plain;
    r.this_class = NAME_M;
    rewrite_recipe(r);
    CHECK("a class without a name is refused", result.rc == -1);
}

int main(void)
{
    seen.take = true;
    test_skips();
    test_large();
    test_growth();
    test_malformed();
    classfile_free(&result.file);
    free(result.bytes);
    return tap_done();
}
