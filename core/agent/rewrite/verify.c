#include "core/agent/rewrite/rewrite_parts.h"

#include "core/agent/rewrite/verify_parts.h"

static bool same(struct span a, struct span b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.at, b.at, a.n) == 0);
}

static struct span part(const struct classfile *file, size_t start, size_t end)
{
    return (struct span){ file->bytes.at + start, end - start };
}

/* ---- constants ---- */

/* The JVM takes each constant's text for granted where it does not look; all that is added is ASCII or of the class. */
static bool is_text(const struct verify *v, struct span text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.at[i] == 0 || text.at[i] > 127)
            return memmem(v->old_file.bytes.at, v->old_file.bytes.n, text.at, text.n) != NULL;
    return true;
}

/* A class' name in internal form, or an array's descriptor. */
static bool is_class_name(struct span name)
{
    struct cursor c = span_cursor(name);
    if (name.n > 0 && *name.at == '[')
        return classfile_type_bytes(c) == name.n;
    for (size_t i = 0; i < name.n; i++)
        if (strchr(".;[", name.at[i]) != NULL ||
            (name.at[i] == '/' && (i == 0 || i + 1 == name.n || name.at[i - 1] == '/')))
            return false;
    return name.n > 0;
}

static bool has_tag(const struct classfile *file, uint16_t index, uint8_t tag)
{
    return index > 0 && index < file->n_constants && file->constants[index] != 0 &&
           file->bytes.at[file->constants[index]] == tag;
}

static bool is_constant(const struct verify *v, uint16_t index)
{
    const struct classfile *file = &v->made_file;
    struct cursor c = cursor_over(file->bytes.at + file->constants[index], file->bytes.n - file->constants[index]);
    uint8_t tag = cursor_u8(&c);
    uint16_t first = cursor_u16be(&c);
    switch (file->constants[index] == 0 ? 0 : tag) {
    case CONSTANT_UTF8:
        return is_text(v, (struct span){ c.at, first });
    case CONSTANT_CLASS:
        return is_class_name(classfile_class_name(file, index));
    case CONSTANT_FIELD:
    case CONSTANT_METHOD:
        return has_tag(file, first, CONSTANT_CLASS) && has_tag(file, cursor_u16be(&c), CONSTANT_NAME_AND_TYPE);
    case CONSTANT_NAME_AND_TYPE:
        return has_tag(file, first, CONSTANT_UTF8) && has_tag(file, cursor_u16be(&c), CONSTANT_UTF8);
    default:
        return false;
    }
}

/* The constants of before, and others behind them. */
static bool verify_constants(struct verify *v)
{
    const struct classfile *old = &v->old_file, *made = &v->made_file;
    size_t n = old->pool_end - 10;
    if (!same(part(old, 0, 8), part(made, 0, 8)) || made->n_constants < old->n_constants || made->pool_end - 10 < n ||
        !same(part(old, 10, 10 + n), part(made, 10, 10 + n)) ||
        (made->n_constants > old->n_constants && made->constants[old->n_constants] != 10 + n))
        return verify_doubt(v, "the constants of the original");
    for (unsigned i = old->n_constants; i < made->n_constants; i++)
        if (!is_constant(v, (uint16_t)i))
            return verify_doubt(v, "an added constant");
    return true;
}

/* ---- attributes of the code ---- */

/* What begins with the method begins with the entry's probe. */
static uint32_t scope(const struct verify *v, uint32_t old)
{
    return old == 0 ? 0 : v->to[old];
}

static bool same_lines(const struct verify *v, struct cursor old, struct cursor made)
{
    uint16_t n = cursor_u16be(&old);
    if (cursor_u16be(&made) != n)
        return false;
    for (; n > 0; n--) {
        uint16_t at = cursor_u16be(&old), line = cursor_u16be(&old);
        if (at >= v->old.bytes.n || cursor_u16be(&made) != scope(v, at) || cursor_u16be(&made) != line)
            return false;
    }
    return !old.bad && !made.bad && cursor_left(&made) == 0;
}

static bool same_variables(const struct verify *v, struct cursor old, struct cursor made)
{
    uint16_t n = cursor_u16be(&old);
    if (cursor_u16be(&made) != n)
        return false;
    for (; n > 0; n--) {
        uint32_t start = cursor_u16be(&old), end = start + cursor_u16be(&old);
        if (end > v->old.bytes.n || cursor_u16be(&made) != scope(v, start) ||
            cursor_u16be(&made) != scope(v, end) - scope(v, start) || cursor_big(&made, 6) != cursor_big(&old, 6))
            return false;
    }
    return !old.bad && !made.bad && cursor_left(&made) == 0;
}

/* Nobody verifies them, and only reflection reads them. */
static bool same_length(const struct verify *v, struct cursor old, struct cursor made)
{
    (void)v;
    return cursor_left(&old) == cursor_left(&made);
}

/* Those that a rewritten method keeps; a StackMapTable has its own. */
static const struct {
    const char *name;
    bool (*is_same)(const struct verify *v, struct cursor old, struct cursor made);
} tables[] = {
    { "LineNumberTable", same_lines },
    { "LocalVariableTable", same_variables },
    { "LocalVariableTypeTable", same_variables },
    { "RuntimeVisibleTypeAnnotations", same_length },
    { "RuntimeInvisibleTypeAnnotations", same_length },
};

#define N_TABLES (sizeof tables / sizeof *tables)

static size_t which_table(struct span name)
{
    size_t i = 0;
    while (i < N_TABLES && !span_is(name, tables[i].name))
        i++;
    return i;
}

static struct span find_frames(const struct classfile *file, const struct classfile_code *code)
{
    struct cursor c = span_cursor(code->attributes);
    struct classfile_attribute a;
    while (classfile_next_attribute(file, &c, &a))
        if (span_is(a.name, "StackMapTable"))
            return a.body;
    return (struct span){ NULL, 0 };
}

static bool verify_tables(struct verify *v)
{
    struct cursor a = span_cursor(v->old.attributes), b = span_cursor(v->made.attributes);
    struct classfile_attribute old, made;
    unsigned n = 0;
    if (v->has_frames &&
        (n++, !classfile_next_attribute(&v->made_file, &b, &made) || !span_is(made.name, "StackMapTable")))
        return verify_doubt(v, "the attributes of the code");
    while (classfile_next_attribute(&v->old_file, &a, &old)) {
        size_t which = which_table(old.name);
        if (which == N_TABLES)
            continue;
        n++;
        if (!classfile_next_attribute(&v->made_file, &b, &made) || made.name_index != old.name_index ||
            !tables[which].is_same(v, span_cursor(old.body), span_cursor(made.body)))
            return verify_doubt(v, tables[which].name);
    }
    return n == v->made.n_attributes && cursor_left(&b) == 0 ? true : verify_doubt(v, "the attributes of the code");
}

/* ---- methods ---- */

static bool verify_code(struct verify *v)
{
    v->local = v->old.max_locals;
    v->has_frames = v->old_file.major >= CLASSFILE_MAJOR_FRAMES;
    struct span frames = v->has_frames ? find_frames(&v->made_file, &v->made) : (struct span){ NULL, 0 };
    struct span old_frames = v->has_frames ? find_frames(&v->old_file, &v->old) : (struct span){ NULL, 0 };
    if (v->made.max_locals != v->local + 1u)
        return verify_doubt(v, "the number of its variables");
    if (v->has_frames && frames.at == NULL)
        return verify_doubt(v, "it has no StackMapTable");
    return verify_instructions(v) && (!v->has_frames || verify_frames(v, old_frames, frames)) &&
           verify_exceptions(v, frames) && verify_tables(v);
}

/* All but the code is the same. */
static bool same_attributes(struct verify *v)
{
    struct cursor a = span_cursor(v->old_method.attributes), b = span_cursor(v->made_method.attributes);
    struct classfile_attribute old, made;
    while (classfile_next_attribute(&v->old_file, &a, &old)) {
        if (!classfile_next_attribute(&v->made_file, &b, &made))
            return false;
        bool is_code = span_is(old.name, "Code");
        if (is_code ? !span_is(made.name, "Code") : made.name_index != old.name_index || !same(old.body, made.body))
            return false;
    }
    return cursor_left(&b) == 0;
}

static bool verify_changed(struct verify *v)
{
    struct err err;
    if (v->n_used == v->expected->n_flags)
        return verify_doubt(v, "it was not to change");
    v->flag = &v->expected->flags[v->n_used++];
    v->is_constructor = span_is(v->old_method.name, "<init>");
    if (!same(v->old_method.head, v->made_method.head) || v->old_method.n_attributes != v->made_method.n_attributes ||
        !same_attributes(v) || classfile_code(&v->old_file, &v->old_method, &v->old, &err) != 1 ||
        classfile_code(&v->made_file, &v->made_method, &v->made, &err) != 1)
        return verify_doubt(v, "its attributes");
    return verify_code(v);
}

static bool verify_methods(struct verify *v)
{
    const struct classfile *old = &v->old_file, *made = &v->made_file;
    struct cursor a = cursor_over(old->bytes.at + old->methods, old->methods_end - old->methods),
                  b = cursor_over(made->bytes.at + made->methods, made->methods_end - made->methods);
    struct err err;
    uint16_t n = cursor_u16be(&a);
    if (cursor_u16be(&b) != n)
        return verify_doubt(v, "the number of methods");
    for (; n > 0; n--) {
        if (classfile_next_method(old, &a, &v->old_method, &err) < 0 ||
            classfile_next_method(made, &b, &v->made_method, &err) < 0)
            return verify_doubt(v, "it is malformed");
        if (!same(v->old_method.whole, v->made_method.whole) && !verify_changed(v))
            return false;
    }
    v->old_method.name.at = NULL;
    return v->n_used == v->expected->n_flags ? true : verify_doubt(v, "a method that did not change");
}

static bool verify_all(struct verify *v, struct span made)
{
    struct err err;
    struct span old = v->old_file.bytes;
    if (classfile_open(&v->made_file, made.at, made.n, &err) < 0)
        return verify_doubt(v, "it is malformed");
    const struct classfile *a = &v->old_file, *b = &v->made_file;
    if (!same(part(a, a->pool_end, a->methods), part(b, b->pool_end, b->methods)) ||
        !same(part(a, a->methods_end, old.n), part(b, b->methods_end, made.n)))
        return verify_doubt(v, "what is not in methods");
    return verify_constants(v) && verify_methods(v);
}

int verify_class(const struct classfile *old, struct span made, const struct verify_expected *expected, struct err *err)
{
    struct verify v = { .expected = expected, .old_file = *old };
    bool ok = verify_all(&v, made);
    const struct classfile_method *method = &v.old_method;
    if (!ok && method->name.at != NULL)
        err_set(err, "%.*s%.*s: %s", (int)(method->name.n < 80 ? method->name.n : 80), (const char *)method->name.at,
                (int)(method->descriptor.n < 80 ? method->descriptor.n : 80), (const char *)method->descriptor.at,
                v.why);
    else if (!ok)
        err_set(err, "%s", v.why);
    free(v.marks);
    free(v.to);
    free(v.self);
    classfile_free(&v.made_file);
    return ok ? 0 : -1;
}
