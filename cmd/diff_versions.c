#include "cmd/diff_parts.h"

struct diff_sides diff_sides_begin(void)
{
    return (struct diff_sides){ .names = { "before", "after" }, .n = DIFF_SIDES };
}

int diff_sides_word(struct diff_sides *sides, size_t side, const char *word, struct err *err)
{
    struct options_list *list = &sides->words[side];
    if (list->n == OPTIONS_LIST_MAX)
        return err_set(err, "more than %d traces on one side", OPTIONS_LIST_MAX);
    list->items[list->n++] = word;
    return 0;
}

int diff_sides_add(struct diff_sides *sides, const char *text, size_t *side, struct err *err)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text || equals[1] == '\0') {
        err_set(err, "malformed side '%s'", text);
        return err_next(err, "give it a name: --side NAME=TRACE, or with --until --side NAME='COMMAND'");
    }
    size_t n = (size_t)(equals - text);
    for (*side = 0; *side < sides->n; ++*side)
        if (strncmp(sides->names[*side], text, n) == 0 && strchr("=", sides->names[*side][n]) != NULL)
            return diff_sides_word(sides, *side, equals + 1, err);
    if (sides->n == VERSIONS_MAX)
        return err_set(err, "more than %d versions", VERSIONS_MAX);
    sides->names[sides->n++] = text; /* up to its '=' */
    return diff_sides_word(sides, *side, equals + 1, err);
}

/* The sides that have words; index: of each its place in sides. */
static int begin(const struct diff_sides *sides, struct arena *arena, struct versions *v, size_t *index,
                 struct err *err)
{
    *v = (struct versions){ .arena = arena };
    for (size_t i = 0; i < sides->n; i++) {
        if (sides->words[i].n == 0)
            continue;
        v->names[v->n_versions] = arena_text(arena, sides->names[i], strcspn(sides->names[i], "="));
        index[v->n_versions++] = i;
    }
    if (v->n_versions >= 2)
        return 0;
    err_set(err, "nothing to compare");
    return err_next(err, "name two versions at least: --before, --after, --side NAME=...");
}

/* "a.dat, b.dat". */
static const char *list_of(struct arena *arena, const struct options_list *words)
{
    const char *list = "";
    for (size_t i = 0; i < words->n; i++)
        list = arena_printf(arena, "%s%s%s", list, i == 0 ? "" : ", ", words->items[i]);
    return list;
}

/* The command becomes the traces of its runs. */
static void take_traces(struct options_list *words, const char *directory, const struct versions *v, size_t version)
{
    words->n = 0;
    while (words->n < v->n_runs[version] && words->n < OPTIONS_LIST_MAX) {
        const char *path = diff_record_path(v->arena, directory, v->names[version], words->n + 1);
        words->items[words->n++] = path;
    }
}

static int check_name(const char *name, const char *directory, struct err *err)
{
    if (directory == NULL || strchr(name, '/') == NULL)
        return 0;
    err_set(err, "'%s' cannot be the name of traces: it has a '/'", name);
    return err_next(err, "give the version another name, such as --side new='java ...'");
}

/* NULL: there is nothing to say. */
static void say(struct table *table, const char *note, bool is_sure)
{
    if (note != NULL && is_sure)
        table_note(table, note);
    else if (note != NULL)
        table_doubt(table, note);
}

int diff_versions_run(struct diff_sides *sides, const struct diff_until *until, double least,
                      struct versions_gate *gate, bool is_text, struct arena *arena, struct table *table,
                      struct err *err)
{
    struct versions v;
    size_t index[VERSIONS_MAX];
    struct diff_until_end end;
    if (begin(sides, arena, &v, index, err) < 0)
        return -1;
    v.least = least;
    v.gate = gate;
    for (size_t i = 0; i < v.n_versions; i++) {
        const struct options_list *words = &sides->words[index[i]];
        v.what[i] = words->items[0];
        if (check_name(v.names[i], until->directory, err) < 0)
            return -1;
        if (words->n == 1)
            continue;
        err_set(err, "'%s' has %zu commands", v.names[i], words->n);
        return err_next(err, "put the command in quotes: --%s 'java -jar app.jar'", v.names[i]);
    }
    if (diff_until_run(until, &v, &end, err) < 0)
        return -1;
    versions_table(&v, is_text, table);
    say(table, end.intervals, end.is_narrow);
    say(table, end.steady, end.is_steady);
    for (size_t i = 0; until->directory != NULL && i < v.n_versions; i++)
        take_traces(&sides->words[index[i]], until->directory, &v, i);
    return 0;
}

int diff_versions_read(const struct diff_sides *sides, const struct diff_row_options *options,
                       struct versions_gate *gate, bool is_text, struct arena *arena, struct table *table,
                       struct err *err)
{
    struct versions v;
    size_t index[VERSIONS_MAX], n_traces[VERSIONS_MAX];
    const char *const *paths[VERSIONS_MAX];
    if (begin(sides, arena, &v, index, err) < 0)
        return -1;
    v.least = options->least;
    v.gate = gate;
    for (size_t i = 0; i < v.n_versions; i++) {
        paths[i] = sides->words[index[i]].items;
        n_traces[i] = sides->words[index[i]].n;
        v.what[i] = list_of(arena, &sides->words[index[i]]);
    }
    if (versions_of_traces(options, paths, n_traces, &v, err) < 0 || versions_check_gate(&v, err) < 0)
        return -1;
    versions_table(&v, is_text, table);
    return 0;
}
