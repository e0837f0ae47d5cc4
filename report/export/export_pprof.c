/*
 * Source: https://github.com/google/pprof/blob/main/proto/profile.proto
 */
#include "core/base/map.h"
#include "core/base/text.h"
#include "core/base/vec.h"
#include "core/trace/recording_info.h"
#include "report/export/export_protobuf.h"
#include "report/export/export_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    struct map strings;
    uint32_t n_strings;
    gzFile gzip;
    struct protobuf message, inner; /* being made */
    uint64_t *stack;                /* of location ids; owned */
    size_t stack_room;
    bool is_broken;
};

/* Write what was made as a field of the profile. */
static void put_message(struct pprof *p, uint32_t field)
{
    protobuf_clear(&p->inner);
    protobuf_bytes(&p->inner, field, p->message.bytes, p->message.n);
    gzip_write(p->gzip, &p->inner);
    p->is_broken = p->is_broken || p->message.is_broken;
    protobuf_clear(&p->message);
}

/* The number of a string; a new one is written to the table. */
static uint64_t string(struct pprof *p, const char *text)
{
    const char *clean = text == NULL ? NULL : text_clean(p->tree->source->arena, text);
    const uint32_t *known = clean == NULL ? NULL : map_get(&p->strings, clean, strlen(clean));
    if (known != NULL)
        return *known;
    if (clean == NULL || map_put(&p->strings, clean, strlen(clean), p->n_strings) < 0) {
        p->is_broken = true;
        return 0;
    }
    protobuf_clear(&p->inner);
    protobuf_bytes(&p->inner, PROFILE_STRING_TABLE, clean, strlen(clean));
    gzip_write(p->gzip, &p->inner);
    return p->n_strings++;
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
    p->is_broken = p->is_broken || line_message.is_broken;
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
    const char *folded = "(calls that found no room)";
    put_function(p, (uint64_t)tree->n_methods + tree->n_roots + 1, folded, folded, NULL);
}

static uint64_t location_of(const struct export_tree *written, uint32_t node)
{
    const struct calltree *tree = written->source->tree;
    if (tree->nodes[node].method < tree->n_methods)
        return (uint64_t)tree->nodes[node].method + 1;
    return (uint64_t)tree->n_methods + export_root(written, node) + 1;
}

/* ---- samples ---- */

/* The node's locations, innermost first, into the stack.  Returns how many, 0: no memory. */
static size_t find_stack(struct pprof *p, uint32_t node)
{
    const struct calltree *tree = p->tree->source->tree;
    for (size_t n = 0;; node = tree->nodes[node].parent) {
        if (vec_reserve(p->stack, p->stack_room, n + 1) < 0)
            return 0;
        p->stack[n++] = location_of(p->tree, node);
        if (tree->nodes[node].parent == node)
            return n;
    }
}

static void put_sample(struct pprof *p, uint32_t node)
{
    uint64_t values[EXPORT_VALUES_MAX], any = 0;
    for (size_t v = 0; v < p->n_values; v++)
        any |= values[v] = p->self[v][node];
    if (any == 0)
        return;
    size_t n = find_stack(p, node);
    p->is_broken = p->is_broken || n == 0;
    protobuf_numbers(&p->message, SAMPLE_LOCATION_ID, p->stack, n);
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

static void put_metadata(struct pprof *p, const struct export_value *wanted)
{
    const struct report_source *source = p->tree->source;
    const char *program = info_text(source->reader, INFO_JVM_COMMAND);
    uint64_t comments[] = { string(p, "mmprof " MMPROF_VERSION), string(p, program == NULL ? source->path : program) };
    uint64_t type = string(p, wanted->name);
    protobuf_number(&p->message, PROFILE_TIME_NANOS, trace_start_realtime_ns(source->reader));
    protobuf_number(&p->message, PROFILE_DURATION_NANOS,
                    whole_ns(report_ns(source, source->tree->end_ticks - source->tree->start_ticks)));
    protobuf_numbers(&p->message, PROFILE_COMMENT, comments, 2);
    protobuf_number(&p->message, PROFILE_DEFAULT_SAMPLE_TYPE, type);
    gzip_write(p->gzip, &p->message);
    protobuf_clear(&p->message);
}

static int find_values(struct pprof *p, struct err *err)
{
    p->n_values = export_values(p->tree->source, true, p->values);
    for (size_t v = 0; v < p->n_values; v++)
        if ((p->self[v] = export_self(p->tree, &p->values[v])) == NULL)
            return err_set(err, "out of memory for %u calling contexts", p->tree->source->tree->n_nodes);
    return 0;
}

static int put_all(struct pprof *p, const struct export_value *wanted, struct err *err)
{
    if (find_values(p, err) < 0)
        return -1;
    string(p, ""); /* the first one must be empty */
    put_types(p);
    put_metadata(p, wanted);
    put_functions(p);
    for (uint32_t i = 1; i < p->tree->source->tree->n_nodes; i++)
        if (p->tree->owner[i] == i)
            put_sample(p, i);
    return p->is_broken ? err_set(err, "out of memory for a profile") : 0;
}

static void close_pprof(struct pprof *p)
{
    for (size_t v = 0; v < p->n_values; v++)
        free(p->self[v]);
    free(p->stack);
    map_free(&p->strings);
    protobuf_free(&p->message);
    protobuf_free(&p->inner);
}

int export_pprof(const struct report_source *source, const struct export_tree_options *options, FILE *out,
                 struct err *err)
{
    struct export_value wanted;
    struct export_tree tree;
    struct err closing;
    if (export_value_find(source, options->value, &wanted, err) < 0 ||
        export_tree_open(&tree, source, options->min_share, err) < 0)
        return -1;
    struct pprof p = { .tree = &tree, .strings = { .arena = source->arena }, .gzip = gzip_open(out) };
    int rc = p.gzip == NULL ? err_set(err, "out of memory for a profile") : put_all(&p, &wanted, err);
    if (p.gzip != NULL && gzip_close(p.gzip, p.inner.is_broken || p.message.is_broken, &closing) < 0 && rc == 0) {
        *err = closing;
        rc = -1;
    }
    close_pprof(&p);
    export_tree_close(&tree);
    return rc;
}
