/*
 * Mangled names (Itanium C++ ABI, 5.1), as far as it takes to know whose function it is: the names of scopes and of
 * the function.  Arguments of templates are passed over, and parameters are not looked at.
 */
#include "symbolize/native_symbols.h"

#include <ctype.h>

#define NAME_BYTES 512
#define DEPTH_MAX  32

struct parser {
    const char *at; /* stays before the closing NUL */
    char out[NAME_BYTES];
    size_t n;
    const char *last; /* the latest name, for constructors; n_last bytes */
    size_t n_last;
    bool bad;
};

static void put(struct parser *p, const char *text, size_t n)
{
    for (size_t i = 0; i < n && p->n + 1 < NAME_BYTES; i++)
        p->out[p->n++] = text[i];
    p->out[p->n] = '\0';
}

static void put_scoped(struct parser *p, const char *text, size_t n)
{
    if (p->n > 0)
        put(p, "::", 2);
    put(p, text, n);
}

static bool take_text(struct parser *p, const char *text)
{
    size_t n = strlen(text);
    if (strncmp(p->at, text, n) != 0)
        return false;
    p->at += n;
    return true;
}

/* "3foo": the name's start, and its length in *n; NULL and bad when it is cut. */
static const char *source_name(struct parser *p, size_t *n)
{
    *n = 0;
    while (isdigit((unsigned char)*p->at) && *n < 4096)
        *n = *n * 10 + (size_t)(*p->at++ - '0');
    const char *name = p->at;
    if (*n == 0 || strnlen(name, *n) < *n) {
        p->bad = true;
        return NULL;
    }
    p->at += *n;
    return name;
}

/* After 'L': a type, a value, 'E'.  A name of its own begins with "_Z". */
static void pass_literal(struct parser *p, int depth);

/* After 'S' or 'T': "_", "1_", "t", "a". */
static void pass_substitution(struct parser *p)
{
    if (islower((unsigned char)*p->at)) {
        p->at++;
        return;
    }
    while (isalnum((unsigned char)*p->at))
        p->at++;
    if (!take_text(p, "_"))
        p->bad = true;
}

/* Pass over everything up to the 'E' that closes what was begun. */
static void pass_to_end(struct parser *p, int depth)
{
    size_t n;
    while (!p->bad && *p->at != '\0' && *p->at != 'E') {
        if (isdigit((unsigned char)*p->at)) {
            source_name(p, &n);
        } else if (take_text(p, "S") || take_text(p, "T")) {
            pass_substitution(p);
        } else if (*p->at == 'L') {
            p->at++;
            pass_literal(p, depth + 1);
        } else if (strchr("INXJF", *p->at) != NULL) {
            p->at++;
            if (depth == DEPTH_MAX)
                p->bad = true;
            else
                pass_to_end(p, depth + 1);
        } else {
            p->at++;
        }
    }
    if (!take_text(p, "E"))
        p->bad = true;
}

static void pass_literal(struct parser *p, int depth)
{
    size_t n;
    if (depth >= DEPTH_MAX || take_text(p, "_Z")) {
        pass_to_end(p, depth >= DEPTH_MAX ? DEPTH_MAX : depth + 1); /* the parameters' types, too */
        p->bad = p->bad || depth >= DEPTH_MAX;
        return;
    }
    if (isdigit((unsigned char)*p->at))
        source_name(p, &n);
    else if (take_text(p, "S"))
        pass_substitution(p);
    else if (take_text(p, "N"))
        pass_to_end(p, depth + 1);
    else
        p->at += *p->at != '\0';
    while (isalnum((unsigned char)*p->at) && *p->at != 'E') /* digits; n for a minus */
        p->at++;
    if (!take_text(p, "E"))
        p->bad = true;
}

static void take_name(struct parser *p)
{
    size_t n;
    const char *name = source_name(p, &n);
    if (name == NULL)
        return;
    p->last = name;
    p->n_last = n;
    if (n >= 11 && strncmp(name, "_GLOBAL__N_", 11) == 0)
        name = "(anonymous)", n = 11;
    put_scoped(p, name, n);
}

/* One part of a nested name. */
static void take_part(struct parser *p)
{
    if (isdigit((unsigned char)*p->at)) {
        take_name(p);
    } else if (take_text(p, "I")) {
        pass_to_end(p, 0);
        put(p, "<>", 2);
    } else if (p->last != NULL && (take_text(p, "C1") || take_text(p, "C2") || take_text(p, "C3"))) {
        put_scoped(p, p->last, p->n_last);
    } else if (p->last != NULL && (take_text(p, "D0") || take_text(p, "D1") || take_text(p, "D2"))) {
        put_scoped(p, "~", 1);
        put(p, p->last, p->n_last);
    } else if (take_text(p, "St")) {
        put_scoped(p, "std", 3);
    } else if (islower((unsigned char)p->at[0]) && isalpha((unsigned char)p->at[1]) && strncmp(p->at, "cv", 2) != 0) {
        p->at += 2;
        put_scoped(p, "operator", 8);
    } else if (!take_text(p, "L")) { /* internal linkage */
        p->bad = true;
    }
}

static void take_encoding(struct parser *p)
{
    while (take_text(p, "Z")) /* what is in a function is the function's */
        continue;
    take_text(p, "L");
    if (take_text(p, "N")) {
        while (take_text(p, "K") || take_text(p, "V") || take_text(p, "r"))
            continue;
        while (!p->bad && *p->at != 'E' && *p->at != '\0')
            take_part(p);
        p->bad = p->bad || *p->at != 'E';
        return;
    }
    if (take_text(p, "St"))
        put_scoped(p, "std", 3);
    take_name(p);
    if (!p->bad && take_text(p, "I")) {
        pass_to_end(p, 0);
        put(p, "<>", 2);
    }
}

/* "Thn16_N3Foo3barEv": a thunk, whose function follows. */
static void pass_thunk(struct parser *p)
{
    if (!take_text(p, "Thn") && !take_text(p, "Tv0_n"))
        return;
    while (isdigit((unsigned char)*p->at))
        p->at++;
    take_text(p, "_");
}

const char *native_symbols_display(struct arena *arena, const char *name)
{
    struct parser p = { .at = name };
    size_t n = strlen(name);
    if (take_text(&p, "_Z")) {
        pass_thunk(&p);
        take_encoding(&p);
        if (!p.bad && p.n > 0)
            return arena_text(arena, p.out, p.n);
    }
    /* ".part.0", ".cold", ".constprop.1" */
    const char *dot = name[0] == '.' ? NULL : strchr(name, '.');
    return arena_text(arena, name, dot == NULL ? n : (size_t)(dot - name));
}
