#include "report/jit/call_counts.h"

#include "core/base/text.h"
#include "core/base/words.h"
#include "core/base/xalloc.h"

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

/* The number of a method; CALL_NO_METHOD: it is in no stack. */
static uint32_t call_counts_method(const struct call_counts *counts, const char *class_name, const char *name,
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

/* ---- judge ---- */

/* The code that executes a method of a stack. */
struct place {
    const struct jit_code *code; /* NULL: none, it is interpreted */
    uint32_t node;
    bool is_bare; /* it is inlined there, and has no point with debug information: nor has what it calls */
};

struct call_judging {
    const struct call_counts *counts;
    const struct jit_codes *codes;
    const bool *are_there;
    uint32_t n_there;
    uint32_t *methods; /* owned: of the counts, by method of the codes; or CALL_NO_METHOD */
    uint32_t *best;    /* owned: a piece of code, plus 1, by method of the counts; 0: none */
};

/* ---- the code of a method ---- */

/* Of those that are there now, of the highest tier, entered at the beginning, the latest. */
static bool is_better(const struct call_judging *j, uint32_t a, uint32_t b)
{
    const struct jit_code *x = &j->codes->all[a], *y = &j->codes->all[b];
    bool is_there = a < j->n_there && j->are_there[a], other = b < j->n_there && j->are_there[b];
    if (is_there != other)
        return is_there;
    if ((x->entry_index < 0) != (y->entry_index < 0))
        return x->entry_index < 0;
    if (x->tier != y->tier) /* 1 is for good */
        return x->tier == JIT_TIER_C2 || (y->tier != JIT_TIER_C2 && x->tier == JIT_TIER_C1);
    return x->number > y->number;
}

static void find_code(struct call_judging *j)
{
    const struct jit_codes *codes = j->codes;
    j->methods = xcalloc((size_t)codes->n_methods + 1, sizeof *j->methods);
    j->best = xcalloc((size_t)j->counts->n_methods + 1, sizeof *j->best);
    for (uint32_t i = 0; i < codes->n_methods; i++) {
        const struct compiled_method *method = codes->methods[i];
        j->methods[i] = call_counts_method(j->counts, method->class_name, method->name, method->descriptor);
    }
    for (uint32_t i = 0; i < codes->n; i++) {
        uint32_t method = j->methods[codes->all[i].method];
        if (method != CALL_NO_METHOD && codes->all[i].tree.n_nodes > 0 &&
            (j->best[method] == 0 || is_better(j, i, j->best[method] - 1)))
            j->best[method] = i + 1;
    }
}

/* ---- a call in it ---- */

/* A probe's, which the program does not have. */
static bool is_of_probe(const struct jit_instruction *at)
{
    return at->class_name != NULL &&
           (strcmp(at->class_name, "java/lang/MmprofProbe") == 0 || strcmp(at->class_name, "mmprof/Probe") == 0);
}

/* Which of a method's calls; NULL: it has not so many, as it has other code in this run. */
static const struct jit_instruction *call_at(const struct compiled_method *method, int32_t ordinal)
{
    for (uint32_t i = 0; i < method->n_instructions; i++) {
        const struct jit_instruction *at = &method->instructions[i];
        if (!at->is_allocation && !is_of_probe(at) && ordinal-- == 0)
            return at;
    }
    return NULL;
}

/* Where a method is inlined at a node's bytecode; INLINE_ROOT: nowhere. */
static uint32_t inlined_at(const struct call_judging *j, const struct place *place, int32_t index, uint32_t called)
{
    const struct inline_tree *tree = &place->code->tree;
    for (uint32_t i = place->node + 1; i < tree->n_nodes; i++)
        if (tree->nodes[i].caller == place->node && tree->nodes[i].index == index &&
            j->methods[place->code->methods[i]] == called)
            return i;
    return INLINE_ROOT;
}

/* Where no node of it is. */
static enum call_fate fate_without_node(const struct place *place, const struct compiled_method *method,
                                        const struct jit_instruction *at)
{
    unsigned flags = inline_tree_flags(&place->code->tree, place->node, at->index);
    if (flags & INLINE_CALLS)
        return CALL_IS_LEFT;
    if (flags & INLINE_TRAPS || jit_instruction_reached(method, at) == 0)
        return CALL_LEAVES_CODE;
    /* Code that is entered in a loop has only what is reached from there. */
    return place->code->entry_index >= 0 && place->node == 0 ? CALL_INTERPRETED : CALL_INLINED;
}

/* Of a call at a site of what is executed at a place, which becomes that of what is called. */
static enum call_fate take_step(const struct call_judging *j, const struct call_site_counts *site, uint32_t called,
                                struct place *place)
{
    if (place->is_bare)
        return CALL_INLINED;
    if (place->code == NULL)
        return CALL_INTERPRETED;
    const struct compiled_method *method = j->codes->methods[place->code->methods[place->node]];
    const struct jit_instruction *at = call_at(method, site->ordinal);
    uint32_t node = at == NULL ? INLINE_ROOT : inlined_at(j, place, at->index, called);
    enum call_fate fate = node != INLINE_ROOT ? CALL_INLINED
                          : at == NULL        ? CALL_INTERPRETED
                                              : fate_without_node(place, method, at);
    place->is_bare = fate == CALL_INLINED && node == INLINE_ROOT;
    place->node = node;
    if (fate != CALL_INLINED)
        place->code = NULL;
    return fate;
}

/* The outermost method is taken for one that is not inlined. */
/* *is_early: by code of a tier that HotSpot replaces as soon as it is warm. */
static enum call_fate judge_stack(const struct call_judging *j, const struct call_stack *stack, bool *is_early)
{
    const struct call_counts *counts = j->counts;
    const uint32_t *sites = &counts->numbers[stack->first];
    struct place place = { .code = NULL };
    enum call_fate fate = CALL_INTERPRETED;
    for (uint32_t i = stack->n_sites; i-- > 0;) {
        const struct call_site_counts *site = &counts->sites[sites[i]];
        uint32_t called = i == 0 ? stack->called : counts->sites[sites[i - 1]].method;
        if (fate != CALL_INLINED) {
            uint32_t best = j->best[site->method];
            place = (struct place){ .code = best == 0 ? NULL : &j->codes->all[best - 1] };
            *is_early = best != 0 && place.code->tier != JIT_TIER_C1 && place.code->tier != JIT_TIER_C2;
        }
        fate = take_step(j, site, called, &place);
    }
    return fate;
}

void call_counts_judge(struct call_counts *counts, enum call_run run, const struct jit_codes *codes,
                       const bool *are_there, uint32_t n)
{
    struct call_judging j = { .counts = counts, .codes = codes, .are_there = are_there, .n_there = n };
    find_code(&j);
    for (uint32_t i = 0; i < counts->n_stacks; i++) {
        const struct call_stack *stack = &counts->stacks[i];
        bool is_early = false;
        counts->sites[counts->numbers[stack->first]].n_of[run][judge_stack(&j, stack, &is_early)] += stack->n;
        counts->n_early[run] += is_early ? stack->n : 0;
    }
    free(j.methods);
    free(j.best);
}

/* ---- text ---- */

void counted_text_cut_hidden(char *name)
{
    static const char *const marks[] = { "/0x", "+0x", ".0x" };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        char *at = strstr(name, marks[i]);
        if (at != NULL && at[3 + strspn(at + 3, "0123456789abcdef")] == '\0')
            *at = '\0';
    }
    char *lambda = strstr(name, "$$Lambda$");
    if (lambda != NULL)
        lambda[strlen("$$Lambda")] = '\0';
}

bool counted_text_number(const char *word, uint64_t *number)
{
    char *end;
    *number = strtoull(word, &end, 10);
    return word[0] >= '0' && word[0] <= '9' && *end == '\0' && *number <= UINT64_MAX >> 8;
}

bool counted_text_index(const char *word, int32_t *index)
{
    uint64_t number = 0;
    bool is_known = strcmp(word, "-1") != 0;
    if (is_known && (!counted_text_number(word, &number) || number > INT32_MAX))
        return false;
    *index = is_known ? (int32_t)number : -1;
    return true;
}

bool counted_text_word(char *word)
{
    words_unescape(word);
    return word[0] != '\0';
}

/* Cut a line at its blanks.  Returns how many words there are, up to COUNTED_WORDS_MAX + 1. */
static size_t split(char *line, char *words[COUNTED_WORDS_MAX + 1])
{
    size_t n = 0;
    while (line != NULL && n <= COUNTED_WORDS_MAX) {
        words[n++] = line;
        line = strchr(line, ' ');
        if (line != NULL)
            *line++ = '\0';
    }
    return n;
}

static int refuse(const char *name, const char *why, struct err *err)
{
    err_set(err, "what was counted in '%s' is %s", name, why);
    return err_next(err, "run it again, and let the JVM end by itself");
}

/* What the agent says in place of what it would have counted (core/agent/lab/lab.h). */
static int refuse_jvm(const char *name, const char *why, struct err *err)
{
    if (strcmp(why, "old") == 0) {
        err_set(err, "the JVM of '%s' cannot tell of each object that it creates: JVMTI has that event since JDK 11",
                name);
        return err_next(err, "run it on JDK 11 or later; --calls and --receivers work on older ones, too");
    }
    err_set(err, "another agent in the JVM of '%s' samples allocations, and the JVM tells only one of them", name);
    return err_next(err, "start it without that agent");
}

int counted_text_read(char *text, size_t n, const char *first_line, const char *name, counted_line_fn *fn,
                      void *context, struct err *err)
{
    bool has_ended = false;
    char *words[COUNTED_WORDS_MAX + 1], *end = text + n;
    size_t n_first = strlen(first_line);
    if (n <= n_first || memcmp(text, first_line, n_first) != 0 || text[n_first] != '\n')
        return refuse(name, "damaged", err);
    for (char *line = text + n_first + 1, *stop; line < end; line = stop + 1) {
        stop = memchr(line, '\n', (size_t)(end - line));
        if (stop == NULL || has_ended || strlen(line) < (size_t)(stop - line))
            return refuse(name, "damaged or cut", err);
        *stop = '\0';
        size_t n_words = split(line, words);
        if (n_words == 2 && strcmp(words[0], "refused") == 0)
            return refuse_jvm(name, words[1], err);
        has_ended = strcmp(words[0], "end") == 0;
        if (!fn(context, words, n_words, has_ended))
            return refuse(name, "damaged", err);
    }
    return has_ended ? 0 : refuse(name, "cut", err);
}
