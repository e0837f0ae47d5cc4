/*
 * "cpu/event=0xc2,umask=1/u": an event in the kernel's own spelling.  The PMU's folder in sysfs says which bits of
 * perf_event_attr a term fills (format/umask: "config:8-15") and which terms a name stands for (events/NAME).
 */
#include "core/pmu/events.h"

#define TEXT_BYTES 256

struct pmu {
    const char *devices; /* borrowed */
    char name[64];
};

/* The first line of a file of the PMU's folder.  Returns 0, or -1. */
static int read_line(const struct pmu *pmu, const char *folder, const char *name, char *out)
{
    char path[1024];
    int n = snprintf(path, sizeof path, "%s/%s/%s%s", pmu->devices, pmu->name, folder, name);
    if (n < 0 || (size_t)n >= sizeof path || strstr(pmu->name, "..") != NULL || strchr(name, '/') != NULL)
        return -1;
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return -1;
    int rc = fgets(out, TEXT_BYTES, in) != NULL ? 0 : -1;
    fclose(in);
    if (rc == 0)
        out[strcspn(out, "\n")] = '\0';
    return rc;
}

static int parse_number(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 0);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 ? 0 : -1;
}

static uint64_t *field_of(struct counter_code *code, const char *format, const char **ranges)
{
    static const char *const names[] = { "config:", "config1:", "config2:" };
    uint64_t *fields[] = { &code->config, &code->config1, &code->config2 };
    for (size_t i = 0; i < 3; i++) {
        size_t n = strlen(names[i]);
        if (strncmp(format, names[i], n) == 0) {
            *ranges = format + n;
            return fields[i];
        }
    }
    return NULL;
}

/* Spread value over the bits that format names, "config:0-7,32-35".  Returns 0, or -1 when it does not fit. */
static int put_bits(struct counter_code *code, const char *format, uint64_t value)
{
    const char *at = NULL;
    uint64_t *field = field_of(code, format, &at);
    while (field != NULL) {
        char *end;
        unsigned long low = strtoul(at, &end, 10), high = low;
        if (end == at)
            return -1;
        if (*end == '-')
            high = strtoul(end + 1, &end, 10);
        if (low > high || high > 63)
            return -1;
        unsigned long width = high - low + 1;
        uint64_t mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
        *field = (*field & ~(mask << low)) | (value & mask) << low;
        value = width == 64 ? 0 : value >> width;
        if (*end != ',')
            return *end == '\0' && value == 0 ? 0 : -1;
        at = end + 1;
    }
    return -1;
}

static int put_terms(const struct pmu *pmu, struct counter_code *code, const char *terms, bool names_allowed,
                     struct err *err);

static int put_term(const struct pmu *pmu, struct counter_code *code, char *term, bool names_allowed, struct err *err)
{
    char line[TEXT_BYTES], *equals = strchr(term, '=');
    uint64_t value = 1;
    if (equals == NULL && names_allowed && read_line(pmu, "events/", term, line) == 0)
        return put_terms(pmu, code, line, false, err);
    if (equals != NULL) {
        *equals = '\0';
        if (parse_number(equals + 1, &value) < 0)
            return err_set(err, "term '%s' of PMU '%s' has no number as its value", term, pmu->name);
    }
    uint64_t *plain = strcmp(term, "config") == 0    ? &code->config
                      : strcmp(term, "config1") == 0 ? &code->config1
                      : strcmp(term, "config2") == 0 ? &code->config2
                                                     : NULL;
    if (plain != NULL) {
        *plain = value;
        return 0;
    }
    if (read_line(pmu, "format/", term, line) < 0)
        return err_set(err, "PMU '%s' has no term '%s'", pmu->name, term);
    if (put_bits(code, line, value) < 0)
        return err_set(err, "term '%s' of PMU '%s': its value does not fit '%s'", term, pmu->name, line);
    return 0;
}

static int put_terms(const struct pmu *pmu, struct counter_code *code, const char *terms, bool names_allowed,
                     struct err *err)
{
    char copy[TEXT_BYTES], *rest = copy;
    if (strlen(terms) >= sizeof copy)
        return err_set(err, "the terms of PMU '%s' are too long", pmu->name);
    memcpy(copy, terms, strlen(terms) + 1);
    for (char *term = strsep(&rest, ","); term != NULL; term = strsep(&rest, ","))
        if (put_term(pmu, code, term, names_allowed, err) < 0)
            return -1;
    return 0;
}

/* What follows the second slash: "", or some of u, k, h, perhaps after a colon. */
static int put_modifiers(struct counter_code *code, const char *modifiers)
{
    modifiers += modifiers[0] == ':';
    if (modifiers[strspn(modifiers, "ukh")] != '\0')
        return -1;
    code->exclude = COUNTER_NO_KERNEL | COUNTER_NO_HYPERVISOR;
    if (modifiers[0] != '\0')
        code->exclude = (strchr(modifiers, 'u') == NULL ? (uint32_t)COUNTER_NO_USER : 0) |
                        (strchr(modifiers, 'k') == NULL ? (uint32_t)COUNTER_NO_KERNEL : 0) |
                        (strchr(modifiers, 'h') == NULL ? (uint32_t)COUNTER_NO_HYPERVISOR : 0);
    return 0;
}

static int encode(struct pmu *pmu, const char *name, struct counter_code *code, struct err *err)
{
    const char *first = strchr(name, '/'), *second = first == NULL ? NULL : strchr(first + 1, '/');
    char terms[TEXT_BYTES], line[TEXT_BYTES];
    size_t n_pmu = first == NULL ? 0 : (size_t)(first - name);
    uint64_t type;
    if (second == NULL || n_pmu == 0 || n_pmu >= sizeof pmu->name || (size_t)(second - first) >= sizeof terms ||
        put_modifiers(code, second + 1) < 0)
        return err_set(err, "it is not of the form PMU/term=value,.../modifiers");
    memcpy(pmu->name, name, n_pmu);
    pmu->name[n_pmu] = '\0';
    memcpy(terms, first + 1, (size_t)(second - first - 1));
    terms[second - first - 1] = '\0';
    if (read_line(pmu, "type", "", line) < 0 || parse_number(line, &type) < 0 || type > UINT32_MAX)
        return err_set(err, "this machine has no PMU '%s'", pmu->name);
    code->type = (uint32_t)type;
    return put_terms(pmu, code, terms, true, err);
}

int events_encode_sysfs(const char *devices, const char *name, struct arena *arena, struct counter_spec *spec,
                        struct err *err)
{
    struct pmu pmu = { .devices = devices, .name = "" };
    struct err reason = { "" };
    spec->code = (struct counter_code){ .type = 0 };
    if (encode(&pmu, name, &spec->code, &reason) < 0) {
        err_set(err, "event '%s' cannot be encoded: %s", name, reason.text);
        return err_next(err, "see %s for PMUs, and their folders 'format' and 'events' for terms", devices);
    }
    spec->pmu = arena_text(arena, pmu.name, strlen(pmu.name));
    spec->description = "";
    return 0;
}
