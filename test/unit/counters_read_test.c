/*
 * Reading counters in user space, from pages made up here: widths, signs, a page that changes under the reader, groups
 * that take turns.
 */
#include "core/pmu/read.h"

#include "test/unit/tap.h"

#include <sys/mman.h>
#include <unistd.h>

#define MAY_READ UINT64_C(4) /* cap_user_rdpmc */

/* ---- one page ---- */

/* A register whose reading may disturb the page, as an interrupt in between would. */
struct machine {
    struct perf_event_mmap_page *page;
    uint64_t registers[4];
    uint32_t n_reads, last_index;
    uint32_t n_moves; /* so many times the kernel changes the page while it is read */
};

static uint64_t read_register(uint32_t index, void *context)
{
    struct machine *machine = context;
    machine->n_reads++;
    machine->last_index = index;
    if (machine->n_moves > 0) {
        machine->n_moves--;
        machine->page->lock += 2;
        machine->page->index = index == 2 ? 2 : 3; /* from register 1 to 2 and back */
        machine->page->offset += 1000;
    }
    return machine->registers[index % 4];
}

struct page_case {
    const char *claim;
    uint32_t index, width;
    int64_t offset;
    uint64_t counter, capabilities;
    bool valid;
    uint64_t value;
};

static const struct page_case page_cases[] = {
    { "a 48-bit counter adds to the offset", 2, 48, 100, 23, MAY_READ, true, 123 },
    { "a 32-bit counter ignores the upper bits", 2, 32, 0, UINT64_C(0xabcd00000007), MAY_READ, true, 7 },
    { "a 64-bit counter is taken whole", 2, 64, 1, UINT64_C(0x7ffffffffffffffe), MAY_READ, true,
      UINT64_C(0x7fffffffffffffff) },
    { "a 48-bit counter that started below zero is negative", 2, 48, 500, UINT64_C(0xfffffffffff6), MAY_READ, true,
      490 },
    { "a 32-bit counter that started below zero is negative", 2, 32, 500, UINT64_C(0xfffffffe), MAY_READ, true, 498 },
    { "a 40-bit counter's sign is bit 39", 2, 40, 0, UINT64_C(0x8000000000), MAY_READ, true,
      (uint64_t)INT64_C(-0x8000000000) },
    { "a negative offset and a large counter meet above zero", 2, 48, -1000, 1001, MAY_READ, true, 1 },
    { "an event that waits for its turn has its value in the offset", 0, 48, 100, 23, MAY_READ, true, 100 },
    { "its width does not matter", 0, 0, 100, 23, MAY_READ, true, 100 },
    { "a page that forbids reads is not read", 2, 48, 100, 23, 0, false, 0 },
    { "a page without a width is not read", 2, 0, 100, 23, MAY_READ, false, 0 },
    { "a width above 64 is not believed", 2, 65, 100, 23, MAY_READ, false, 0 },
};

static void test_pages(void)
{
    for (size_t i = 0; i < sizeof page_cases / sizeof page_cases[0]; i++) {
        const struct page_case *c = &page_cases[i];
        struct perf_event_mmap_page page = { .lock = 8, .index = c->index, .offset = c->offset };
        page.capabilities = c->capabilities;
        page.pmc_width = (uint16_t)c->width;
        page.time_enabled = 50;
        page.time_running = 50;
        struct machine machine = { .page = &page, .registers = { 0, c->counter } };
        struct counter_value out = { .counts = false };
        bool valid = counters_page_read(&page, false, 0, read_register, &machine, &out);
        CHECK(c->claim, valid == c->valid && (!valid || out.value == c->value) && out.counts == (c->index != 0) &&
                            machine.n_reads == (c->valid && c->index != 0 ? 1 : 0) &&
                            (machine.n_reads == 0 || machine.last_index == 1));
    }
}

static void test_sequence_lock(void)
{
    struct perf_event_mmap_page page = { .lock = 8, .index = 2, .offset = 5 };
    page.capabilities = MAY_READ;
    page.pmc_width = 48;
    struct machine machine = { .page = &page, .registers = { 0, 10, 20 }, .n_moves = 1 };
    struct counter_value out = { .counts = false };
    CHECK("a counter that moved while it was read is read again",
          counters_page_read(&page, false, 0, read_register, &machine, &out));
    CHECK_NUMBER("and the value is the moved counter's", out.value, 1005 + 20);
    CHECK_NUMBER("in two reads", machine.n_reads, 2);

    machine.n_moves = UINT32_MAX;
    machine.n_reads = 0;
    CHECK("a page that changes in every try is given up",
          !counters_page_read(&page, false, 0, read_register, &machine, &out));
    CHECK_NUMBER("after a bounded number of tries", machine.n_reads, COUNTERS_RETRIES);

    machine.n_moves = 0;
    page.lock = 9;
    CHECK("a page that is being written is not believed",
          !counters_page_read(&page, false, 0, read_register, &machine, &out));

    page.lock = 10;
    page.time_enabled = 700;
    page.time_running = 300;
    CHECK("an event that rotates is read", counters_page_read(&page, false, 0, read_register, &machine, &out));
    CHECK_NUMBER("and says how long it did not count", out.enabled_ns - out.running_ns, 400);
}

/* ---- groups that take turns ---- */

/* cap_user_rdpmc, cap_user_time, cap_user_time_short */
#define CAPS       (COUNTERS_MAY_READ | COUNTERS_HAS_TIME)
#define CAPS_SHORT (CAPS | COUNTERS_SHORT_TIME)

#define NOW       UINT64_C(5000) /* in ticks of a ns */
#define N_COLUMNS 7

/* A page that was written at tick 'written'. */
struct fake {
    uint32_t index, width;
    int64_t offset;
    uint64_t enabled_ns, running_ns, written, capabilities, cycles, mask;
};

/* Two groups of two events; registers 0..3 hold 10, 20, 30, 40. */
static const struct {
    const char *claim;
    struct fake pages[4];
    bool valid;
    uint64_t columns[N_COLUMNS];
} turns[] = {
    { "the first group counts: its time goes on, the other's stands still",
      { { 1, 48, 100, 4000, 1000, 4600, CAPS, 0, 0 },
        { 2, 48, 200, 4000, 1000, 4600, CAPS, 0, 0 },
        { 0, 48, 300, 3500, 2000, 4100, CAPS, 0, 0 },
        { 0, 48, 400, 3500, 2000, 4100, CAPS, 0, 0 } },
      true,
      { 110, 220, 300, 400, 1400, 2000, 4400 } },
    { "the second counts: it tells the time, by the first one's clock",
      { { 0, 48, 100, 4000, 1000, 4100, CAPS, 0, 0 },
        { 0, 48, 200, 4000, 1000, 4100, CAPS, 0, 0 },
        { 3, 48, 300, 3500, 2000, 4600, CAPS, 0, 0 },
        { 4, 48, 400, 3500, 2000, 4600, CAPS, 0, 0 } },
      true,
      { 100, 200, 330, 440, 1000, 2400, 3907 } },
    { "both count",
      { { 1, 48, 100, 4000, 1000, 4600, CAPS, 0, 0 },
        { 2, 48, 200, 4000, 1000, 4600, CAPS, 0, 0 },
        { 3, 48, 300, 3993, 2000, 4600, CAPS, 0, 0 },
        { 4, 48, 400, 3993, 2000, 4600, CAPS, 0, 0 } },
      true,
      { 110, 220, 330, 440, 1400, 2400, 4400 } },
    { "counters of 32, 40 and 64 bits",
      { { 1, 32, 100, 4000, 1000, 4600, CAPS, 0, 0 },
        { 2, 40, -20, 4000, 1000, 4600, CAPS, 0, 0 },
        { 3, 64, 300, 3993, 2000, 4600, CAPS, 0, 0 },
        { 4, 64, 400, 3993, 2000, 4600, CAPS, 0, 0 } },
      true,
      { 110, 0, 330, 440, 1400, 2400, 4400 } },
    { "a page that was written after the timestamp has the time of its writing",
      { { 1, 48, 100, 4000, 1000, 5300, CAPS, 0, 0 },
        { 2, 48, 200, 4000, 1000, 5300, CAPS, 0, 0 },
        { 0, 48, 300, 3500, 2000, 4100, CAPS, 0, 0 },
        { 0, 48, 400, 3500, 2000, 4100, CAPS, 0, 0 } },
      true,
      { 110, 220, 300, 400, 1000, 2000, 4000 } },
    { "a clock of 12 bits that has gone round since",
      { { 1, 48, 100, 4000, 1000, 4000, CAPS_SHORT, 4000, 4095 },
        { 2, 48, 200, 4000, 1000, 4000, CAPS_SHORT, 4000, 4095 },
        { 0, 48, 300, 3500, 2000, 4000, CAPS_SHORT, 0, 4095 },
        { 0, 48, 400, 3500, 2000, 4000, CAPS_SHORT, 0, 4095 } },
      true,
      { 110, 220, 300, 400, 2000, 2000, 5000 } },
    { "no group counts: there is no time, and nothing is valid",
      { { 0, 48, 100, 4000, 1000, 4600, CAPS, 0, 0 },
        { 0, 48, 200, 4000, 1000, 4600, CAPS, 0, 0 },
        { 0, 48, 300, 3500, 2000, 4100, CAPS, 0, 0 },
        { 0, 48, 400, 3500, 2000, 4100, CAPS, 0, 0 } },
      false,
      { 0 } },
    { "without cap_user_time nothing is valid",
      { { 1, 48, 100, 4000, 1000, 4600, COUNTERS_MAY_READ, 0, 0 },
        { 2, 48, 200, 4000, 1000, 4600, COUNTERS_MAY_READ, 0, 0 },
        { 0, 48, 300, 3500, 2000, 4100, COUNTERS_MAY_READ, 0, 0 },
        { 0, 48, 400, 3500, 2000, 4100, COUNTERS_MAY_READ, 0, 0 } },
      false,
      { 0 } },
    { "nor when it is missing in one of two that count",
      { { 1, 48, 100, 4000, 1000, 4600, CAPS, 0, 0 },
        { 2, 48, 200, 4000, 1000, 4600, CAPS, 0, 0 },
        { 3, 48, 300, 3993, 2000, 4600, COUNTERS_MAY_READ, 0, 0 },
        { 4, 48, 400, 3993, 2000, 4600, CAPS, 0, 0 } },
      false,
      { 0 } },
    { "nor without cap_user_rdpmc, even while the group waits: its offset may be old",
      { { 1, 48, 100, 4000, 1000, 4600, CAPS, 0, 0 },
        { 2, 48, 200, 4000, 1000, 4600, CAPS, 0, 0 },
        { 0, 48, 300, 3500, 2000, 4100, CAPS, 0, 0 },
        { 0, 48, 400, 3500, 2000, 4100, COUNTERS_HAS_TIME, 0, 0 } },
      false,
      { 0 } },
    { "nor with a width that no register has",
      { { 1, 48, 100, 4000, 1000, 4600, CAPS, 0, 0 },
        { 2, 65, 200, 4000, 1000, 4600, CAPS, 0, 0 },
        { 0, 48, 300, 3500, 2000, 4100, CAPS, 0, 0 },
        { 0, 48, 400, 3500, 2000, 4100, CAPS, 0, 0 } },
      false,
      { 0 } },
};

#define PAGE_BYTES 4096

static _Alignas(PAGE_BYTES) char fake_memory[4 * PAGE_BYTES];

static struct perf_event_mmap_page *fake_page(uint32_t i)
{
    return (struct perf_event_mmap_page *)(void *)(fake_memory + (size_t)i * PAGE_BYTES);
}

/* A tick is a ns: (ticks * 1024) >> 10. */
static void fake_write(uint32_t i, const struct fake *fake)
{
    struct perf_event_mmap_page *page = fake_page(i);
    page->lock = 2;
    page->index = fake->index;
    page->offset = fake->offset;
    page->time_enabled = fake->enabled_ns;
    page->time_running = fake->running_ns;
    page->capabilities = fake->capabilities;
    page->pmc_width = (uint16_t)fake->width;
    page->time_shift = 10;
    page->time_mult = 1024;
    page->time_offset = -fake->written;
    page->time_cycles = fake->cycles;
    page->time_mask = fake->mask;
}

struct registers {
    uint64_t values[8];
    int n_moves; /* so many times a read finds the event moved to the register behind */
    uint32_t page;
    void (*after)(struct registers *registers);
};

static uint64_t fake_register(uint32_t index, void *context)
{
    struct registers *registers = context;
    if (registers->n_moves > 0 && fake_page(registers->page)->index == index + 1) {
        registers->n_moves--;
        registers->after(registers);
    }
    return registers->values[index];
}

static struct counters_thread fake_thread(void)
{
    struct counters_thread thread = { .pages = fake_memory, .page_bytes = PAGE_BYTES, .n_groups = 2 };
    thread.first[1] = 2;
    thread.first[2] = 4;
    thread.begun_ns[1] = 7;
    return thread;
}

static void test_turns(void)
{
    for (size_t i = 0; i < sizeof turns / sizeof turns[0]; i++) {
        struct counters_thread thread = fake_thread();
        struct registers registers = { .values = { 10, 20, 30, 40 } };
        uint64_t columns[N_COLUMNS] = { 0 }, now = strstr(turns[i].claim, "12 bits") != NULL ? 5000 & 4095 : NOW;
        for (uint32_t page = 0; page < 4; page++)
            fake_write(page, &turns[i].pages[page]);
        bool valid = counters_thread_read_from(&thread, now, columns, fake_register, &registers);
        bool equal = !turns[i].valid || memcmp(columns, turns[i].columns, sizeof columns) == 0;
        if (!CHECK(turns[i].claim, valid == turns[i].valid && equal))
            for (size_t j = 0; j < N_COLUMNS; j++)
                printf("# column %zu: %" PRIu64 ", expected %" PRIu64 "\n", j, columns[j], turns[i].columns[j]);
    }
}

/* The thread is moved to another CPU while a register is read: the event gets the register behind there. */
static void move_to_other_cpu(struct registers *registers)
{
    struct perf_event_mmap_page *page = fake_page(registers->page);
    page->lock += 2;
    page->offset += 1000;
    page->index++;
    page->time_enabled += 50;
    page->time_running += 50;
    page->time_offset -= 300; /* it was away for a while */
}

/* The group's turn ends while a register is read. */
static void end_turn(struct registers *registers)
{
    struct perf_event_mmap_page *page = fake_page(registers->page);
    page->lock += 2;
    page->offset += 77;
    page->index = 0;
}

static void test_moves(void)
{
    struct counters_thread thread = fake_thread();
    struct registers registers = { .values = { 10, 20, 30, 40, 50 }, .n_moves = 1, .after = move_to_other_cpu };
    uint64_t columns[N_COLUMNS];
    for (uint32_t page = 0; page < 4; page++)
        fake_write(page, &turns[0].pages[page]);
    bool valid = counters_thread_read_from(&thread, NOW, columns, fake_register, &registers);
    CHECK("a leader that moved to another CPU is read there", valid && columns[0] == 1100 + 20 && columns[1] == 220);
    CHECK("and its times are those of there", columns[4] == 1050 + 100 && columns[6] == 4050 + 100);

    thread = fake_thread();
    fake_write(0, &turns[0].pages[0]);
    registers.page = 1;
    registers.n_moves = 1;
    registers.after = end_turn;
    valid = counters_thread_read_from(&thread, NOW, columns, fake_register, &registers);
    CHECK("a member whose turn ends meanwhile has its last value", valid && columns[1] == 277 && columns[0] == 110);
    fake_write(1, &turns[0].pages[1]);
    registers.page = 0;
    registers.n_moves = 1;
    CHECK("when the only group's turn ends meanwhile, nothing is valid",
          !counters_thread_read_from(&thread, NOW, columns, fake_register, &registers));
}

static void test_time_goes_on(void)
{
    struct counters_thread thread = fake_thread();
    struct registers registers = { .values = { 10, 20, 30, 40 } };
    uint64_t first[N_COLUMNS], second[N_COLUMNS];
    for (uint32_t page = 0; page < 4; page++)
        fake_write(page, &turns[0].pages[page]);
    bool valid = counters_thread_read_from(&thread, NOW, first, fake_register, &registers);
    for (uint32_t page = 0; page < 4; page++)
        fake_write(page, &turns[1].pages[page]);
    valid &= counters_thread_read_from(&thread, NOW + 1, second, fake_register, &registers);
    CHECK("the time of all never goes back, though another group tells it",
          valid && first[6] == 4400 && second[6] == 4400);
    valid = counters_thread_read_from(&thread, NOW + 1000, second, fake_register, &registers);
    CHECK("and goes on once that one is ahead", valid && second[6] == 4907);
}

/* A clock of 2.445 GHz, as the kernel scales it, over an hour. */
static void test_scale(void)
{
    const uint32_t multiplier = 857689910u; /* 2^31 / 2.5038 */
    const uint64_t hour = UINT64_C(3600) * 2503800000u;
    double expected = (double)hour * multiplier / 2147483648.0;
    uint64_t ns = counters_page_delta_ns(hour, 0, multiplier, 31);
    CHECK("ticks of an hour become ns without overflow", (double)ns - expected < 2 && expected - (double)ns < 2);
    CHECK_NUMBER("an offset is added", counters_page_delta_ns(hour, 1000, multiplier, 31), ns + 1000);
    CHECK_NUMBER("a moment before is 0", counters_page_delta_ns(hour, -ns - 5, multiplier, 31), 0);
}

/* One group is valid only while it counts, and as long as it never had to wait. */
static void test_one_group(void)
{
    struct counters_thread thread = {
        .pages = fake_memory, .page_bytes = PAGE_BYTES, .n_groups = 1, .missed_ns = 3000
    };
    struct registers registers = { .values = { 10, 20 } };
    uint64_t columns[2];
    thread.first[1] = 2;
    fake_write(0, &turns[0].pages[0]);
    fake_write(1, &turns[0].pages[1]);
    CHECK("one group: the values", counters_thread_read_from(&thread, NOW, columns, fake_register, &registers) &&
                                       columns[0] == 110 && columns[1] == 220);
    fake_page(0)->time_enabled += 100;
    CHECK("one group that had to wait is not valid",
          !counters_thread_read_from(&thread, NOW, columns, fake_register, &registers));
    fake_page(0)->time_running += 100;
    CHECK("one that did not is", counters_thread_read_from(&thread, NOW, columns, fake_register, &registers));
    fake_page(1)->index = 0;
    CHECK("one that does not count now is not valid",
          !counters_thread_read_from(&thread, NOW, columns, fake_register, &registers));
}

int main(void)
{
    test_pages();
    test_sequence_lock();
    test_turns();
    test_moves();
    test_time_goes_on();
    test_scale();
    test_one_group();
    return tap_done();
}
