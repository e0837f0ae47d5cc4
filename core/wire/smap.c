#include "core/wire/code_log.h"

#define RANGES_MAX 1024u
#define LINES_MAX  65535u /* of a class file */

/* Lines from 'out' on, n of them for each from 'in' on. */
struct smap_range {
    uint32_t in, n_in, out, n_out;
};

struct smap {
    /* Of the stratum KotlinDebug: a call is one line, for which compilers up to 1.4 wrote as many as are inlined. */
    struct smap_range calls[RANGES_MAX];
    uint32_t n_calls;
    uint32_t last; /* the file's own, by the stratum Kotlin; 0: not known */
};

/* A number at *at, which moves behind it; false: there is none, or no line can be so large. */
static bool take_number(const char **at, const char *end, uint32_t *number)
{
    const char *begin = *at;
    for (*number = 0; *at < end && **at >= '0' && **at <= '9' && *number <= LINES_MAX; (*at)++)
        *number = *number * 10 + (uint32_t)(**at - '0');
    return *at > begin && *number <= LINES_MAX;
}

/* The same behind a character; where that is not there, the number stays. */
static bool take_behind(const char **at, const char *end, char what, uint32_t *number)
{
    if (*at == end || **at != what)
        return true;
    (*at)++;
    return take_number(at, end, number);
}

/* "in#file,repeat:out,increment", of which only 'in' and 'out' must be there. */
static bool take_range(const char *at, const char *end, struct smap_range *range)
{
    uint32_t file = 0;
    *range = (struct smap_range){ .n_in = 1, .n_out = 1 };
    return take_number(&at, end, &range->in) && take_behind(&at, end, '#', &file) &&
           take_behind(&at, end, ',', &range->n_in) && at < end && *at == ':' &&
           take_behind(&at, end, ':', &range->out) && take_behind(&at, end, ',', &range->n_out) && range->n_out > 0;
}

static bool is_line(const char *at, const char *end, const char *expected)
{
    size_t n = strlen(expected);
    return (size_t)(end - at) == n && memcmp(at, expected, n) == 0;
}

static void parse(const char *text, size_t n, struct smap *smap)
{
    enum { OTHER, KOTLIN, DEBUG } stratum = OTHER;
    bool in_lines = false;
    struct smap_range range;
    smap->n_calls = smap->last = 0;
    for (const char *at = text, *end; at < text + n; at = end + 1) {
        end = memchr(at, '\n', (size_t)(text + n - at));
        end = end == NULL ? text + n : end;
        if (*at == '*') {
            in_lines = is_line(at, end, "*L");
            if (!in_lines && end - at > 1 && at[1] == 'S')
                stratum = is_line(at, end, "*S Kotlin") ? KOTLIN : is_line(at, end, "*S KotlinDebug") ? DEBUG : OTHER;
        } else if (in_lines && stratum != OTHER && take_range(at, end, &range)) {
            if (stratum == DEBUG && smap->n_calls < RANGES_MAX)
                smap->calls[smap->n_calls++] =
                    range.n_out > 1 ? range : (struct smap_range){ range.in, 1, range.out, range.n_in };
            else if (stratum == KOTLIN && range.in == range.out && range.out + range.n_in - 1 > smap->last)
                smap->last = range.out + range.n_in - 1;
        }
    }
}

static uint32_t call_of(const struct smap *smap, uint32_t line)
{
    for (uint32_t i = 0; i < smap->n_calls; i++) {
        const struct smap_range *range = &smap->calls[i];
        if (line >= range->out && line - range->out < range->n_in * range->n_out)
            return range->in + (line - range->out) / range->n_out;
    }
    return 0;
}

bool smap_is_of(const char *source, size_t n)
{
    return n > 3 && memcmp(source + n - 3, ".kt", 3) == 0;
}

void smap_take_calls(const char *text, size_t n, struct code_line *lines, uint32_t n_lines)
{
    struct smap smap;
    parse(text, n, &smap);
    for (uint32_t i = 0; smap.last > 0 && i < n_lines; i++) {
        if (lines[i].line <= smap.last)
            continue;
        uint32_t line = call_of(&smap, lines[i].line);
        lines[i].line = line <= smap.last ? line : 0;
    }
}
