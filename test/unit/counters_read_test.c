/*
 * Reading counters in user space, from pages made up here: widths, signs, a page that changes under the reader; and
 * opening a group, with the kernel played by a function.
 */
#include "core/counters/read.h"

#include "core/base/ticks.h"
#include "core/counters/layout.h"
#include "core/counters/outside.h"
#include "test/unit/tap.h"

#include <dirent.h>
#include <errno.h>
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

/* ---- opening a group ---- */

#define KERNEL_MAX 8

static struct {
    struct perf_event_attr attrs[KERNEL_MAX];
    pid_t pids[KERNEL_MAX];
    int cpus[KERNEL_MAX], leaders[KERNEL_MAX], fds[KERNEL_MAX];
    unsigned long flags[KERNEL_MAX];
    int n, n_counters, error; /* more than n_counters: error */
    bool mappable;
} kernel;

static int kernel_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
    if (kernel.n >= kernel.n_counters) {
        errno = kernel.error;
        return -1;
    }
    int i = kernel.n++, pipe_fds[2];
    kernel.attrs[i] = *attr;
    kernel.pids[i] = pid;
    kernel.cpus[i] = cpu;
    kernel.leaders[i] = group_fd;
    kernel.flags[i] = flags;
    if (kernel.mappable) {
        /* All zero: a page that allows no reads. */
        kernel.fds[i] = memfd_create("page", MFD_CLOEXEC);
        if (ftruncate(kernel.fds[i], sysconf(_SC_PAGESIZE)) < 0)
            return -1;
    } else {
        if (pipe(pipe_fds) < 0)
            return -1;
        close(pipe_fds[1]);
        kernel.fds[i] = pipe_fds[0];
    }
    return kernel.fds[i];
}

static void kernel_reset(int n_counters, int error, bool mappable)
{
    memset(&kernel, 0, sizeof kernel);
    kernel.n_counters = n_counters;
    kernel.error = error;
    kernel.mappable = mappable;
    counters_perf_open_replace(kernel_open);
}

static int n_open_files(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    /* cppcheck-suppress readdirCalled */
    while (dir != NULL && readdir(dir) != NULL)
        n++;
    if (dir != NULL)
        closedir(dir);
    return n;
}

static const struct counter_code codes[4] = {
    { .type = PERF_TYPE_HARDWARE, .exclude = COUNTER_NO_KERNEL | COUNTER_NO_HYPERVISOR, .config = 0 },
    { .type = PERF_TYPE_HARDWARE, .exclude = COUNTER_NO_KERNEL | COUNTER_NO_HYPERVISOR, .config = 1 },
    { .type = PERF_TYPE_RAW, .exclude = COUNTER_NO_USER, .config = 0x1c2, .config1 = 0x40, .config2 = 3 },
    { .type = PERF_TYPE_HW_CACHE, .config = 0x10000 },
};

/* The first n of them, as one group. */
static int open_codes(struct counters_thread *thread, uint32_t n, struct counters_failure *failure)
{
    static const uint8_t events[4] = { 0, 1, 2, 3 };
    struct counter_layout layout = { .n_groups = 0 };
    counter_layout_add(&layout, codes, events, n);
    return counters_thread_open(thread, &layout, NULL, failure);
}

static void test_opening(void)
{
    struct counters_thread thread;
    struct counters_failure failure;
    int before = n_open_files();
    kernel_reset(8, 0, true);
    int rc = open_codes(&thread, 3, &failure);
    CHECK("a group without reads in user space is refused", rc == -1 && thread.pages == NULL && failure.error == 0 &&
                                                                failure.step == COUNTERS_FIRST_READ && failure.i == 0);
    CHECK_NUMBER("all three events were opened", kernel.n, 3);
    CHECK("the first leads, the others follow it",
          kernel.leaders[0] == -1 && kernel.leaders[1] == kernel.fds[0] && kernel.leaders[2] == kernel.fds[0]);
    CHECK("they count the calling thread on any CPU", kernel.pids[2] == 0 && kernel.cpus[2] == -1);
    CHECK("children of the target do not inherit the files", kernel.flags[0] == PERF_FLAG_FD_CLOEXEC);
    const struct perf_event_attr *attr = &kernel.attrs[2];
    uint64_t user_read = attr->config1 & ~UINT64_C(0x40);
    CHECK("a raw event's attributes are those of its code",
          attr->type == PERF_TYPE_RAW && attr->config == 0x1c2 && attr->config2 == 3 && attr->exclude_user == 1 &&
              attr->exclude_kernel == 0 && attr->exclude_hv == 0 && attr->inherit == 0 && attr->disabled == 0);
#if defined(__aarch64__)
    CHECK_NUMBER("aarch64 asks for reads in user space", user_read, 2);
#else
    CHECK_NUMBER("config1 is left alone", user_read, 0);
#endif
    CHECK_NUMBER("no file stays open", n_open_files(), before);
}

static void test_opening_fails(void)
{
    static const int errors[] = { EACCES, ENOENT, EMFILE, ENOSPC, EINVAL };
    struct counters_thread thread;
    struct counters_failure failure;
    int before = n_open_files();
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        kernel_reset(2, errors[i], true);
        int rc = open_codes(&thread, 4, &failure);
        CHECK("a refused event is named with its error", rc == -1 && thread.pages == NULL && failure.i == 2 &&
                                                             failure.error == errors[i] &&
                                                             failure.step == COUNTERS_OPEN);
    }
    kernel_reset(8, 0, false);
    int rc = open_codes(&thread, 2, &failure);
    CHECK("a page that cannot be mapped is an error",
          rc == -1 && thread.pages == NULL && failure.step == COUNTERS_MAP && failure.error != 0 && failure.i == 0);
    CHECK("no event at all is refused", open_codes(&thread, 0, &failure) == -1);
    uint64_t values[COUNTERS_GROUP_MAX];
    CHECK("a thread that is not open has no values", !counters_thread_read(&thread, 0, values));
    counters_thread_close(&thread);
    CHECK_NUMBER("no file stays open after failures", n_open_files(), before);
    counters_perf_open_replace(NULL);
}

/* ---- the real thing ---- */

static volatile uint64_t sink;

static void spin(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        sink += i;
}

static void test_hardware(void)
{
    static const char claim[] = "instructions of a loop are counted in user space";
    struct counters_thread thread;
    struct counters_failure failure;
    int before = n_open_files();
    if (open_codes(&thread, 2, &failure) < 0) {
        SKIP(claim,
             failure.step == COUNTERS_FIRST_READ ? "no reads of counters in user space here" : strerror(failure.error));
        return;
    }
    CHECK_NUMBER("an open group holds no file", n_open_files(), before);
    uint64_t a[COUNTERS_GROUP_MAX], b[COUNTERS_GROUP_MAX], c[COUNTERS_GROUP_MAX];
    bool valid = counters_thread_read(&thread, 0, a);
    spin(1000000);
    valid &= counters_thread_read(&thread, 0, b);
    spin(2000000);
    valid &= counters_thread_read(&thread, 0, c);
    CHECK("reads are valid", valid);
    uint64_t first = b[1] - a[1], second = c[1] - b[1];
    printf("# instructions: %" PRIu64 " for 1M rounds, %" PRIu64 " for 2M; cycles: %" PRIu64 ", %" PRIu64 "\n", first,
           second, b[0] - a[0], c[0] - b[0]);
    CHECK(claim,
          first >= 3000000 && first < 100000000 && second > first + first * 9 / 10 && second < first * 2 + first / 10);
    CHECK("cycles move", b[0] > a[0] && c[0] > b[0]);
    counters_thread_close(&thread);
    CHECK("a closed group has no values", !counters_thread_read(&thread, 0, a));
}

/* ---- groups that take turns on real counters ---- */

#define N_TURNS   3
#define MOMENT_NS 2000 /* how far apart the clocks of two groups may be */

static const struct counter_code instructions = { .type = PERF_TYPE_HARDWARE,
                                                  .exclude = COUNTER_NO_KERNEL | COUNTER_NO_HYPERVISOR,
                                                  .config = PERF_COUNT_HW_INSTRUCTIONS };

/* More than fits: three groups, each as large as one can be. */
static struct counter_layout crowd(uint32_t n)
{
    static const uint8_t events[COUNTERS_GROUP_MAX];
    struct counter_layout layout = { .n_groups = 0 };
    struct counter_code same[COUNTERS_GROUP_MAX];
    for (uint32_t i = 0; i < n; i++)
        same[i] = instructions;
    for (uint32_t g = 0; g < N_TURNS; g++)
        counter_layout_add(&layout, same, events, n);
    return layout;
}

static bool in_order(const uint64_t *a, const uint64_t *b, uint32_t n)
{
    bool ordered = a[n] <= b[n] + MOMENT_NS; /* the time of all is the last one */
    for (uint32_t i = 0; i < n; i++)
        ordered &= a[i] <= b[i];
    return ordered;
}

/*
 * Read through the pages, by system call, and again: what a page says lies between what the kernel says before and
 * after, whether its group counts at that moment or waits.
 */
static void read_in_turns(struct counters_thread *thread, const struct counter_layout *layout, int *leaders)
{
    uint64_t before[COUNTERS_COLUMNS_MAX], between[COUNTERS_COLUMNS_MAX], after[COUNTERS_COLUMNS_MAX];
    uint32_t n_last = counter_layout_columns(layout) - 1, n_valid = 0, n_ordered = 0, n_within = 0;
    struct counters_outside outside;
    counters_outside_adopt(&outside, layout, leaders);
    for (int i = 0; i < 400; i++) {
        bool valid = counters_outside_read(&outside, layout, before);
        valid &= counters_thread_read(thread, ticks_now(), between);
        valid &= counters_outside_read(&outside, layout, after);
        n_valid += valid;
        n_ordered += valid && in_order(before, between, n_last) && in_order(between, after, n_last);
        uint64_t running_ns = 0;
        for (uint32_t g = 0; g < N_TURNS; g++)
            running_ns += between[layout->n_slots + g];
        n_within += valid && running_ns <= between[n_last] + MOMENT_NS;
        spin(100000);
    }
    printf("# of 400 readings %u valid, %u in order, %u with one group at a time\n", n_valid, n_ordered, n_within);
    CHECK("nearly all readings are valid", n_valid >= 390);
    CHECK("what the pages say lies between what the kernel says before and after", n_ordered == n_valid);
    CHECK("one group counts at a time", n_within == n_valid);
    const uint64_t *running = after + layout->n_slots;
    for (uint32_t g = 0; g < N_TURNS; g++) {
        uint64_t first = after[layout->first[g]];
        printf("# group %u: %" PRIu64 " instructions in %" PRIu64 " of %" PRIu64 " ns: %.4f a ns\n", g, first,
               running[g], after[n_last], (double)first / (double)running[g]);
        CHECK("each group had turns", running[g] > 0 && first > 0);
        double ratio = (double)first / (double)running[g] / ((double)after[0] / (double)running[0]);
        CHECK("and counted at the same rate", ratio > 0.9 && ratio < 1.1);
    }
    counters_outside_close(&outside);
}

static void test_real_turns(void)
{
    static const char claim[] = "groups that take turns are read";
    uint32_t n = layout_group_size(&instructions);
    struct counter_layout layout = crowd(n == 0 ? 1 : n);
    struct counters_thread thread;
    struct counters_failure failure;
    int leaders[N_TURNS], before = n_open_files();
    if (n == 0 || counters_thread_open(&thread, &layout, leaders, &failure) < 0) {
        SKIP(claim, n == 0 ? "no counters here" : "user space cannot read the counters and the clock here");
        return;
    }
    CHECK_NUMBER("only the leaders' files stay open", n_open_files(), before + N_TURNS);
    printf("# %d groups of %u events, opened %d and %d ns after the first\n", N_TURNS, n, thread.begun_ns[1],
           thread.begun_ns[2]);
    read_in_turns(&thread, &layout, leaders);
    uint64_t columns[COUNTERS_COLUMNS_MAX];
    CHECK(claim, counters_thread_read(&thread, ticks_now(), columns));
    counters_thread_close(&thread);
    CHECK("and not after they are closed", !counters_thread_read(&thread, ticks_now(), columns));
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
    test_opening();
    test_opening_fails();
    test_hardware();
    test_real_turns();
    return tap_done();
}
