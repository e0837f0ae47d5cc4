/*
 * What the class file rewriter makes of code, attributes, constructors and the constant pool.
 */
#include "test/unit/class_maker.h"

/* --- What becomes of code. --- */

static const struct {
    const char *claim;
    uint16_t max_locals;
    const char *code, *handlers, *new_code, *new_handlers;
} code_rows[] = {
    { "a method that only returns", 0, "b1", "", ENTER_0 EXIT_0 "b1" UNWIND_0, "0007 000c 000c 0000" },
    { "the value returned stays under the probe's argument", 0, "04 ac", "", ENTER_0 "04" EXIT_0 "ac" UNWIND_0,
      "0007 000d 000d 0000" },
    { "a loop to offset 0 does not enter again", 0, "a70000", "", ENTER_0 "a70000" UNWIND_0, "0007 000a 000a 0000" },
    { "a branch over a return counts its probe", 0, "03 990004 b1 b1", "",
      ENTER_0 "03 990008" EXIT_0 "b1" EXIT_0 "b1" UNWIND_0, "0007 0015 0015 0000" },
    { "a branch to a return runs its probe", 0, "03 990004 00 b1", "", ENTER_0 "03 990004 00" EXIT_0 "b1" UNWIND_0,
      "0007 0011 0011 0000" },
    { "a branch back over a return", 0, "a70004 b1 a7ffff", "", ENTER_0 "a70008" EXIT_0 "b1 a7fffb" UNWIND_0,
      "0007 0012 0012 0000" },
    { "goto_w", 0, "c800000006 b1 b1", "", ENTER_0 "c80000000a" EXIT_0 "b1" EXIT_0 "b1" UNWIND_0,
      "0007 0016 0016 0000" },
    { "tableswitch: padding and targets", 0, "03 aa 0000 00000018 00000000 00000001 00000017 00000018 b1 b1", "",
      ENTER_0 "03 aa 000000 0000001d 00000000 00000001 00000018 0000001d" EXIT_0 "b1" EXIT_0 "b1" UNWIND_0,
      "0007 002a 002a 0000" },
    { "lookupswitch: padding and targets", 0, "03 ab 0000 00000014 00000001 00000007 00000013 b1 b1", "",
      ENTER_0 "03 ab 000000 00000019 00000001 00000007 00000014" EXIT_0 "b1" EXIT_0 "b1" UNWIND_0,
      "0007 0026 0026 0000" },
    { "the method's own handlers come first, and do not cover the entry", 0, "00 b1 57 b1", "0000 0002 0002 0000",
      ENTER_0 "00" EXIT_0 "b1 57" EXIT_0 "b1" UNWIND_0, "0007 000d 000d 0000  0007 0013 0013 0000" },
    { "a range that ends before a return ends before its probe", 0, "00 b1 57 b1", "0000 0001 0002 0003",
      ENTER_0 "00" EXIT_0 "b1" CAUGHT_0 "57" EXIT_0 "b1" UNWIND_0, "0007 0008 000d 0003  0007 0017 0017 0000" },
    { "a catch that handles itself does not handle its probe", 0, "00 57 b1", "0001 0003 0001 0003",
      ENTER_0 "00" CAUGHT_0 "57" EXIT_0 "b1" UNWIND_0, "000c 0012 0008 0003  0007 0012 0012 0000" },
    { "a catch in the middle of what it handles has no probe", 0, "00 57 b1", "0000 0003 0001 0003",
      ENTER_0 "00 57" EXIT_0 "b1" UNWIND_0, "0007 000e 0008 0003  0007 000e 000e 0000" },
    { "nor has one that others leave by, too ('finally')", 0, "00 57 b1", "0000 0001 0001 0003  0000 0001 0001 0000",
      ENTER_0 "00 57" EXIT_0 "b1" UNWIND_0, "0007 0008 0008 0003  0007 0008 0008 0000  0007 000e 000e 0000" },
    { "the fifth local", 4, "b1", "", ENTER "3604 1504" EXIT "b1 1504" UNWIND "bf", "0008 000e 000e 0000" },
    { "local 256", 256, "b1", "", ENTER "c4360100 c4150100" EXIT "b1 c4150100" UNWIND "bf", "000a 0012 0012 0000" },
    { "wide instructions are copied", 1, "c41a0000", "", NULL, NULL },
    { "wide iinc", 1, "c484 0000 0001 b1", "", ENTER_1 "c484 0000 0001" EXIT_1 "b1" UNWIND_1, "0007 0012 0012 0000" },
};

static void test_code(void)
{
    for (size_t i = 0; i < sizeof code_rows / sizeof code_rows[0]; i++) {
        struct recipe r = plain;
        r.max_locals = code_rows[i].max_locals;
        r.code_hex = code_rows[i].code;
        r.handlers_hex = code_rows[i].handlers;
        rewrite_recipe(r);
        if (code_rows[i].new_code != NULL)
            check_code(code_rows[i].claim, code_rows[i].new_code, code_rows[i].new_handlers);
        else
            CHECK_NUMBER("wide before an instruction that has no wide form: skipped", seen.why, REWRITE_SKIP_UNUSUAL);
    }
    rewrite_recipe(plain);
    CHECK_NUMBER("the stack has room for a handler's exception and token", result.code.max_stack, 2);
    CHECK_NUMBER("there is one local more", result.code.max_locals, 1);
    struct recipe r = plain;
    r.max_stack = 7;
    rewrite_recipe(r);
    CHECK_NUMBER("the stack has room for the token above a result", result.code.max_stack, 8);
}

/* --- What becomes of the attributes.  The arguments of m(JLjava/lang/String;) are locals 0 to 2, the new one 4. --- */

static const struct {
    const char *claim, *attribute, *code, *attributes, *expected;
} attribute_rows[] = {
    { "without branches there is one frame, the handler's", "StackMapTable", "b1", "",
      "0001 ff 000e 0005 0000000001 0001 07 0028" },
    { "the first frame names all locals", "StackMapTable", "00 a7ffff", "0008 00000003 0001 00",
      "0002 ff 0008 0004 04 07 002a 00 01 0000  ff 0003 0005 0000000001 0001 07 0028" },
    { "a frame with the locals of the one before stays short", "StackMapTable", "00 00 a7ffff",
      "0008 00000004 0002 00 00", "0003 ff 0008 0004 04 07 002a 00 01 0000  00  ff 0003 0005 0000000001 0001 07 0028" },
    { "append and chop become full frames", "StackMapTable", "00 00 a7ffff", "0008 00000009 0002 fc0000 01 fa0000",
      "0003 ff 0008 0004 04 07 002a 01 01 0000  ff 0000 0004 04 07 002a 00 01 0000"
      "ff 0003 0005 0000000001 0001 07 0028" },
    { "a frame with one stack slot", "StackMapTable", "00 57 a7ffff", "0008 00000005 0002 00 40 01",
      "0003 ff 0008 0004 04 07 002a 00 01 0000  40 01  ff 0003 0005 0000000001 0001 07 0028" },
    { "an uninitialized object's offset is relocated", "StackMapTable", "00 bb0002 57 b1",
      "0008 0000000d 0001 ff0004 0001 01 0001 080001",
      "0002 ff 000c 0005 01 000000 01 0001 08 0009  ff 0006 0005 0000000001 0001 07 0028" },
    { "the first line stays at 0, others move with their probes", "LineNumberTable", "00 b1 b1",
      "0009 0000000e 0003 0000 000a 0001 000b 0002 000c", "0003 0000 000a 0009 000b 000f 000c" },
    { "a variable of the whole method covers the entry", "LocalVariableTable", "00 00 b1",
      "000a 00000016 0002 0000 0003 0006 000d 0000  0001 0002 0006 000d 0003",
      "0002 0000 0010 0006 000d 0000  0009 0007 0006 000d 0003" },
    { "type annotations of variables", "RuntimeVisibleTypeAnnotations", "00 00 b1",
      "000b 00000010 0001 40 0001 0001 0002 0003 00 0001 0000", "0001 40 0001 0009 0007 0003 00 0001 0000" },
    { "type annotations of instructions, with nested values", "RuntimeVisibleTypeAnnotations", "00 00 b1",
      "000b 00000029 0002 44 0001 00 0001 0001 0006 5b 0002 49 0001 40 0001 0000  47 0002 05 01 0300 0001 0001 0006 65 "
      "0001 0002",
      "0002 44 0009 00 0001 0001 0006 5b 0002 49 0001 40 0001 0000  47 000a 05 01 0300 0001 0001 0006 65 0001 0002" },
    { "an unknown attribute is dropped", "Unknown", "b1", "0012 00000002 0000", "-" },
};

static void test_attributes(void)
{
    for (size_t i = 0; i < sizeof attribute_rows / sizeof attribute_rows[0]; i++) {
        struct recipe r = plain;
        r.descriptor = LONG_STRING;
        r.max_locals = 4;
        r.max_stack = 1;
        r.code_hex = attribute_rows[i].code;
        r.attributes_hex = attribute_rows[i].attributes;
        r.n_attributes = r.attributes_hex[0] != '\0';
        rewrite_recipe(r);
        same_hex(attribute_rows[i].claim, attribute_hex(attribute_rows[i].attribute), attribute_rows[i].expected);
    }
    struct recipe r = plain;
    r.major = 49;
    r.attributes_hex = "0008 00000003 0001 00";
    r.n_attributes = 1;
    rewrite_recipe(r);
    same_hex("before Java 6 no frames are written", attribute_hex("StackMapTable"), "-");
    r.major = 50;
    rewrite_recipe(r);
    same_hex("from Java 6 on they are", attribute_hex("StackMapTable"),
             "0002 ff 0007 0001 01 0000  ff 0004 0001 01 0001 07 0028");
}

/* --- Constructors: local 0 is 'this', the new local is 1. --- */

static const struct {
    const char *claim;
    uint16_t major;
    const char *code, *frames, *new_code, *new_handlers;
} init_rows[] = {
    { "before and after super() are two runs, the call is in neither", 61, "2a b7000f b1", "",
      ENTER_1 "2a b7000f" EXIT_1 "b1" UNWIND_1 UNWIND_1, "0007 0008 0015 0000  000b 0010 0010 0000" },
    { "a constructor that never gets to super()", 61, "01 bf", "", ENTER_1 "01 bf" UNWIND_1, "0007 0009 0009 0000" },
    { "another object's <init> does not count", 61, "bb0004 59 b7000f 57 2a b7000f b1", "",
      ENTER_1 "bb0004 59 b7000f 57 2a b7000f" EXIT_1 "b1" UNWIND_1 UNWIND_1,
      "0007 0010 001d 0000  0013 0018 0018 0000" },
    { "swap and dup are followed", 61, "bb0004 2a 5f 5a 57 5c 58 b7000f b1", "",
      ENTER_1 "bb0004 2a 5f 5a 57 5c 58 b7000f" EXIT_1 "b1" UNWIND_1 UNWIND_1,
      "0007 0010 001d 0000  0013 0018 0018 0000" },
    { "with frames: two ways to super(), code behind a throw", 61, "03 990005 01 bf 2a b7000f b1",
      "0008 0000000a 0001 ff 0006 0001 06 0000", ENTER_1 "03 990005 01 bf 2a b7000f" EXIT_1 "b1" UNWIND_1 UNWIND_1,
      "0007 000e 001b 0000  0011 0016 0016 0000" },
    { "without frames: the same", 49, "03 990005 01 bf 2a b7000f b1", "",
      ENTER_1 "03 990005 01 bf 2a b7000f" EXIT_1 "b1" UNWIND_1 UNWIND_1, "0007 000e 001b 0000  0011 0016 0016 0000" },
    { "without frames: super() on both ways", 49, "03 99000a 2a b7000f a70007 2a b7000f b1", "",
      ENTER_1 "03 99000a 2a b7000f a70007 2a b7000f" EXIT_1 "b1" UNWIND_1 UNWIND_1,
      "0007 000c 0020 0000  000f 0012 001b 0000  0012 0013 0020 0000  0016 001b 001b 0000" },
    { "a frame says what unreachable code begins with", 61, "01 bf 00 bf",
      "0008 0000000c 0001 ff 0002 0000 0001 070002", ENTER_1 "01 bf 00 bf" UNWIND_1 UNWIND_1,
      "0007 0009 0010 0000  0009 000b 000b 0000" },
};

static void test_constructors(void)
{
    for (size_t i = 0; i < sizeof init_rows / sizeof init_rows[0]; i++) {
        struct recipe r = plain;
        r.access = 1;
        r.name = NAME_INIT;
        r.major = init_rows[i].major;
        r.max_stack = 4;
        r.max_locals = 1;
        r.code_hex = init_rows[i].code;
        r.attributes_hex = init_rows[i].frames;
        r.n_attributes = r.attributes_hex[0] != '\0';
        rewrite_recipe(r);
        check_code(init_rows[i].claim, init_rows[i].new_code, init_rows[i].new_handlers);
    }
    struct recipe r = plain;
    r.access = 1;
    r.name = NAME_INIT;
    r.max_stack = r.max_locals = 1;
    r.code_hex = "2a b7000f b1";
    rewrite_recipe(r);
    same_hex("the frame of the handler before super() has the uninitialized this", attribute_hex("StackMapTable"),
             "0002 ff 0010 0002 00 01 0001 07 0028  ff 0004 0002 06 01 0001 07 0028");
}

/* --- The argument that the entry's probe is given: of m(JLjava/lang/String;), the new local is 4. --- */

#define GIVES(load) "b20019" load "b8001f b80023 3604"
#define REST        "1504 b80027 b1 1504 b8002a bf"

static const struct {
    const char *claim;
    uint16_t access, name;
    int16_t argument;
    uint16_t max_stack;
    const char *new_code;
} argument_rows[] = {
    { "a long of a static method", 8, NAME_M, 1, 3, GIVES("1e") REST },
    { "what is behind a long is two further", 8, NAME_M, 2, 3, GIVES("2c") REST },
    { "'this'", 1, NAME_M, 0, 3, GIVES("2a") REST },
    { "others come behind 'this'", 1, NAME_M, 2, 3, GIVES("2d") REST },
    { "a static method has no 'this': nothing is given", 8, NAME_M, 0, 2,
      ENTER "3604 1504" EXIT "b1 1504" UNWIND "bf" },
    { "nor an argument that there is not", 8, NAME_M, 3, 2, ENTER "3604 1504" EXIT "b1 1504" UNWIND "bf" },
    { "nor an object that is not made yet", 1, NAME_INIT, 0, 2, NULL },
};

static void test_arguments(void)
{
    seen.gives = true;
    for (size_t i = 0; i < sizeof argument_rows / sizeof *argument_rows; i++) {
        struct recipe r = plain;
        char text[256];
        r.descriptor = LONG_STRING;
        r.access = argument_rows[i].access;
        r.name = argument_rows[i].name;
        r.max_locals = 4;
        r.code_hex = r.name == NAME_INIT ? "01 bf" : "b1";
        r.max_stack = r.name == NAME_INIT;
        seen.argument = argument_rows[i].argument;
        rewrite_recipe(r);
        to_hex(result.code.bytes, text, sizeof text);
        if (argument_rows[i].new_code != NULL)
            same_hex(argument_rows[i].claim, text, argument_rows[i].new_code);
        else
            CHECK(argument_rows[i].claim, result.rc == 1 && strncmp(text, "b20019b8", 8) == 0);
        CHECK_NUMBER("  its stack", result.code.max_stack, argument_rows[i].max_stack);
        CHECK("  its type", rewrite_argument_type(&seen.last, (unsigned)argument_rows[i].argument) ==
                                (strstr(argument_rows[i].claim, "no") != NULL ? 0
                                 : i == 0                                     ? 'J'
                                                                              : 'L'));
    }
    seen.gives = false;
}

/* --- What choose() is asked. --- */

static void test_policy(void)
{
    struct recipe r = plain;
    r.code_hex = "00 a7ffff";
    r.attributes_hex = "0009 0000000a 0002 0000 0014 0001 000b";
    r.n_attributes = 1;
    rewrite_recipe(r);
    const struct protocol_method *m = &seen.last;
    CHECK("it knows the class, the source, name and descriptor",
          memcmp(m->class_name.at, "T", m->class_name.n) == 0 && memcmp(m->source.at, "T.java", m->source.n) == 0 &&
              memcmp(m->name.at, "m", m->name.n) == 0 && memcmp(m->descriptor.at, "()V", m->descriptor.n) == 0);
    CHECK("it knows size, smallest line, loop and access",
          m->code_bytes == 4 && m->first_line == 11 && m->has_loop && m->access_flags == 8);
    r.code_hex = "a70003 b1";
    rewrite_recipe(r);
    CHECK("a branch forward is no loop", !m->has_loop);
    seen.take = false;
    rewrite_recipe(plain);
    CHECK("a class with nothing chosen is left alone", result.rc == 0 && result.bytes == NULL && seen.n_offered == 1);
    seen.take = true;
    static const struct {
        const char *claim;
        uint16_t this_class, access, name;
    } rows[] = {
        { "an abstract method is not offered", CLASS_T, 0x0401, NAME_M },
        { "a native method is not offered", CLASS_T, 0x0101, NAME_M },
        { "a finalize() that does nothing is not offered", CLASS_T, 1, NAME_FINALIZE },
        { "Object.<init> is not offered", CLASS_OBJECT, 1, NAME_INIT },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        r = plain;
        r.this_class = rows[i].this_class;
        r.access = rows[i].access;
        r.name = rows[i].name;
        r.max_locals = 1;
        rewrite_recipe(r);
        CHECK(rows[i].claim, seen.n_offered == 0 && result.rc == 0);
    }
}

static void test_pool(void)
{
    struct recipe r = plain;
    rewrite_recipe(r);
    CHECK_NUMBER("one method adds 21 constants", result.file.n_constants, UTF8_COUNT + 21);
    r.n_methods = 3;
    rewrite_recipe(r);
    CHECK("methods of a class share them", result.rc == 3 && result.file.n_constants == UTF8_COUNT + 21);
    r.n_filler = 65535 - UTF8_COUNT - 21;
    rewrite_recipe(r);
    CHECK_NUMBER("a constant pool may be filled to the last", result.rc, 3);
    r.n_filler++;
    rewrite_recipe(r);
    CHECK("but not further", result.rc == 0 && seen.n_skipped == 3 && seen.why == REWRITE_SKIP_LIMITS);
}

/* --- NaN constants, which HotSpot takes for different ones. --- */

static const struct {
    const char *claim, *constants; /* their number and they themselves */
    bool has_nan;
} nan_rows[] = {
    { "no constants", "0001", false },
    { "a float NaN", "0002 04 7fc00000", true },
    { "a negative one with another fraction", "0002 04 ff800001", true },
    { "infinity is none", "0003 04 7f800000 04 ff800000", false },
    { "a double NaN behind a long", "0005 05 7ff8000000000000 06 7ff8000000000000", true },
    { "its fraction may be in the low half only", "0003 06 fff0000000000001", true },
    { "a double infinity is none", "0003 06 7ff0000000000000", false },
    { "an int and a string with a NaN's bits are none", "0003 03 7fc00000 01 0005 047fc00000", false },
    { "one that is cut off is none", "0002 04 7fc000", false },
    { "one behind an unknown tag is not found", "0003 02 04 7fc00000", false },
};

static void test_nan(void)
{
    for (size_t i = 0; i < sizeof nan_rows / sizeof *nan_rows; i++) {
        uint8_t bytes[64] = { 0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 49 };
        size_t n = 8 + from_hex(nan_rows[i].constants, bytes + 8);
        CHECK(nan_rows[i].claim, classfile_has_nan(bytes, n) == nan_rows[i].has_nan);
    }
}

int main(void)
{
    seen.take = true;
    test_code();
    test_attributes();
    test_constructors();
    test_arguments();
    test_policy();
    test_pool();
    test_nan();
    classfile_free(&result.file);
    free(result.bytes);
    return tap_done();
}
