/*
 * Reading counters in user space, from pages made up here: widths, signs, a page that changes under the reader; and
 * opening a group, with the kernel played by a function.
 */
#include "core/counters/read.h"

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

/* ---- a group ---- */

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

int main(void)
{
    test_pages();
    test_sequence_lock();
    test_opening();
    test_opening_fails();
    test_hardware();
    return tap_done();
}
