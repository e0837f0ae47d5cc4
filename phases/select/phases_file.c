#include "phases/select/phases_file.h"

#include "core/base/text.h"
#include "core/base/xalloc.h"
#include "core/base/plain_file.h"

#include <cjson/cJSON.h>

#define FORMAT "mmprof phases"

/* The longest name that a class file can hold. */
#define NAME_MAX_BYTES 65535
#define ROWS_MAX       (UINT32_C(1) << 20)

/* ---- writing ---- */

static void put(cJSON *to, const char *key, cJSON *value)
{
    cJSON_AddItemToObject(to, key, value);
}

static cJSON *ratio(double ratio)
{
    return ratio < 0 ? cJSON_CreateNull() : cJSON_CreateNumber(ratio);
}

static cJSON *row_json(const struct phases_file_row *row)
{
    cJSON *json = cJSON_CreateObject();
    put(json, "class", cJSON_CreateString(row->names.class_name));
    put(json, "method", cJSON_CreateString(row->names.method));
    put(json, "descriptor", cJSON_CreateString(row->names.descriptor));
    put(json, "total_ns", cJSON_CreateNumber(round(row->total_ns)));
    put(json, "calls", cJSON_CreateNumber((double)row->calls));
    put(json, "per_call_ns", cJSON_CreateNumber(row->per_call_ns));
    put(json, "share", cJSON_CreateNumber(row->share));
    return json;
}

static cJSON *file_json(const struct phases_file *phases)
{
    cJSON *json = cJSON_CreateObject(), *thresholds = cJSON_CreateObject(), *estimates = cJSON_CreateObject();
    cJSON *rows = cJSON_CreateArray();
    put(json, "format", cJSON_CreateString(FORMAT));
    put(json, "version", cJSON_CreateNumber(PHASES_FILE_VERSION));
    put(json, "trace", cJSON_CreateString(phases->trace));
    put(json, "clock", cJSON_CreateString(phases->clock));
    put(json, "total_ns", cJSON_CreateNumber(round(phases->total_ns)));
    put(json, "thresholds", thresholds);
    put(thresholds, "weight", cJSON_CreateNumber(phases->weight));
    put(thresholds, "grain", cJSON_CreateNumber(phases->grain));
    put(json, "estimates", estimates);
    put(estimates, "budget", cJSON_CreateNumber(phases->budget));
    put(estimates, "invocations", ratio(phases->invocations_ratio));
    put(estimates, "time", ratio(phases->time_ratio));
    put(estimates, "pair_ns", cJSON_CreateNumber(phases->pair_ns));
    put(json, "phases", rows);
    for (size_t i = 0; i < phases->n_rows; i++)
        cJSON_AddItemToArray(rows, row_json(&phases->rows[i]));
    return json;
}

char *phases_file_text(const struct phases_file *phases)
{
    char *text = NULL;
    size_t n = 0;
    cJSON *json = file_json(phases);
    FILE *out = xopen_memstream(&text, &n);
    char *printed = cJSON_Print(json);
    text_print_json(out, printed);
    fputc('\n', out);
    xclose_memstream(out);
    free(printed);
    cJSON_Delete(json);
    return text;
}

static int write_all(const char *path, const char *text, struct err *err)
{
    int fd = plain_file_create(path, 0);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (out == NULL)
        return err_set(err, "cannot create '%s': %s", path, plain_file_why(errno));
    bool failed = fputs(text, out) < 0;
    if (fclose(out) != 0 || failed)
        return err_set(err, "cannot write '%s': %s", path, strerror(errno));
    return 0;
}

int phases_file_write(const struct phases_file *phases, const char *path, struct err *err)
{
    char *text = phases_file_text(phases), *next_path = xasprintf("%s.new", path);
    /* Something else than a plain file (/dev/stdout) is written directly: it cannot be replaced. */
    bool direct = access(path, F_OK) == 0 && strncmp(path, "/dev/", 5) == 0;
    int rc = write_all(direct ? path : next_path, text, err);
    if (rc == 0 && !direct && rename(next_path, path) < 0)
        rc = err_set(err, "cannot create '%s': %s", path, strerror(errno));
    if (rc < 0 && !direct)
        unlink(next_path);
    if (rc < 0)
        err_next(err, "name another file with --output FILE");
    free(text);
    free(next_path);
    return rc;
}

/* ---- reading ---- */

struct parsing {
    const char *name; /* of the file */
    struct arena *arena;
    struct err *err;
};

static int not_phases(const struct parsing *p, const char *what)
{
    err_set(p->err, "'%s' is not a phases file: %s", p->name, what);
    return err_next(p->err, "make one with 'mmprof phases trace.dat'");
}

/* A number that is missing, or something else, is fallback. */
static double number_of(const cJSON *json, const char *key, double fallback)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);
    return cJSON_IsNumber(item) && isfinite(item->valuedouble) ? item->valuedouble : fallback;
}

static const char *text_of(const struct parsing *p, const cJSON *json, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);
    const char *text = cJSON_IsString(item) ? item->valuestring : "";
    return text_utf8(p->arena, text, strlen(text));
}

/* Whether n bytes are what JVMS 4.2.2 lets be a name: Kotlin's and Groovy's have blanks and brackets, any may have
 * more. */
static bool is_name(const char *text, size_t n, const char *forbidden)
{
    for (size_t i = 0; i < n; i++)
        if (strchr(forbidden, text[i]) != NULL)
            return false;
    return n > 0 && n <= NAME_MAX_BYTES;
}

/* A class in internal form: names between slashes.  Hidden classes have a dot or a plus sign before an address. */
static bool is_class(const char *text, size_t n)
{
    bool is_good = is_name(text, n, ";[") && text[0] != '/' && text[n - 1] != '/';
    for (size_t i = 1; is_good && i < n; i++)
        is_good = text[i] != '/' || text[i - 1] != '/';
    return is_good;
}

/* The end of a field's type, or NULL: there is none. */
static const char *behind_type(const char *at)
{
    at += strspn(at, "[");
    if (*at != 'L')
        return *at != '\0' && strchr("BCDFIJSZ", *at) != NULL ? at + 1 : NULL;
    const char *end = strchr(at, ';');
    return end != NULL && is_class(at + 1, (size_t)(end - at - 1)) ? end + 1 : NULL;
}

/* "(ILjava/lang/String;)V"; the classes' names may hold brackets, too. */
static bool is_descriptor(const char *text)
{
    if (strlen(text) > NAME_MAX_BYTES || *text++ != '(')
        return false;
    while (text != NULL && *text != ')')
        text = behind_type(text);
    if (text == NULL)
        return false;
    const char *end = text[1] == 'V' ? text + 2 : behind_type(text + 1);
    return end != NULL && *end == '\0';
}

static int bad_row(const struct parsing *p, size_t i, const char *what)
{
    char text[128];
    snprintf(text, sizeof text, "phase %zu has no proper %s", i + 1, what);
    return not_phases(p, text);
}

static int parse_row(const struct parsing *p, const cJSON *json, size_t i, struct phases_file_row *row)
{
    row->names.class_name = text_of(p, json, "class");
    row->names.method = text_of(p, json, "method");
    row->names.descriptor = text_of(p, json, "descriptor");
    if (!is_class(row->names.class_name, strlen(row->names.class_name)))
        return bad_row(p, i, "\"class\" (such as \"java/lang/String\")");
    if (!is_name(row->names.method, strlen(row->names.method), ".;[/"))
        return bad_row(p, i, "\"method\" (such as \"length\")");
    if (!is_descriptor(row->names.descriptor))
        return bad_row(p, i, "\"descriptor\" (such as \"()I\")");
    double calls = number_of(json, "calls", 0);
    row->calls = calls > 0 && calls < 0x1p63 ? (uint64_t)calls : 0;
    row->total_ns = number_of(json, "total_ns", 0);
    row->per_call_ns = number_of(json, "per_call_ns", 0);
    row->share = number_of(json, "share", 0);
    return 0;
}

static int parse_rows(const struct parsing *p, const cJSON *json, struct phases_file *phases)
{
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(json, "phases"), *row;
    if (!cJSON_IsArray(rows))
        return not_phases(p, "missing \"phases\"");
    size_t n = (size_t)cJSON_GetArraySize(rows);
    if (n > ROWS_MAX)
        return not_phases(p, "more phases than a program can have methods");
    phases->rows = arena_alloc(p->arena, (n + 1) * sizeof *phases->rows);
    cJSON_ArrayForEach(row, rows)
    {
        if (parse_row(p, row, phases->n_rows, &phases->rows[phases->n_rows]) < 0)
            return -1;
        phases->n_rows++;
    }
    return 0;
}

static int parse_head(const struct parsing *p, const cJSON *json, struct phases_file *phases)
{
    const cJSON *format = cJSON_GetObjectItemCaseSensitive(json, "format");
    if (!cJSON_IsObject(json))
        return not_phases(p, "it is no JSON object");
    if (!cJSON_IsString(format) || strcmp(format->valuestring, FORMAT) != 0)
        return not_phases(p, "missing \"format\": \"" FORMAT "\"");
    double version = number_of(json, "version", 0);
    if (version != PHASES_FILE_VERSION) {
        err_set(p->err, "'%s' is a phases file of version %g; this mmprof reads version %d", p->name, version,
                PHASES_FILE_VERSION);
        return err_next(p->err, "make it again with 'mmprof phases trace.dat'");
    }
    const cJSON *thresholds = cJSON_GetObjectItemCaseSensitive(json, "thresholds");
    const cJSON *estimates = cJSON_GetObjectItemCaseSensitive(json, "estimates");
    phases->trace = text_of(p, json, "trace");
    phases->clock = text_of(p, json, "clock");
    phases->total_ns = number_of(json, "total_ns", 0);
    phases->weight = number_of(thresholds, "weight", 0);
    phases->grain = number_of(thresholds, "grain", 0);
    phases->budget = number_of(estimates, "budget", 0);
    phases->invocations_ratio = number_of(estimates, "invocations", -1);
    phases->time_ratio = number_of(estimates, "time", -1);
    phases->pair_ns = number_of(estimates, "pair_ns", 0);
    return 0;
}

int phases_file_parse(const char *text, size_t n_bytes, const char *name, struct arena *arena,
                      struct phases_file *phases, struct err *err)
{
    struct parsing p = { name, arena, err };
    memset(phases, 0, sizeof *phases);
    if (n_bytes > PHASES_FILE_MAX_BYTES)
        return not_phases(&p, "it is larger than 32 MiB");
    cJSON *json = cJSON_ParseWithLength(text, n_bytes);
    if (json == NULL)
        return not_phases(&p, n_bytes == 0 ? "it is empty" : "it is no JSON");
    int rc = parse_head(&p, json, phases);
    if (rc == 0)
        rc = parse_rows(&p, json, phases);
    cJSON_Delete(json);
    return rc;
}

int phases_file_read(const char *path, struct arena *arena, struct phases_file *phases, struct err *err)
{
    FILE *in = fopen(path, "re");
    if (in == NULL) {
        err_set(err, "cannot open '%s': %s", path, strerror(errno));
        return err_next(err, "make it with 'mmprof phases trace.dat -o %s'", path);
    }
    int rc = -1;
    size_t n = 0, room = 0;
    char *text = NULL;
    do {
        room = room == 0 ? 64 * 1024 : room * 2;
        text = xrealloc(text, room);
        n += fread(text + n, 1, room - n, in);
    } while (n == room && n <= PHASES_FILE_MAX_BYTES);
    if (ferror(in))
        err_set(err, "cannot read '%s': %s", path, strerror(errno));
    else
        rc = phases_file_parse(text, n, path, arena, phases, err);
    free(text);
    fclose(in);
    return rc;
}
