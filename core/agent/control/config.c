#include "core/agent/control/config.h"

#include "core/agent/control/agent_names.h"
#include "core/agent/control/included.h"

#include "core/base/utf8.h"
#include "core/base/vec.h"
#include "core/wire/setting.h"

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

static int add_pattern(struct pattern **patterns, size_t *n, size_t *room, const char *text, struct err *err)
{
    if (vec_reserve(*patterns, *room, *n + 1) < 0)
        return err_set(err, "out of memory in the target");
    if (pattern_parse(&(*patterns)[*n], text) < 0)
        return err_set(err, "bad pattern '%s'", text);
    ++*n;
    return 0;
}

static int add_method(struct agent_phase **methods, size_t *n, size_t *room, const struct setting *setting,
                      struct err *err)
{
    if (vec_reserve(*methods, *room, *n + 1) < 0)
        return err_set(err, "out of memory in the target");
    (*methods)[(*n)++] = (struct agent_phase){ setting->class_name, setting->name, setting->descriptor };
    return 0;
}

static int add_compile(struct agent_config *c, const struct setting *setting, struct err *err)
{
    if (vec_reserve(c->compiles, c->compiles_room, c->n_compiles + 1) < 0)
        return err_set(err, "out of memory in the target");
    const struct agent_phase method = { setting->class_name, setting->name, setting->descriptor };
    c->compiles[c->n_compiles++] = (struct agent_compile){ method, setting->number };
    return 0;
}

static int add_argument(struct agent_config *c, const struct setting *setting, struct err *err)
{
    if (vec_reserve(c->arguments, c->arguments_room, c->n_arguments + 1) < 0)
        return err_set(err, "out of memory in the target");
    struct agent_argument *argument = &c->arguments[c->n_arguments];
    if (pattern_parse(&argument->methods, setting->text) < 0 || setting->number > UINT8_MAX)
        return err_set(err, "bad argument of '%s'", setting->text);
    argument->number = setting->number;
    argument->accessor = strcmp(setting->name, "-") == 0 ? NULL : setting->name;
    c->n_arguments++;
    return 0;
}

/* An event of the latest group, or the first one of the next. */
static int add_event(struct counter_layout *layout, const struct setting_event *event, struct err *err)
{
    uint32_t n = layout->n_slots;
    layout->n_groups += event->group == layout->n_groups;
    if (n == COUNTERS_SLOTS_MAX || layout->n_groups > COUNTERS_GROUPS_MAX || event->group + 1 != layout->n_groups)
        return err_set(err, "bad groups of events in the configuration");
    layout->first[layout->n_groups] = layout->n_slots = n + 1;
    layout->codes[n] = (struct counter_code){ .type = event->type,
                                              .config = event->config,
                                              .config1 = event->config1,
                                              .config2 = event->config2,
                                              .exclude = event->exclude };
    return counter_layout_valid(layout) ? 0 : err_set(err, "too large a group of events in the configuration");
}

/* Of a setting without fields; NULL: it is another one. */
static bool *flag_of(struct agent_config *config, enum setting_kind kind)
{
    switch (kind) {
    case SETTING_LIVE:
        return &config->is_live;
    case SETTING_BEGIN_LATER:
        return &config->begins_later;
    case SETTING_PERF_MAP:
        return &config->wants_perf_map;
    case SETTING_CODE_MAP:
        return &config->wants_code_map;
    case SETTING_CODE_ASKED:
        return &config->asks_for_code;
    case SETTING_READ_BY_CALL:
        return &config->counting.by_call;
    default:
        return NULL;
    }
}

static int take_line(struct agent_config *c, char *line, struct err *err)
{
    struct setting setting;
    bool is_known = setting_decode(line, &setting) == 0;
    bool *flag = is_known ? flag_of(c, setting.kind) : NULL;
    if (flag != NULL) {
        *flag = true;
        return 0;
    }
    switch (is_known ? setting.kind : SETTING_N_KINDS) {
    case SETTING_MIN_BYTECODES:
        c->min_bytecodes = setting.number;
        return 0;
    case SETTING_INCLUDE:
        return add_pattern(&c->includes, &c->n_includes, &c->includes_room, setting.text, err);
    case SETTING_EXCLUDE:
        return add_pattern(&c->excludes, &c->n_excludes, &c->excludes_room, setting.text, err);
    case SETTING_PHASE:
        return add_method(&c->phases, &c->n_phases, &c->phases_room, &setting, err);
    case SETTING_LOOP:
        return add_method(&c->loops, &c->n_loops, &c->loops_room, &setting, err);
    case SETTING_COMPILE:
        return add_compile(c, &setting, err);
    case SETTING_ARGUMENT:
        return add_argument(c, &setting, err);
    case SETTING_EVENT:
        return add_event(&c->counting.layout, &setting.event, err);
    default:
        return err_set(err, "unknown or damaged setting '%s' in the configuration", line);
    }
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
    for (; line != NULL; line = strtok_r(NULL, "\n", &rest))
        if (take_line(config, line, err) < 0)
            return -1;
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
    free(config->compiles);
    free(config->arguments);
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
    return config->n_phases > 0 || config->n_includes > 0 || (config->is_live && config->n_arguments > 0);
}

bool config_may_tell_apart(const struct agent_config *config, const char *name, size_t n)
{
    for (size_t i = 0; i < config->n_arguments; i++)
        if (pattern_matches_class(&config->arguments[i].methods, name, n))
            return true;
    return false;
}

const struct agent_argument *config_argument(const struct agent_config *config, const struct rewrite_method *method)
{
    for (size_t i = 0; i < config->n_arguments; i++) {
        const struct agent_argument *argument = &config->arguments[i];
        if (pattern_matches_class(&argument->methods, method->class_name.at, method->class_name.n) &&
            pattern_matches_method(&argument->methods, method->name.at, method->name.n))
            return argument;
    }
    return NULL;
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

bool config_wants_named(const struct agent_config *config, const char *class_name, const char *name,
                        const char *descriptor, uint32_t code_bytes, bool has_loop)
{
    const struct rewrite_method method = { .class_name = { class_name, strlen(class_name) },
                                           .name = { name, strlen(name) },
                                           .descriptor = { descriptor, strlen(descriptor) },
                                           .code_bytes = code_bytes,
                                           .has_loop = has_loop };
    return config_wants_class(config, class_name, method.class_name.n) && config_wants_method(config, &method);
}
