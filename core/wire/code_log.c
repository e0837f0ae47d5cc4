#include "core/wire/code_log.h"

/* ---- writing ---- */

static void put_method(struct sink *s, const struct code_entry *entry)
{
    sink_varint(s, entry->method);
    wire_text_put_short(s, entry->class_name);
    wire_text_put_short(s, entry->name);
    wire_text_put_short(s, entry->descriptor);
    wire_text_put_short(s, entry->source);
    sink_varint(s, entry->n_lines);
    for (uint32_t i = 0; i < entry->n_lines; i++) {
        sink_varint(s, entry->lines[i].index);
        sink_varint(s, entry->lines[i].line);
    }
}

static void put_code(struct sink *s, const struct code_entry *entry)
{
    sink_varint(s, entry->ticks);
    sink_varint(s, entry->address);
    if (entry->kind == CODE_DISCARDED)
        return;
    sink_varint(s, entry->n_bytes);
    if (entry->kind == CODE_OTHER) {
        wire_text_put_short(s, entry->name);
        return;
    }
    sink_varint(s, entry->method);
    sink_varint(s, entry->tier | (entry->is_coarse ? CODE_COARSE : 0));
    sink_varint(s, entry->spent_ns);
    sink_bytes(s, entry->points, entry->n_points_bytes);
}

static void put_class(struct sink *s, const struct code_entry *entry)
{
    sink_varint(s, entry->method);
    wire_text_put_short(s, entry->class_name);
}

static void put_dependent(struct sink *s, const struct code_entry *entry)
{
    sink_varint(s, entry->address);
    sink_varint(s, entry->n_bytes);
    sink_varint(s, entry->tier);
    sink_bytes(s, entry->classes, entry->n_classes_bytes);
}

void code_log_put(struct sink *s, const struct code_entry *entry)
{
    uint8_t *length = wire_begin_entry(s);
    sink_u8(s, (uint8_t)entry->kind);
    if (entry->kind == CODE_METHOD)
        put_method(s, entry);
    else if (entry->kind == CODE_CLASS)
        put_class(s, entry);
    else if (entry->kind == CODE_DEPENDENT)
        put_dependent(s, entry);
    else
        put_code(s, entry);
    wire_end_entry(s, length);
}

void code_log_put_point(struct sink *s, uint64_t n_bytes, const struct code_frame *frames, uint32_t n_frames,
                        const struct code_frame *before, uint32_t n_before)
{
    uint32_t n_same = 0;
    while (n_same < n_frames && n_same < n_before && frames[n_same].method == before[n_same].method &&
           frames[n_same].index == before[n_same].index)
        n_same++;
    sink_varint(s, n_bytes);
    sink_varint(s, n_frames);
    sink_varint(s, n_same);
    for (uint32_t i = n_same; i < n_frames; i++) {
        sink_varint(s, frames[i].method);
        sink_varint(s, frames[i].index < 0 ? 0 : (uint64_t)frames[i].index + 1);
    }
}

/* ---- reading ---- */

static void get_method(struct cursor *c, struct code_entry *entry)
{
    entry->method = cursor_below(c, CODE_NUMBERS_MAX);
    entry->class_name = wire_text_get_short(c);
    entry->name = wire_text_get_short(c);
    entry->descriptor = wire_text_get_short(c);
    entry->source = wire_text_get_short(c);
    entry->n_lines = cursor_below(c, CODE_LINES_MAX + 1);
    entry->line_bytes = c->at;
    for (uint32_t i = 0; i < entry->n_lines; i++) {
        cursor_below(c, UINT32_MAX);
        cursor_below(c, UINT32_MAX);
    }
    entry->n_line_bytes = (size_t)(c->at - entry->line_bytes);
}

static void get_code(struct cursor *c, struct code_entry *entry)
{
    entry->ticks = cursor_varint(c);
    entry->address = cursor_varint(c);
    if (entry->kind == CODE_DISCARDED)
        return;
    entry->n_bytes = cursor_below(c, UINT32_MAX);
    if (entry->kind == CODE_OTHER) {
        entry->name = wire_text_get_short(c);
        return;
    }
    entry->method = cursor_below(c, CODE_NUMBERS_MAX);
    uint32_t tier = cursor_below(c, 2 * CODE_COARSE);
    entry->is_coarse = (tier & CODE_COARSE) != 0;
    entry->tier = tier & (CODE_COARSE - 1);
    entry->spent_ns = cursor_varint(c);
    entry->n_points_bytes = cursor_left(c);
    entry->points = cursor_bytes(c, entry->n_points_bytes);
}

static void get_class(struct cursor *c, struct code_entry *entry)
{
    entry->method = cursor_below(c, CODE_NUMBERS_MAX);
    entry->class_name = wire_text_get_short(c);
}

static void get_dependent(struct cursor *c, struct code_entry *entry)
{
    entry->address = cursor_varint(c);
    entry->n_bytes = cursor_below(c, UINT32_MAX);
    entry->tier = cursor_below(c, CODE_COARSE);
    entry->n_classes_bytes = cursor_left(c);
    entry->classes = cursor_bytes(c, entry->n_classes_bytes);
}

int code_log_get(struct cursor *c, struct code_entry *entry)
{
    struct cursor rest = *c, inner;
    int rc = cursor_entry(&rest, CODE_LOG_ENTRY_BYTES, &inner);
    if (rc <= 0)
        return rc;
    uint8_t kind = cursor_u8(&inner);
    memset(entry, 0, sizeof *entry);
    entry->kind = (enum code_kind)kind;
    if (kind == CODE_METHOD)
        get_method(&inner, entry);
    else if (kind <= CODE_OTHER)
        get_code(&inner, entry);
    else if (kind == CODE_CLASS)
        get_class(&inner, entry);
    else if (kind == CODE_DEPENDENT)
        get_dependent(&inner, entry);
    else
        inner.bad = true;
    if (inner.bad || cursor_left(&inner) != 0)
        return -1;
    *c = rest;
    return 1;
}

void code_points_begin(struct code_points *points, const uint8_t *bytes, size_t n)
{
    points->rest = cursor_over(bytes, n);
    points->end = 0;
    points->n_frames = points->n_same = 0;
}

bool code_points_next(struct code_points *points)
{
    struct cursor *c = &points->rest;
    if (cursor_left(c) == 0)
        return false;
    points->end += cursor_varint(c);
    uint32_t n = cursor_below(c, CODE_FRAMES_MAX + 1), n_same = cursor_below(c, CODE_FRAMES_MAX + 1);
    if (c->bad || n_same > n || n_same > points->n_frames)
        return false;
    for (uint32_t i = n_same; i < n; i++) {
        points->frames[i].method = cursor_below(c, CODE_NUMBERS_MAX);
        points->frames[i].index = (int32_t)cursor_below(c, INT32_MAX) - 1;
    }
    points->n_frames = n;
    points->n_same = n_same;
    return !c->bad;
}

uint32_t code_log_find(const uint8_t *bytes, size_t n, uint64_t offset, struct code_frame *frames, uint32_t *point)
{
    struct code_points points;
    code_points_begin(&points, bytes, n);
    for (*point = 0; code_points_next(&points); ++*point)
        if (points.end > offset) {
            memcpy(frames, points.frames, points.n_frames * sizeof *frames);
            return points.n_frames;
        }
    return 0;
}

uint32_t code_log_line(const uint8_t *line_bytes, size_t n, int32_t index)
{
    struct cursor c = cursor_over(line_bytes, n);
    uint32_t line = 0, from = 0;
    bool found = false;
    while (index >= 0 && cursor_left(&c) > 0) {
        uint32_t start = (uint32_t)cursor_varint(&c), its = (uint32_t)cursor_varint(&c);
        if (c.bad)
            break;
        if (start > (uint32_t)index || (found && start < from)) /* a table may be in any order */
            continue;
        found = true;
        from = start;
        line = its;
    }
    return line;
}
