/* The attributes of a Code attribute that hold code offsets: copied, then each offset is overwritten in the copy. */
#include "core/agent/rewrite/rewrite_parts.h"

#define MAX_NESTING 64 /* of annotations within annotations */

/* A copy under way: the cursor is in the old body, 'copy' is where that body begins in the output. */
struct copy {
    struct rewrite_job *job;
    struct cursor c;
    const uint8_t *body;
    size_t at;
};

/* Lines and variables that begin with the method begin with the entry probe. */
static uint32_t scope_offset(const struct rewrite_job *job, uint32_t old)
{
    return old == 0 ? 0 : job->to[old];
}

static void put(struct copy *copy, const uint8_t *field, uint32_t value)
{
    buffer_set(copy->job->out, copy->at + (size_t)(field - copy->body), value, 2);
}

/* A start_pc, length pair. */
static bool relocate_range(struct copy *copy)
{
    const uint8_t *field = copy->c.at;
    uint32_t start = cursor_u16be(&copy->c), end = start + cursor_u16be(&copy->c);
    if (copy->c.bad || end > copy->job->old->bytes.n)
        return false;
    uint32_t new_start = scope_offset(copy->job, start);
    put(copy, field, new_start);
    put(copy, field + 2, scope_offset(copy->job, end) - new_start);
    return true;
}

static bool relocate_offset(struct copy *copy, bool line)
{
    const uint8_t *field = copy->c.at;
    uint16_t old = cursor_u16be(&copy->c);
    if (copy->c.bad || old >= copy->job->old->bytes.n)
        return false;
    put(copy, field, line ? scope_offset(copy->job, old) : copy->job->to[old]);
    return true;
}

static bool relocate_lines(struct copy *copy)
{
    uint16_t n = cursor_u16be(&copy->c);
    bool ok = !copy->c.bad;
    for (unsigned i = 0; i < n && ok; i++)
        ok = relocate_offset(copy, true) && cursor_bytes(&copy->c, 2) != NULL;
    return ok;
}

static bool relocate_variables(struct copy *copy)
{
    uint16_t n = cursor_u16be(&copy->c);
    bool ok = !copy->c.bad;
    for (unsigned i = 0; i < n && ok; i++)
        ok = relocate_range(copy) && cursor_bytes(&copy->c, 6) != NULL;
    return ok;
}

static bool skip_element(struct cursor *c, unsigned nesting);

static bool skip_pairs(struct cursor *c, unsigned nesting)
{
    uint16_t n = cursor_u16be(c);
    bool ok = !c->bad;
    for (unsigned i = 0; i < n && ok; i++)
        ok = cursor_bytes(c, 2) != NULL && skip_element(c, nesting);
    return ok;
}

static bool skip_element(struct cursor *c, unsigned nesting)
{
    uint8_t tag = cursor_u8(c);
    if (c->bad || nesting > MAX_NESTING)
        return false;
    if (tag == '@')
        return cursor_bytes(c, 2) != NULL && skip_pairs(c, nesting + 1);
    if (tag != '[')
        return cursor_bytes(c, tag == 'e' ? 4 : 2) != NULL;
    uint16_t n = cursor_u16be(c);
    bool ok = !c->bad;
    for (unsigned i = 0; i < n && ok; i++)
        ok = skip_element(c, nesting + 1);
    return ok;
}

static bool relocate_target(struct copy *copy)
{
    uint8_t type = cursor_u8(&copy->c);
    bool ok = !copy->c.bad;
    if (type == 0x40 || type == 0x41) {
        uint16_t n = cursor_u16be(&copy->c);
        for (unsigned i = 0; i < n && ok; i++)
            ok = relocate_range(copy) && cursor_bytes(&copy->c, 2) != NULL;
        return ok;
    }
    if (type == 0x42) /* the index of a handler: ours come behind all others */
        return cursor_bytes(&copy->c, 2) != NULL;
    if (type >= 0x43 && type <= 0x46)
        return relocate_offset(copy, false);
    if (type >= 0x47 && type <= 0x4b)
        return relocate_offset(copy, false) && cursor_bytes(&copy->c, 1) != NULL;
    return false;
}

static bool relocate_annotations(struct copy *copy)
{
    uint16_t n = cursor_u16be(&copy->c);
    bool ok = !copy->c.bad;
    for (unsigned i = 0; i < n && ok; i++) {
        ok = relocate_target(copy);
        cursor_bytes(&copy->c, 2 * (size_t)cursor_u8(&copy->c));
        cursor_u16be(&copy->c);
        ok = ok && !copy->c.bad && skip_pairs(&copy->c, 0);
    }
    return ok;
}

/* An attribute that is not in this table is dropped: it may hold code offsets of which nothing is known. */
static const struct {
    const char *name;
    bool (*relocate)(struct copy *copy);
} known[] = {
    { "LineNumberTable", relocate_lines },
    { "LocalVariableTable", relocate_variables },
    { "LocalVariableTypeTable", relocate_variables },
    { "RuntimeVisibleTypeAnnotations", relocate_annotations },
    { "RuntimeInvisibleTypeAnnotations", relocate_annotations },
};

enum rewrite_outcome tables_write(struct rewrite_job *job, const struct classfile_attribute *attribute,
                                  unsigned *n_written)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (!span_is(attribute->name, known[i].name))
            continue;
        buffer_big(job->out, attribute->name_index, 2);
        buffer_big(job->out, attribute->body.n, 4);
        struct copy copy = { job, span_cursor(attribute->body), attribute->body.at, job->out->n };
        buffer_span(job->out, attribute->body);
        ++*n_written;
        return known[i].relocate(&copy) && cursor_left(&copy.c) == 0 ? REWRITE_DONE : REWRITE_UNUSUAL;
    }
    return REWRITE_DONE;
}

uint32_t tables_first_line(const struct classfile *file, const struct classfile_code *code)
{
    uint32_t first = 0;
    struct cursor attributes = span_cursor(code->attributes);
    struct classfile_attribute a;
    while (classfile_next_attribute(file, &attributes, &a)) {
        if (!span_is(a.name, "LineNumberTable"))
            continue;
        struct cursor c = span_cursor(a.body);
        for (unsigned n = cursor_u16be(&c); n > 0 && cursor_left(&c) >= 4; n--) {
            cursor_u16be(&c);
            uint16_t line = cursor_u16be(&c);
            if (first == 0 || line < first)
                first = line;
        }
    }
    return first;
}
