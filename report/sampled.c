#include "report/sampled.h"

#include "core/base/words.h"
#include "report/shares.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct sampling {
    const struct report_source *source;
    struct sampled *all;
    size_t n;
    double application_ns;         /* CPU time of its threads; 0: not known */
    double process_ns;             /* 100 % */
    struct calltree_total *totals; /* of recorded methods; the arena's */
    size_t n_totals;
    bool any_measured; /* what some method is in */
};

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

#define SAMPLED_WORDS   12
#define SAMPLED_CALLER  11 /* without its share, as versions before had it */
#define SAMPLED_OUTSIDE 7  /* without a caller */
#define SAMPLED_FORMER  5  /* of versions before */

/*
 * "SHARE SAMPLES CLASS NAME DESCRIPTOR WHY NS", and of its caller "PART CLASS NAME DESCRIPTOR SHARE" if there is one:
 * mmprof.trace(5).
 */
static bool parse(const char *fact, struct arena *arena, struct sampled *sampled)
{
    char *words[SAMPLED_WORDS], *rest = NULL, *text = arena_text(arena, fact, strlen(fact));
    size_t n = 0;
    for (char *word = text; n < SAMPLED_WORDS && text != NULL; n++) {
        word = strtok_r(n == 0 ? text : NULL, " ", &rest);
        if (word == NULL)
            break;
        words_unescape(word);
        words[n] = word;
    }
    if (n < SAMPLED_FORMER)
        return false;
    sampled->share = strtod(words[0], NULL);
    sampled->n_samples = strtoull(words[1], NULL, 10);
    sampled->name = (struct java_name){ words[2], words[3], words[4] };
    sampled->knows_caller = n == SAMPLED_OUTSIDE || n >= SAMPLED_CALLER;
    sampled->compiling_ns = n >= SAMPLED_OUTSIDE ? strtod(words[6], NULL) : 0;
    sampled->why = sampled_why_text(n >= SAMPLED_OUTSIDE ? words[5] : "", sampled->compiling_ns, arena);
    sampled->is_dear = n >= SAMPLED_OUTSIDE && strcmp(words[5], "dear") == 0;
    sampled->in_it = n >= SAMPLED_CALLER ? strtod(words[7], NULL) : 0;
    sampled->caller_share = n == SAMPLED_WORDS ? strtod(words[11], NULL) : 0;
    if (n >= SAMPLED_CALLER)
        sampled->caller = (struct java_name){ words[8], words[9], words[10] };
    return sampled->share >= 0 && sampled->share <= 1 && sampled->compiling_ns >= 0 && sampled->in_it >= 0 &&
           sampled->in_it <= 1 && sampled->caller_share >= 0 && sampled->why != NULL;
}

static const char *fact_of(const struct sampling *s, size_t i)
{
    char key[48];
    snprintf(key, sizeof key, "live.sampled.%zu", i);
    return trace_info(s->source->reader, key);
}

static int find(struct sampling *s, struct err *err)
{
    size_t n = 0;
    while (fact_of(s, n) != NULL)
        n++;
    s->all = arena_alloc(s->source->arena, (n + 1) * sizeof *s->all);
    if (s->all == NULL)
        return err_set(err, "out of memory for %zu methods", n);
    for (size_t i = 0; i < n; i++)
        if (parse(fact_of(s, i), s->source->arena, &s->all[s->n])) {
            s->all[s->n].number = s->n;
            s->n++;
        }
    return 0;
}

/* The application's CPU time, and the process', as the report has them on the CPU clock. */
static int find_times(struct sampling *s, struct err *err)
{
    struct report_source source = *s->source;
    struct shares shares;
    size_t n_methods = source.tree->n_methods;
    uint32_t *row_of = arena_alloc(source.arena, (n_methods + 1) * sizeof *row_of);
    if (row_of == NULL)
        return err_set(err, "out of memory for %zu methods", n_methods);
    for (size_t i = 0; i < n_methods; i++)
        row_of[i] = CALLTREE_NONE;
    if (source.tree->cpu_is_wall)
        return 0;
    source.clock = PHASES_CPU;
    if (shares_compute(&source, row_of, 0, &shares, err) < 0)
        return -1;
    s->application_ns = report_ns(&source, shares.part_cpu_ticks[VM_PART_APPLICATION]);
    s->process_ns = report_ns(&source, shares.all_ticks);
    return 0;
}

static bool is_same(const struct java_name *a, const struct java_name *b)
{
    return strcmp(a->method, b->method) == 0 && strcmp(a->class_name, b->class_name) == 0 &&
           strcmp(a->descriptor, b->descriptor) == 0;
}

/* What the report's row of a recorded method has, 0..1; 0: none of its calls was recorded. */
static double measured_share(const struct sampling *s, const struct java_name *name)
{
    for (size_t i = 0; i < s->n_totals; i++) {
        struct java_name known = report_name(s->source, s->totals[i].method);
        if (!is_same(&known, name))
            continue;
        double share = recorded_of(s->source->tree, s->totals[i].method, ACTIVITY_CPU).share;
        double ns = report_ns(s->source, s->totals[i].total_cpu_ticks);
        return share > 0 ? ns / (share * s->process_ns) : 0;
    }
    return 0;
}

/*
 * A method's share of the process' time.  In the calls of a recorded method it is what part of that one's samples it
 * has, of that one's measured time: samples tell how time is divided where they were taken, and not as well how much
 * there is in all of the recording.  So no part is larger than its whole, too.
 */
static void set_time_share(struct sampling *s, struct sampled *one)
{
    double plain = one->share * s->application_ns / s->process_ns;
    double measured = one->in_it > 0 ? measured_share(s, &one->caller) : 0;
    one->time_share = plain;
    if (measured <= 0)
        return;
    double inside = one->caller_share > 0 ? one->in_it * one->share / one->caller_share * measured : one->in_it * plain;
    one->time_share = (inside < measured ? inside : measured) + (1 - one->in_it) * plain;
    s->any_measured = true;
}

static int by_time(const void *a, const void *b)
{
    const struct sampled *x = a, *y = b;
    if (x->time_share != y->time_share)
        return x->time_share < y->time_share ? 1 : -1;
    return x->number < y->number ? -1 : 1;
}

/* Most time first.  Returns 0, or -1 with *err set. */
static int sort(struct sampling *s, struct err *err)
{
    if (s->process_ns <= 0)
        return 0;
    if (calltree_totals(s->source->tree, VM_PART_APPLICATION, s->source->arena, &s->totals, &s->n_totals, err) < 0)
        return -1;
    for (size_t i = 0; i < s->n; i++)
        set_time_share(s, &s->all[i]);
    qsort(s->all, s->n, sizeof *s->all, by_time);
    return 0;
}

/* ---- the table ---- */

/* The place of a name among n others, where it is put if it is not there. */
static size_t place_of(struct java_name *names, size_t *n, const struct java_name *name)
{
    size_t i = 0;
    while (i < *n && !is_same(&names[i], name))
        i++;
    if (i == *n)
        names[(*n)++] = *name;
    return i;
}

/* The recorded methods that are called as one of n others: in the report, each says which one it is. */
static size_t add_namesakes(const struct sampling *s, struct java_name *names, size_t n)
{
    size_t n_more = n;
    for (uint32_t id = 0; id < s->source->tree->n_methods; id++) {
        struct java_name name = report_name(s->source, id);
        size_t i = 0;
        while (i < n && strcmp(names[i].method, name.method) != 0)
            i++;
        if (i < n)
            place_of(names, &n_more, &name);
    }
    return n_more;
}

/* Two for each method: its own, and its caller's; "no recorded method" where there is none. */
static const char **labels_of(const struct sampling *s)
{
    struct arena *arena = s->source->arena;
    size_t n = 0, n_all = 2 * s->n, n_names = n_all + s->source->tree->n_methods;
    struct java_name *names = arena_alloc(arena, (n_names + 1) * sizeof *names);
    const char **labels = arena_alloc(arena, (n_names + 1) * sizeof *labels),
               **both = arena_alloc(arena, (n_all + 1) * sizeof *both);
    size_t *places = arena_alloc(arena, (n_all + 1) * sizeof *places);
    if (names == NULL || labels == NULL || both == NULL || places == NULL)
        return NULL;
    for (size_t i = 0; i < s->n; i++) {
        const struct sampled *one = &s->all[i];
        places[2 * i] = place_of(names, &n, &one->name);
        places[2 * i + 1] = one->in_it > 0 ? place_of(names, &n, &one->caller) : SIZE_MAX;
    }
    n = add_namesakes(s, names, n);
    if (java_names_labels(arena, names, n, labels) < 0)
        return NULL;
    for (size_t i = 0; i < n_all; i++)
        both[i] = places[i] == SIZE_MAX ? "no recorded method" : labels[places[i]];
    return both;
}

static void add_columns(const struct sampling *s, struct table *table)
{
    bool is_wall = s->source->clock == PHASES_WALL && !s->source->tree->cpu_is_wall; /* which the report's rows have */
    table_column(table, "Sampled only", "method", TABLE_TEXT);
    table_column(table, is_wall ? "CPU time (%)" : "Time (%)", "cpu_share", TABLE_SHARE);
    table->columns[table_column(table, "CPU time", "cpu_ns", TABLE_NS)].not_in_text = true;
    table_column(table, "Samples", "samples", TABLE_COUNT);
    table_column(table, "Not instrumented because", "reason", TABLE_TEXT);
    table->columns[table_column(table, "To compile", "compiling_ns", TABLE_NS)].not_in_text = true;
    table_column(table, "Share (%)", "ancestor_share", TABLE_SHARE);
    table_column(table, "In the time of", "ancestor", TABLE_TEXT);
}

static int add_rows(const struct sampling *s, const struct report_wish *wish, struct table *table, struct err *err)
{
    const char **labels = labels_of(s);
    bool is_known = s->process_ns > 0;
    double least = wish->all || !is_known ? 0 : wish->min_share;
    for (size_t i = 0; labels != NULL && i < s->n && (wish->top == 0 || table->n_rows < wish->top); i++) {
        const struct sampled *one = &s->all[i];
        if (one->time_share < least)
            continue;
        struct table_cell *cells = table_row(table, "sampled");
        if (cells == NULL)
            break;
        const struct table_cell values[] = {
            table_words(labels[2 * i]),
            is_known ? table_number(one->time_share) : table_unmeasured(),
            is_known ? table_number(one->time_share * s->process_ns) : table_unmeasured(),
            table_number((double)one->n_samples),
            table_words(one->why),
            one->compiling_ns > 0 ? table_number(one->compiling_ns) : table_unmeasured(),
            one->in_it > 0 ? table_number(one->in_it) : table_unmeasured(),
            one->knows_caller ? table_words(labels[2 * i + 1]) : table_unmeasured(),
        };
        memcpy(cells, values, sizeof values);
    }
    return labels == NULL || table->is_broken ? err_set(err, "out of memory for %zu methods", s->n) : 0;
}

static void add_notes(const struct sampling *s, struct table *table)
{
    const char *samples = trace_info(s->source->reader, "live.samples");
    struct arena *arena = s->source->arena;
    uint64_t n = samples == NULL ? 0 : strtoull(samples, NULL, 10);
    bool any_dear = false;
    for (size_t i = 0; i < s->n; i++)
        any_dear = any_dear || s->all[i].is_dear;
    if (s->n == 0) {
        table_note(table, "no method without probes has a hundredth of the samples");
        return;
    }
    table_note(table, arena_printf(arena, "time: estimated from %s%s; calls and events of these methods are unknown%s",
                                   n == 0 ? "stack samples" : arena_printf(arena, "%" PRIu64 " stack samples", n),
                                   s->any_measured ? ", in a recorded method as part of its measured time" : "",
                                   any_dear ? "; record for longer or with a larger --budget to instrument more of them"
                                            : ""));
    if (table->n_rows < s->n)
        table_note(table, arena_printf(arena, "%zu more with less time: --view sampled --all --top 0 prints all",
                                       s->n - table->n_rows));
}

int sampled_find(const struct report_source *source, struct sampled **all, size_t *n, struct err *err)
{
    struct sampling s = { .source = source };
    *n = 0;
    if (find(&s, err) < 0 || find_times(&s, err) < 0 || sort(&s, err) < 0)
        return -1;
    *all = s.all;
    *n = s.process_ns > 0 ? s.n : 0;
    return 0;
}

int sampled_make(const struct report_source *source, const struct report_wish *wish, struct table *table,
                 struct err *err)
{
    struct sampling s = { .source = source };
    table_begin(table, source->arena);
    add_columns(&s, table);
    if (trace_info(source->reader, "live.budget") == NULL) {
        table_note(table, "no methods were sampled: this is not a live recording");
        return 0;
    }
    if (find(&s, err) < 0 || find_times(&s, err) < 0 || sort(&s, err) < 0 || add_rows(&s, wish, table, err) < 0)
        return -1;
    add_notes(&s, table);
    return table->is_broken ? err_set(err, "out of memory for a table") : (int)s.n;
}
