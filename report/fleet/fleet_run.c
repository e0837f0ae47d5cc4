#include "report/fleet/fleet_rows.h"

#include "core/trace/recording_info.h"

/* A collector by its option, by what the JVM calls its collections, and by its threads' names (15 bytes). */
static const struct {
    const char *name, *option, *collection, *thread;
} collectors[] = {
    { "G1", "-XX:+UseG1GC", "G1 ", "G1 " },
    { "Parallel", "-XX:+UseParallelGC", "PSScavenge", "ParGC" },
    { "ZGC", "-XX:+UseZGC", "Z", "ZWorker" },
    { "Shenandoah", "-XX:+UseShenandoahGC", "Shenandoah", "Shenandoah" },
    { "Serial", "-XX:+UseSerialGC", "Copy", NULL },
    { "Epsilon", "-XX:+UseEpsilonGC", NULL, NULL },
};

#define N_COLLECTORS (sizeof collectors / sizeof collectors[0])

static bool begins_with(const char *text, const char *start)
{
    return text != NULL && start != NULL && strncmp(text, start, strlen(start)) == 0;
}

static bool has_thread(const struct trace_reader *reader, const char *start)
{
    for (uint32_t i = 0; start != NULL && i < trace_n_threads(reader); i++) {
        const struct trace_thread *thread = trace_thread(reader, i);
        if (thread != NULL && begins_with(thread->comm, start))
            return true;
    }
    return false;
}

static const char *find_gc(const struct trace_reader *reader)
{
    const char *command = info_text(reader, INFO_JVM_COMMAND);
    for (size_t i = 0; i < N_COLLECTORS; i++)
        if (command != NULL && strstr(command, collectors[i].option) != NULL)
            return collectors[i].name;
    for (size_t i = 0; i < N_COLLECTORS; i++) {
        if (trace_n_collections(reader) > 0 && begins_with(trace_collection(reader, 0)->name, collectors[i].collection))
            return collectors[i].name;
        if (has_thread(reader, collectors[i].thread))
            return collectors[i].name;
    }
    return NULL;
}

/* "AMD EPYC, 2 CPUs": machines with more of them are of the same model. */
static const char *find_cpu_model(const struct trace_reader *reader, struct arena *arena)
{
    const char *text = info_text(reader, INFO_CPU), *comma = text == NULL ? NULL : strrchr(text, ',');
    bool has_count = comma != NULL && strstr(comma, "CPU") != NULL;
    return text == NULL ? NULL : arena_text(arena, text, has_count ? (size_t)(comma - text) : strlen(text));
}

static const char *text_or_null(const char *text)
{
    return text == NULL || text[0] == '\0' ? NULL : text;
}

void fleet_run_find(const struct trace_reader *reader, const struct fleet_options *options, struct arena *arena,
                    struct fleet_run *run)
{
    const char *host = text_or_null(info_text(reader, INFO_HOST)), *pid = info_text(reader, INFO_JVM_PID);
    *run = (struct fleet_run){ .host = options->host != NULL ? options->host : host,
                               .service = options->service,
                               .version = options->version,
                               .jdk = text_or_null(info_text(reader, INFO_JVM_VERSION)),
                               .gc = find_gc(reader),
                               .cpu_model = find_cpu_model(reader, arena),
                               .simulated = text_or_null(info_text(reader, INFO_SIMULATED)) };
    double began_ns = info_number(reader, INFO_RECORDING_BEGAN_NS);
    double file = info_number(reader, INFO_RECORDING_FILE);
    run->file = file > 0 ? (uint32_t)file : 1;
    run->run = arena_printf(arena, "%s-%s-%" PRIu64, host == NULL ? "host" : host, pid == NULL ? "0" : pid,
                            began_ns > 0 ? (uint64_t)began_ns : trace_start_realtime_ns(reader));
}
