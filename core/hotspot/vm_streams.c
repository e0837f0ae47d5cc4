#include "core/hotspot/nmethod.h"

#define LAST_DIGIT_BELOW 192u
#define LINE_ESCAPE      0xff

uint32_t vm_stream_number(struct cursor *c, uint32_t excluded)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < 5; i++) {
        uint8_t digit = cursor_u8(c);
        if (digit < excluded)
            c->bad = true;
        sum += (digit - excluded) << (6 * i);
        if (digit < LAST_DIGIT_BELOW)
            break;
    }
    return c->bad ? 0 : sum;
}

static int32_t signed_of(uint32_t value)
{
    return (int32_t)(value >> 1 ^ (0 - (value & 1)));
}

/* ---- scopes ---- */

void scopes_begin(struct scopes_walk *walk, const struct scopes *scopes)
{
    walk->scopes = scopes;
    walk->at = 0;
    walk->is_bad = false;
    walk->end = 0;
    walk->n_frames = 0;
}

static uint32_t pc_field(const struct scopes *scopes, size_t pc, size_t field)
{
    struct cursor c = cursor_over(scopes->pcs, scopes->n_pcs_bytes);
    cursor_bytes(&c, pc + field);
    return cursor_u32le(&c);
}

/* Takes a scope; returns the offset of its sender's, or 0: it has none, or *is_bad. */
static uint32_t take_scope(const struct scopes *scopes, uint32_t offset, struct scope_frame *frame, bool *is_bad)
{
    struct cursor c = cursor_over(scopes->bytes, scopes->n_bytes);
    cursor_bytes(&c, offset);
    uint32_t sender = vm_stream_number(&c, scopes->excluded), method = vm_stream_number(&c, scopes->excluded);
    uint32_t index = vm_stream_number(&c, scopes->excluded);
    struct cursor methods = cursor_over(scopes->methods, scopes->n_methods_bytes);
    cursor_bytes(&methods, method == 0 ? SIZE_MAX : ((size_t)method - 1) * 8);
    frame->method = cursor_u64le(&methods);
    frame->index = index > INT32_MAX ? -1 : (int32_t)index - 1;
    *is_bad = c.bad || methods.bad || sender >= offset || index > INT32_MAX;
    return *is_bad ? 0 : sender;
}

bool scopes_next(struct scopes_walk *walk)
{
    const struct scopes *scopes = walk->scopes;
    uint32_t offset = 0;
    size_t pc = walk->at;
    while (pc + scopes->pc_bytes <= scopes->n_pcs_bytes && (offset = pc_field(scopes, pc, scopes->at_scope)) == 0)
        pc += scopes->pc_bytes;
    walk->at = pc + scopes->pc_bytes;
    walk->n_frames = 0;
    if (pc + scopes->pc_bytes > scopes->n_pcs_bytes)
        return false;
    uint32_t end = pc_field(scopes, pc, scopes->at_pc);
    walk->is_bad = end < walk->end || end > scopes->code_bytes;
    walk->end = end;
    while (offset != 0 && !walk->is_bad && walk->n_frames < CODE_FRAMES_MAX)
        offset = take_scope(scopes, offset, &walk->frames[walk->n_frames++], &walk->is_bad);
    return !walk->is_bad;
}

bool scopes_find(struct scopes_walk *walk, const struct scopes *scopes, uint64_t offset)
{
    scopes_begin(walk, scopes);
    for (size_t pc = 0; pc + scopes->pc_bytes <= scopes->n_pcs_bytes; pc += scopes->pc_bytes) {
        int32_t end = (int32_t)pc_field(scopes, pc, scopes->at_pc);
        if (end < 0 || (uint64_t)end <= offset || pc_field(scopes, pc, scopes->at_scope) == 0)
            continue;
        walk->at = pc;
        return scopes_next(walk);
    }
    return false;
}

/* ---- lines ---- */

/* A step further.  Returns false at the end, or where it does not go on (c->bad). */
static bool next_line(struct cursor *c, uint32_t excluded, struct code_line *at)
{
    uint8_t byte = cursor_u8(c);
    if (byte == 0)
        return false;
    at->index += byte == LINE_ESCAPE ? (uint32_t)signed_of(vm_stream_number(c, excluded)) : byte >> 3;
    at->line += byte == LINE_ESCAPE ? (uint32_t)signed_of(vm_stream_number(c, excluded)) : byte & 7;
    c->bad = c->bad || at->index > UINT16_MAX || at->line > UINT16_MAX;
    return !c->bad;
}

uint32_t line_stream_read(const uint8_t *bytes, size_t n, uint32_t excluded, struct code_line *lines, uint32_t room,
                          bool *is_bad)
{
    struct cursor c = cursor_over(bytes, n);
    struct code_line at = { 0, 0 };
    uint32_t n_lines = 0;
    while (next_line(&c, excluded, &at))
        if (n_lines < room)
            lines[n_lines++] = at;
    *is_bad = c.bad;
    return c.bad ? 0 : n_lines;
}

uint32_t line_stream_find(const uint8_t *bytes, size_t n, uint32_t excluded, uint32_t index)
{
    struct cursor c = cursor_over(bytes, n);
    struct code_line at = { 0, 0 };
    uint32_t line = 0;
    while (next_line(&c, excluded, &at))
        line = at.index <= index ? at.line : line;
    return line;
}
