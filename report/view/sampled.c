#include "report/view/sampled.h"

#include "core/base/words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *sampled_why_text(const char *word, double compiling_ns, struct arena *arena)
{
    char ns[64];
    if (strcmp(word, "none") == 0)
        return "no retransformation since it was sampled";
    if (strcmp(word, "loop") == 0)
        return "a hot loop of its class is running";
    if (strcmp(word, "kept") == 0)
        return "its class could not be instrumented";
    if (strcmp(word, "spared") == 0)
        return "all compiled code would be discarded";
    if (strcmp(word, "archive") == 0)
        return "the JVM writes a class archive";
    if (strcmp(word, "left") == 0)
        return "small, native or excluded";
    if (strcmp(word, "short") == 0)
        return "its calls are too short";
    if (strcmp(word, "dear") != 0)
        return "no probes";
    if (compiling_ns <= 0)
        return "over budget";
    table_format_ns(compiling_ns, ns, sizeof ns);
    return arena_printf(arena, "over budget: recompilation would take %s", ns);
}

#define FACT_WORDS  7 /* of these; a caller may follow */
#define FACT_FORMER 5 /* of versions before: no reason */

/* "SHARE SAMPLES CLASS NAME DESCRIPTOR WHY NS ...": mmprof.trace(5). */
static bool parse(const char *fact, struct arena *arena, struct sampled *sampled)
{
    char *words[FACT_WORDS], *rest = NULL, *text = arena_text(arena, fact, strlen(fact));
    size_t n = 0;
    for (char *word = text; n < FACT_WORDS && text != NULL; n++) {
        word = strtok_r(n == 0 ? text : NULL, " ", &rest);
        if (word == NULL)
            break;
        words_unescape(word);
        words[n] = word;
    }
    if (n < FACT_FORMER)
        return false;
    bool has_reason = n == FACT_WORDS;
    sampled->name = (struct java_name){ words[2], words[3], words[4] };
    sampled->why = sampled_why_text(has_reason ? words[5] : "", has_reason ? strtod(words[6], NULL) : 0, arena);
    return sampled->why != NULL;
}

static const char *fact_of(const struct report_source *source, size_t i)
{
    char key[48];
    snprintf(key, sizeof key, "live.sampled.%zu", i);
    return trace_info(source->reader, key);
}

int sampled_find(const struct report_source *source, struct sampled **all, size_t *n, struct err *err)
{
    size_t n_facts = 0;
    *n = 0;
    while (fact_of(source, n_facts) != NULL)
        n_facts++;
    *all = arena_alloc(source->arena, (n_facts + 1) * sizeof **all);
    if (*all == NULL)
        return err_set(err, "out of memory for %zu methods", n_facts);
    for (size_t i = 0; i < n_facts; i++)
        *n += parse(fact_of(source, i), source->arena, &(*all)[*n]);
    return 0;
}

/* "STATE SECONDS CALLS_PER_S NS WHY": mmprof.trace(5). */
const char *sampled_why_off(const struct report_source *source, uint32_t method)
{
    char key[48], state[16];
    snprintf(key, sizeof key, "live.method.%" PRIu32, method);
    const char *fact = trace_info(source->reader, key);
    if (fact == NULL || sscanf(fact, "%15s", state) != 1 || strcmp(state, "armed") == 0)
        return NULL;
    for (int i = 0; i < 4 && fact != NULL; i++) {
        fact = strchr(fact, ' ');
        fact = fact == NULL ? NULL : fact + 1;
    }
    return fact == NULL ? NULL : arena_printf(source->arena, "switched off: %s", fact);
}
