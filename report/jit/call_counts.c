#include "report/jit/call_counts.h"

#include "core/base/text.h"
#include "core/base/xalloc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_LINE "mmprof-calls 1"

void call_counts_init(struct call_counts *counts, struct arena *arena, uint32_t interval)
{
    *counts = (struct call_counts){
        .arena = arena, .by_method = { .arena = arena }, .by_site = { .arena = arena }, .interval = interval
    };
}

void call_counts_free(struct call_counts *counts)
{
    map_free(&counts->by_method);
    map_free(&counts->by_site);
    free(counts->methods);
    free(counts->sites);
    free(counts->stacks);
    free(counts->numbers);
    free(counts->called);
    free(counts->site_of);
}

/* ---- methods ---- */

static const char *key_of_method(struct arena *arena, const char *class_name, const char *name, const char *descriptor)
{
    char *copy = arena_text(arena, class_name, strlen(class_name));
    counted_text_cut_hidden(copy);
    return arena_printf(arena, "%s %s %s", copy, name, descriptor);
}

uint32_t call_counts_method(const struct call_counts *counts, const char *class_name, const char *name,
                            const char *descriptor)
{
    struct arena scratch = { NULL, 0 };
    const char *key = key_of_method(&scratch, class_name, name, descriptor);
    const uint32_t *known = map_get(&counts->by_method, key, strlen(key));
    uint32_t number = known == NULL ? CALL_NO_METHOD : *known;
    arena_free(&scratch);
    return number;
}

static const char *keep(struct call_counts *counts, const char *text)
{
    return text_utf8(counts->arena, text, strlen(text));
}

/* words: a class, a method, a descriptor. */
static uint32_t method_of(struct call_counts *counts, char **words)
{
    counted_text_cut_hidden(words[0]);
    const char *key = key_of_method(counts->arena, words[0], words[1], words[2]);
    const uint32_t *known = map_get(&counts->by_method, key, strlen(key));
    if (known != NULL)
        return *known;
    map_put(&counts->by_method, key, strlen(key), counts->n_methods);
    *xpush(counts->methods, counts->methods_room, counts->n_methods) =
        (struct method_name){ keep(counts, words[0]), keep(counts, words[1]), keep(counts, words[2]) };
    return counts->n_methods - 1;
}

/* ---- lines ---- */

static bool unescape(char **words, size_t n)
{
    bool are_there = true;
    for (size_t i = 0; i < n; i++)
        are_there &= counted_text_word(words[i]);
    return are_there;
}

static bool read_called(struct call_counts *counts, char **words)
{
    if (!unescape(words, 3))
        return false;
    *xpush(counts->called, counts->called_room, counts->n_called) = method_of(counts, words);
    return true;
}

/* Its index.  Of hidden classes several are one. */
static uint32_t put_site(struct call_counts *counts, const struct call_site_counts *site)
{
    const uint32_t key[2] = { site->method, (uint32_t)site->index };
    const uint32_t *known = map_get(&counts->by_site, key, sizeof key);
    if (known != NULL)
        return *known;
    map_put(&counts->by_site, key, sizeof key, counts->n_sites);
    *xpush(counts->sites, counts->sites_room, counts->n_sites) = *site;
    return counts->n_sites - 1;
}

static bool read_site(struct call_counts *counts, char **words)
{
    struct call_site_counts site = { .called = CALL_NO_METHOD };
    uint64_t line;
    if (!unescape(words, 3) || !counted_text_index(words[3], &site.index) || !counted_text_number(words[4], &line) ||
        !counted_text_index(words[5], &site.ordinal) || line > UINT32_MAX)
        return false;
    site.line = (uint32_t)line;
    site.method = method_of(counts, words);
    *xpush(counts->site_of, counts->site_of_room, counts->n_site_of) = put_site(counts, &site);
    return true;
}

static bool read_index(const char *word, uint32_t n, uint64_t *number)
{
    return counted_text_number(word, number) && *number > 0 && *number <= n;
}

/* Call sites behind one that is not known do not belong to it, and are left out. */
static bool read_stack(struct call_counts *counts, char **words, size_t n_words)
{
    struct call_stack stack = { .first = counts->n_numbers };
    uint64_t called, number;
    if (n_words < 3 || !counted_text_number(words[0], &stack.n) || !read_index(words[1], counts->n_called, &called))
        return false;
    stack.called = counts->called[called - 1];
    for (size_t i = 2; i < n_words && strcmp(words[i], "0") != 0; i++) {
        if (!read_index(words[i], counts->n_site_of, &number))
            return false;
        *xpush(counts->numbers, counts->numbers_room, counts->n_numbers) = counts->site_of[number - 1];
    }
    stack.n_sites = counts->n_numbers - stack.first;
    if (stack.n_sites == 0)
        return false;
    struct call_site_counts *site = &counts->sites[counts->numbers[stack.first]];
    site->n += stack.n;
    site->called = stack.called;
    *xpush(counts->stacks, counts->stacks_room, counts->n_stacks) = stack;
    return true;
}

static bool read_line(void *context, char **words, size_t n_words, bool is_end)
{
    struct call_counts *counts = context;
    if (is_end)
        return n_words == 3 && counted_text_number(words[1], &counts->n_seen) &&
               counted_text_number(words[2], &counts->n_taken);
    if (n_words == 4 && strcmp(words[0], "called") == 0)
        return read_called(counts, words + 1);
    if (n_words == 7 && strcmp(words[0], "site") == 0)
        return read_site(counts, words + 1);
    return strcmp(words[0], "stack") == 0 && read_stack(counts, words + 1, n_words - 1);
}

int call_counts_read(struct call_counts *counts, char *text, size_t n, const char *name, struct err *err)
{
    return counted_text_read(text, n, FIRST_LINE, name, read_line, counts, err);
}
