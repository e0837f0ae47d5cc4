/* Findings on objects that are made, and on those that stay: each rule just above its threshold and just below it. */
#include "test/unit/findings_printed.h"

static struct arena copies; /* what outlives a trace */

/* 1,000 objects of so many bytes in 10 s, so many of them by price; the others by no method.  cpu_ms: that it runs. */
static const char *lines_of_calls(uint64_t n_of_price, uint64_t bytes, uint64_t cpu_ms)
{
    static const struct trace_sampled_method price = { .names.class_name = "com/acme/Shop",
                                                       .names.method = "price",
                                                       .names.descriptor = "()V" },
                                             build = { .names.class_name = "java/lang/StringBuilder",
                                                       .names.method = "append",
                                                       .names.descriptor = "()V" };
    struct view_pass pass;
    struct maker m;
    maker_open_scaled(&m, "allocates.dat", 1000000);
    maker_thread(&m, 0, "main", cpu_ms > 0);
    if (cpu_ms > 0) {
        maker_info(&m, "offcpu", "perf");
        maker_method(&m, 1, "com/acme/Shop", "price", "()V");
        KERNEL(&m, AT(TRACE_CPU_IN, 0, 0), AT(TRACE_CPU_OUT, 0, 10000));
        STEPS(&m, 0, ENTER(1, 100), EXIT(1, 100 + cpu_ms));
    }
    maker_stack(&m, 0, -1, 0, &price, 0, 0);
    maker_stack(&m, 1, 3, 1, &build, 0, 0);
    for (uint64_t i = 0; i < 1000; i++) {
        const struct trace_allocation allocation = { i * 10, 0,   i < n_of_price ? 2 : 0, 7, 0, i == 0 ? "[B" : NULL,
                                                     bytes,  1000 };
        maker_must(&m, trace_write_allocation(m.writer, &allocation, &m.err));
    }
    maker_close(&m, 10000);
    const struct view_pass_options options = { .path = m.path, .parts = VIEW_PASS_SAMPLES | VIEW_PASS_FINDINGS };
    maker_must(&m, view_pass_read(&options, &arena, &pass, &m.err));
    const char *lines = lines_of(&pass.source, &pass);
    view_pass_close(&pass);
    arena_free(&copies);
    return arena_text(&copies, lines, strlen(lines));
}

static const char *lines_of_allocations(uint64_t n_of_price, uint64_t bytes)
{
    return lines_of_calls(n_of_price, bytes, 0);
}

static void test_allocations(void)
{
    const char *both = lines_of_calls(300, 1000000, 2000);
    CHECK("a method that runs for much more than its objects take has a line for each",
          strstr(both, "* Shop.price itself uses 20 %") != NULL && strstr(both, "* Shop.price allocates") != NULL);
    CHECK("one that runs for what they take, as they tell, has theirs only",
          strncmp(lines_of_calls(300, 10000000, 2000), "* Shop.price allocates 30 ", 25) == 0 &&
              strstr(lines_of_calls(300, 10000000, 2000), "itself uses") == NULL);
    CHECK_TEXT("a method whose objects are more than 25 % of all bytes, with the whole interval",
               lines_of_allocations(300, 1000000),
               "* Shop.price allocates 30 \u00b13 % of all bytes (30.0 MB/s), mostly byte[] in StringBuilder.append "
               "(--view allocations)\n"
               "\n");
    CHECK_TEXT("not one that may be less", lines_of_allocations(270, 1000000), "");
    CHECK("one that makes more than 20 MB/s", strstr(lines_of_allocations(300, 680000), "(20.4 MB/s)") != NULL);
    CHECK_TEXT("not one that makes less", lines_of_allocations(300, 660000), "");
    arena_free(&copies);
    arena_free(&arena);
}

/*
 * 1,000 objects of a MB in 10 s, one of so many by price; of these one lives that lives() says so, by its moment in ms.
 * one_in 0: objects are not sampled.  Collections each second leave the heap with this many bytes more, up to one of
 * them; the first one with so many.
 */
static const char *lines_of_heap(uint64_t one_in, bool (*lives)(uint64_t ms), uint64_t rise_bytes, uint64_t up_to,
                                 uint64_t first_bytes, enum miss_space space)
{
    static const struct trace_sampled_method price = { .names.class_name = "com/acme/Shop",
                                                       .names.method = "price",
                                                       .names.descriptor = "()V" };
    struct view_pass pass;
    struct maker m;
    maker_open_scaled(&m, "lives.dat", 1000000);
    maker_thread(&m, 0, "main", false);
    maker_stack(&m, 0, -1, 0, &price, 0, 0);
    for (uint64_t i = 0; i < 1000 && one_in > 0; i++) {
        const struct trace_allocation allocation = { i * 10,  0,   i % one_in == 0 ? 1 : 0, 7, 0, i == 0 ? "[B" : NULL,
                                                     1000000, 1000 };
        maker_must(&m, trace_write_allocation(m.writer, &allocation, &m.err));
    }
    for (uint64_t i = 0; i < 10; i++) {
        const struct trace_collection collection = { i * 1000 + 999, 1000, 0, "young collections", "" };
        struct miss_entry heap = { .kind = MISS_USED, .ticks = collection.start_ticks };
        heap.used[space] = first_bytes + (i < up_to ? i : up_to) * rise_bytes;
        maker_must(&m, trace_write_collection(m.writer, &collection, &m.err));
        maker_must(&m, trace_write_miss(m.writer, &heap, &m.err));
    }
    for (uint64_t i = 0; i < 1000 && one_in > 0; i++)
        if (i % one_in != 0 || !lives(i * 10))
            maker_must(
                &m, trace_write_heap_event(m.writer, &(struct trace_heap_event){ 10000, TRACE_HEAP_FREED, i }, &m.err));
    if (one_in > 0)
        maker_must(
            &m, trace_write_heap_event(m.writer, &(struct trace_heap_event){ 10001, TRACE_HEAP_CHECKED, 0 }, &m.err));
    maker_close(&m, 10001);
    const struct view_pass_options options = { .path = m.path, .parts = VIEW_PASS_SAMPLES | VIEW_PASS_FINDINGS };
    maker_must(&m, view_pass_read(&options, &arena, &pass, &m.err));
    const char *lines = lines_of(&pass.source, &pass);
    view_pass_close(&pass);
    arena_free(&copies);
    return arena_text(&copies, lines, strlen(lines));
}

static const char *lines_of_objects(uint64_t one_in, bool (*lives)(uint64_t ms), uint64_t rise_bytes, uint64_t up_to)
{
    return lines_of_heap(one_in, lives, rise_bytes, up_to, 100000000, MISS_OLD);
}

static bool always(uint64_t ms)
{
    (void)ms;
    return true;
}

static bool early(uint64_t ms)
{
    return ms < 4000;
}

static bool lately(uint64_t ms)
{
    return ms > 6000;
}

static bool at_both_ends(uint64_t ms)
{
    return ms < 3300 || ms > 6700;
}

static void test_leaks(void)
{
    CHECK_TEXT("objects that stay, the first as well as the latest, in a heap that grows",
               lines_of_objects(10, always, 10000000, 10),
               "* Shop.price may leak memory: the heap after collections grew from 100 MB to 190 MB; the method "
               "allocated 100 of 100 sampled objects that survive, mostly byte[] (--view live-objects)\n"
               "\n");
    CHECK_TEXT(
        "where objects are not sampled, a heap that grows by three tenths",
        lines_of_heap(0, always, 10000000, 10, 10000000, MISS_OLD),
        "* the heap may leak memory: after 10 collections it has grown from 10.0 MB to 100 MB; JDK 11 and later say "
        "whose objects they are (--view collections)\n\n");
    CHECK_TEXT("not by less", lines_of_heap(0, always, 10000000, 10, 120000000, MISS_OLD), "");
    CHECK_TEXT("nor one that grows no more", lines_of_heap(0, always, 10000000, 4, 10000000, MISS_OLD), "");
    CHECK_TEXT("nor where many objects are known, none of which are made all the time",
               lines_of_heap(10, early, 10000000, 10, 10000000, MISS_OLD), "");
    CHECK_TEXT("not in one that does not", lines_of_objects(10, always, 0, 10), "");
    CHECK("of few samples, too", strstr(lines_of_objects(200, always, 10000000, 10), "5 of 5 sampled objects") != NULL);
    CHECK("of two, too", strstr(lines_of_objects(500, always, 10000000, 10), "2 of 2 sampled objects") != NULL);
    CHECK("of one nobody is named",
          strstr(lines_of_objects(1000, always, 10000000, 10), "* the heap may leak memory") != NULL);
    CHECK("in a heap that grows by more than 2 MB",
          lines_of_heap(10, always, 2100000 / 7, 10, 5000000, MISS_OLD)[0] != '\0');
    CHECK_TEXT("not by less", lines_of_heap(10, always, 1900000 / 7, 10, 5000000, MISS_OLD), "");
    CHECK_TEXT("nor where what grows is young", lines_of_heap(10, always, 10000000, 10, 100000000, MISS_SURVIVOR), "");
    CHECK_TEXT("not in a heap that grows no more", lines_of_objects(10, always, 10000000, 4), "");
    CHECK_TEXT("not where they were made at first", lines_of_objects(10, early, 10000000, 10), "");
    CHECK_TEXT("nor where the latest live only", lines_of_objects(10, lately, 10000000, 10), "");
    CHECK_TEXT("nor where some were made at first, and of the others the latest live",
               lines_of_objects(10, at_both_ends, 10000000, 10), "");
    arena_free(&copies);
    arena_free(&arena);
}

int main(void)
{
    test_allocations();
    test_leaks();
    return tap_done();
}
