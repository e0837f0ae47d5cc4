#include "core/wire/message.h"

#include <stdarg.h>

#define FIELDS_MAX   8
#define NUMBER_BYTES 24   /* of a list: a blank and a number take no more */
#define REAL_MAX     1e18 /* no agent says what is negative, infinite or more ns than a life has */

enum wire_type { END, U32, U64, REAL, KIND, TEXT, IDS, ADDRESSES };

/* key: "" for a field that stands in its place; the others are key=value. */
struct message_field {
    enum wire_type type;
    const char *key;
    size_t offset;
};

struct message_row {
    const char *name;
    struct message_field fields[FIELDS_MAX + 1];
    enum wire_kind answer; /* to a command */
    bool is_slow;          /* another slow one is refused meanwhile */
};

#define FIELD(type, key, member)                         \
    {                                                    \
        type, key, offsetof(struct wire_message, member) \
    }
#define TICKS      FIELD(U64, "ticks", ticks)
#define CLASSES    FIELD(U32, "classes", n_classes)
#define UNKNOWN    FIELD(U32, "unknown", n_unknown)
#define COUNT      FIELD(U32, "n", n)
#define TOTAL      FIELD(REAL, "total_ms", total_ms)
#define CPU        FIELD(REAL, "cpu_ms", cpu_ms)
#define WORDS      FIELD(TEXT, "", text)
#define LIST(type) FIELD(type, "", list)
#define CHANGES                                                                                  \
    TICKS, CLASSES, FIELD(U32, "methods", n_methods), UNKNOWN, FIELD(U32, "batches", n_batches), \
        FIELD(REAL, "pause_ms", longest_pause_ms), TOTAL, CPU

static const struct message_row rows[WIRE_N_KINDS] = {
    [WIRE_HELLO] = { .name = "hello", .fields = { FIELD(U32, "", version), FIELD(U32, "", pid), WORDS } },
    [WIRE_READY] = { .name = "ready", .fields = { FIELD(REAL, "longest_ms", longest_ms), TOTAL } },
    [WIRE_FAILED] = { .name = "failed", .fields = { WORDS } },
    [WIRE_COUNTERS] = { .name = "counters", .fields = { FIELD(U32, "", tid), FIELD(U32, "", ring) } },
    [WIRE_CHANGING] = { .name = "changing", .fields = { CLASSES } },
    [WIRE_PAUSE] = { .name = "pause",
                     .fields = { TICKS, FIELD(U64, "ns", pause_ns), CLASSES, FIELD(REAL, "call_ms", call_ms) } },
    [WIRE_FULL] = { .name = "full" },
    [WIRE_PERF_MAP] = { .name = "perf_map", .fields = { WORDS } },
    [WIRE_PERF_MAP_FAILED] = { .name = "perf_map_failed", .fields = { WORDS } },
    [WIRE_CODE_MAP_FAILED] = { .name = "code_map_failed", .fields = { WORDS } },
    [WIRE_CODE_MAP_ALL] = { .name = "code_map_all", .fields = { WORDS } },
    [WIRE_ARCHIVE] = { .name = "archive", .fields = { WORDS } },
    [WIRE_STOPPED] = { .name = "stopped" },
    [WIRE_ENABLED] = { .name = "enabled", .fields = { TICKS, COUNT, UNKNOWN } },
    [WIRE_DISABLED] = { .name = "disabled", .fields = { TICKS, COUNT, UNKNOWN } },
    [WIRE_INSTRUMENTED] = { .name = "instrumented", .fields = { CHANGES } },
    [WIRE_REMOVED] = { .name = "removed", .fields = { CHANGES } },
    [WIRE_POLLING] = { .name = "polling" },
    [WIRE_ALLOCATIONS_BEGUN] = { .name = "allocations_begun" },
    [WIRE_DEPENDENTS_TOLD] = { .name = "dependents_told", .fields = { CPU } },
    [WIRE_LOGGING] = { .name = "logging" },
    [WIRE_TOLD] = { .name = "told", .fields = { COUNT, CPU } },
    [WIRE_COMPILING] = { .name = "compiling", .fields = { COUNT, UNKNOWN, CPU } },
    [WIRE_REFUSED] = { .name = "refused", .fields = { FIELD(KIND, "", command), WORDS } },
    [WIRE_SESSION] = { .name = "session" },
    [WIRE_BEGIN] = { .name = "begin" },
    [WIRE_STOP] = { .name = "stop" },
    [WIRE_ENABLE] = { .name = "enable", .fields = { LIST(IDS) }, .answer = WIRE_ENABLED },
    [WIRE_DISABLE] = { .name = "disable", .fields = { LIST(IDS) }, .answer = WIRE_DISABLED },
    [WIRE_INSTRUMENT] = { .name = "instrument", .answer = WIRE_INSTRUMENTED, .is_slow = true },
    [WIRE_REMOVE] = { .name = "remove", .fields = { LIST(IDS) }, .answer = WIRE_REMOVED, .is_slow = true },
    [WIRE_POLL] = { .name = "poll",
                    .fields = { FIELD(U32, "", period_us), FIELD(U32, "", part_ppm) },
                    .answer = WIRE_POLLING },
    [WIRE_ALLOCATIONS] = { .name = "allocations",
                           .fields = { FIELD(U32, "", part_ppm), FIELD(U32, "live", is_tracking) },
                           .answer = WIRE_ALLOCATIONS_BEGUN },
    [WIRE_DEPENDENTS] = { .name = "dependents", .answer = WIRE_DEPENDENTS_TOLD, .is_slow = true },
    [WIRE_JIT] = { .name = "jit", .answer = WIRE_LOGGING },
    [WIRE_WHERE] = { .name = "where", .fields = { LIST(ADDRESSES) }, .answer = WIRE_TOLD },
    [WIRE_COMPILE] = { .name = "compile", .answer = WIRE_COMPILING, .is_slow = true },
};

const char *wire_name(enum wire_kind kind)
{
    return kind > WIRE_UNKNOWN && kind < WIRE_N_KINDS ? rows[kind].name : "?";
}

enum wire_kind wire_answer(enum wire_kind command)
{
    return rows[command].answer;
}

bool wire_is_slow(enum wire_kind command)
{
    return rows[command].is_slow;
}

/* ---- encoding ---- */

struct wire_out {
    char *packet;
    size_t used, room;
};

static void __attribute__((format(printf, 2, 3))) put(struct wire_out *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(out->packet + out->used, out->room - out->used, format, arguments);
    va_end(arguments);
    if (n > 0)
        out->used = out->used + (size_t)n < out->room ? out->used + (size_t)n : out->room - 1;
}

/* No number is cut. */
static void put_list(struct wire_out *out, enum wire_type type, const struct wire_list *list)
{
    for (size_t i = 0; list != NULL && i < list->n && out->room - out->used > NUMBER_BYTES; i++)
        put(out, type == IDS ? " %" PRIu64 : " %" PRIx64, list->numbers[i]);
}

static void put_field(struct wire_out *out, const struct message_field *field, const struct wire_message *message)
{
    const void *at = (const char *)message + field->offset;
    if (field->key[0] != '\0')
        put(out, " %s=", field->key);
    else if (field->type < IDS)
        put(out, " ");
    switch (field->type) {
    case U32:
        put(out, "%" PRIu32, *(const uint32_t *)at);
        break;
    case U64:
        put(out, "%" PRIu64, *(const uint64_t *)at);
        break;
    case REAL:
        put(out, "%.3f", *(const double *)at);
        break;
    case KIND:
        put(out, "%s", wire_name(*(const enum wire_kind *)at));
        break;
    case TEXT:
        put(out, "%s", message->text == NULL ? "" : message->text);
        break;
    case IDS:
    case ADDRESSES:
        put_list(out, field->type, message->list);
        break;
    case END:
        break;
    }
}

size_t wire_encode(const struct wire_message *message, char *packet, size_t room)
{
    const struct message_row *row = &rows[message->kind];
    struct wire_out out = { packet, 0, room };
    put(&out, "%s", wire_name(message->kind));
    for (const struct message_field *field = row->fields; field->type != END; field++)
        put_field(&out, field, message);
    return out.used;
}

/* ---- decoding ---- */

/* The kind whose word a packet begins with. */
static enum wire_kind kind_of(const char *packet)
{
    size_t n = strcspn(packet, " ");
    for (enum wire_kind kind = WIRE_UNKNOWN + 1; kind < WIRE_N_KINDS; kind++)
        if (strlen(rows[kind].name) == n && memcmp(packet, rows[kind].name, n) == 0)
            return kind;
    return WIRE_UNKNOWN;
}

/* Behind " KEY=" at or after a blank, or NULL. */
static const char *value_of(const char *at, const char *key)
{
    size_t n = strlen(key);
    for (; at != NULL && *at == ' '; at = strchr(at + 1, ' '))
        if (strncmp(at + 1, key, n) == 0 && at[1 + n] == '=')
            return at + 2 + n;
    return NULL;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void get_list(const char *at, enum wire_type type, struct wire_list *list)
{
    list->n = 0;
    while (list->n < WIRE_LIST_MAX && *at == ' ') {
        char *end;
        uint64_t number = strtoull(at + 1, &end, type == IDS ? 10 : 16);
        if (end == at + 1 || at[1] == ' ' || at[1] == '-')
            break;
        list->numbers[list->n++] = type == IDS && number > UINT32_MAX ? UINT32_MAX : number;
        at = end;
    }
}

static void get_number(const char *value, enum wire_type type, void *to)
{
    uint64_t number = type != REAL && is_digit(value[0]) ? strtoull(value, NULL, 10) : 0;
    if (type == U32)
        *(uint32_t *)to = number > UINT32_MAX ? 0 : (uint32_t)number;
    else if (type == U64)
        *(uint64_t *)to = number;
    else {
        double real = strtod(value, NULL);
        *(double *)to = real >= 0 && real < REAL_MAX ? real : 0;
    }
}

/* at: the blank before a field in its place, or before any of the others.  Returns where the next one is; NULL: bad. */
static const char *get_field(const char *at, const struct message_field *field, struct wire_list *list,
                             struct wire_message *message)
{
    void *to = (char *)message + field->offset;
    const char *value = field->key[0] != '\0' ? value_of(at, field->key) : at + (*at == ' ');
    if (field->key[0] != '\0') {
        if (value != NULL)
            get_number(value, field->type, to);
        return at;
    }
    if (field->type == TEXT) {
        message->text = value;
    } else if (field->type == KIND) {
        message->command = kind_of(value);
    } else if (field->type >= IDS) {
        message->list = list;
        if (list != NULL)
            get_list(at, field->type, list);
    } else if (is_digit(*value)) {
        get_number(value, field->type, to);
    } else {
        return NULL;
    }
    return value + strcspn(value, " ");
}

void wire_decode(const char *packet, struct wire_list *list, struct wire_message *message)
{
    const char *at = packet + strcspn(packet, " ");
    *message = (struct wire_message){ .kind = kind_of(packet), .text = "" };
    for (const struct message_field *field = rows[message->kind].fields; field->type != END && at != NULL; field++)
        at = get_field(at, field, list, message);
    if (at == NULL)
        message->kind = WIRE_UNKNOWN;
}
