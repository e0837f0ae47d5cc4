/*
 * Part of consistent.c: the call tree in its views and in the formats of other tools.
 */
#ifndef TEST_TOOLS_CONSISTENT_TREE_H
#define TEST_TOOLS_CONSISTENT_TREE_H

#include "test/tools/consistent_read.h"

#define ROUNDED_NS 2e3 /* of a context: a tick, and what is printed of it */

/* ---- views ---- */

static bool is_method(const cJSON *a, const cJSON *b)
{
    return text_in(a, "method")[0] != '\0' && strcmp(text_in(a, "method"), text_in(b, "method")) == 0 &&
           strcmp(text_in(a, "class"), text_in(b, "class")) == 0 &&
           strcmp(text_in(a, "descriptor"), text_in(b, "descriptor")) == 0;
}

/*
 * Rows come callers first; what a row calls, and itself, is no more than it has.  Of callers, the rows below one divide
 * its time, with what is its own.
 */
static void check_sums(const char *view, const cJSON *tree)
{
    bool is_inverse = strcmp(view, "callers") == 0;
    double left[4096], most = 0;
    const cJSON *row;
    EACH(row, tree)
    {
        int depth = (int)number_in(row, "depth");
        if (depth < 0 || depth >= 4095)
            return;
        double total = number_in(row, "total_ns");
        if (depth == 0)
            most = total;
        else if ((left[depth - 1] -= total) < -(most * EPSILON + ROUNDED_NS))
            wrong("%s: what calls '%s' has less than what it calls", view, text_in(row, "label"));
        left[depth] = total - number_in(row, "self_ns");
        if (left[depth] < -(most * EPSILON + ROUNDED_NS))
            wrong("%s: '%s' has more time of its own than in all", view, text_in(row, "label"));
        left[depth] = is_inverse ? total : left[depth];
        check_share(view, row, "time_share");
        check_share(view, row, "self_share");
        check_share(view, row, "part");
    }
}

/* A method's contexts that are in no other one of it have its time together; all of them its calls.  Rows of methods
 * are the application's: what the JVM's own threads call is theirs. */
static void check_method(const cJSON *of, const cJSON *tree)
{
    const cJSON *row;
    double ns = 0, calls = 0, inside = -1;
    int n = 0;
    bool is_ours = false;
    EACH(row, tree)
    {
        double depth = number_in(row, "depth");
        is_ours = depth > 0 ? is_ours : strncmp(text_in(row, "label"), "application", strlen("application")) == 0;
        if (inside >= 0 && depth <= inside)
            inside = -1;
        if (!is_ours || !is_method(row, of))
            continue;
        n++;
        calls += isnan(number_in(row, "calls")) ? 0 : number_in(row, "calls");
        ns += inside < 0 ? number_in(row, "total_ns") : 0;
        inside = inside < 0 ? depth : inside;
    }
    if (fabs(ns - number_in(of, "total_ns")) > EPSILON * ns + n * ROUNDED_NS)
        wrong("tree: '%s' has %g ns, in the report %g", text_in(of, "label"), ns, number_in(of, "total_ns"));
    if (calls != (isnan(number_in(of, "calls")) ? 0 : number_in(of, "calls")))
        wrong("tree: '%s' has %g calls, in the report %g", text_in(of, "label"), calls, number_in(of, "calls"));
}

/* The same method in another table; NULL: it has none. */
static const cJSON *row_of_method(const cJSON *table, const cJSON *of)
{
    const cJSON *row;
    EACH(row, table)
    if (strcmp(name_in(row), name_in(of)) == 0 && strcmp(text_in(row, "class"), text_in(of, "class")) == 0 &&
        strcmp(text_in(row, "descriptor"), text_in(of, "descriptor")) == 0)
        return row;
    return NULL;
}

/* A view of one method begins with what the report has of it; more: options that this one was made with. */
static void check_view(const char *view, const cJSON *of, const char *more)
{
    char words[4096], method[3072];
    snprintf(method, sizeof method, "%s#%s%s", text_in(of, "class"), name_in(of), text_in(of, "descriptor"));
    snprintf(words, sizeof words, "report --json --view %s='%s' %s", view, method, more);
    cJSON *table = strchr(method, '\'') == NULL ? table_of(words) : NULL;
    const cJSON *row = cJSON_GetArrayItem(cJSON_GetObjectItem(table, "rows"), 0);
    double expected = number_in(of, time_key(of)), ns = number_in(of, "total_ns");
    double most = isnan(ns) ? SAMPLED_SAME : EPSILON * expected;
    if (row == NULL)
        return;
    check_sums(view, table);
    if (fabs(number_in(row, "time_share") - expected) > most ||
        (!isnan(ns) && !is_same(number_in(row, "total_ns"), ns, EPSILON)))
        wrong("%s: '%s' has %g of the time, in the report %g", view, label_in(of), number_in(row, "time_share"),
              expected);
    cJSON_Delete(table);
}

static double roots_ns(const cJSON *tree)
{
    const cJSON *row;
    double ns = 0;
    EACH(row, tree) ns += is_kind(row, "root") ? number_in(row, "total_ns") : 0;
    return ns;
}

static void check_tree(const cJSON *report)
{
    cJSON *tree = must_have("report --view tree --all --json");
    const cJSON *row;
    int n = 0;
    check_sums("tree", tree);
    EACH(row, report)
    {
        if (!is_kind(row, "phase") && !is_kind(row, "sampled"))
            continue;
        check_method(row, tree);
        if (n++ > 0)
            continue;
        check_view("callers", row, "");
        check_view("callees", row, "");
    }
    double whole = number_in(row_of_kind(report, "total"), "self_ns");
    if (roots_ns(tree) > whole * (1 + EPSILON) + about_ns(report, "withheld_ns"))
        wrong("tree: the roots have %g ns of %g", roots_ns(tree), whole);
    cJSON_Delete(tree);
}

/* ---- exports ---- */

static void check_whole(const char *format, double ns, double whole, double n)
{
    if (fabs(ns - whole) > EPSILON * whole + n * ROUNDED_NS)
        wrong("export: %s has %g ns in all, the call tree %g", format, ns, whole);
}

static void check_folded(double whole)
{
    char *text = output_of("export -f folded"), *rest, *at;
    double ns = 0, n = 0;
    if (text == NULL)
        give_up("export -f folded");
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest), n++)
        ns += (at = strrchr(line, ' ')) == NULL ? 0 : strtod(at, NULL);
    check_whole("folded", ns, whole, n);
    free(text);
}

static void check_speedscope(double whole)
{
    cJSON *json = must_have("export -f speedscope");
    const cJSON *profile;
    double ns = 0, n = 0;
    cJSON_ArrayForEach(profile, cJSON_GetObjectItem(json, "profiles"))
    {
        ns += number_in(profile, "endValue") - number_in(profile, "startValue");
        n += cJSON_GetArraySize(cJSON_GetObjectItem(profile, "events"));
    }
    check_whole("speedscope", ns, whole, n);
    cJSON_Delete(json);
}

/* One number of a protocol buffer; *at moves on. */
static uint64_t varint(const uint8_t **at, const uint8_t *end)
{
    uint64_t number = 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t byte = *(*at)++;
        number |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            break;
    }
    return number;
}

/* The fields of a message: their number, and the bytes or the value.  Returns false at its end. */
static bool next_message_field(const uint8_t **at, const uint8_t *end, uint64_t *field, const uint8_t **bytes,
                               uint64_t *n)
{
    if (*at >= end)
        return false;
    uint64_t key = varint(at, end);
    *field = key >> 3;
    *bytes = NULL;
    *n = varint(at, end);
    if ((key & 7) == 2) {
        *bytes = *at;
        *at += *n <= (uint64_t)(end - *at) ? *n : (uint64_t)(end - *at);
    }
    return true;
}

/* The samples' sums, by type.  Returns the index of a type, SIZE_MAX: there is none. */
static size_t read_profile(const uint8_t *at, const uint8_t *end, const char *name, double *sums, double *n_samples)
{
    uint64_t types[32] = { 0 };
    const uint8_t *bytes, *in;
    uint64_t field, n, inner, inner_n, n_text = 0, name_at = UINT64_MAX;
    size_t n_types = 0;
    while (next_message_field(&at, end, &field, &bytes, &n)) {
        const uint8_t *inside = bytes, *value, *inside_end = bytes == NULL ? NULL : bytes + n;
        if (field == 1 && n_types < 32)
            while (next_message_field(&inside, inside_end, &inner, &value, &inner_n))
                if (inner == 1)
                    types[n_types] = inner_n;
        n_types += field == 1;
        *n_samples += field == 2;
        while (field == 2 && next_message_field(&inside, inside_end, &inner, &value, &inner_n)) {
            in = value;
            for (size_t i = 0; inner == 2 && in < value + inner_n && i < 32; i++)
                sums[i] += (double)varint(&in, value + inner_n);
        }
        if (field == 6 && bytes != NULL && n == strlen(name) && memcmp(bytes, name, n) == 0)
            name_at = n_text;
        n_text += field == 6;
    }
    for (size_t i = 0; i < n_types; i++)
        if (types[i] == name_at)
            return i;
    return SIZE_MAX;
}

static void check_pprof(double whole)
{
    char command[4096];
    static uint8_t bytes[32 << 20];
    double sums[32] = { 0 }, n_samples = 0;
    snprintf(command, sizeof command, "'%s' export -f pprof '%s' 2> /dev/null | gzip -dc", mmprof, trace);
    FILE *in = popen(command, "r");
    size_t n = in == NULL ? 0 : fread(bytes, 1, sizeof bytes, in);
    if (in == NULL || pclose(in) != 0 || n == sizeof bytes)
        give_up("export -f pprof");
    size_t wanted = read_profile(bytes, bytes + n, "cpu", sums, &n_samples);
    if (wanted == SIZE_MAX)
        wrong("export: pprof has no CPU time");
    else
        check_whole("pprof", sums[wanted], whole, n_samples);
}

/* A thread's samples: as many as there are moments, each in a node of its profile. */
static void check_profile(const cJSON *event, double duration_ns)
{
    const cJSON *data = cJSON_GetObjectItem(cJSON_GetObjectItem(event, "args"), "data"),
                *profile = cJSON_GetObjectItem(data, "cpuProfile"), *deltas = cJSON_GetObjectItem(data, "timeDeltas"),
                *sample, *delta;
    double us = 0, most = 0;
    cJSON_ArrayForEach(sample, cJSON_GetObjectItem(profile, "nodes")) most = fmax(most, number_in(sample, "id"));
    cJSON_ArrayForEach(sample, cJSON_GetObjectItem(profile, "samples")) if (cJSON_GetNumberValue(sample) > most)
        wrong("export: chrome has a sample in no node");
    cJSON_ArrayForEach(delta, deltas) us += cJSON_GetNumberValue(delta);
    if (cJSON_GetArraySize(deltas) != cJSON_GetArraySize(cJSON_GetObjectItem(profile, "samples")))
        wrong("export: chrome has samples without a moment");
    if (us * 1e3 > duration_ns * 1.001 + 1e6)
        wrong("export: chrome has samples at %g us, beyond the recording", us);
}

/* DevTools show a thread's samples within its slices: it has some. */
static void check_slices(const cJSON *json, const cJSON *profile)
{
    const cJSON *event;
    cJSON_ArrayForEach(event, cJSON_GetObjectItem(json, "traceEvents"))
    {
        if (strcmp(text_in(event, "ph"), "X") == 0 && number_in(event, "tid") == number_in(profile, "tid"))
            return;
    }
    wrong("export: chrome has samples of thread %g, and no slice", number_in(profile, "tid"));
}

/* Slices and samples are within the recording. */
static void check_chrome(double duration_ns)
{
    cJSON *json = must_have("export -q -f chrome");
    const cJSON *event;
    cJSON_ArrayForEach(event, cJSON_GetObjectItem(json, "traceEvents"))
    {
        if (strcmp(text_in(event, "name"), "ProfileChunk") == 0) {
            check_profile(event, duration_ns);
            check_slices(json, event);
        }
        double start = number_in(event, "ts"), length = number_in(event, "dur");
        if (strcmp(text_in(event, "ph"), "X") == 0 &&
            (length < 0 || (start + length) * 1e3 > duration_ns * 1.001 + 1e6))
            wrong("export: chrome has a slice of '%s' beyond the recording", text_in(event, "name"));
    }
    cJSON_Delete(json);
}

/* All of them have the call tree's time on the CPU. */
static void check_exports(void)
{
    const char *given = options;
    options = "";
    cJSON *tree = table_of("report --view tree --json --min-share 0");
    options = given;
    const cJSON *about = cJSON_GetObjectItem(tree, "about");
    if (tree != NULL && strcmp(text_in(about, "clock"), "cpu") == 0) {
        double whole = roots_ns(tree);
        check_folded(whole);
        check_speedscope(whole);
        check_pprof(whole);
        check_chrome(number_in(about, "duration_ns"));
    }
    cJSON_Delete(tree);
}

#endif
