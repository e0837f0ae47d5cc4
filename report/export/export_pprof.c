/* Source: https://github.com/google/pprof/blob/main/proto/profile.proto */
#include "core/base/xalloc.h"
#include "core/trace/recording_info.h"
#include "report/export/export_protobuf.h"
#include "report/export/export_tree.h"

/* Fields of the messages, as profile.proto numbers them. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING_TABLE = 6,
    PROFILE_TIME_NANOS = 9,
    PROFILE_DURATION_NANOS = 10,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14,
    VALUE_TYPE = 1,
    VALUE_UNIT = 2,
    SAMPLE_LOCATION_ID = 1,
    SAMPLE_VALUE = 2,
    LOCATION_ID = 1,
    LOCATION_LINE = 4,
    LINE_FUNCTION_ID = 1,
    LINE_LINE = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILENAME = 4,
    FUNCTION_START_LINE = 5
};

struct pprof {
    const struct export_tree *tree;
    struct export_value values[EXPORT_VALUES_MAX];
    uint64_t *self[EXPORT_VALUES_MAX]; /* by value, then node; owned */
    size_t n_values;
    struct export_strings strings;
    gzFile gzip;
    struct protobuf message, inner; /* being made */
    struct export_path path;
    uint64_t *stack; /* of location ids; owned */
    size_t stack_room;
};

/* Write what was made as a field of the profile. */
static void put_message(struct pprof *p, uint32_t field)
{
    protobuf_clear(&p->inner);
    protobuf_bytes(&p->inner, field, p->message.bytes, p->message.n);
    gzip_write(p->gzip, &p->inner);
    protobuf_clear(&p->message);
}

/* The number of a string; a new one is written to the table. */
static uint64_t string(struct pprof *p, const char *text)
{
    const char *fresh;
    uint32_t number = export_string(&p->strings, text, &fresh);
    protobuf_clear(&p->inner);
    if (fresh != NULL)
        protobuf_bytes(&p->inner, PROFILE_STRING_TABLE, fresh, strlen(fresh));
    gzip_write(p->gzip, &p->inner);
    return number;
}

/* ---- functions: methods, then roots, then the folded calls; ids start at 1, locations have the same ---- */

static void put_function(struct pprof *p, uint64_t id, const char *name, const char *system_name,
                         const struct trace_method *method)
{
    uint64_t line = method == NULL ? 0 : method->first_line;
    uint64_t names[] = { string(p, name), string(p, system_name), string(p, method == NULL ? "" : method->source) };
    protobuf_number(&p->message, FUNCTION_ID, id);
    protobuf_number(&p->message, FUNCTION_NAME, names[0]);
    protobuf_number(&p->message, FUNCTION_SYSTEM_NAME, names[1]);
    protobuf_number(&p->message, FUNCTION_FILENAME, names[2]);
    protobuf_number(&p->message, FUNCTION_START_LINE, line);
    put_message(p, PROFILE_FUNCTION);

    struct protobuf line_message = { .n = 0 };
    protobuf_number(&line_message, LINE_FUNCTION_ID, id);
    protobuf_number(&line_message, LINE_LINE, line);
    protobuf_number(&p->message, LOCATION_ID, id);
    protobuf_bytes(&p->message, LOCATION_LINE, line_message.bytes, line_message.n);
    protobuf_free(&line_message);
    put_message(p, PROFILE_LOCATION);
}

static void put_functions(struct pprof *p)
{
    const struct report_source *source = p->tree->source;
    const struct calltree *tree = source->tree;
    for (uint32_t i = 0; i < tree->n_methods; i++) {
        const struct trace_method *method = trace_method(source->reader, i);
        const char *name = p->tree->names[i];
        if (name != NULL)
            put_function(p, (uint64_t)i + 1, name,
                         method == NULL ? name : method_name_text(source->arena, &method->names), method);
    }
    for (uint32_t i = 0; i < tree->n_roots; i++)
        put_function(p, (uint64_t)tree->n_methods + i + 1, p->tree->root_names[i], p->tree->root_names[i], NULL);
    const char *folded = EXPORT_FOLDED_NAME;
    put_function(p, (uint64_t)tree->n_methods + tree->n_roots + 1, folded, folded, NULL);
}

/* ---- samples ---- */

static void put_sample(struct pprof *p, uint32_t node)
{
    uint64_t values[EXPORT_VALUES_MAX], any = 0;
    for (size_t v = 0; v < p->n_values; v++)
        any |= values[v] = p->self[v][node];
    if (any == 0)
        return;
    export_path_find(&p->path, p->tree, node);
    xgrow(p->stack, p->stack_room, p->path.n);
    for (size_t i = 0; i < p->path.n; i++)
        p->stack[i] = export_location(p->tree, p->path.nodes[i]);
    protobuf_numbers(&p->message, SAMPLE_LOCATION_ID, p->stack, p->path.n);
    protobuf_numbers(&p->message, SAMPLE_VALUE, values, p->n_values);
    put_message(p, PROFILE_SAMPLE);
}

/* ---- the whole ---- */

static void put_types(struct pprof *p)
{
    for (size_t v = 0; v < p->n_values; v++) {
        uint64_t type = string(p, p->values[v].name), unit = string(p, p->values[v].unit);
        protobuf_number(&p->message, VALUE_TYPE, type);
        protobuf_number(&p->message, VALUE_UNIT, unit);
        put_message(p, PROFILE_SAMPLE_TYPE);
    }
}

static uint64_t whole_ns(double ns)
{
    return isfinite(ns) && ns > 0 ? (uint64_t)ns : 0;
}

static void put_metadata(struct pprof *p)
{
    const struct report_source *source = p->tree->source;
    const char *program = info_text(source->reader, INFO_JVM_COMMAND);
    uint64_t comments[] = { string(p, "mmprof " MMPROF_VERSION), string(p, program == NULL ? source->path : program) };
    uint64_t type = string(p, p->tree->value.name);
    protobuf_number(&p->message, PROFILE_TIME_NANOS, trace_start_realtime_ns(source->reader));
    protobuf_number(&p->message, PROFILE_DURATION_NANOS,
                    whole_ns(report_ns(source, source->tree->end_ticks - source->tree->start_ticks)));
    protobuf_numbers(&p->message, PROFILE_COMMENT, comments, 2);
    protobuf_number(&p->message, PROFILE_DEFAULT_SAMPLE_TYPE, type);
    gzip_write(p->gzip, &p->message);
    protobuf_clear(&p->message);
}

static void put_all(struct pprof *p)
{
    p->n_values = export_values(p->tree->source, true, p->values);
    for (size_t v = 0; v < p->n_values; v++)
        p->self[v] = export_self(p->tree, &p->values[v]);
    string(p, ""); /* the first one must be empty */
    put_types(p);
    put_metadata(p);
    put_functions(p);
    for (uint32_t i = 1; i < p->tree->source->tree->n_nodes; i++)
        if (p->tree->owner[i] == i)
            put_sample(p, i);
}

int export_pprof(const struct export_tree *tree, FILE *out, struct err *err)
{
    struct pprof p = { .tree = tree, .strings.of.arena = tree->source->arena, .gzip = gzip_open(out) };
    if (p.gzip == NULL)
        return err_set(err, "cannot write the profile: no file descriptor or memory is left");
    put_all(&p);
    int rc = gzip_close(p.gzip, p.inner.is_broken || p.message.is_broken, err);
    for (size_t v = 0; v < p.n_values; v++)
        free(p.self[v]);
    free(p.stack);
    free(p.path.nodes);
    map_free(&p.strings.of);
    protobuf_free(&p.message);
    protobuf_free(&p.inner);
    return rc;
}
