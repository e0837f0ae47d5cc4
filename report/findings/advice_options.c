/*
 * Options of the JVM with which a hint is verified: sizes come from the recording, and from what the program was
 * started with.
 */
#include "core/base/text.h"
#include "report/findings/advice_internal.h"

#include "core/trace/recording_info.h"

#define MB           1048576.0
#define PAGE_BYTES   4096.0
#define YOUNG_PART   0.33 /* of the heap, unless it is asked for (NewRatio=2) */
#define RAM_PER_CENT 25.0 /* of the machine's memory: HotSpot's heap, unless it is asked for */
#define RAM_MOST     80.0
#define TWICE        2.0
#define HALF         0.5
#define OPTIONS_MAX  3 /* alike */

/* The same size by several names; those of the program's command stay away where one is tried. */
static const char *const alike[][OPTIONS_MAX] = {
    { "-Xmx", "-XX:MaxHeapSize=", "-XX:MaxRAMPercentage=" },
    { "-Xms", "-XX:InitialHeapSize=", "-XX:InitialRAMPercentage=" },
    { "-Xmn", "-XX:NewSize=", "-XX:MaxNewSize=" },
};

/* The length of a word of a command line, with its quotes. */
static size_t word_bytes(const char *at)
{
    const char *start = at;
    for (bool is_quoted = false; *at != '\0' && (is_quoted || *at != ' '); at++) {
        if (!is_quoted && *at == '\\' && at[1] != '\0')
            at++;
        else
            is_quoted = is_quoted != (*at == '\'');
    }
    return (size_t)(at - start);
}

/* Is a word such an option as one of the options, which have blanks between them? */
static bool is_replaced(const char *word, const char *options)
{
    for (; *options != '\0'; options += word_bytes(options), options += *options == ' ')
        for (size_t i = 0; i < sizeof alike / sizeof *alike; i++) {
            bool is_option = false, is_word = false;
            for (size_t k = 0; k < OPTIONS_MAX; k++) {
                is_option = is_option || text_begins(options, alike[i][k]);
                is_word = is_word || text_begins(word, alike[i][k]);
            }
            if (is_option && is_word)
                return true;
        }
    return false;
}

const char *advice_without(struct arena *arena, const char *words, const char *options)
{
    char *left = arena_alloc(arena, strlen(words) + 1), *to = left;
    for (size_t n; *words != '\0'; words += n, words += *words == ' ') {
        n = word_bytes(words);
        if (is_replaced(words, options))
            continue;
        if (to > left)
            *to++ = ' ';
        memcpy(to, words, n);
        to += n;
    }
    *to = '\0';
    return left;
}

/* What stands behind the last of an option in the program's command; NULL: it has none. */
static const char *value_of(const struct findings_making *making, const char *option)
{
    const char *at = info_text(making->source->reader, INFO_JVM_COMMAND), *found = NULL;
    for (; at != NULL && *at != '\0'; at += word_bytes(at), at += *at == ' ')
        if (text_begins(at, option))
            found = at + strlen(option);
    return found;
}

/* "512m", "1G", "65536"; 0: the command has no such option. */
static double bytes_of(const struct findings_making *making, const char *option)
{
    const char *value = value_of(making, option);
    char *unit = NULL;
    double number = value == NULL ? 0 : strtod(value, &unit);
    const char *const units = "kmgt", *at = unit == NULL || *unit == '\0' ? NULL : strchr(units, *unit | 0x20);
    return at == NULL ? number : number * pow(1024, (double)(at - units + 1));
}

static double heap_bytes(const struct findings_making *making)
{
    return fmax(bytes_of(making, alike[0][0]), bytes_of(making, alike[0][1]));
}

/* So many times as large as it may be now; and no larger at the beginning. */
static const char *heap_option(const struct findings_making *making, double times)
{
    struct arena *arena = making->source->arena;
    double bytes = times * heap_bytes(making), first = bytes_of(making, "-Xms");
    const char *part = value_of(making, "-XX:MaxRAMPercentage=");
    if (bytes > 0 && first > bytes)
        return arena_printf(arena, "-Xmx%.0fm -Xms%.0fm", ceil(bytes / MB), ceil(bytes / MB));
    if (bytes > 0)
        return arena_printf(arena, "-Xmx%.0fm", ceil(bytes / MB));
    double per_cent = times * (part == NULL ? RAM_PER_CENT : strtod(part, NULL));
    return arena_printf(arena, "-XX:MaxRAMPercentage=%.1f", fmin(per_cent, RAM_MOST));
}

const char *advice_larger_heap(const struct findings_making *making)
{
    return heap_option(making, TWICE);
}

const char *advice_smaller_heap(const struct findings_making *making)
{
    return heap_option(making, HALF);
}

/* What the young generation has, by what is allocated from one of its collections to the next; 0: not known. */
static double young_bytes(const struct findings_making *making)
{
    const struct allocations *found = findings_allocations(making);
    double ns, n = findings_pauses(making, "young", &ns);
    if (!(n > 0 && found->seconds > 0 && found->jvm_bytes > 0))
        return 0;
    return found->jvm_bytes / found->seconds * making->duration_ns / 1e9 / n / EDEN_PART;
}

double advice_touched_pages(const struct findings_making *making, double bytes)
{
    const struct allocations *found = findings_allocations(making);
    double now = young_bytes(making), more = bytes - (now > 0 ? now : 0);
    if (found->seconds > 0 && found->jvm_bytes > 0)
        more = fmin(more, found->jvm_bytes / found->seconds * making->duration_ns / 1e9);
    return fmax(more, 0) / PAGE_BYTES;
}

const char *advice_young_option(const struct findings_making *making, double bytes)
{
    struct arena *arena = making->source->arena;
    double heap = heap_bytes(making), now = young_bytes(making);
    if (!(heap > 0))
        return arena_printf(arena, "-Xmn%.0fm", ceil(bytes / MB));
    double more = fmax(bytes - (now > 0 ? now : YOUNG_PART * heap), 0);
    return arena_printf(arena, "-Xmn%.0fm -Xmx%.0fm", ceil(bytes / MB), ceil((heap + more) / MB));
}

const char *advice_larger_young(const struct findings_making *making)
{
    double now = young_bytes(making);
    return now > 0 ? advice_young_option(making, TWICE * now) : heap_option(making, TWICE);
}
