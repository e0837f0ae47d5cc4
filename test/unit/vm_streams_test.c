/* HotSpot's compressed streams: scopes of compiled code, line numbers. */
#include "core/hotspot/nmethod.h"

#include "test/unit/tap.h"

#define METHOD_A UINT64_C(0x7f0000001000)
#define METHOD_B UINT64_C(0x7f0000002000)

/* Two methods; a scope of each, B's inlined in A's.  Digits are 'excluded' more than they count. */
struct example {
    uint8_t methods[16], bytes[16], pcs[4 * 16];
    struct scopes scopes;
};

static void put_pc(struct sink *s, uint32_t pc, uint32_t scope)
{
    sink_u32le(s, pc);
    sink_u32le(s, scope);
    sink_u32le(s, 0);
    sink_u32le(s, 0);
}

static void make(struct example *e, uint32_t excluded)
{
    const uint8_t numbers[] = { 0, 0, 1, 8, 1, 2, 1 }; /* nothing; A at 7; B at 0, called by A's scope */
    struct sink methods = sink_into(e->methods, sizeof e->methods), pcs = sink_into(e->pcs, sizeof e->pcs);
    memset(e->bytes, 0xff, sizeof e->bytes);
    for (size_t i = 0; i < sizeof numbers; i++)
        e->bytes[i] = (uint8_t)(numbers[i] + excluded);
    sink_u64le(&methods, METHOD_A);
    sink_u64le(&methods, METHOD_B);
    put_pc(&pcs, UINT32_MAX, 0);
    put_pc(&pcs, 16, 1);
    put_pc(&pcs, 20, 4);
    put_pc(&pcs, INT32_MAX, 0);
    e->scopes = (struct scopes){ .pcs = e->pcs,
                                 .bytes = e->bytes,
                                 .methods = e->methods,
                                 .n_pcs_bytes = sizeof e->pcs,
                                 .n_bytes = sizeof e->bytes,
                                 .n_methods_bytes = sizeof e->methods,
                                 .pc_bytes = 16,
                                 .at_scope = 4,
                                 .code_bytes = 32,
                                 .excluded = excluded };
}

static void check_example(uint32_t excluded, const char *claim)
{
    struct example e;
    struct scopes_walk walk;
    make(&e, excluded);
    scopes_begin(&walk, &e.scopes);
    bool first = scopes_next(&walk) && walk.end == 16 && walk.n_frames == 1 && walk.frames[0].method == METHOD_A &&
                 walk.frames[0].index == 7;
    bool second = scopes_next(&walk) && walk.end == 20 && walk.n_frames == 2 && walk.frames[0].method == METHOD_B &&
                  walk.frames[0].index == 0 && walk.frames[1].method == METHOD_A && walk.frames[1].index == 7;
    CHECK(claim, first && second && !scopes_next(&walk) && !walk.is_bad);
    first = scopes_find(&walk, &e.scopes, 15) && walk.end == 16 && walk.frames[0].method == METHOD_A;
    second = scopes_find(&walk, &e.scopes, 16) && walk.end == 20 && walk.frames[0].method == METHOD_B;
    CHECK("that of an offset is found", first && second && !scopes_find(&walk, &e.scopes, 20) && !walk.is_bad);
}

/* Is it refused when this number of the scopes is another one? */
static bool is_refused(size_t at, uint8_t number, size_t n_points)
{
    struct example e;
    struct scopes_walk walk;
    make(&e, 0);
    e.bytes[at] = number;
    scopes_begin(&walk, &e.scopes);
    for (size_t i = 0; i < n_points; i++)
        if (!scopes_next(&walk))
            return false;
    return !scopes_next(&walk) && walk.is_bad;
}

static void check_damage(void)
{
    struct example e;
    struct scopes_walk walk;
    static const struct {
        const char *claim;
        size_t at;
        uint8_t number;
        size_t n_points; /* before it */
    } rows[] = {
        { "a scope that is its own sender is refused", 1, 1, 0 },
        { "and one whose sender is behind it", 1, 4, 0 },
        { "a scope of no method is refused", 2, 0, 0 },
        { "and one of a method that is not there", 5, 3, 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(rows[i].claim, is_refused(rows[i].at, rows[i].number, rows[i].n_points));
    make(&e, 0);
    e.scopes.n_bytes = 5;
    scopes_begin(&walk, &e.scopes);
    CHECK("a scope that ends behind the bytes is refused", scopes_next(&walk) && !scopes_next(&walk) && walk.is_bad);
    make(&e, 0);
    e.scopes.code_bytes = 19;
    scopes_begin(&walk, &e.scopes);
    CHECK("and a pc behind the code", scopes_next(&walk) && !scopes_next(&walk) && walk.is_bad);
    make(&e, 0);
    e.pcs[16] = 21;
    scopes_begin(&walk, &e.scopes);
    CHECK("and one before the last", scopes_next(&walk) && !scopes_next(&walk) && walk.is_bad);
    make(&e, 1);
    e.bytes[1] = 0;
    scopes_begin(&walk, &e.scopes);
    CHECK("and a zero byte where there is none", !scopes_next(&walk) && walk.is_bad);
}

static void check_lines(void)
{
    /* 3 on at line 5; to index 300, line 405; back to line 402, where digits count from 0, and from 1. */
    static const uint8_t zero[] = { 3 << 3 | 5, 0xff, 210, 6, 224, 9, 0xff, 2, 5, 0 };
    static const uint8_t one[] = { 3 << 3 | 5, 0xff, 211, 7, 225, 10, 0xff, 3, 6, 0 };
    struct code_line lines[4];
    bool is_bad;
    for (uint32_t excluded = 0; excluded < 2; excluded++) {
        uint32_t n = line_stream_read(excluded == 0 ? zero : one, sizeof zero, excluded, lines, 4, &is_bad);
        CHECK(excluded == 0 ? "lines are read, of JDK 17" : "lines are read, of JDK 25",
              n == 3 && !is_bad && lines[0].index == 3 && lines[0].line == 5 && lines[1].index == 300 &&
                  lines[1].line == 405 && lines[2].index == 301 && lines[2].line == 402);
    }
    CHECK("more than there is room for are left out",
          line_stream_read(zero, sizeof zero, 0, lines, 2, &is_bad) == 2 && !is_bad);
    CHECK("lines without an end are refused",
          line_stream_read(zero, sizeof zero - 1, 0, lines, 4, &is_bad) == 0 && is_bad);
    CHECK("and those before the first",
          line_stream_read((const uint8_t[]){ 0xff, 0, 1, 0 }, 4, 0, lines, 4, &is_bad) == 0 && is_bad);
}

int main(void)
{
    check_example(0, "a point has its frames, the innermost first");
    check_example(1, "and where no byte is zero");
    check_damage();
    check_lines();
    return tap_done();
}
