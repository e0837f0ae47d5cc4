#include "symbolize/java_names.h"

#include "core/base/map.h"
#include "core/base/xalloc.h"

#include <fnmatch.h>

/* How much a label must say to be the only one of its table. */
struct detail {
    bool package, parameters, outer, returned, all;
};

/* The name without a hidden class' address: "/0x..." (17), ".0x..." (signatures) or "+0x..." at its end. */
static size_t visible_length(const char *class_name)
{
    size_t n = strlen(class_name);
    for (size_t i = 0; i + 3 < n; i++)
        if (strchr("/.+", class_name[i]) != NULL && class_name[i + 1] == '0' && class_name[i + 2] == 'x')
            return i;
    return n;
}

static size_t package_length(const char *class_name, size_t n)
{
    while (n > 0 && class_name[n - 1] != '/')
        n--;
    return n;
}

static char *dotted(struct arena *arena, const char *text, size_t n)
{
    char *copy = arena_text(arena, text, n);
    for (char *c = copy; *c != '\0'; c++)
        if (*c == '/')
            *c = '.';
    return copy;
}

/* NULL: it is none. */
static const char *primitive(char letter)
{
    static const char *const names[] = { "Bbyte", "Cchar",  "Ddouble", "Ffloat",  "Iint",
                                         "Jlong", "Sshort", "Vvoid",   "Zboolean" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i][0] == letter)
            return names[i] + 1;
    return NULL;
}

/* "Entry" of "Map$Entry"; all of an anonymous class' name. */
static size_t outer_length(const char *name, size_t n)
{
    size_t i = n;
    while (i > 0 && name[i - 1] != '$')
        i--;
    return i == n || (name[i] >= '0' && name[i] <= '9') ? 0 : i;
}

/*
 * One type of a descriptor as in the source, "String[]", with the classes that it is nested in or without; *at moves
 * behind it.  "" when malformed.
 */
static const char *type_name(struct arena *arena, const char **at, bool with_outer)
{
    size_t n_dimensions = strspn(*at, "[");
    const char *start = *at + n_dimensions;
    const char *base = primitive(*start);
    *at = start + 1;
    if (*start == 'L') {
        const char *end = strchr(start, ';');
        if (end == NULL)
            return "";
        size_t n = (size_t)(end - start - 1), skip = package_length(start + 1, n);
        if (!with_outer)
            skip += outer_length(start + 1 + skip, n - skip);
        base = arena_text(arena, start + 1 + skip, n - skip);
        *at = end + 1;
    } else if (base == NULL) {
        return "";
    }
    size_t n_base = strlen(base);
    char *name = arena_alloc(arena, n_base + 2 * n_dimensions + 1);
    memcpy(name, base, n_base);
    for (size_t i = 0; i < n_dimensions; i++)
        memcpy(name + n_base + 2 * i, "[]", 2);
    return name;
}

static const char *parameters_of(struct arena *arena, const char *descriptor, bool with_outer)
{
    if (descriptor[0] != '(')
        return "(?)";
    const char *at = descriptor + 1, *text = "(";
    for (const char *comma = ""; *at != ')'; comma = ", ") {
        const char *type = *at == '\0' ? "" : type_name(arena, &at, with_outer);
        if (*type == '\0')
            return "(?)";
        text = arena_printf(arena, "%s%s%s", text, comma, type);
    }
    return arena_printf(arena, "%s)", text);
}

const char *java_names_parameters(struct arena *arena, const char *descriptor)
{
    return parameters_of(arena, descriptor, true);
}

static const char *returned_type(struct arena *arena, const char *descriptor)
{
    const char *close = descriptor + 1, *type = "?"; /* a class's name may have a bracket, too */
    while (descriptor[0] == '(' && *close != ')' && *close != '\0' && *type != '\0')
        type = type_name(arena, &close, true);
    if (descriptor[0] != '(' || *close != ')' || close[1] == '\0')
        return "?";
    close++;
    return type_name(arena, &close, true);
}

const char *java_names_display(struct arena *arena, const struct method_name *name, enum java_names_style style)
{
    size_t n = visible_length(name->class_name);
    size_t skip = style == JAVA_NAMES_FULL ? 0 : package_length(name->class_name, n);
    const char *class_name = dotted(arena, name->class_name + skip, n - skip);
    return *class_name == '\0' ? name->method : arena_printf(arena, "%s.%s", class_name, name->method);
}

static const char *label_of(struct arena *arena, const struct method_name *name, struct detail detail, size_t number)
{
    if (detail.all)
        return arena_printf(arena, "%s.%s%s #%zu", name->class_name, name->method, name->descriptor, number + 1);
    const char *text = java_names_display(arena, name, detail.package ? JAVA_NAMES_FULL : JAVA_NAMES_SHORT);
    const char *parameters = detail.parameters ? parameters_of(arena, name->descriptor, detail.outer) : "";
    const char *type = detail.returned ? returned_type(arena, name->descriptor) : "";
    return arena_printf(arena, "%s%s%s%s", text, parameters, detail.returned ? " " : "", type);
}

/* Two rows print alike: let both say one thing more. */
static void raise_detail(const struct method_name *a, const struct method_name *b, struct detail *one,
                         struct detail *other)
{
    if (strcmp(a->class_name, b->class_name) != 0 && !one->package)
        one->package = other->package = true;
    else if (!one->parameters)
        one->parameters = other->parameters = true;
    else if (!one->outer)
        one->outer = other->outer = true;
    else if (!one->returned)
        one->returned = other->returned = true;
    else
        one->all = other->all = true;
}

/* One round: make the labels, raise the detail of those that are alike.  Returns whether there were any. */
static bool label_round(struct arena *arena, const struct method_name *names, size_t n, struct detail *details,
                        const char **labels)
{
    struct map seen = { .arena = arena };
    bool is_raised = false;
    for (size_t i = 0; i < n; i++)
        labels[i] = label_of(arena, &names[i], details[i], i);
    for (size_t i = 0; i < n; i++) {
        const uint32_t *first = map_get(&seen, labels[i], strlen(labels[i]));
        if (first == NULL)
            map_put(&seen, labels[i], strlen(labels[i]), (uint32_t)i);
        else
            raise_detail(&names[i], &names[*first], &details[i], &details[*first]);
        is_raised = is_raised || first != NULL;
    }
    /* Where one of a group needs its package, the others would be read as that one's without theirs. */
    for (size_t i = 0; i < n; i++)
        if (details[*map_get(&seen, labels[i], strlen(labels[i]))].package)
            details[i].package = true;
    map_free(&seen);
    return is_raised;
}

const char **java_names_labels(struct arena *arena, const struct method_name *names, size_t n)
{
    const char **labels = arena_alloc(arena, (n + 1) * sizeof *labels);
    struct detail *details = xcalloc(n + 1, sizeof *details);
    /* Each round raises at least one detail of each row that is not alone; there are five. */
    for (int round = 0; round < 6 && label_round(arena, names, n, details, labels); round++)
        continue;
    free(details);
    return labels;
}

const char *java_names_class(struct arena *arena, const char *name)
{
    size_t n_dimensions = strspn(name, "[");
    const char *element = name + n_dimensions, *base = n_dimensions > 0 ? primitive(*element) : NULL;
    if (base != NULL)
        element = base;
    size_t n = strcspn(element + (n_dimensions > 0 && element[0] == 'L'), ";+");
    char *text = arena_text(arena, element + (n_dimensions > 0 && element[0] == 'L'), n);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '/')
            *c = '.';
    for (size_t i = 0; i < n_dimensions; i++)
        text = arena_printf(arena, "%s[]", text);
    return text;
}

/* Is the class called so ("Plugin[2]", too, which is one of a second class loader), or does its name end with that,
 * behind a point or '$'? */
static bool is_class(const char *class_name, const char *pattern)
{
    const char *at = class_name;
    while (strcmp(pattern, at) != 0 && fnmatch(pattern, at, FNM_NOESCAPE) != 0) {
        at += strcspn(at, ".$");
        if (*at++ == '\0')
            return false;
    }
    return true;
}

bool java_names_is(struct arena *arena, const struct method_name *name, const char *pattern)
{
    const char *full = java_names_display(arena, name, JAVA_NAMES_FULL), *open = strchr(pattern, '(');
    const char *parameters = open == NULL ? NULL : java_names_parameters(arena, name->descriptor);
    size_t n = open == NULL ? strlen(pattern) : (size_t)(open - pattern), i = n;
    if (open != NULL && strcmp(open, name->descriptor) != 0 && strcmp(open, parameters) != 0)
        return false;
    while (i > 0 && pattern[i - 1] != '.' && pattern[i - 1] != '#')
        i--;
    const char *method = arena_text(arena, pattern + i, n - i);
    if (fnmatch(method, name->method, FNM_NOESCAPE) != 0)
        return false;
    if (i == 0)
        return true;
    size_t n_full = strlen(full), n_method = strlen(name->method) + 1;
    char *class_name = arena_text(arena, full, n_full > n_method ? n_full - n_method : 0);
    char *class_pattern = arena_text(arena, pattern, i - 1);
    for (char *at = class_pattern; *at != '\0'; at++)
        *at = *at == '/' ? '.' : *at;
    return is_class(class_name, class_pattern);
}
