/*
 * Source: the names, fields and units are those of metadata.xml in JDK 17's HotSpot, with only the fields that a trace
 * can tell, or that readers ask for; the tree of elements is what jdk.jfr.internal.MetadataReader reads.
 */
#include "report/export/export_jfr_parts.h"

#include "core/base/map.h"

#define FIELDS_MAX 9

enum { CONSTANT = 1, ARRAY = 2 }; /* a field is a number in a pool of constants; there are several */

struct jfr_field {
    const char *name;
    enum jfr_type type;
    unsigned flags;
    enum jfr_type annotation; /* 0: none */
    const char *unit;
};

struct jfr_type_row {
    const char *name, *parent, *label;   /* label: of events */
    bool is_simple;                      /* of one field, for which it stands; of annotations: it is of units */
    struct jfr_field fields[FIELDS_MAX]; /* up to the one without a name */
};

/* clang-format off */
#define EVENT      "jdk.jfr.Event"
#define ANNOTATION "java.lang.annotation.Annotation"
#define START      { "startTime", JFR_LONG, 0, JFR_TIMESTAMP, "TICKS" }
#define DURATION   { "duration", JFR_LONG, 0, JFR_TIMESPAN, "TICKS" }
#define OF_THREAD  { "eventThread", JFR_THREAD, CONSTANT, 0, NULL }
#define STACK      { "stackTrace", JFR_STACK_TRACE, CONSTANT, 0, NULL }
#define TEXT(name) { name, JFR_STRING, 0, 0, NULL }
#define PLAIN(name, type)    { name, type, 0, 0, NULL }
#define NAMED_BY(name, type) { name, type, CONSTANT, 0, NULL }
#define IN_UNIT(name, annotation, unit) { name, JFR_LONG, 0, annotation, unit }

static const struct jfr_type_row types[JFR_TYPES] = {
    [JFR_BOOLEAN] = { "boolean", NULL, NULL, false, { { 0 } } },
    [JFR_INT] = { "int", NULL, NULL, false, { { 0 } } },
    [JFR_LONG] = { "long", NULL, NULL, false, { { 0 } } },
    [JFR_STRING] = { "java.lang.String", NULL, NULL, false, { { 0 } } },

    [JFR_CONTENT_TYPE] = { "jdk.jfr.ContentType", ANNOTATION, NULL, false, { { 0 } } },
    [JFR_LABEL] = { "jdk.jfr.Label", ANNOTATION, NULL, false, { TEXT("value") } },
    [JFR_CATEGORY] = { "jdk.jfr.Category", ANNOTATION, NULL, false, { { "value", JFR_STRING, ARRAY, 0, NULL } } },
    [JFR_TIMESTAMP] = { "jdk.jfr.Timestamp", ANNOTATION, NULL, true, { TEXT("value") } },
    [JFR_TIMESPAN] = { "jdk.jfr.Timespan", ANNOTATION, NULL, true, { TEXT("value") } },
    [JFR_DATA_AMOUNT] = { "jdk.jfr.DataAmount", ANNOTATION, NULL, true, { TEXT("value") } },

    [JFR_CLASS_LOADER] = { "jdk.types.ClassLoader", NULL, NULL, false,
        { NAMED_BY("type", JFR_CLASS), NAMED_BY("name", JFR_SYMBOL) } },
    [JFR_PACKAGE] = { "jdk.types.Package", NULL, NULL, false, { NAMED_BY("name", JFR_SYMBOL) } },
    [JFR_CLASS] = { "java.lang.Class", NULL, NULL, false,
        { NAMED_BY("classLoader", JFR_CLASS_LOADER), NAMED_BY("name", JFR_SYMBOL), NAMED_BY("package", JFR_PACKAGE),
          PLAIN("modifiers", JFR_INT) } },
    [JFR_THREAD] = { "java.lang.Thread", NULL, NULL, false,
        { TEXT("osName"), PLAIN("osThreadId", JFR_LONG), TEXT("javaName"), PLAIN("javaThreadId", JFR_LONG) } },
    [JFR_SYMBOL] = { "jdk.types.Symbol", NULL, NULL, true, { TEXT("string") } },
    [JFR_METHOD] = { "jdk.types.Method", NULL, NULL, false,
        { NAMED_BY("type", JFR_CLASS), NAMED_BY("name", JFR_SYMBOL), NAMED_BY("descriptor", JFR_SYMBOL),
          PLAIN("modifiers", JFR_INT), PLAIN("hidden", JFR_BOOLEAN) } },
    [JFR_FRAME_TYPE] = { "jdk.types.FrameType", NULL, NULL, true, { TEXT("description") } },
    [JFR_THREAD_STATE] = { "jdk.types.ThreadState", NULL, NULL, true, { TEXT("name") } },
    [JFR_STACK_FRAME] = { "jdk.types.StackFrame", NULL, NULL, false,
        { NAMED_BY("method", JFR_METHOD), PLAIN("lineNumber", JFR_INT), PLAIN("bytecodeIndex", JFR_INT),
          NAMED_BY("type", JFR_FRAME_TYPE) } },
    [JFR_STACK_TRACE] = { "jdk.types.StackTrace", NULL, NULL, false,
        { PLAIN("truncated", JFR_BOOLEAN), { "frames", JFR_STACK_FRAME, ARRAY, 0, NULL } } },

    [JFR_JVM_INFORMATION] = { "jdk.JVMInformation", EVENT, "JVM Information", false,
        { START, TEXT("jvmName"), TEXT("jvmVersion"), TEXT("jvmArguments"), TEXT("jvmFlags"), TEXT("javaArguments"),
          IN_UNIT("jvmStartTime", JFR_TIMESTAMP, "MILLISECONDS_SINCE_EPOCH"), PLAIN("pid", JFR_LONG) } },
    [JFR_EXECUTION_SAMPLE] = { "jdk.ExecutionSample", EVENT, "Method Profiling Sample", false,
        { START, NAMED_BY("sampledThread", JFR_THREAD), STACK, NAMED_BY("state", JFR_THREAD_STATE) } },
    [JFR_ALLOCATION_SAMPLE] = { "jdk.ObjectAllocationSample", EVENT, "Object Allocation Sample", false,
        { START, OF_THREAD, STACK, NAMED_BY("objectClass", JFR_CLASS), IN_UNIT("weight", JFR_DATA_AMOUNT, "BYTES") } },
    [JFR_MONITOR_ENTER] = { "jdk.JavaMonitorEnter", EVENT, "Java Monitor Blocked", false,
        { START, DURATION, OF_THREAD, STACK, NAMED_BY("monitorClass", JFR_CLASS), NAMED_BY("previousOwner", JFR_THREAD),
          PLAIN("address", JFR_LONG) } },
    [JFR_MONITOR_WAIT] = { "jdk.JavaMonitorWait", EVENT, "Java Monitor Wait", false,
        { START, DURATION, OF_THREAD, STACK, NAMED_BY("monitorClass", JFR_CLASS), NAMED_BY("notifier", JFR_THREAD),
          IN_UNIT("timeout", JFR_TIMESPAN, "MILLISECONDS"), PLAIN("timedOut", JFR_BOOLEAN),
          PLAIN("address", JFR_LONG) } },
    [JFR_THREAD_PARK] = { "jdk.ThreadPark", EVENT, "Java Thread Park", false,
        { START, DURATION, OF_THREAD, STACK, NAMED_BY("parkedClass", JFR_CLASS),
          IN_UNIT("timeout", JFR_TIMESPAN, "NANOSECONDS"),
          IN_UNIT("until", JFR_TIMESTAMP, "MILLISECONDS_SINCE_EPOCH"), PLAIN("address", JFR_LONG) } },
    [JFR_THREAD_SLEEP] = { "jdk.ThreadSleep", EVENT, "Java Thread Sleep", false,
        { START, DURATION, OF_THREAD, STACK, IN_UNIT("time", JFR_TIMESPAN, "NANOSECONDS") } },
    [JFR_OTHER_WAIT] = { "mmprof.Wait", EVENT, "Other Wait", false,
        { START, DURATION, OF_THREAD, STACK, TEXT("cause") } },
    [JFR_COLLECTION] = { "jdk.GarbageCollection", EVENT, "Garbage Collection", false,
        { START, DURATION, PLAIN("gcId", JFR_INT), TEXT("name"), TEXT("cause"),
          IN_UNIT("sumOfPauses", JFR_TIMESPAN, "TICKS"), IN_UNIT("longestPause", JFR_TIMESPAN, "TICKS") } },
};
/* clang-format on */

/* The tree of elements names its texts by their numbers, in a list that stands before it. */
struct jfr_writing {
    struct jfr_bytes tree, texts;
    struct map numbers;
};

static void put_name(struct jfr_writing *w, const char *text)
{
    const uint32_t *known = map_get(&w->numbers, text, strlen(text));
    uint32_t number = known == NULL ? w->numbers.n_keys : *known;
    if (known == NULL) {
        jfr_put_text(&w->texts, text);
        map_put(&w->numbers, text, strlen(text), number);
    }
    jfr_put_number(&w->tree, number);
}

/* Begin an element; its attributes follow, then the number of its children, then these. */
static void put_element(struct jfr_writing *w, const char *name, uint64_t n_attributes)
{
    put_name(w, name);
    jfr_put_number(&w->tree, n_attributes);
}

static void put_attribute(struct jfr_writing *w, const char *key, const char *value)
{
    put_name(w, key);
    put_name(w, value);
}

static void put_number_attribute(struct jfr_writing *w, const char *key, long value)
{
    char text[24];
    snprintf(text, sizeof text, "%ld", value);
    put_attribute(w, key, text);
}

/* value: NULL: it has none. */
static void put_annotation(struct jfr_writing *w, enum jfr_type type, const char *value)
{
    put_element(w, "annotation", 1u + (value != NULL));
    put_number_attribute(w, "class", type);
    if (value != NULL)
        put_attribute(w, (types[type].fields[0].flags & ARRAY) != 0 ? "value-0" : "value", value);
    jfr_put_number(&w->tree, 0);
}

static void put_field(struct jfr_writing *w, const struct jfr_field *field)
{
    bool is_constant = (field->flags & CONSTANT) != 0, is_array = (field->flags & ARRAY) != 0;
    put_element(w, "field", 2u + is_constant + is_array);
    put_attribute(w, "name", field->name);
    put_number_attribute(w, "class", field->type);
    if (is_constant)
        put_attribute(w, "constantPool", "true");
    if (is_array)
        put_attribute(w, "dimension", "1");
    jfr_put_number(&w->tree, field->annotation != 0);
    if (field->annotation != 0)
        put_annotation(w, field->annotation, field->unit);
}

static void put_type(struct jfr_writing *w, enum jfr_type number)
{
    const struct jfr_type_row *type = &types[number];
    uint64_t n_fields = 0;
    bool is_unit = type->is_simple && type->parent != NULL, is_simple = type->is_simple && type->parent == NULL;
    while (n_fields < FIELDS_MAX && type->fields[n_fields].name != NULL)
        n_fields++;
    put_element(w, "class", 2u + (type->parent != NULL) + is_simple);
    put_number_attribute(w, "id", number);
    put_attribute(w, "name", type->name);
    if (type->parent != NULL)
        put_attribute(w, "superType", type->parent);
    if (is_simple)
        put_attribute(w, "simpleType", "true");
    jfr_put_number(&w->tree, n_fields + (type->label != NULL ? 2 : is_unit ? 1 : 0));
    for (uint64_t i = 0; i < n_fields; i++)
        put_field(w, &type->fields[i]);
    if (is_unit)
        put_annotation(w, JFR_CONTENT_TYPE, NULL);
    if (type->label == NULL)
        return;
    put_annotation(w, JFR_LABEL, type->label);
    put_annotation(w, JFR_CATEGORY, number == JFR_OTHER_WAIT ? "mmprof" : "Java Virtual Machine");
}

static void put_tree(struct jfr_writing *w, long utc_offset_s)
{
    put_element(w, "root", 0);
    jfr_put_number(&w->tree, 2);
    put_element(w, "metadata", 0);
    jfr_put_number(&w->tree, JFR_TYPES - JFR_BOOLEAN);
    for (enum jfr_type type = JFR_BOOLEAN; type < JFR_TYPES; type++)
        put_type(w, type);
    put_element(w, "region", 2);
    put_attribute(w, "locale", "en_US");
    put_number_attribute(w, "gmtOffset", utc_offset_s * 1000);
    jfr_put_number(&w->tree, 0);
}

void jfr_put_metadata(struct jfr_bytes *to, long utc_offset_s, struct arena *arena)
{
    struct jfr_writing w = { .numbers = { .arena = arena } };
    put_tree(&w, utc_offset_s);
    size_t start = jfr_begin(to);
    jfr_put_number(to, JFR_METADATA);
    jfr_put_number(to, 0); /* when */
    jfr_put_number(to, 0); /* how long it took */
    jfr_put_number(to, 1); /* of the metadata of a program */
    jfr_put_number(to, w.numbers.n_keys);
    jfr_put_bytes(to, &w.texts);
    jfr_put_bytes(to, &w.tree);
    jfr_end(to, start);
    jfr_bytes_free(&w.tree);
    jfr_bytes_free(&w.texts);
    map_free(&w.numbers);
}
