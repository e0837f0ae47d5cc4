#include "report/jit/jit_verdicts.h"

#include "core/base/xalloc.h"

#define WORDS_MAX 16

/* The words of a line, and where they are taken from; blanks in parentheses are part of a word. */
struct sentence {
    const char *words[WORDS_MAX];
    size_t n, at;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Returns 0; -1: there are too many words, or no memory. */
static int split(struct arena *arena, const char *line, struct sentence *sentence)
{
    *sentence = (struct sentence){ .n = 0 };
    for (;;) {
        size_t n = 0, depth = 0;
        while (is_blank(*line))
            line++;
        if (*line == '\0')
            return 0;
        for (; line[n] != '\0' && (depth > 0 || !is_blank(line[n])); n++) {
            depth += line[n] == '(';
            depth -= line[n] == ')' && depth > 0;
        }
        if (sentence->n == WORDS_MAX)
            return -1;
        sentence->words[sentence->n++] = arena_text(arena, line, n);
        line += n;
    }
}

/* Take these words if they come next. */
static bool has_words(struct sentence *sentence, const char *expected)
{
    size_t at = sentence->at;
    while (*expected != '\0') {
        size_t n = strcspn(expected, " ");
        if (at == sentence->n || strncmp(sentence->words[at], expected, n) != 0 || sentence->words[at][n] != '\0')
            return false;
        at++;
        expected += n + (expected[n] == ' ');
    }
    sentence->at = at;
    return true;
}

static bool has_name(struct sentence *sentence, const char **name)
{
    if (sentence->at == sentence->n)
        return false;
    *name = sentence->words[sentence->at++];
    return true;
}

static bool has_number(struct sentence *sentence, uint64_t *number)
{
    const char *word = sentence->at < sentence->n ? sentence->words[sentence->at++] : "";
    char *end;
    errno = 0;
    *number = strtoull(word, &end, 10);
    return word[0] >= '0' && word[0] <= '9' && *end == '\0' && errno == 0;
}

static bool is_at_end(const struct sentence *sentence)
{
    return sentence->at == sentence->n;
}

/* "in at least 90 % of calls", "in 78 to 82 % of calls", if anything is left.  what: "of calls". */
static bool take_part(struct sentence *s, struct jit_rule *rule, const char *what)
{
    if (is_at_end(s))
        return true;
    bool is_least = has_words(s, "in at least");
    if (rule->is_not || (!is_least && !has_words(s, "in")) || !has_number(s, &rule->percent))
        return false;
    rule->most_percent = 100;
    if (!is_least && (!has_words(s, "to") || !has_number(s, &rule->most_percent)))
        return false;
    return (rule->percent >= 1 || !is_least) && rule->percent <= rule->most_percent && rule->most_percent >= 1 &&
           rule->most_percent <= 100 && has_words(s, "%") && has_words(s, what) && is_at_end(s);
}

static bool take_allocation(struct sentence *s, struct jit_rule *rule)
{
    rule->kind = JIT_RULE_REMOVED;
    if (!has_name(s, &rule->of) || !has_words(s, "in") || !has_name(s, &rule->in) || !has_words(s, "is"))
        return false;
    rule->is_not = has_words(s, "not");
    return has_words(s, "removed") && take_part(s, rule, "of objects");
}

static bool take_state(struct sentence *s, struct jit_rule *rule)
{
    const char *first = rule->in;
    rule->is_not = has_words(s, "not");
    if (has_words(s, "inlined into")) {
        rule->kind = JIT_RULE_INLINED;
        rule->of = first;
        return has_name(s, &rule->in) && take_part(s, rule, "of calls");
    }
    if (has_words(s, "compiled")) {
        rule->kind = JIT_RULE_COMPILED;
        rule->tier = has_words(s, "by C1") ? 1 : has_words(s, "by C2") ? 4 : 0;
        return is_at_end(s);
    }
    rule->kind = JIT_RULE_DEOPTIMIZED;
    return !rule->is_not && has_words(s, "deoptimized at most") && has_number(s, &rule->most) &&
           (has_words(s, "times") || has_words(s, "time")) && is_at_end(s);
}

static bool take_rule(struct sentence *s, struct jit_rule *rule)
{
    if (has_words(s, "allocation of"))
        return take_allocation(s, rule);
    return has_name(s, &rule->in) && has_words(s, "is") && take_state(s, rule);
}

/* "cents" of "shop.Price.cents(int)"; NULL: it has a wildcard. */
static const char *plain_name(struct arena *arena, const char *method)
{
    size_t n = strcspn(method, "("), begin = n;
    while (begin > 0 && method[begin - 1] != '.' && method[begin - 1] != '#')
        begin--;
    const char *plain = arena_text(arena, method + begin, n - begin);
    return strpbrk(plain, "*?[") != NULL ? NULL : plain;
}

static int add_rule(struct jit_rules *rules, const char *line, uint32_t number, const char *name, struct err *err)
{
    struct sentence sentence;
    struct jit_rule rule = { .line = number };
    size_t n = strlen(line);
    while (n > 0 && is_blank(line[n - 1]))
        n--;
    if (n == 0 || line[0] == '#')
        return 0;
    rule.text = arena_text(&rules->arena, line, n);
    if (split(&rules->arena, rule.text, &sentence) < 0 || !take_rule(&sentence, &rule)) {
        err_set(err, "line %u of '%s' is not a rule: '%s'", (unsigned)number, name, rule.text);
        return err_next(err, "write 'A.m is [not] inlined into B.n', 'allocation of A in B.n is [not] removed', 'B.n "
                             "is [not] compiled [by C2]' or 'B.n is deoptimized at most 2 times'; the first two may "
                             "end with 'in at least 90 %% of calls' or 'of objects'");
    }
    if (rule.kind == JIT_RULE_INLINED)
        rule.plain = plain_name(&rules->arena, rule.of);
    *xpush(rules->all, rules->room, rules->n) = rule;
    return 0;
}

int jit_rules_read(struct jit_rules *rules, FILE *in, const char *name, struct err *err)
{
    char *line = NULL;
    size_t room = 0;
    int rc = 0;
    memset(rules, 0, sizeof *rules);
    for (uint32_t number = 1; rc == 0 && getline(&line, &room, in) >= 0; number++)
        rc = add_rule(rules, line + strspn(line, " \t"), number, name, err);
    free(line);
    if (rc == 0 && ferror(in))
        rc = err_set(err, "cannot read '%s': %s", name, strerror(errno));
    if (rc < 0 || rules->n > 0)
        return rc;
    err_set(err, "'%s' has no rule", name);
    return err_next(err, "write one a line, as 'shop.Price.cents is inlined into shop.PriceList.total'");
}

void jit_rules_free(struct jit_rules *rules)
{
    free(rules->all);
    arena_free(&rules->arena);
    memset(rules, 0, sizeof *rules);
}
