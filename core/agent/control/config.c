#include "core/agent/control/config.h"

#include "core/agent/control/agent_names.h"
#include "core/agent/control/included.h"

#include "core/base/utf8.h"
#include "core/base/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONFIG_MAX_BYTES ((off_t)16 << 20)

static int load(struct agent_config *config, int fd, struct err *err)
{
    struct stat status;
    if (fstat(fd, &status) < 0 || status.st_size > CONFIG_MAX_BYTES)
        return err_set(err, "the configuration cannot be read");
    size_t n = (size_t)status.st_size, done = 0;
    config->text = malloc(n + 1);
    if (config->text == NULL)
        return err_set(err, "out of memory in the target");
    while (done < n) {
        ssize_t got = pread(fd, config->text + done, n - done, (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return err_set(err, "the configuration cannot be read");
        done += (size_t)got;
    }
    config->text[n] = '\0';
    return 0;
}

/* Room for one more element: arrays grow by doubling at powers of two. */
static void *grown(void *array, size_t n, size_t element_bytes)
{
    if ((n & (n - 1)) != 0)
        return array;
    return realloc(array, (n == 0 ? 1 : n * 2) * element_bytes);
}

static int add_pattern(struct pattern **patterns, size_t *n, const char *text, struct err *err)
{
    struct pattern *more = grown(*patterns, *n, sizeof **patterns);
    if (more == NULL)
        return err_set(err, "out of memory in the target");
    *patterns = more;
    if (pattern_parse(&more[*n], text) < 0)
        return err_set(err, "bad pattern '%s'", text);
    ++*n;
    return 0;
}

static int add_phase(struct agent_phase **phases, size_t *n, char *text, struct err *err)
{
    struct agent_phase *more = grown(*phases, *n, sizeof *more), phase;
    if (more == NULL)
        return err_set(err, "out of memory in the target");
    *phases = more;
    char *rest;
    phase.class_name = strtok_r(text, " ", &rest);
    phase.name = strtok_r(NULL, " ", &rest);
    phase.descriptor = strtok_r(NULL, " ", &rest);
    if (phase.descriptor == NULL)
        return err_set(err, "bad phase in the configuration");
    words_unescape(phase.class_name);
    words_unescape(phase.name);
    words_unescape(phase.descriptor);
    more[(*n)++] = phase;
    return 0;
}

/* An event of the latest group, or the first one of the next. */
static int add_event(struct agent_config *config, const char *text, struct err *err)
{
    uint64_t fields[6];
    struct counter_layout *layout = &config->counting.layout;
    for (size_t i = 0; i < 6; i++) {
        char *end;
        fields[i] = strtoull(text, &end, 16);
        if (end == text)
            return err_set(err, "bad event in the configuration");
        text = end;
    }
    uint32_t n = layout->n_slots;
    layout->n_groups += fields[0] == layout->n_groups;
    if (n == COUNTERS_SLOTS_MAX || layout->n_groups > COUNTERS_GROUPS_MAX || fields[0] + 1 != layout->n_groups)
        return err_set(err, "bad groups of events in the configuration");
    layout->first[layout->n_groups] = layout->n_slots = n + 1;
    layout->codes[n] = (struct counter_code){ .type = (uint32_t)fields[1],
                                              .config = fields[2],
                                              .config1 = fields[3],
                                              .config2 = fields[4],
                                              .exclude = (uint32_t)fields[5] };
    return counter_layout_valid(layout) ? 0 : err_set(err, "too large a group of events in the configuration");
}

static int set(struct agent_config *config, const char *key, char *value, struct err *err)
{
    if (strcmp(key, "min_bytecodes") == 0) {
        config->min_bytecodes = (uint32_t)strtoul(value, NULL, 10);
        return 0;
    }
    if (strcmp(key, "mode") == 0) {
        config->is_live = strcmp(value, "live") == 0;
        return config->is_live ? 0 : err_set(err, "unknown mode '%s' in the configuration", value);
    }
    if (strcmp(key, "begin") == 0) {
        config->begins_later = strcmp(value, "asked") == 0;
        return 0;
    }
    if (strcmp(key, "code_map") == 0) {
        config->asks_for_code = strcmp(value, "asked") == 0;
        config->wants_code_map = config->asks_for_code || strcmp(value, "on") == 0;
        return 0;
    }
    if (strcmp(key, "perf_map") == 0) {
        config->wants_perf_map = strcmp(value, "on") == 0;
        return 0;
    }
    if (strcmp(key, "include") == 0)
        return add_pattern(&config->includes, &config->n_includes, value, err);
    if (strcmp(key, "exclude") == 0)
        return add_pattern(&config->excludes, &config->n_excludes, value, err);
    if (strcmp(key, "phase") == 0)
        return add_phase(&config->phases, &config->n_phases, value, err);
    if (strcmp(key, "loop") == 0)
        return add_phase(&config->loops, &config->n_loops, value, err);
    if (strcmp(key, "event") == 0)
        return add_event(config, value, err);
    if (strcmp(key, "read") == 0) {
        config->counting.by_call = strcmp(value, "syscall") == 0;
        return 0;
    }
    return err_set(err, "unknown setting '%s' in the configuration", key);
}

static int by_class(const void *a, const void *b)
{
    return strcmp(((const struct agent_phase *)a)->class_name, ((const struct agent_phase *)b)->class_name);
}

int config_read(struct agent_config *config, int fd, struct err *err)
{
    memset(config, 0, sizeof *config);
    if (load(config, fd, err) < 0)
        return -1;
    char *rest, *line = strtok_r(config->text, "\n", &rest);
    for (; line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        char *space = strchr(line, ' ');
        if (space == NULL)
            return err_set(err, "bad line '%s' in the configuration", line);
        *space = '\0';
        if (set(config, line, space + 1, err) < 0)
            return -1;
    }
    if (config->n_phases > 0)
        qsort(config->phases, config->n_phases, sizeof *config->phases, by_class);
    return 0;
}

void config_free(struct agent_config *config)
{
    free(config->text);
    free(config->includes);
    free(config->excludes);
    free(config->phases);
    free(config->loops);
    memset(config, 0, sizeof *config);
}

/* The first phase of a class, or NULL. */
static const struct agent_phase *phases_of(const struct agent_config *config, const char *name, size_t n)
{
    size_t low = 0, high = config->n_phases;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (utf8_compare(config->phases[middle].class_name, name, n) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == config->n_phases || utf8_compare(config->phases[low].class_name, name, n) != 0)
        return NULL;
    return &config->phases[low];
}

/*
 * Never instrumented: mmprof's own classes, and where HotSpot switches between virtual threads and reads frames by
 * their layout.
 */
static const char *const untouchable[] = {
    AGENT_CLASS_START,
    AGENT_OWN_CLASS_START,
    "jdk/internal/vm/Continuation",
    "java/lang/VirtualThread",
    "java/lang/ThreadBuilders$BoundVirtualThread",
};

bool config_may_change_class(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof untouchable / sizeof *untouchable; i++)
        if (n >= strlen(untouchable[i]) && memcmp(name, untouchable[i], strlen(untouchable[i])) == 0)
            return false;
    return true;
}

bool config_wants_class(const struct agent_config *config, const char *name, size_t n)
{
    if (!config_may_change_class(name, n))
        return false;
    if (config->n_phases > 0)
        return phases_of(config, name, n) != NULL;
    bool wanted = config->n_includes == 0;
    for (size_t i = 0; i < config->n_includes; i++) {
        bool matches = pattern_matches_class(&config->includes[i], name, n);
        included_class(&config->includes[i], i, name, n, matches);
        wanted = wanted || matches;
    }
    return wanted;
}

bool config_names_classes(const struct agent_config *config)
{
    return config->n_phases > 0 || config->n_includes > 0;
}

static bool any_matches(const struct pattern *patterns, size_t n, const struct rewrite_method *method)
{
    for (size_t i = 0; i < n; i++)
        if (pattern_matches_class(&patterns[i], method->class_name.at, method->class_name.n) &&
            pattern_matches_method(&patterns[i], method->name.at, method->name.n))
            return true;
    return false;
}

/* Thesis §3.2.1: a body of more than 50 bytes, or a backward branch. */
static bool is_large(const struct agent_config *config, const struct rewrite_method *method)
{
    return method->code_bytes > config->min_bytecodes || method->has_loop;
}

/* Whoever names methods wants them, however small they are. */
static bool is_included(const struct agent_config *config, const struct rewrite_method *method)
{
    bool wanted = config->n_includes == 0 && is_large(config, method);
    for (size_t i = 0; i < config->n_includes; i++) {
        const struct pattern *pattern = &config->includes[i];
        if (!pattern_matches_class(pattern, method->class_name.at, method->class_name.n))
            continue;
        bool matches = pattern_matches_method(pattern, method->name.at, method->name.n);
        bool wants = matches && (pattern->names_methods || is_large(config, method));
        included_method(pattern, i, method, matches, wants);
        wanted = wanted || wants;
    }
    return wanted;
}

bool config_wants_method(const struct agent_config *config, const struct rewrite_method *method)
{
    if (config->n_phases > 0) {
        const struct agent_phase *end = config->phases + config->n_phases;
        const struct agent_phase *phase = phases_of(config, method->class_name.at, method->class_name.n);
        for (; phase != NULL && phase < end; phase++) {
            if (utf8_compare(phase->class_name, method->class_name.at, method->class_name.n) != 0)
                return false;
            if (utf8_compare(phase->name, method->name.at, method->name.n) == 0 &&
                utf8_compare(phase->descriptor, method->descriptor.at, method->descriptor.n) == 0)
                return true;
        }
        return false;
    }
    return is_included(config, method) && !any_matches(config->excludes, config->n_excludes, method);
}
