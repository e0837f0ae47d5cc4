#include "core/recorder/collections.h"
#include "core/trace/recording_info.h"

#define FREQUENCY "sun.os.hrt.frequency"

/* A row is several numbers, those in ticks as ns. */
static const struct {
    enum info_key key;
    struct {
        const char *name;
        bool is_time;
    } numbers[6];
} sums[] = {
    { INFO_PAUSES_SAFEPOINTS,
      { { "sun.rt.safepoints", false }, { "sun.rt.safepointTime", true }, { "sun.rt.safepointSyncTime", true } } },
    { INFO_PAUSES_CLASSES,
      { { "java.cls.loadedClasses", false },
        { "java.cls.sharedLoadedClasses", false },
        { "sun.cls.time", true },
        { "sun.cls.classLinkedTime", true },
        { "sun.cls.classVerifyTime", true },
        { "sun.cls.classInitTime", true } } },
};

#define N_SUMS    (sizeof sums / sizeof *sums)
#define N_NUMBERS (sizeof sums[0].numbers / sizeof sums[0].numbers[0])

void pauses_init(struct pauses *pauses)
{
    memset(pauses, 0, sizeof *pauses);
    perf_data_init(&pauses->data);
}

void pauses_close(struct pauses *pauses)
{
    perf_data_close(&pauses->data);
}

static bool number_of(const struct pauses *pauses, size_t collector, const char *what, uint64_t *value)
{
    char name[64];
    snprintf(name, sizeof name, "sun.gc.collector.%zu.%s", collector, what);
    return perf_data_number(&pauses->data, name, value);
}

static void note_start(struct pauses *pauses)
{
    for (size_t i = 0; i < PAUSES_COLLECTORS; i++)
        if (!number_of(pauses, i, "invocations", &pauses->collectors[i].n) ||
            !number_of(pauses, i, "time", &pauses->collectors[i].ticks))
            pauses->collectors[i].n = pauses->collectors[i].ticks = 0;
    for (size_t i = 0; i < N_SUMS; i++)
        for (size_t k = 0; k < N_NUMBERS && sums[i].numbers[k].name != NULL; k++)
            if (!perf_data_number(&pauses->data, sums[i].numbers[k].name, &pauses->numbers[i * N_NUMBERS + k]))
                pauses->numbers[i * N_NUMBERS + k] = 0;
}

_Static_assert(N_SUMS *N_NUMBERS <= PAUSES_NUMBERS, "all numbers have room");

void pauses_open(struct pauses *pauses, pid_t pid, pid_t inner_pid, bool is_new)
{
    struct err err;
    pauses->was_opened = true;
    pauses->is_new = is_new;
    if (perf_data_open(&pauses->data, pid, inner_pid, &err) < 0)
        snprintf(pauses->why, sizeof pauses->why, "%.*s", (int)strcspn(err.text, "\n"), err.text);
    else if (!is_new)
        note_start(pauses);
}

uint64_t pauses_classes(const struct pauses *pauses)
{
    for (size_t i = 0; i < N_SUMS; i++)
        if (sums[i].key == INFO_PAUSES_CLASSES)
            return pauses->numbers[i * N_NUMBERS] + pauses->numbers[i * N_NUMBERS + 1];
    return 0;
}

void pauses_next(struct pauses *pauses)
{
    pauses->is_new = false;
    if (pauses->was_opened && pauses->why[0] == '\0')
        note_start(pauses);
}

static uint64_t in_ns(uint64_t ticks, uint64_t frequency)
{
    return (uint64_t)((double)ticks * 1e9 / (double)frequency);
}

/* Of a kind of pause that the JVM has. */
static int write_collector(const struct pauses *pauses, size_t i, uint64_t frequency, struct trace_writer *writer,
                           struct err *err)
{
    char at[64], name[128];
    uint64_t n, ticks;
    snprintf(at, sizeof at, "sun.gc.collector.%zu.name", i);
    if (!number_of(pauses, i, "invocations", &n) || !number_of(pauses, i, "time", &ticks) ||
        !perf_data_text(&pauses->data, at, name, sizeof name))
        return 0;
    const struct info_collector collector = { n - pauses->collectors[i].n,
                                              in_ns(ticks - pauses->collectors[i].ticks, frequency), name };
    return info_write(writer, INFO_PAUSES_GC, (uint32_t)i, &collector, INFO_ALL_FIELDS, err);
}

static int write_info(const struct pauses *pauses, size_t i, uint64_t frequency, struct trace_writer *writer,
                      struct err *err)
{
    uint64_t values[N_NUMBERS]; /* as struct info_safepoints and info_classes have them */
    for (size_t k = 0; k < N_NUMBERS && sums[i].numbers[k].name != NULL; k++) {
        uint64_t number;
        if (!perf_data_number(&pauses->data, sums[i].numbers[k].name, &number))
            return 0;
        number -= pauses->numbers[i * N_NUMBERS + k];
        values[k] = sums[i].numbers[k].is_time ? in_ns(number, frequency) : number;
    }
    return info_write(writer, sums[i].key, 0, values, INFO_ALL_FIELDS, err);
}

/* A counter that a release does not have is 0. */
static uint64_t counted(const struct pauses *pauses, const char *name, uint64_t frequency)
{
    uint64_t number;
    if (!perf_data_number(&pauses->data, name, &number))
        return 0;
    return frequency == 0 ? number : in_ns(number, frequency);
}

static int write_startup(const struct pauses *pauses, uint64_t f, struct trace_writer *writer, struct err *err)
{
    uint64_t begin = counted(pauses, "sun.rt.createVmBeginTime", 0), end = counted(pauses, "sun.rt.createVmEndTime", 0);
    const struct info_startup startup = { .create_ms = end > begin && begin > 0 ? end - begin : 0,
                                          .archive_ns = counted(pauses, "sun.cls.sharedClassLoadTime", f),
                                          .jdk_ns = counted(pauses, "sun.cls.sysClassLoadTime", f),
                                          .application_ns = counted(pauses, "sun.cls.appClassLoadTime.self", f),
                                          .n_linked = counted(pauses, "sun.cls.linkedClasses", 0),
                                          .link_ns = counted(pauses, "sun.cls.classLinkedTime.self", f),
                                          .n_verified = counted(pauses, "sun.cls.verifiedClasses", 0),
                                          .verify_ns = counted(pauses, "sun.cls.classVerifyTime.self", f),
                                          .n_initialized = counted(pauses, "sun.cls.initializedClasses", 0),
                                          .init_ns = counted(pauses, "sun.cls.classInitTime.self", f),
                                          .n_compiled = counted(pauses, "sun.ci.totalCompiles", 0),
                                          .compile_ns = counted(pauses, "java.ci.totalTime", f) };
    return pauses->is_new ? info_write(writer, INFO_STARTUP, 0, &startup, INFO_ALL_FIELDS, err) : 0;
}

int pauses_write(struct pauses *pauses, struct trace_writer *writer, struct err *err)
{
    uint64_t frequency = 0;
    struct err why;
    if (!pauses->was_opened)
        return 0;
    if (pauses->why[0] != '\0')
        return info_write_text(writer, INFO_PAUSES_FAILED, pauses->why, err);
    if (perf_data_read(&pauses->data, &why) < 0)
        return info_write_text(writer, INFO_PAUSES_FAILED, why.text, err);
    if (!perf_data_number(&pauses->data, FREQUENCY, &frequency) || frequency == 0)
        return info_write_text(writer, INFO_PAUSES_FAILED, "the JVM's counters are not those of HotSpot", err);
    for (size_t i = 0; i < PAUSES_COLLECTORS; i++)
        if (write_collector(pauses, i, frequency, writer, err) < 0)
            return -1;
    for (size_t i = 0; i < N_SUMS; i++)
        if (write_info(pauses, i, frequency, writer, err) < 0)
            return -1;
    return write_startup(pauses, frequency, writer, err);
}
