#include "core/emu/placement/placement_result.h"

#include "core/base/xalloc.h"

#include <sys/stat.h>

#define FIRST_LINE     "mmprof-placement 1"
#define LINE_MAX_BYTES 512

const char *const placement_event_names[PLACEMENT_EVENTS] = { "l1d", "l2", "dtlb" };

static const char *const heat_names[PLACEMENT_HEATS] = { "samples", "hindsight" };

bool placement_kind_parse(const char *name, size_t n, enum placement_kind *kind)
{
    for (int i = 0; i < PLACEMENT_KINDS; i++)
        if (strlen(placement_kind_names[i]) == n && memcmp(placement_kind_names[i], name, n) == 0) {
            *kind = (enum placement_kind)i;
            return true;
        }
    return false;
}

bool placement_event_parse(const char *name, enum placement_event *event)
{
    for (int i = 0; i < PLACEMENT_EVENTS; i++)
        if (strcmp(placement_event_names[i], name) == 0) {
            *event = (enum placement_event)i;
            return true;
        }
    return false;
}

/* ---- writing ---- */

static void write_class(FILE *out, const struct placement_world *world, uint32_t number)
{
    const struct placement_class *class = &world->classes.classes[number];
    fprintf(out, "class %" PRIu32 " %" PRIu64 " %" PRIu64 " %s\n", number + PLACEMENT_OWNERS, class->n_objects,
            class->n_object_bytes, class->name[0] == '\0' ? "?" : class->name);
    if (class->heat[0] > 0)
        fprintf(out, "heat %" PRIu32 " -1 %.17g\n", number + PLACEMENT_OWNERS, class->heat[0]);
    for (uint32_t i = 0; i < class->n_fields; i++)
        if (class->fields[i].heat[0] > 0)
            fprintf(out, "heat %" PRIu32 " %" PRIu32 " %.17g\n", number + PLACEMENT_OWNERS, class->fields[i].offset,
                    class->fields[i].heat[0]);
}

static void write_misses(FILE *out, const struct placement_misses *misses, uint32_t machine, uint32_t n_owners)
{
    for (uint32_t i = 0; i < n_owners; i++) {
        uint64_t n[PLACEMENT_EVENTS], sum = 0;
        for (int k = 0; k < PLACEMENT_EVENTS; k++)
            sum += n[k] = atomic_load(&misses->counts[i][k]);
        if (sum > 0)
            fprintf(out, "misses %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", machine, i, n[0], n[1],
                    n[2]);
    }
}

void placement_result_write(FILE *out, const struct placement_run *run, const struct placement_world *world,
                            const struct placement_counts *counts)
{
    fprintf(out, FIRST_LINE "\nrun %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
            run->n_accesses, run->n_placed, run->n_collections, run->n_full, run->n_objects, run->n_object_bytes,
            run->n_samples);
    fprintf(out, " %s %" PRIu64 " %s\n", placement_event_names[run->event], run->period, run->model);
    for (uint32_t i = 0; i < world->n_policies; i++)
        fprintf(out, "policy %s %s\n", placement_kind_names[world->policies[i].kind],
                heat_names[world->policies[i].heat]);
    for (uint32_t i = 1; i < world->classes.n; i++)
        write_class(out, world, i);
    for (uint32_t i = 0; i <= world->n_policies; i++)
        write_misses(out, &counts->misses[i], i, world->classes.n + PLACEMENT_OWNERS);
    fprintf(out, "end\n");
}

/* ---- reading ---- */

struct reading {
    struct arena *arena;
    struct placement_result *result;
    uint32_t room; /* for classes */
    bool has_run, has_ended;
    placement_heat_take *take; /* NULL: heat is not asked for */
    void *context;
};

static bool read_run(struct reading *r, const char *line)
{
    struct placement_run *run = &r->result->run;
    char event[8];
    r->has_run = true;
    return sscanf(line,
                  "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %7s %" SCNu64
                  " %63s",
                  &run->n_accesses, &run->n_placed, &run->n_collections, &run->n_full, &run->n_objects,
                  &run->n_object_bytes, &run->n_samples, event, &run->period, run->model) == 10 &&
           placement_event_parse(event, &run->event);
}

static bool read_policy(struct reading *r, const char *line)
{
    char kind[16], heat[16];
    struct placement_result *result = r->result;
    if (result->n_policies == PLACEMENT_MAX || sscanf(line, "%15s %15s", kind, heat) != 2)
        return false;
    struct placement_policy *policy = &result->policies[result->n_policies++];
    policy->heat =
        strcmp(heat, heat_names[PLACEMENT_BY_HINDSIGHT]) == 0 ? PLACEMENT_BY_HINDSIGHT : PLACEMENT_BY_SAMPLES;
    return strcmp(heat, heat_names[policy->heat]) == 0 && placement_kind_parse(kind, strlen(kind), &policy->kind);
}

/* Numbers ascend by one; the first are of no class. */
static bool read_class(struct reading *r, const char *line)
{
    struct placement_result *result = r->result;
    uint32_t number;
    int at = 0;
    if (result->n_classes < PLACEMENT_OWNERS + 1)
        result->n_classes = PLACEMENT_OWNERS + 1;
    if (result->n_classes >= r->room)
        return false;
    struct placement_result_class *class = &result->classes[result->n_classes];
    if (sscanf(line, "%" SCNu32 " %" SCNu64 " %" SCNu64 " %n", &number, &class->n_objects, &class->n_bytes, &at) != 3 ||
        number != result->n_classes || at == 0 || line[at] == '\0')
        return false;
    result->n_classes++;
    class->name = arena_text(r->arena, line + at, strlen(line + at));
    return true;
}

static bool read_misses(struct reading *r, const char *line)
{
    uint32_t machine, owner;
    uint64_t n[PLACEMENT_EVENTS];
    if (sscanf(line, "%" SCNu32 " %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64, &machine, &owner, &n[0], &n[1],
               &n[2]) != 5 ||
        machine > r->result->n_policies || (owner >= PLACEMENT_OWNERS && owner >= r->result->n_classes))
        return false;
    memcpy(r->result->classes[owner].misses[machine], n, sizeof n);
    return true;
}

static bool read_heat(struct reading *r, const char *line)
{
    uint32_t number;
    int64_t offset;
    double heat;
    if (sscanf(line, "%" SCNu32 " %" SCNd64 " %lf", &number, &offset, &heat) != 3 || number <= PLACEMENT_OWNERS ||
        number >= r->result->n_classes || !(heat >= 0))
        return false;
    if (r->take != NULL)
        r->take(r->context, r->result->classes[number].name, offset, heat);
    return true;
}

static bool read_end(struct reading *r, const char *line)
{
    r->has_ended = line[0] == '\0';
    return r->has_ended;
}

static bool read_line(struct reading *r, const char *line)
{
    static const struct {
        const char *word;
        bool (*read)(struct reading *r, const char *line);
    } kinds[] = { { "run ", read_run },       { "policy ", read_policy }, { "class ", read_class },
                  { "misses ", read_misses }, { "heat ", read_heat },     { "end", read_end } };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !r->has_ended; i++)
        if (strncmp(line, kinds[i].word, strlen(kinds[i].word)) == 0)
            return kinds[i].read(r, line + strlen(kinds[i].word));
    return false;
}

static bool read_lines(struct reading *r, const char *text, size_t n)
{
    char line[LINE_MAX_BYTES];
    for (bool is_first = true; n > 0; is_first = false) {
        const char *end = memchr(text, '\n', n);
        size_t length = end == NULL ? n : (size_t)(end - text);
        if (end == NULL || length >= sizeof line)
            return false;
        memcpy(line, text, length);
        line[length] = '\0';
        if (is_first ? strcmp(line, FIRST_LINE) != 0 : !read_line(r, line))
            return false;
        text += length + 1;
        n -= length + 1;
    }
    return r->has_run && r->has_ended;
}

/* No more classes than lines. */
static bool read_all(struct reading *r, const char *text, size_t n)
{
    *r->result = (struct placement_result){ .n_classes = PLACEMENT_OWNERS };
    r->room = PLACEMENT_OWNERS + 1;
    for (size_t i = 0; i < n && r->room < PLACEMENT_OWNERS_MAX; i++)
        r->room += text[i] == '\n';
    r->result->classes = arena_alloc(r->arena, r->room * sizeof *r->result->classes);
    return read_lines(r, text, n);
}

int placement_result_read(const char *text, size_t n, const char *path, struct arena *arena,
                          struct placement_result *result, struct err *err)
{
    struct reading r = { .arena = arena, .result = result };
    if (read_all(&r, text, n))
        return 0;
    err_set(err, "'%s' is damaged, or no result of a placement run", path);
    return err_next(err, "run 'mmprof placement' again");
}

int placement_heat_read(const char *text, size_t n, placement_heat_take *take, void *context)
{
    struct arena arena = { 0 };
    struct placement_result result;
    struct reading r = { .arena = &arena, .result = &result, .take = take, .context = context };
    int rc = read_all(&r, text, n) ? 0 : -1;
    arena_free(&arena);
    return rc;
}

/* ---- hindsight ---- */

#define FILE_BYTES_MAX (64 << 20)

struct placement_heat_row {
    char name[PLACEMENT_NAME_BYTES];
    int64_t offset; /* -1: the class' */
    double heat;
};

static void take_heat(void *context, const char *class_name, int64_t offset, double heat)
{
    struct placement_hindsight *hindsight = context;
    struct placement_heat_row *row = xpush(hindsight->rows, hindsight->room, hindsight->n);
    *row = (struct placement_heat_row){ .offset = offset, .heat = heat };
    snprintf(row->name, sizeof row->name, "%s", class_name);
}

static int by_name(const void *a, const void *b)
{
    const struct placement_heat_row *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static int read_file(struct placement_hindsight *hindsight, FILE *in)
{
    struct stat status;
    char *text = NULL;
    int rc = -1;
    if (fstat(fileno(in), &status) == 0 && status.st_size > 0 && status.st_size < FILE_BYTES_MAX)
        text = xmalloc((size_t)status.st_size);
    if (text != NULL && fread(text, 1, (size_t)status.st_size, in) == (size_t)status.st_size)
        rc = placement_heat_read(text, (size_t)status.st_size, take_heat, hindsight);
    free(text);
    return rc;
}

int placement_hindsight_read(struct placement_hindsight *hindsight, const char *path)
{
    FILE *in = fopen(path, "re");
    int rc = in == NULL ? -1 : read_file(hindsight, in);
    if (in != NULL)
        fclose(in);
    if (hindsight->n > 0)
        qsort(hindsight->rows, hindsight->n, sizeof *hindsight->rows, by_name);
    return rc;
}

void placement_hindsight_free(struct placement_hindsight *hindsight)
{
    free(hindsight->rows);
    *hindsight = (struct placement_hindsight){ .n = 0 };
}

static void apply_row(struct placement_class *class, const struct placement_heat_row *row)
{
    if (row->offset < 0)
        class->heat[PLACEMENT_BY_HINDSIGHT] = row->heat;
    for (uint32_t i = 0; i < class->n_fields; i++)
        if (class->fields[i].offset == row->offset)
            class->fields[i].heat[PLACEMENT_BY_HINDSIGHT] = row->heat;
}

/* Several classes may have one name: each row of it counts, the latest last. */
void placement_hindsight_apply(const struct placement_hindsight *hindsight, struct placement_class *class)
{
    uint32_t low = 0, high = hindsight->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (strcmp(hindsight->rows[middle].name, class->name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < hindsight->n && strcmp(hindsight->rows[low].name, class->name) == 0; low++)
        apply_row(class, &hindsight->rows[low]);
}
