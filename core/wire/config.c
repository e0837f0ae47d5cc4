#include "core/wire/config.h"

#include "core/base/utf8.h"
#include "core/base/vec.h"

#include <sys/stat.h>

#define CONFIG_MAX_BYTES ((off_t)16 << 20)
#define FAR              12 /* characters that differ: no name is nearer than none */

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

/* Another element at the end of an array, or NULL with *err set. */
#define ADD(array, n, room, err) (has_room(vec_reserve(array, room, (n) + 1), err) ? &(array)[(n)++] : NULL)

static bool has_room(int rc, struct err *err)
{
    if (rc < 0)
        err_set(err, "out of memory in the target");
    return rc == 0;
}

static int set_pattern(struct pattern *pattern, const char *text, struct err *err)
{
    if (pattern == NULL)
        return -1;
    return pattern_parse(pattern, text) == 0 ? 0 : err_set(err, "bad pattern '%s'", text);
}

static int set_method(struct agent_phase *method, const struct setting *setting)
{
    if (method == NULL)
        return -1;
    *method = (struct agent_phase){ setting->class_name, setting->name, setting->descriptor };
    return 0;
}

static int add_compile(struct agent_config *c, const struct setting *setting, struct err *err)
{
    struct agent_compile *compile = ADD(c->compiles, c->n_compiles, c->compiles_room, err);
    if (compile != NULL)
        compile->tier = setting->number;
    return set_method(compile == NULL ? NULL : &compile->method, setting);
}

static int add_argument(struct agent_config *c, const struct setting *setting, struct err *err)
{
    struct agent_argument *argument = ADD(c->arguments, c->n_arguments, c->arguments_room, err);
    if (argument == NULL)
        return -1;
    argument->number = setting->number;
    argument->accessor = strcmp(setting->name, "-") == 0 ? NULL : setting->name;
    if (pattern_parse(&argument->methods, setting->text) < 0 || setting->number > UINT8_MAX)
        return err_set(err, "bad argument of '%s'", setting->text);
    return 0;
}

/* An event of the latest group, or the first one of the next. */
static int add_event(struct agent_config *c, const struct setting_event *event, struct err *err)
{
    uint32_t next = c->n_events == 0 ? 0 : c->events[c->n_events - 1].group + 1;
    if (event->group != next && event->group + 1 != next)
        return err_set(err, "bad groups of events in the configuration");
    struct setting_event *added = ADD(c->events, c->n_events, c->events_room, err);
    if (added == NULL)
        return -1;
    *added = *event;
    return 0;
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
        return &config->reads_by_call;
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
        return set_pattern(ADD(c->includes, c->n_includes, c->includes_room, err), setting.text, err);
    case SETTING_EXCLUDE:
        return set_pattern(ADD(c->excludes, c->n_excludes, c->excludes_room, err), setting.text, err);
    case SETTING_PHASE:
        return set_method(ADD(c->phases, c->n_phases, c->phases_room, err), &setting);
    case SETTING_LOOP:
        return set_method(ADD(c->loops, c->n_loops, c->loops_room, err), &setting);
    case SETTING_COMPILE:
        return add_compile(c, &setting, err);
    case SETTING_ARGUMENT:
        return add_argument(c, &setting, err);
    case SETTING_EVENT:
        return add_event(c, &setting.event, err);
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
    free(config->events);
    memset(config, 0, sizeof *config);
}

/* ---- which patterns of --include match ---- */

/* Where to tell of pattern i, with the lock held; or NULL. */
static struct segment_include *begin_telling(const struct agent_config *config, size_t i)
{
    if (config->told == NULL || i >= SEGMENT_INCLUDES)
        return NULL;
    pthread_mutex_lock(&config->told->lock);
    return &config->told->segment->includes[i];
}

static void suggest(struct segment_include *told, const char *name, size_t n, uint32_t distance)
{
    if (distance >= FAR || (told->distance != 0 && distance >= told->distance) || n >= sizeof told->nearest)
        return;
    told->distance = distance;
    memcpy(told->nearest, name, n);
    told->nearest[n] = '\0';
}

static uint32_t most(const struct segment_include *told)
{
    return told->distance == 0 ? FAR : told->distance;
}

static void tell_class(const struct agent_config *config, size_t i, const char *name, size_t n, bool matches)
{
    struct segment_include *told = begin_telling(config, i);
    if (told == NULL)
        return;
    if (atomic_load(&told->has_class) == 0) {
        if (matches)
            told->distance = 0; /* now a method is missing */
        else
            suggest(told, name, n, pattern_class_distance(&config->includes[i], name, n, most(told)));
        atomic_store(&told->has_class, matches);
    }
    pthread_mutex_unlock(&config->told->lock);
}

/* Of a method whose class matches.  wanted: it gets probes. */
static void tell_method(const struct agent_config *config, size_t i, const struct wire_text *name, bool matches,
                        bool wanted)
{
    struct segment_include *told = begin_telling(config, i);
    if (told == NULL)
        return;
    atomic_store(&told->has_compared, 1);
    if (matches)
        atomic_store(&told->has_method, 1);
    else if (atomic_load(&told->has_method) == 0)
        suggest(told, name->at, name->n, pattern_method_distance(&config->includes[i], name->at, name->n, most(told)));
    if (wanted)
        atomic_store(&told->has_wanted, 1);
    pthread_mutex_unlock(&config->told->lock);
}

/* ---- what it wants ---- */

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
 * Never instrumented: mmprof's own classes, but for the marks that a program calls, and where HotSpot switches between
 * virtual threads and reads frames by their layout.
 */
static const char *const untouchable[] = {
    CONFIG_OWN_BOOT,
    CONFIG_OWN_LOADER,
    "jdk/internal/vm/Continuation",
    "java/lang/VirtualThread",
    "java/lang/ThreadBuilders$BoundVirtualThread",
};

bool config_may_change_class(const char *name, size_t n)
{
    if (n == strlen(CONFIG_MARKS) && memcmp(name, CONFIG_MARKS, n) == 0)
        return true;
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
        tell_class(config, i, name, n, matches);
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

static bool matches_method(const struct pattern *pattern, const struct protocol_method *method)
{
    return pattern_matches_class(pattern, method->class_name.at, method->class_name.n) &&
           pattern_matches_method(pattern, method->name.at, method->name.n);
}

const struct agent_argument *config_argument(const struct agent_config *config, const struct protocol_method *method)
{
    for (size_t i = 0; i < config->n_arguments; i++)
        if (matches_method(&config->arguments[i].methods, method))
            return &config->arguments[i];
    return NULL;
}

/* Thesis §3.2.1: a body of more than 50 bytes, or a backward branch. */
static bool is_large(const struct agent_config *config, const struct protocol_method *method)
{
    return method->code_bytes > config->min_bytecodes || method->has_loop;
}

/* Whoever names methods wants them, however small they are. */
static bool is_included(const struct agent_config *config, const struct protocol_method *method)
{
    bool wanted = config->n_includes == 0 && is_large(config, method);
    for (size_t i = 0; i < config->n_includes; i++) {
        const struct pattern *pattern = &config->includes[i];
        if (!pattern_matches_class(pattern, method->class_name.at, method->class_name.n))
            continue;
        bool matches = pattern_matches_method(pattern, method->name.at, method->name.n);
        bool wants = matches && (pattern->names_methods || is_large(config, method));
        tell_method(config, i, &method->name, matches, wants);
        wanted = wanted || wants;
    }
    return wanted;
}

bool config_wants_method(const struct agent_config *config, const struct protocol_method *method)
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
    bool wanted = is_included(config, method);
    for (size_t i = 0; i < config->n_excludes; i++)
        wanted = wanted && !matches_method(&config->excludes[i], method);
    return wanted;
}

bool config_wants_named(const struct agent_config *config, const char *class_name, const char *name,
                        const char *descriptor, uint32_t code_bytes, bool has_loop)
{
    const struct protocol_method method = { .class_name = { class_name, strlen(class_name) },
                                            .name = { name, strlen(name) },
                                            .descriptor = { descriptor, strlen(descriptor) },
                                            .code_bytes = code_bytes,
                                            .has_loop = has_loop };
    return config_wants_class(config, class_name, method.class_name.n) && config_wants_method(config, &method);
}
