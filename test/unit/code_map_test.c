/*
 * The code that a JVM makes: its log, written and read, and what is at an address at a moment.
 */
#include "core/recorder/recompilation_cost.h"

#include "test/unit/tap.h"

#include <sys/mman.h>
#include <unistd.h>

static const struct code_line lines[] = { { 0, 10 }, { 5, 12 }, { 9, 11 } };
static const struct code_frame outer = { 1, 30 }, inner = { 0, 6 }, other = { 2, -1 };

/* Three points: outer alone up to 16, inner in outer up to 40, other in outer up to 44. */
static size_t make_points(uint8_t *bytes, size_t n)
{
    const struct code_frame first[] = { outer }, second[] = { outer, inner }, third[] = { outer, other };
    struct sink s = sink_into(bytes, n);
    code_log_put_point(&s, 16, first, 1, NULL, 0);
    code_log_put_point(&s, 24, second, 2, first, 1);
    code_log_put_point(&s, 4, third, 2, second, 2);
    return (size_t)(s.at - bytes);
}

static void test_points(void)
{
    static const struct {
        uint64_t offset;
        uint32_t n_frames, point, innermost;
    } rows[] = { { 0, 1, 0, 1 }, { 15, 1, 0, 1 }, { 16, 2, 1, 0 }, { 39, 2, 1, 0 }, { 40, 2, 2, 2 }, { 44, 0, 3, 0 } };
    uint8_t bytes[256];
    size_t n = make_points(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct code_frame frames[CODE_FRAMES_MAX];
        uint32_t point, n_frames = code_log_find(bytes, n, rows[i].offset, frames, &point);
        char claim[64];
        snprintf(claim, sizeof claim, "what an instruction %d bytes in the code was compiled from",
                 (int)rows[i].offset);
        CHECK(claim, n_frames == rows[i].n_frames && point == rows[i].point &&
                         (n_frames == 0 || frames[n_frames - 1].method == rows[i].innermost) &&
                         (n_frames == 0 || (frames[0].method == 1 && frames[0].index == 30)));
    }
    struct code_frame frames[CODE_FRAMES_MAX];
    uint32_t point;
    bool right = true;
    for (size_t cut = 0; cut < n; cut++)
        right = right && code_log_find(bytes, cut, 43, frames, &point) == 0;
    CHECK("points that are cut tell nothing of what is behind", right);
    CHECK("more shared frames than there are is damage",
          code_log_find((const uint8_t *)"\x10\x02\x01\x00\x00", 5, 0, frames, &point) == 0);
}

static size_t put(uint8_t *bytes, size_t n, const struct code_entry *entry)
{
    struct sink s = sink_into(bytes, n);
    code_log_put(&s, entry);
    return s.full ? 0 : (size_t)(s.at - bytes);
}

static void test_log(void)
{
    uint8_t bytes[1024], points[256];
    const struct code_entry method = { .kind = CODE_METHOD,
                                       .method = 7,
                                       .class_name = wire_text("a/Main"),
                                       .name = wire_text("run"),
                                       .descriptor = wire_text("()V"),
                                       .source = wire_text("Main.java"),
                                       .lines = lines,
                                       .n_lines = 3 };
    struct code_entry compiled = { .kind = CODE_COMPILED,
                                   .method = 7,
                                   .tier = 4,
                                   .ticks = 99,
                                   .address = 0x7f00,
                                   .n_bytes = 44,
                                   .spent_ns = 1234,
                                   .points = points };
    struct code_entry got;
    compiled.n_points_bytes = make_points(points, sizeof points);
    size_t n_method = put(bytes, sizeof bytes, &method),
           n = n_method + put(bytes + n_method, sizeof bytes - n_method, &compiled);
    struct cursor c = cursor_over(bytes, n);
    CHECK("a method is read as it was written", code_log_get(&c, &got) == 1 && got.kind == CODE_METHOD &&
                                                    got.method == 7 && got.source.n == 9 && got.n_lines == 3);
    CHECK_NUMBER("a bytecode's line", code_log_line(got.line_bytes, got.n_line_bytes, 6), 12);
    CHECK_NUMBER("lines may go back", code_log_line(got.line_bytes, got.n_line_bytes, 100), 11);
    CHECK_NUMBER("where there is no bytecode there is no line", code_log_line(got.line_bytes, got.n_line_bytes, -1), 0);
    CHECK("compiled code too", code_log_get(&c, &got) == 1 && got.kind == CODE_COMPILED && got.tier == 4 &&
                                   got.ticks == 99 && got.address == 0x7f00 && got.n_bytes == 44 &&
                                   got.spent_ns == 1234 && got.n_points_bytes == compiled.n_points_bytes &&
                                   memcmp(got.points, points, got.n_points_bytes) == 0);
    CHECK("then there is no more", code_log_get(&c, &got) == 0);
    bool right = true;
    for (size_t cut = 0; cut < n_method; cut++) {
        struct cursor part = cursor_over(bytes, cut);
        right = right && code_log_get(&part, &got) == 0 && part.at == bytes;
    }
    CHECK("an entry that is not whole waits", right);
    bytes[4] = 9;
    c = cursor_over(bytes, n);
    CHECK("one of no kind is damage", code_log_get(&c, &got) == -1);
}

/* ---- the map ---- */

static void log_entry(int fd, const struct code_entry *entry)
{
    static uint8_t bytes[65536];
    size_t n = put(bytes, sizeof bytes, entry);
    if (write(fd, bytes, n) != (ssize_t)n)
        printf("# the log cannot be written\n");
}

static void log_code(int fd, uint64_t ticks, uint64_t address, uint64_t n_bytes, uint32_t tier)
{
    log_entry(fd, &(struct code_entry){
                      .kind = CODE_COMPILED, .ticks = ticks, .address = address, .n_bytes = n_bytes, .tier = tier });
}

/* The tier of what was at an address at a moment; 99: nothing is known. */
static uint32_t tier_at(const struct code_map *map, uint64_t address, uint64_t ticks)
{
    uint32_t piece = code_map_find(map, address, ticks);
    return piece == UINT32_MAX ? 99 : map->pieces[piece].tier;
}

static void test_map(void)
{
    int fd = memfd_create("code", MFD_CLOEXEC);
    struct code_map map;
    code_map_init(&map, fd);
    CHECK("an empty log tells nothing", (code_map_read(&map), true) && tier_at(&map, 0x10000, 5) == 99);
    log_entry(fd, &(struct code_entry){ .kind = CODE_OTHER,
                                        .ticks = 5,
                                        .address = 0x100000,
                                        .n_bytes = 0x40000,
                                        .name = wire_text("Interpreter") });
    log_code(fd, 100, 0x10000, 0x3000, 3);
    log_entry(fd, &(struct code_entry){ .kind = CODE_DISCARDED, .ticks = 200, .address = 0x10000 });
    log_code(fd, 300, 0x10800, 0x100, 4);
    log_code(fd, 400, 0x10000, 0x900, 2); /* the JVM did not tell that the one before is gone */
    CHECK("the log is read", (code_map_read(&map), true) && map.n_pieces == 4);
    CHECK_NUMBER("code is found from its first byte", tier_at(&map, 0x10000, 150), 3);
    CHECK_NUMBER("to its last, pages behind", tier_at(&map, 0x12fff, 150), 3);
    CHECK_NUMBER("not behind that", tier_at(&map, 0x13000, 150), 99);
    CHECK_NUMBER("nor when it is gone", tier_at(&map, 0x12fff, 250), 99);
    CHECK_NUMBER("code that was told late was there before", tier_at(&map, 0x10000, 90), 3);
    CHECK_NUMBER("between two, it is the later one's", tier_at(&map, 0x10850, 250), 4);
    CHECK_NUMBER("as long as it is there", tier_at(&map, 0x10850, 350), 4);
    CHECK_NUMBER("until other code is in its place", tier_at(&map, 0x10850, 450), 2);
    uint32_t piece = code_map_find(&map, 0x13fff0, 1000);
    CHECK_TEXT("large code is found at any address in it", piece == UINT32_MAX ? NULL : map.pieces[piece].name,
               "Interpreter");
    log_code(fd, 500, 0x50000, 0x10, 1);
    log_code(fd, 500, 0x60000, 0, 1);
    uint32_t n_pieces = map.n_pieces;
    CHECK("what is told later is read later", (code_map_read(&map), true) && tier_at(&map, 0x50008, 600) == 1);
    CHECK_NUMBER("code of no bytes is none", map.n_pieces, n_pieces + 1);
    if (write(fd, "\x02\0\0\0\x09\x09", 6) == 6)
        CHECK("a damaged log is read no further, and what was known stays",
              (code_map_read(&map), true) && map.is_damaged && tier_at(&map, 0x50008, 600) == 1);
    code_map_free(&map);
    close(fd);
}

/* Code of which only the points at calls are known. */
static void test_coarse(void)
{
    uint8_t points[256];
    struct code_entry entry = { .kind = CODE_COMPILED, .ticks = 1, .address = 0x10000, .n_bytes = 44, .tier = 4 };
    int fd = memfd_create("code", MFD_CLOEXEC);
    struct code_map map;
    struct code_frame frames[CODE_FRAMES_MAX];
    uint32_t point;
    entry.points = points;
    entry.n_points_bytes = make_points(points, sizeof points);
    code_map_init(&map, fd);
    log_entry(fd, &entry);
    entry.address = 0x20000;
    entry.is_coarse = true;
    log_entry(fd, &entry);
    CHECK("both are read", (code_map_read(&map), true) && map.n_pieces == 2);
    CHECK("code that is known whole keeps its points", !map.pieces[0].is_coarse && map.pieces[0].n_points_bytes > 0);
    CHECK("other code has none: a line there would be wrong",
          map.pieces[1].is_coarse && code_piece_frames(&map.pieces[1], 0, frames, &point) == 0 &&
              map.pieces[1].tier == 4);
    code_map_free(&map);
    close(fd);
}

/* Two pieces: a method of class 7 with one of 8 inlined, made by C2; and one of 8 by C1, thrown away at the end. */
static void test_prices(void)
{
    static const struct code_frame outer_7 = { 7, 30 }, inner_8 = { 8, 6 };
    const struct code_frame first[] = { outer_7 }, second[] = { outer_7, inner_8 };
    const char *const classes[] = { "a/Main", "a/Other", "a/None" };
    uint8_t points[256];
    struct sink s = sink_into(points, sizeof points);
    struct code_entry method = { .kind = CODE_METHOD,
                                 .method = 7,
                                 .class_name = wire_text("a/Main"),
                                 .name = wire_text("run"),
                                 .descriptor = wire_text("()V") };
    struct code_entry code = {
        .kind = CODE_COMPILED, .ticks = 1, .address = 0x10000, .n_bytes = 100, .method = 7, .tier = 4, .points = points
    };
    int fd = memfd_create("code", MFD_CLOEXEC);
    struct code_map map;
    struct recompilation_costs prices;
    code_log_put_point(&s, 16, first, 1, NULL, 0);
    code_log_put_point(&s, 24, second, 2, first, 1);
    code.n_points_bytes = (size_t)(s.at - points);
    code_map_init(&map, fd);
    log_entry(fd, &method);
    method.method = 8;
    method.class_name = wire_text("a/Other");
    log_entry(fd, &method);
    log_entry(fd, &code);
    code = (struct code_entry){
        .kind = CODE_COMPILED, .ticks = 2, .address = 0x20000, .n_bytes = 50, .method = 8, .tier = 1, .points = points
    };
    log_entry(fd, &code);
    CHECK("the code is read", (code_map_read(&map), true) && map.n_pieces == 2);
    recompilation_costs_find(&map, classes, 3, &prices);
    CHECK_NUMBER("the optimizing compiler takes longer", (uint64_t)prices.compiled, 100 * 20 + 50);
    CHECK_NUMBER("a class costs what its methods are compiled to", (uint64_t)recompilation_costs_of(&prices, 1, 0),
                 2000);
    CHECK_NUMBER("and what they are inlined into", (uint64_t)recompilation_costs_of(&prices, 2, 0), 2050);
    CHECK_NUMBER("what changes anyway costs nothing more", (uint64_t)recompilation_costs_of(&prices, 2, 1), 50);
    CHECK_NUMBER("a class without code nothing", (uint64_t)recompilation_costs_of(&prices, 4, 0), 0);
    recompilation_costs_free(&prices);
    code = (struct code_entry){ .kind = CODE_DISCARDED, .ticks = 3, .address = 0x20000 };
    log_entry(fd, &code);
    CHECK("code that is gone costs nothing, but was compiled",
          (code_map_read(&map), true) && (recompilation_costs_find(&map, classes, 3, &prices), true) &&
              (uint64_t)recompilation_costs_of(&prices, 2, 1) == 0 && (uint64_t)prices.compiled == 2050);
    recompilation_costs_free(&prices);
    code_map_free(&map);
    close(fd);
}

static void log_dependent(int fd, uint64_t address, uint64_t n_bytes, uint32_t tier, const char *classes)
{
    log_entry(fd, &(struct code_entry){ .kind = CODE_DEPENDENT,
                                        .address = address,
                                        .n_bytes = n_bytes,
                                        .tier = tier,
                                        .classes = (const uint8_t *)classes,
                                        .n_classes_bytes = strlen(classes) });
}

/* The same where the agent tells of all code only whose it is. */
static void test_dependents(void)
{
    const char *const classes[] = { "a/Main", "a/Other", "a/None" };
    int fd = memfd_create("code", MFD_CLOEXEC);
    struct code_map map;
    struct recompilation_costs prices;
    code_map_init(&map, fd);
    log_entry(fd, &(struct code_entry){ .kind = CODE_CLASS, .method = 1, .class_name = wire_text("a/Main") });
    log_entry(fd, &(struct code_entry){ .kind = CODE_CLASS, .method = 2, .class_name = wire_text("a/Other") });
    log_dependent(fd, 0x10000, 100, 4, "\1\2");
    log_dependent(fd, 0x20000, 50, 1, "\2");
    log_dependent(fd, 0x30000, 7, 1, "\x70\2\xff"); /* a class that nobody named, and half a number */
    CHECK("whose code it is is read", (code_map_read(&map), true) && map.n_dependents == 3 && map.n_pieces == 0);
    recompilation_costs_find(&map, classes, 3, &prices);
    CHECK_NUMBER("all code counts", (uint64_t)prices.compiled, 100 * 20 + 50 + 7);
    CHECK_NUMBER("a class costs the code that has its methods", (uint64_t)recompilation_costs_of(&prices, 1, 0), 2000);
    CHECK_NUMBER("wherever that is", (uint64_t)recompilation_costs_of(&prices, 2, 0), 2057);
    CHECK_NUMBER("but for what is gone anyway", (uint64_t)recompilation_costs_of(&prices, 2, 1), 57);
    CHECK_NUMBER("and nothing without code", (uint64_t)recompilation_costs_of(&prices, 4, 0), 0);
    recompilation_costs_free(&prices);
    log_dependent(fd, 0x20000, 0, 0, "");
    log_dependent(fd, 0x40000, 0, 0, ""); /* of which nothing was told */
    log_dependent(fd, 0x10000, 10, 4, "\1");
    CHECK("what is gone, and what is there in its place",
          (code_map_read(&map), true) && (recompilation_costs_find(&map, classes, 3, &prices), true) &&
              (uint64_t)recompilation_costs_of(&prices, 1, 0) == 200 &&
              (uint64_t)recompilation_costs_of(&prices, 2, 0) == 7 && (uint64_t)prices.compiled == 2257);
    recompilation_costs_free(&prices);
    code_map_free(&map);
    close(fd);
}

int main(void)
{
    test_points();
    test_log();
    test_map();
    test_coarse();
    test_prices();
    test_dependents();
    return tap_done();
}
