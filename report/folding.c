#include "report/folding.h"

#include "core/base/hash.h"
#include "core/base/pattern.h"
#include "core/base/xalloc.h"

/* report/frameworks.txt, which the build makes an array of; it ends with a 0. */
extern const unsigned char frameworks_text[];

/* What was said of a class last: deep stacks have the same ones over and over. */
#define SAID 8192u
struct said {
    uint64_t class_hash; /* 0: of none */
    bool is_listed;
};

struct folding_list {
    struct pattern *patterns;
    size_t n;
    struct said *said; /* SAID of them */
};

#define LINE_MOST 4096

/* The file's text; the arena's. */
static const char *text_of(const char *path, struct arena *arena, struct err *err)
{
    char *text = NULL, line[LINE_MOST];
    size_t n = 0;
    FILE *in = fopen(path, "re");
    if (in == NULL) {
        err_set(err, "cannot open '%s': %s", path, strerror(errno));
        err_next(err, "name a file with one pattern of classes per line, such as 'org.apache.catalina.*'");
        return NULL;
    }
    FILE *out = xopen_memstream(&text, &n);
    while (fgets(line, sizeof line, in) != NULL)
        fputs(line, out);
    bool is_read = !ferror(in);
    xclose_memstream(out);
    fclose(in);
    const char *copy = is_read ? arena_text(arena, text, n) : NULL;
    free(text);
    if (copy == NULL)
        err_set(err, "cannot read '%s'", path);
    return copy;
}

/* A line without its comment, which begins with it or behind a blank, and blanks; *n of it. */
static const char *trimmed(const char *line, size_t *n)
{
    size_t all = 0;
    while (line[all] != '\0' && line[all] != '\n' &&
           (line[all] != '#' || (all > 0 && strchr(" \t", line[all - 1]) == NULL)))
        all++;
    size_t blanks = strspn(line, " \t\r");
    line += blanks < all ? blanks : all;
    all -= blanks < all ? blanks : all;
    while (all > 0 && strchr(" \t\r", line[all - 1]) != NULL)
        all--;
    *n = all;
    return line;
}

static int take_lines(struct folding_list *folding, const char *text, const char *path, struct arena *arena,
                      struct err *err)
{
    size_t room = 1;
    for (const char *at = text; *at != '\0'; at++)
        room += *at == '\n';
    folding->patterns = arena_alloc(arena, room * sizeof *folding->patterns);
    while (*text != '\0') {
        size_t n, all = strcspn(text, "\n");
        const char *line = trimmed(text, &n), *word = arena_text(arena, line, n);
        if (n > 0 && pattern_parse(&folding->patterns[folding->n++], word) < 0) {
            err_set(err, "'%s' in '%s' is not a pattern of classes", word, path);
            return err_next(err, "write one pattern per line, such as 'org.apache.catalina.*'");
        }
        text += all + (text[all] == '\n');
    }
    return 0;
}

const struct folding_list *folding_read(const char *path, struct arena *arena, struct err *err)
{
    struct folding_list *folding = arena_alloc(arena, sizeof *folding);
    const char *text = path == NULL ? (const char *)frameworks_text : text_of(path, arena, err);
    folding->said = arena_alloc(arena, SAID * sizeof *folding->said);
    if (text == NULL || take_lines(folding, text, path == NULL ? "report/frameworks.txt" : path, arena, err) < 0)
        return NULL;
    return folding;
}

/* method  NULL: all of the class */
static bool is_listed(const struct folding_list *folding, const char *class_name, const char *method)
{
    size_t n = strlen(class_name);
    for (size_t i = 0; i < folding->n; i++) {
        const struct pattern *pattern = &folding->patterns[i];
        if (pattern->names_methods == (method != NULL) && pattern_matches_class(pattern, class_name, n) &&
            (method == NULL || pattern_matches_method(pattern, method, strlen(method))))
            return true;
    }
    return false;
}

bool folding_has(const struct folding_list *folding, const char *class_name)
{
    size_t n = strlen(class_name);
    uint64_t hash = hash_text(HASH_START, class_name, n);
    struct said *said = &folding->said[hash % SAID];
    if (said->class_hash != hash)
        *said = (struct said){ hash, is_listed(folding, class_name, NULL) };
    return said->is_listed;
}

bool folding_has_method(const struct folding_list *folding, const struct method_name *name)
{
    return folding_has(folding, name->class_name) || is_listed(folding, name->class_name, name->method);
}

const bool *folding_methods(const struct folding_list *folding, const struct report_source *source)
{
    uint32_t n = source->tree->n_methods;
    bool *listed = arena_alloc(source->arena, ((size_t)n + 1) * sizeof *listed);
    for (uint32_t i = 0; i < n; i++) {
        struct method_name name = report_name(source, i);
        listed[i] = folding_has_method(folding, &name);
    }
    return listed;
}
