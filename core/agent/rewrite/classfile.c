#include "core/agent/rewrite/classfile.h"

#define MAGIC          0xcafebabe
#define MAX_BYTES      (1u << 30)
#define MAX_CODE_BYTES 65535
#define MAX_SLOTS      255

static int malformed(struct err *err, const char *what)
{
    err_set(err, "malformed class file: %s", what);
    return err_next(err, "the class is left as it is; 'javap -v' shows where it breaks");
}

bool span_is(struct span span, const char *text)
{
    return span.at != NULL && span.n == strlen(text) && memcmp(span.at, text, span.n) == 0;
}

size_t classfile_constant_bytes(struct cursor at)
{
    static const uint8_t length[] = { [3] = 5,  [4] = 5,  [5] = 9,  [6] = 9,  [7] = 3,  [8] = 3,  [9] = 5,  [10] = 5,
                                      [11] = 5, [12] = 5, [15] = 4, [16] = 3, [17] = 5, [18] = 5, [19] = 3, [20] = 3 };
    size_t left = cursor_left(&at), n = 0;
    uint8_t tag = cursor_u8(&at);
    if (tag == CONSTANT_UTF8)
        n = 3 + (size_t)cursor_u16be(&at);
    else if (tag < sizeof length)
        n = length[tag];
    return n <= left ? n : 0;
}

static int index_constants(struct classfile *file, struct cursor *c, struct err *err)
{
    file->n_constants = cursor_u16be(c);
    if (c->bad || file->n_constants == 0)
        return malformed(err, "it has no constant pool");
    file->constants = calloc(file->n_constants, sizeof *file->constants);
    if (file->constants == NULL)
        return err_set(err, "out of memory for a class file's constant pool");
    for (unsigned i = 1; i < file->n_constants; i++) {
        size_t n = classfile_constant_bytes(*c);
        if (n == 0)
            return malformed(err, "a constant is cut off or has an unknown tag");
        uint8_t tag = *c->at;
        file->constants[i] = (uint32_t)(c->at - file->bytes.at);
        cursor_bytes(c, n);
        if ((tag == CONSTANT_LONG || tag == CONSTANT_DOUBLE) && ++i == file->n_constants)
            return malformed(err, "its last constant needs one index more than there are");
    }
    file->pool_end = (size_t)(c->at - file->bytes.at);
    return 0;
}

/* Is the constant at the cursor a float or a double whose exponent is all ones and whose fraction is not zero? */
static bool is_nan(struct cursor at)
{
    uint8_t tag = cursor_u8(&at);
    if (tag == CONSTANT_FLOAT)
        return (cursor_u32be(&at) & 0x7fffffffu) > 0x7f800000u;
    if (tag != CONSTANT_DOUBLE)
        return false;
    uint32_t high = cursor_u32be(&at) & 0x7fffffffu, low = cursor_u32be(&at);
    return high > 0x7ff00000u || (high == 0x7ff00000u && low != 0);
}

bool classfile_has_nan(const uint8_t *bytes, size_t n_bytes)
{
    struct cursor c = cursor_over(bytes, n_bytes);
    cursor_bytes(&c, 8); /* magic and version */
    unsigned n = cursor_u16be(&c);
    for (unsigned i = 1; i < n && !c.bad; i++) {
        size_t length = classfile_constant_bytes(c);
        if (length == 0)
            return false;
        if (is_nan(c))
            return true;
        uint8_t tag = *c.at;
        cursor_bytes(&c, length);
        i += tag == CONSTANT_LONG || tag == CONSTANT_DOUBLE;
    }
    return false;
}

static void skip_attributes(struct cursor *c)
{
    uint16_t n = cursor_u16be(c);
    for (unsigned i = 0; i < n && !c->bad; i++) {
        cursor_u16be(c);
        cursor_bytes(c, cursor_u32be(c));
    }
}

static void skip_members(struct cursor *c)
{
    uint16_t n = cursor_u16be(c);
    for (unsigned i = 0; i < n && !c->bad; i++) {
        cursor_bytes(c, 6);
        skip_attributes(c);
    }
}

int classfile_open(struct classfile *file, const uint8_t *bytes, size_t n_bytes, struct err *err)
{
    *file = (struct classfile){ .bytes = { bytes, n_bytes } };
    if (n_bytes > MAX_BYTES)
        return malformed(err, "it is larger than 1 GB");
    struct cursor c = cursor_over(bytes, n_bytes);
    if (cursor_u32be(&c) != MAGIC)
        return malformed(err, "it does not begin with 0xcafebabe");
    cursor_u16be(&c);
    file->major = cursor_u16be(&c);
    if (index_constants(file, &c, err) < 0)
        return -1;
    cursor_u16be(&c);
    file->this_class = cursor_u16be(&c);
    file->super_class = cursor_u16be(&c);
    cursor_bytes(&c, 2 * (size_t)cursor_u16be(&c));
    skip_members(&c);
    file->methods = (size_t)(c.at - bytes);
    skip_members(&c);
    file->methods_end = (size_t)(c.at - bytes);
    skip_attributes(&c);
    if (c.bad)
        return malformed(err, "it is cut off");
    if (cursor_left(&c) != 0)
        return malformed(err, "something follows its last attribute");
    if (classfile_class_name(file, file->this_class).at == NULL)
        return malformed(err, "its own name is no class constant");
    return 0;
}

void classfile_free(struct classfile *file)
{
    free(file->constants);
    file->constants = NULL;
}

/* Behind the tag of a constant; a bad cursor when there is none with this tag. */
static struct cursor constant(const struct classfile *file, uint16_t index, uint8_t tag)
{
    struct cursor c = { file->bytes.at, file->bytes.at, true };
    if (index == 0 || index >= file->n_constants || file->constants[index] == 0)
        return c;
    c = cursor_over(file->bytes.at + file->constants[index], file->bytes.n - file->constants[index]);
    c.bad = cursor_u8(&c) != tag;
    return c;
}

/* The text of a Utf8 constant, or an empty span with at == NULL. */
static struct span utf8_at(const struct classfile *file, uint16_t index)
{
    struct cursor c = constant(file, index, CONSTANT_UTF8);
    if (c.bad)
        return (struct span){ NULL, 0 };
    size_t n = cursor_u16be(&c);
    return (struct span){ c.at, n };
}

struct span classfile_class_name(const struct classfile *file, uint16_t index)
{
    struct cursor c = constant(file, index, CONSTANT_CLASS);
    return c.bad ? (struct span){ NULL, 0 } : utf8_at(file, cursor_u16be(&c));
}

bool classfile_member(const struct classfile *file, uint16_t index, struct span *name, struct span *descriptor)
{
    static const uint8_t tags[] = { CONSTANT_METHOD, CONSTANT_FIELD, CONSTANT_INTERFACE, CONSTANT_INVOKE_DYNAMIC };
    for (size_t i = 0; i < sizeof tags; i++) {
        struct cursor c = constant(file, index, tags[i]);
        if (c.bad)
            continue;
        cursor_u16be(&c);
        struct cursor pair = constant(file, cursor_u16be(&c), CONSTANT_NAME_AND_TYPE);
        if (pair.bad)
            return false;
        *name = utf8_at(file, cursor_u16be(&pair));
        *descriptor = utf8_at(file, cursor_u16be(&pair));
        return name->at != NULL && descriptor->at != NULL;
    }
    return false;
}

struct span classfile_source(const struct classfile *file)
{
    struct cursor c = cursor_over(file->bytes.at + file->methods_end, file->bytes.n - file->methods_end);
    struct classfile_attribute a;
    cursor_u16be(&c);
    while (classfile_next_attribute(file, &c, &a)) {
        struct cursor body = span_cursor(a.body);
        if (span_is(a.name, "SourceFile"))
            return utf8_at(file, cursor_u16be(&body));
    }
    return (struct span){ NULL, 0 };
}

bool classfile_next_attribute(const struct classfile *file, struct cursor *at, struct classfile_attribute *out)
{
    if (cursor_left(at) == 0)
        return false;
    out->name_index = cursor_u16be(at);
    out->name = utf8_at(file, out->name_index);
    out->body.n = cursor_u32be(at);
    out->body.at = cursor_bytes(at, out->body.n);
    return !at->bad;
}

int classfile_next_method(const struct classfile *file, struct cursor *at, struct classfile_method *out,
                          struct err *err)
{
    out->whole.at = out->head.at = at->at;
    out->head.n = 6;
    out->access_flags = cursor_u16be(at);
    out->name = utf8_at(file, cursor_u16be(at));
    out->descriptor = utf8_at(file, cursor_u16be(at));
    if (out->name.at == NULL || out->descriptor.at == NULL)
        return malformed(err, "a method has no name or no descriptor");
    struct cursor count = *at;
    out->n_attributes = cursor_u16be(&count);
    skip_attributes(at);
    if (at->bad)
        return malformed(err, "a method is cut off");
    out->attributes = (struct span){ count.at, (size_t)(at->at - count.at) };
    out->whole.n = (size_t)(at->at - out->whole.at);
    return 0;
}

static bool decode_code(struct cursor c, struct classfile_code *out)
{
    out->max_stack = cursor_u16be(&c);
    out->max_locals = cursor_u16be(&c);
    out->bytes.n = cursor_u32be(&c);
    out->bytes.at = cursor_bytes(&c, out->bytes.n);
    out->n_handlers = cursor_u16be(&c);
    out->handlers.n = 8 * (size_t)out->n_handlers;
    out->handlers.at = cursor_bytes(&c, out->handlers.n);
    struct cursor count = c;
    out->n_attributes = cursor_u16be(&count);
    skip_attributes(&c);
    out->attributes = (struct span){ count.at, (size_t)(c.at - count.at) };
    return !c.bad && cursor_left(&c) == 0 && out->bytes.n > 0 && out->bytes.n <= MAX_CODE_BYTES;
}

int classfile_code(const struct classfile *file, const struct classfile_method *method, struct classfile_code *out,
                   struct err *err)
{
    struct cursor c = span_cursor(method->attributes);
    struct classfile_attribute a;
    int n_found = 0;
    while (classfile_next_attribute(file, &c, &a)) {
        if (!span_is(a.name, "Code"))
            continue;
        if (n_found++ > 0 || !decode_code(span_cursor(a.body), out))
            return malformed(err, "a method's code is cut off, empty, larger than 64 KB, or there twice");
    }
    return n_found;
}

size_t classfile_type_bytes(struct cursor at)
{
    const uint8_t *start = at.at;
    uint8_t letter;
    while ((letter = cursor_u8(&at)) == '[')
        ;
    if (letter == 'L') {
        const uint8_t *end = memchr(at.at, ';', cursor_left(&at));
        return end == NULL ? 0 : (size_t)(end - start) + 1;
    }
    return letter != 0 && strchr("BCDFIJSZ", letter) != NULL ? (size_t)(at.at - start) : 0;
}

static bool type_slots(struct cursor *c, unsigned *slots)
{
    size_t n = classfile_type_bytes(*c);
    const uint8_t *type = cursor_bytes(c, n);
    if (n == 0 || type == NULL)
        return false;
    *slots += *type == 'J' || *type == 'D' ? 2 : 1;
    return *slots <= MAX_SLOTS;
}

bool classfile_field_slots(struct span descriptor, unsigned *result)
{
    struct cursor c = span_cursor(descriptor);
    *result = 0;
    return type_slots(&c, result) && cursor_left(&c) == 0;
}

bool classfile_method_slots(struct span descriptor, unsigned *arguments, unsigned *result)
{
    struct cursor c = span_cursor(descriptor);
    *arguments = *result = 0;
    if (cursor_u8(&c) != '(')
        return false;
    while (cursor_left(&c) > 0 && *c.at != ')')
        if (!type_slots(&c, arguments))
            return false;
    if (cursor_u8(&c) != ')' || c.bad)
        return false;
    if (cursor_left(&c) == 1 && *c.at == 'V')
        return true;
    return type_slots(&c, result) && cursor_left(&c) == 0;
}
