#include "core/pmu/selftest.h"

#include "core/pmu/perf_open.h"
#include "core/pmu/read.h"

#include <sys/mman.h>

/* ---- the loop ---- */

#define N_CODE_PAGES 600 /* more than the first level TLBs hold, and with DATA_BYTES more than a level 2 cache */
#define DATA_BYTES   (8u << 20)
#define N_BRANCHES   200000

/* Call one function in each of many pages: misses of the instruction cache and TLB. */
static void exercise_code(void)
{
#if defined(__x86_64__)
    static const unsigned char function[] = { 0xc3 }; /* ret */
#else
    static const unsigned char function[] = { 0xc0, 0x03, 0x5f, 0xd6 }; /* ret */
#endif
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = N_CODE_PAGES * page;
    /* cppcheck-suppress invalidFunctionArg */
    unsigned char *code = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        return;
    for (size_t i = 0; i < N_CODE_PAGES; i++)
        memcpy(code + i * page + i % 60 * 64, function, sizeof function);
    __builtin___clear_cache((char *)code, (char *)code + size);
    if (mprotect(code, size, PROT_READ | PROT_EXEC) == 0) {
        for (size_t i = 0; i < 3 * N_CODE_PAGES; i++) {
            void (*call)(void);
            const unsigned char *at = code + i % N_CODE_PAGES * page + i % N_CODE_PAGES % 60 * 64;
            memcpy(&call, &at, sizeof call);
            call();
        }
    }
    munmap(code, size);
}

static uint64_t exercise_data(void)
{
    /* cppcheck-suppress invalidFunctionArg */
    volatile unsigned char *data = mmap(NULL, DATA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t sum = 0, random = 88172645463325252u;
    if (data == MAP_FAILED)
        return 0;
    for (size_t i = 0; i < DATA_BYTES; i += 1024)
        data[i] = (unsigned char)i;
    for (size_t i = 0; i < N_BRANCHES; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        if (random & 1)
            sum += i % 8 == 0 ? data[random % DATA_BYTES] : 1;
    }
    munmap((void *)(uintptr_t)data, DATA_BYTES);
    return sum;
}

uint64_t selftest_exercise(void)
{
    exercise_code();
    return exercise_data();
}

/* ---- one event ---- */

static int open_code(const struct counter_code *code, pid_t pid, int group_fd)
{
    struct perf_event_attr attr;
    counters_attr(code, &attr);
    return counters_perf_open(&attr, pid, -1, group_fd, PERF_FLAG_FD_CLOEXEC);
}

/* Returns 0, or the errno. */
static int try_open(const struct counter_code *code, pid_t pid)
{
    int fd = open_code(code, pid, -1);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

static void append(struct err *err, const char *text)
{
    size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used, "%s%s", used > 0 ? ": " : "", text);
}

/* As perf_why: the reason behind what the text says. */
static void explain_no_reads(const struct counter_layout *layout, const struct counters_failure *failure,
                             struct err *err)
{
    if (failure->step == COUNTERS_TIME) {
        append(err,
               "multiplexed events need the kernel's clock, which user space may not read here (no cap_user_time)");
        err_next(err,
                 "boot with the TSC as the clock ('clocksource=tsc', in a KVM guest 'no-kvmclock'), or name no more "
                 "events with -e than count at once");
        return;
    }
    if (failure->step == COUNTERS_MAP && failure->error != 0) {
        append(err, "the counters' pages cannot be mapped (kernel.perf_event_mlock_kb)");
        err_next(err, "run 'sysctl kernel.perf_event_mlock_kb=2048', or raise 'ulimit -l'");
        return;
    }
    if (layout->codes[failure->i].type == PERF_TYPE_SOFTWARE) {
        append(err, "only a system call can read a software event");
        err_next(err, "give --read syscall, or name no software event with -e");
        return;
    }
#if defined(__aarch64__)
    append(err, "user space may not read the counters (kernel.perf_user_access)");
    err_next(err, "run 'sysctl kernel.perf_user_access=1'");
#else
    append(err, "user space may not read them (the rdpmc instruction)");
    err_next(err, "run 'echo 1 > /sys/bus/event_source/devices/cpu/rdpmc', or name events of the CPU's own PMU");
#endif
}

bool selftest_user_reads(const struct counter_layout *layout, struct err *err)
{
    struct counters_thread thread;
    struct counters_failure failure;
    if (counters_thread_open(&thread, layout, NULL, &failure) == 0) {
        counters_thread_close(&thread);
        return true;
    }
    if (failure.step == COUNTERS_OPEN)
        perf_why(failure.error, &layout->codes[failure.i], 0, err);
    else
        explain_no_reads(layout, &failure, err);
    return false;
}

static enum selftest_result judge(const struct counter_code *code, const struct counters_reading *reading,
                                  struct err *err)
{
    if (reading->running_ns == 0) {
        perf_why(EBUSY, code, 0, err);
        return SELFTEST_REFUSED;
    }
    if (reading->values[0] == 0) {
        append(err, "it can be opened, but was 0 in mmprof's test loop");
        err_next(err, "name another event: 'mmprof list' shows those that count here");
        return SELFTEST_SILENT;
    }
    struct counter_layout layout = { .n_groups = 0 };
    counter_layout_add(&layout, code, &(uint8_t){ 0 }, 1);
    append(err, "it counts, but probes cannot read it");
    if (!selftest_user_reads(&layout, err))
        return SELFTEST_NO_READS;
    err->text[0] = '\0';
    return SELFTEST_USABLE;
}

static enum selftest_result test_hardware(const struct counter_code *code, struct err *err)
{
    struct counters_reading reading;
    int fd = open_code(code, 0, -1);
    if (fd < 0) {
        perf_why(errno, code, 0, err);
        return SELFTEST_REFUSED;
    }
    selftest_exercise();
    if (!counters_read_group(fd, 1, &reading))
        reading.running_ns = 0;
    close(fd);
    return judge(code, &reading, err);
}

enum selftest_result selftest_event(const struct counter_spec *spec, pid_t pid, struct err *err)
{
    struct counter_code code = spec->code;
    if (!counter_is_read(spec)) /* what the rings of perf_rings.h open */
        code.config = spec->kind == COUNTER_PAGE_FAULTS ? PERF_COUNT_SW_PAGE_FAULTS : PERF_COUNT_SW_DUMMY;
    err_set(err, "event '%s'", spec->name);
    if (spec->kind == COUNTER_HARDWARE) {
        enum selftest_result result = test_hardware(&code, err);
        if (!selftest_counts(result) || pid == 0)
            return result;
        err_set(err, "event '%s' for process %d", spec->name, (int)pid);
    }
    int error = try_open(&code, pid);
    if (error != 0) {
        perf_why(error, &code, pid, err);
        return SELFTEST_REFUSED;
    }
    err->text[0] = '\0';
    return spec->kind == COUNTER_SOFTWARE ? SELFTEST_NO_READS : SELFTEST_USABLE;
}
