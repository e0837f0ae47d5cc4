#include "core/base/options.h"

#include "core/base/near.h"

#include <ctype.h>

/* "5%" or "0.05" as a fraction 0..1.  Returns 0, or -1. */
static int parse_fraction(const char *text, double *fraction)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || !isfinite(value))
        return -1;
    if (*end == '%') {
        value /= 100;
        end++;
    }
    if (*end != '\0' || value < 0 || value > 1)
        return -1;
    *fraction = value;
    return 0;
}

static int parse_number(const char *text, bool with_unit, uint64_t *number)
{
    if (!isdigit((unsigned char)*text))
        return -1;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    unsigned shift = 0;
    if (with_unit && *end != '\0') {
        const char *unit = strchr("KMG", toupper((unsigned char)*end));
        if (unit == NULL || *unit == '\0')
            return -1;
        shift = 10 * (unsigned)(unit - "KMG" + 1);
        end++;
    }
    if (errno != 0 || *end != '\0' || value > UINT64_MAX >> shift)
        return -1;
    *number = (uint64_t)value << shift;
    return 0;
}

int options_seconds(const char *text, double *seconds)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = { { "", 1 },   { "us", 1e-6 }, { "ms", 1e-3 }, { "s", 1 },
                  { "m", 60 }, { "min", 60 },  { "h", 3600 },  { "d", 86400 } };
    char *end;
    double value = strtod(text, &end);
    if (end == text || !isfinite(value) || value <= 0)
        return -1;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].name) == 0) {
            *seconds = value * units[i].seconds;
            return 0;
        }
    return -1;
}

static int add_to_list(struct options_list *list, const char *value)
{
    if (list->n == OPTIONS_LIST_MAX)
        return -1;
    list->items[list->n++] = value;
    return 0;
}

static int assign(const struct options_row *row, const char *value)
{
    switch (row->type) {
    case OPTION_FLAG:
        *(bool *)row->target = true;
        return 0;
    case OPTION_TEXT:
        *(const char **)row->target = value;
        return 0;
    case OPTION_MAYBE_TEXT:
        *(const char **)row->target = value == NULL ? "" : value;
        return 0;
    case OPTION_NUMBER:
        return parse_number(value, false, row->target);
    case OPTION_SIZE:
        return parse_number(value, true, row->target);
    case OPTION_SECONDS:
        return options_seconds(value, row->target);
    case OPTION_SECONDS_OR_NONE:
        *(double *)row->target = 0;
        return strcmp(value, "0") == 0 ? 0 : options_seconds(value, row->target);
    case OPTION_MAYBE_SECONDS:
        if (value != NULL)
            return options_seconds(value, row->target);
        *(double *)row->target = 0;
        return 0;
    case OPTION_FRACTION:
        return parse_fraction(value, row->target);
    case OPTION_LIST:
        return add_to_list(row->target, value);
    case OPTION_OLD:
    case OPTION_GROUP:
    case OPTION_RARE:
    case OPTION_ROWS:
        break;
    }
    return -1;
}

/* Does it take a value only behind a '='? */
static bool is_maybe(const struct options_row *row)
{
    return row->type == OPTION_MAYBE_SECONDS || row->type == OPTION_MAYBE_TEXT;
}

/* Is it a row of an option? */
static bool is_option(const struct options_row *row)
{
    return row->type != OPTION_GROUP && row->type != OPTION_RARE && row->type != OPTION_ROWS;
}

/* The row with this name, of n bytes, or with this letter (name NULL); NULL: there is none. */
static const struct options_row *find_option(const struct options_row *rows, const char *name, size_t n, char letter)
{
    for (; rows->name != NULL; rows++) {
        const struct options_row *row = rows;
        if (row->type == OPTION_ROWS)
            row = find_option(row->target, name, n, letter);
        else if (!is_option(row) ||
                 (name == NULL ? row->letter != letter : strlen(row->name) != n || memcmp(row->name, name, n) != 0))
            row = NULL;
        if (row != NULL)
            return row;
    }
    return NULL;
}

/* The row of a word and the value glued to it, if any. */
static const struct options_row *match(const struct options_row *rows, const char *word, const char **glued)
{
    *glued = NULL;
    if (word[1] != '-') {
        if (word[2] != '\0')
            *glued = word + 2;
        return find_option(rows, NULL, 0, word[1]);
    }
    const char *equals = strchr(word, '=');
    if (equals != NULL)
        *glued = equals + 1;
    return find_option(rows, word + 2, equals == NULL ? strlen(word + 2) : (size_t)(equals - word - 2), 0);
}

/* The row of the name that an old one has now. */
static const struct options_row *renamed(const struct options_row *rows, const struct options_row *row)
{
    const char *now = row->target;
    fprintf(stderr, "mmprof: option --%s is now --%s; the old name goes with the next version\n", row->name, now);
    return find_option(rows, now, strlen(now), 0);
}

/* How values of a type look, behind the option's help. */
static const char *example_of(enum option_type type)
{
    switch (type) {
    case OPTION_SECONDS:
    case OPTION_SECONDS_OR_NONE:
    case OPTION_MAYBE_SECONDS:
        return "; such as 90s, 500ms, 5m or 1h";
    case OPTION_FRACTION:
        return "; such as 5% or 0.05";
    case OPTION_SIZE:
        return "; such as 64K, 8M or 2G";
    default:
        return "";
    }
}

static void consider_names(struct near *near, const struct options_row *rows)
{
    for (; rows->name != NULL; rows++)
        if (rows->type == OPTION_ROWS)
            consider_names(near, rows->target);
        else if (is_option(rows) && rows->help != NULL) {
            char word[NEAR_BYTES];
            snprintf(word, sizeof word, "--%s", rows->name);
            near_consider(near, rows->name, word);
        }
}

static int refuse(const struct options_row *rows, const char *word, struct err *err)
{
    struct near near;
    char name[NEAR_BYTES];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 1 + (word[1] == '-'), "="), word + 1 + (word[1] == '-'));
    near_begin(&near, name);
    if (strlen(name) > 1)
        consider_names(&near, rows);
    err_set(err, "unknown option '%s'", word);
    return near_next(&near, "run it with --help-all for the list of options", err);
}

int options_parse(const struct options_row *rows, int argc, char **argv, int *n_parsed, struct err *err)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-' && argv[i][1] != '\0'; i++) {
        const char *word = argv[i], *value;
        if (strcmp(word, "--") == 0) {
            i++;
            break;
        }
        const struct options_row *row = match(rows, word, &value);
        if (row == NULL)
            return refuse(rows, word, err);
        if (row->type == OPTION_OLD)
            row = renamed(rows, row);
        if (row->type == OPTION_FLAG && value != NULL)
            return err_set(err, "option --%s takes no value", row->name);
        bool needs_value = row->type != OPTION_FLAG && !is_maybe(row);
        if (needs_value && value == NULL && ++i < argc)
            value = argv[i];
        if (needs_value && value == NULL)
            return err_set(err, "option --%s needs a value: --%s %s", row->name, row->name, row->argument);
        if (assign(row, value) < 0) {
            err_set(err, "bad value '%s' of option --%s", value, row->name);
            return err_next(err, "--%s %s: %s%s", row->name, row->argument, row->help == NULL ? "" : row->help,
                            example_of(row->type));
        }
    }
    *n_parsed = i;
    return 0;
}

static void help_row(FILE *out, const struct options_row *row)
{
    char left[64], letter[8] = "    ";
    if (row->letter != 0)
        snprintf(letter, sizeof letter, "-%c, ", row->letter);
    snprintf(left, sizeof left, "%s--%s%s%s%s", letter, row->name,
             row->argument == NULL ? ""
             : is_maybe(row)       ? "[="
                                   : " ",
             row->argument == NULL ? "" : row->argument, is_maybe(row) ? "]" : "");
    fprintf(out, "  %-30s %s\n", left, row->help);
}

struct help {
    FILE *out;
    bool with_rare;
    const char *heading; /* of the group, until its first row is printed; or NULL */
    size_t n_printed, n_left;
};

static void help_rows(struct help *help, const struct options_row *rows)
{
    bool is_rare = false;
    for (const struct options_row *row = rows; row->name != NULL; row++) {
        if (row->type == OPTION_ROWS) {
            help_rows(help, row->target);
        } else if (row->type == OPTION_GROUP) {
            help->heading = row->help;
            is_rare = false;
        } else if (row->type == OPTION_RARE) {
            is_rare = true;
        } else if (is_rare && !help->with_rare) {
            help->n_left += row->help != NULL;
        } else if (row->help != NULL) {
            if (help->heading != NULL)
                fprintf(help->out, "%s%s:\n", help->n_printed == 0 ? "" : "\n", help->heading);
            help->heading = NULL;
            help->n_printed++;
            help_row(help->out, row);
        }
    }
}

size_t options_help(FILE *out, const struct options_row *rows, bool with_rare)
{
    struct help help = { out, with_rare, NULL, 0, 0 };
    help_rows(&help, rows);
    return help.n_left;
}
