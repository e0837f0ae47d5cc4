#include "core/wire/setting.h"

#include "core/base/words.h"

#define FIELDS_MAX   6
#define NUMBER_BYTES 24 /* with what stands before it */
#define WORD_BYTES   32 /* of a kind */

/* A TEXT goes up to the line's end; in a WORD blanks are escaped (core/base/words.h). */
enum setting_type { END, U32, HEX, WORD, TEXT };

struct setting_field {
    enum setting_type type;
    size_t offset;
};

struct setting_row {
    const char *name;
    struct setting_field fields[FIELDS_MAX + 1];
};

#define FIELD(type, member)                    \
    {                                          \
        type, offsetof(struct setting, member) \
    }
#define NUMBER FIELD(U32, number)
#define LINE   FIELD(TEXT, text)
#define METHOD FIELD(WORD, class_name), FIELD(WORD, name), FIELD(WORD, descriptor)
#define EVENT                                                                                             \
    FIELD(U32, event.group), FIELD(U32, event.type), FIELD(HEX, event.config), FIELD(HEX, event.config1), \
        FIELD(HEX, event.config2), FIELD(U32, event.exclude)

static const struct setting_row rows[SETTING_N_KINDS] = {
    [SETTING_MIN_BYTECODES] = { "min_bytecodes", { NUMBER } },
    [SETTING_INCLUDE] = { "include", { LINE } },
    [SETTING_EXCLUDE] = { "exclude", { LINE } },
    [SETTING_PHASE] = { "phase", { METHOD } },
    [SETTING_LOOP] = { "loop", { METHOD } },
    [SETTING_ARGUMENT] = { "argument", { NUMBER, FIELD(WORD, name), LINE } },
    [SETTING_COMPILE] = { "compile", { NUMBER, METHOD } },
    [SETTING_LIVE] = { "live", { { END, 0 } } },
    [SETTING_BEGIN_LATER] = { "begin_later", { { END, 0 } } },
    [SETTING_PERF_MAP] = { "perf_map", { { END, 0 } } },
    [SETTING_CODE_MAP] = { "code_map", { { END, 0 } } },
    [SETTING_CODE_ASKED] = { "code_asked", { { END, 0 } } },
    [SETTING_EVENT] = { "event", { EVENT } },
    [SETTING_READ_BY_CALL] = { "read_by_call", { { END, 0 } } },
    [SETTING_RECORDER] = { "", { LINE } },
    [SETTING_SIMULATED] = { "simulated", { LINE } },
    [SETTING_PREPARE] = { "prepare", { { END, 0 } } },
    [SETTING_TRACK_OBJECTS] = { "track_objects", { NUMBER } },
    [SETTING_COUNT_OBJECTS] = { "count_objects", { LINE } },
    [SETTING_COUNT_OBJECTS_IN] = { "count_objects_in", { NUMBER, FIELD(WORD, name), LINE } },
    [SETTING_COUNT_RECEIVERS] = { "count_receivers", { NUMBER, LINE } },
    [SETTING_COUNT_CALLS] = { "count_calls", { NUMBER, LINE } },
};

static char separator(enum setting_kind kind)
{
    return kind < SETTING_RECORDER ? ' ' : ':';
}

static const char *text_at(const struct setting *setting, const struct setting_field *field)
{
    return *(const char *const *)((const char *)setting + field->offset);
}

/* ---- encoding ---- */

size_t setting_room(const struct setting *setting)
{
    size_t n = WORD_BYTES;
    for (const struct setting_field *field = rows[setting->kind].fields; field->type != END; field++)
        n += field->type < WORD ? NUMBER_BYTES : WORDS_GROWTH * strlen(text_at(setting, field)) + 2;
    return n;
}

/* A text and its NUL; returns where that is. */
static char *put_text(char *to, const char *text)
{
    size_t n = strlen(text);
    memcpy(to, text, n + 1);
    return to + n;
}

size_t setting_encode(const struct setting *setting, char *line)
{
    char *to = put_text(line, rows[setting->kind].name);
    for (const struct setting_field *field = rows[setting->kind].fields; field->type != END; field++) {
        const void *from = (const char *)setting + field->offset;
        if (to > line)
            *to++ = separator(setting->kind);
        if (field->type == U32)
            to += snprintf(to, NUMBER_BYTES - 1, "%" PRIu32, *(const uint32_t *)from);
        else if (field->type == HEX)
            to += snprintf(to, NUMBER_BYTES - 1, "%" PRIx64, *(const uint64_t *)from);
        else if (field->type == WORD)
            to += words_escape(to, text_at(setting, field));
        else
            to = put_text(to, text_at(setting, field));
    }
    return (size_t)(to - line);
}

/* ---- decoding ---- */

static bool get_number(const char *word, enum setting_type type, void *to)
{
    const char *digits = type == U32 ? "0123456789" : "0123456789abcdef";
    size_t n = strspn(word, digits);
    if (n == 0 || n > 16 || word[n] != '\0')
        return false;
    uint64_t number = strtoull(word, NULL, type == U32 ? 10 : 16);
    if (type == HEX)
        *(uint64_t *)to = number;
    else
        *(uint32_t *)to = (uint32_t)number;
    return type == HEX || number <= UINT32_MAX;
}

/* Take a field from *at: NULL, or behind the separator.  Returns false when it is missing or damaged. */
static bool get_field(char **at, char between, const struct setting_field *field, struct setting *setting)
{
    void *to = (char *)setting + field->offset;
    char *word = *at, *end = word == NULL || field->type == TEXT ? NULL : strchr(word, between);
    if (end != NULL)
        *end++ = '\0';
    *at = end;
    if (word == NULL || word[0] == '\0')
        return false;
    if (field->type < WORD)
        return get_number(word, field->type, to);
    if (field->type == WORD)
        words_unescape(word);
    *(const char **)to = word;
    return true;
}

/* The kind that a line begins with; SETTING_N_KINDS: none. */
static enum setting_kind kind_of(const char *line)
{
    enum setting_kind kind = SETTING_MIN_BYTECODES;
    size_t n = strcspn(line, " :");
    if (line[0] == '/')
        return SETTING_RECORDER;
    while (kind < SETTING_N_KINDS && (n == 0 || strlen(rows[kind].name) != n || memcmp(rows[kind].name, line, n) != 0))
        kind++;
    return kind;
}

int setting_decode(char *line, struct setting *setting)
{
    enum setting_kind kind = kind_of(line);
    char *at = kind == SETTING_RECORDER ? line : strpbrk(line, " :");
    *setting = (struct setting){ .kind = kind };
    if (at != NULL && at > line) {
        bool fits = *at == separator(kind);
        *at++ = '\0';
        if (!fits)
            return -1;
    }
    if (kind == SETTING_N_KINDS)
        return -1;
    for (const struct setting_field *field = rows[kind].fields; field->type != END; field++)
        if (!get_field(&at, separator(kind), field, setting))
            return -1;
    return at == NULL ? 0 : -1;
}
