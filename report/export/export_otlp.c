/*
 * Source: https://github.com/open-telemetry/opentelemetry-proto, profiles/v1development/profiles.proto, of 2026: it may
 * change before it is stable.
 */
#include "core/base/text.h"
#include "core/base/xalloc.h"
#include "core/trace/recording_info.h"
#include "report/export/export_protobuf.h"
#include "report/export/export_tree.h"

/* Fields of the messages, as the .proto files number them. */
enum {
    DATA_RESOURCE_PROFILES = 1,
    DATA_DICTIONARY = 2,
    RESOURCE_PROFILES_RESOURCE = 1,
    RESOURCE_PROFILES_SCOPE = 2,
    RESOURCE_ATTRIBUTES = 1,
    KEY_VALUE_KEY = 1,
    KEY_VALUE_VALUE = 2,
    ANY_VALUE_STRING = 1,
    SCOPE_PROFILES_SCOPE = 1,
    SCOPE_PROFILES_PROFILES = 2,
    SCOPE_NAME = 1,
    SCOPE_VERSION = 2,
    OTLP_SAMPLE_TYPE = 1,
    OTLP_SAMPLES = 2,
    OTLP_TIME = 3,
    OTLP_DURATION = 4,
    OTLP_PROFILE_ID = 7,
    OTLP_TYPE = 1,
    OTLP_UNIT = 2,
    OTLP_SAMPLE_STACK = 1,
    OTLP_SAMPLE_VALUES = 4,
    TABLE_MAPPINGS = 1,
    TABLE_LOCATIONS = 2,
    TABLE_FUNCTIONS = 3,
    TABLE_LINKS = 4,
    TABLE_STRINGS = 5,
    TABLE_ATTRIBUTES = 6,
    TABLE_STACKS = 7,
    STACK_LOCATIONS = 1,
    OTLP_LOCATION_LINES = 3,
    OTLP_LINE_FUNCTION = 1,
    OTLP_LINE_LINE = 2,
    OTLP_FUNCTION_NAME = 1,
    OTLP_FUNCTION_SYSTEM_NAME = 2,
    OTLP_FUNCTION_FILE = 3,
    OTLP_FUNCTION_START = 4
};

#define ID_BYTES 16

/* A part of the file, which stands behind its own length: so it is made twice, first to be counted. */
struct otlp_part {
    FILE *out; /* borrowed; NULL: count only */
    size_t n;
};

struct otlp {
    const struct export_tree *tree;
    struct export_strings strings;
    struct otlp_part dictionary, profiles;
    size_t profile_bytes[EXPORT_VALUES_MAX]; /* by value, 0: no context has any */
    struct protobuf field, message, inner;
    uint32_t *stacks; /* by node: its number in the table, 0: none; owned */
    uint32_t n_stacks;
    struct export_path path;
    uint64_t *locations; /* of a stack; owned */
    size_t locations_room;
};

static void put(struct otlp_part *to, struct protobuf *bytes)
{
    to->n += bytes->n;
    if (to->out != NULL)
        fwrite(bytes->bytes, 1, bytes->n, to->out);
    protobuf_clear(bytes);
}

/* The number of a string; a new one is written to the dictionary. */
static uint64_t string(struct otlp *o, const char *text)
{
    const char *fresh;
    uint32_t number = export_string(&o->strings, text, &fresh);
    if (fresh != NULL) {
        protobuf_bytes(&o->field, TABLE_STRINGS, fresh, strlen(fresh));
        put(&o->dictionary, &o->field);
    }
    return number;
}

/* Append what was made to a message, as a field of it. */
static void append_part(struct protobuf *to, uint32_t field, struct protobuf *part)
{
    protobuf_bytes(to, field, part->bytes, part->n);
    protobuf_clear(part);
}

static void put_field(struct otlp *o, struct otlp_part *to, uint32_t field, struct protobuf *message)
{
    append_part(&o->field, field, message);
    put(to, &o->field);
}

/* ---- the dictionary; the first entry of each table is empty ---- */

/* Locations and functions have the same numbers: methods from 1, then roots, then the folded calls. */
static void put_location(struct otlp *o, uint64_t number, const char *name, const struct trace_method *method)
{
    struct report_source const *source = o->tree->source;
    const char *system = method == NULL ? name : method_name_text(source->arena, &method->names);
    uint64_t line = method == NULL ? 0 : method->first_line;
    uint64_t names[] = { string(o, name), string(o, system), string(o, method == NULL ? "" : method->source) };
    protobuf_number(&o->message, OTLP_FUNCTION_NAME, names[0]);
    protobuf_number(&o->message, OTLP_FUNCTION_SYSTEM_NAME, names[1]);
    protobuf_number(&o->message, OTLP_FUNCTION_FILE, names[2]);
    protobuf_number(&o->message, OTLP_FUNCTION_START, line);
    put_field(o, &o->dictionary, TABLE_FUNCTIONS, &o->message);
    protobuf_number(&o->inner, OTLP_LINE_FUNCTION, number);
    protobuf_number(&o->inner, OTLP_LINE_LINE, line);
    append_part(&o->message, OTLP_LOCATION_LINES, &o->inner);
    put_field(o, &o->dictionary, TABLE_LOCATIONS, &o->message);
}

static void put_locations(struct otlp *o)
{
    const struct report_source *source = o->tree->source;
    const struct calltree *tree = source->tree;
    for (uint32_t i = 0; i < tree->n_methods; i++)
        put_location(o, (uint64_t)i + 1, o->tree->names[i] == NULL ? "" : o->tree->names[i],
                     o->tree->names[i] == NULL ? NULL : trace_method(source->reader, i));
    for (uint32_t i = 0; i < tree->n_roots; i++)
        put_location(o, (uint64_t)tree->n_methods + i + 1, o->tree->root_names[i], NULL);
    put_location(o, (uint64_t)tree->n_methods + tree->n_roots + 1, EXPORT_FOLDED_NAME, NULL);
}

/* The number of a context's stack, innermost location first. */
static uint32_t stack_of(struct otlp *o, uint32_t node)
{
    if (o->stacks[node] != 0)
        return o->stacks[node];
    export_path_find(&o->path, o->tree, node);
    xgrow(o->locations, o->locations_room, o->path.n);
    for (size_t i = 0; i < o->path.n; i++)
        o->locations[i] = export_location(o->tree, o->path.nodes[i]);
    protobuf_numbers(&o->message, STACK_LOCATIONS, o->locations, o->path.n);
    put_field(o, &o->dictionary, TABLE_STACKS, &o->message);
    return o->stacks[node] = ++o->n_stacks;
}

/* ---- profiles: one for each value that any context has ---- */

static void put_times(struct otlp *o, const struct export_value *value, size_t number)
{
    const struct report_source *source = o->tree->source;
    uint64_t start = trace_start_realtime_ns(source->reader), id[2] = { start, number + 1 };
    double ns = report_ns(source, source->tree->end_ticks - source->tree->start_ticks);
    uint64_t type = string(o, value->name), unit = string(o, value->unit);
    protobuf_number(&o->message, OTLP_TYPE, type);
    protobuf_number(&o->message, OTLP_UNIT, unit);
    append_part(&o->field, OTLP_SAMPLE_TYPE, &o->message);
    protobuf_fixed64(&o->field, OTLP_TIME, start);
    protobuf_number(&o->field, OTLP_DURATION, isfinite(ns) && ns > 0 ? (uint64_t)ns : 0);
    protobuf_bytes(&o->field, OTLP_PROFILE_ID, id, ID_BYTES);
    put(&o->profiles, &o->field);
}

/* Of a profile with its head; 0: it is not written. */
static size_t profile_size(size_t n_bytes)
{
    struct protobuf head = { .n = 0 };
    if (n_bytes == 0)
        return 0;
    protobuf_head(&head, SCOPE_PROFILES_PROFILES, n_bytes);
    n_bytes += head.n;
    protobuf_free(&head);
    return n_bytes;
}

/* Its length is known once it has been made to be counted. */
static void put_profile(struct otlp *o, const struct export_value *value, size_t number)
{
    const struct calltree *tree = o->tree->source->tree;
    uint64_t *self = export_self(o->tree, value);
    bool is_empty = true;
    if (o->profile_bytes[number] > 0) {
        protobuf_head(&o->field, SCOPE_PROFILES_PROFILES, o->profile_bytes[number]);
        put(&o->profiles, &o->field);
    }
    size_t n_before = o->profiles.n;
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        if (o->tree->owner[i] != i || self[i] == 0)
            continue;
        uint32_t stack = stack_of(o, i);
        is_empty = false;
        protobuf_number(&o->message, OTLP_SAMPLE_STACK, stack);
        protobuf_numbers(&o->message, OTLP_SAMPLE_VALUES, &self[i], 1);
        put_field(o, &o->profiles, OTLP_SAMPLES, &o->message);
    }
    free(self);
    if (is_empty)
        return;
    put_times(o, value, number);
    o->profile_bytes[number] = o->profiles.n - n_before;
}

/* ---- the whole ---- */

static void put_attribute(struct otlp *o, struct protobuf *resource, const char *key, const char *value)
{
    struct protobuf any = { .n = 0 };
    if (value == NULL)
        return;
    const char *clean = text_clean(o->tree->source->arena, value);
    protobuf_bytes(&any, ANY_VALUE_STRING, clean, strlen(clean));
    protobuf_bytes(&o->inner, KEY_VALUE_KEY, key, strlen(key));
    append_part(&o->inner, KEY_VALUE_VALUE, &any);
    append_part(resource, RESOURCE_ATTRIBUTES, &o->inner);
    protobuf_free(&any);
}

/* The profiles as { resource, { profiles, scope } }. */
static void put_profiles(struct otlp *o, const struct export_value *values, size_t n, FILE *out)
{
    const struct trace_reader *reader = o->tree->source->reader;
    struct protobuf resource = { .n = 0 }, all = { .n = 0 }, scope = { .n = 0 };
    struct otlp_part whole = { .out = out };
    put_attribute(o, &resource, "host.name", info_text(reader, INFO_HOST));
    put_attribute(o, &resource, "process.pid", info_text(reader, INFO_JVM_PID));
    put_attribute(o, &resource, "process.command_line", info_text(reader, INFO_JVM_COMMAND));
    put_attribute(o, &resource, "process.runtime.version", info_text(reader, INFO_JVM_VERSION));
    append_part(&all, RESOURCE_PROFILES_RESOURCE, &resource);
    protobuf_bytes(&o->inner, SCOPE_NAME, "mmprof", strlen("mmprof"));
    protobuf_bytes(&o->inner, SCOPE_VERSION, MMPROF_VERSION, strlen(MMPROF_VERSION));
    append_part(&scope, SCOPE_PROFILES_SCOPE, &o->inner);

    o->profiles = (struct otlp_part){ .n = 0 };
    for (size_t v = 0; v < n; v++) /* with their heads now */
        o->profiles.n += profile_size(o->profile_bytes[v]);
    protobuf_head(&all, RESOURCE_PROFILES_SCOPE, o->profiles.n + scope.n);
    protobuf_head(&o->field, DATA_RESOURCE_PROFILES, all.n + o->profiles.n + scope.n);
    put(&whole, &o->field);
    put(&whole, &all);
    o->profiles.out = out;
    for (size_t v = 0; v < n; v++)
        put_profile(o, &values[v], v);
    put(&whole, &scope);
    protobuf_free(&resource);
    protobuf_free(&all);
    protobuf_free(&scope);
}

/* The tables, and what they say of each value's contexts. */
static void make(struct otlp *o, const struct export_value *values, size_t n)
{
    static const uint32_t tables[] = { TABLE_MAPPINGS, TABLE_LOCATIONS,  TABLE_FUNCTIONS,
                                       TABLE_LINKS,    TABLE_ATTRIBUTES, TABLE_STACKS };
    size_t n_nodes = (size_t)o->tree->source->tree->n_nodes + 1;
    map_free(&o->strings.of);
    o->strings = (struct export_strings){ .of.arena = o->tree->source->arena };
    memset(o->stacks, 0, n_nodes * sizeof *o->stacks);
    o->n_stacks = 0;
    o->profiles = (struct otlp_part){ .n = 0 };
    string(o, "");
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        protobuf_bytes(&o->field, tables[i], "", 0);
        put(&o->dictionary, &o->field);
    }
    put_locations(o);
    for (size_t v = 0; v < n; v++)
        put_profile(o, &values[v], v);
}

static void write_all(struct otlp *o, FILE *out)
{
    struct export_value values[EXPORT_VALUES_MAX];
    size_t n = export_values(o->tree->source, true, values);
    make(o, values, n);
    put_profiles(o, values, n, out);
    protobuf_head(&o->field, DATA_DICTIONARY, o->dictionary.n);
    o->dictionary = (struct otlp_part){ .out = out };
    put(&o->dictionary, &o->field);
    make(o, values, n);
}

int export_otlp(const struct export_tree *tree, FILE *out, struct err *err)
{
    struct otlp o = { .tree = tree, .strings.of.arena = tree->source->arena };
    (void)err;
    o.stacks = xcalloc((size_t)tree->source->tree->n_nodes + 1, sizeof *o.stacks);
    write_all(&o, out);
    free(o.stacks);
    free(o.locations);
    free(o.path.nodes);
    map_free(&o.strings.of);
    protobuf_free(&o.field);
    protobuf_free(&o.message);
    protobuf_free(&o.inner);
    return 0;
}
