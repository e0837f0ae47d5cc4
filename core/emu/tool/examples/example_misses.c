/*
 * Vertical cache simulation (thesis §2.4.2, Figure 2.7, Tables 2.2 to 2.4): accesses and misses of two caches by class,
 * method, line and object.
 *
 * The caches are those of the thesis, or of the processor that stands behind the comma of --tool=PATH,zen4.  All
 * threads' accesses go through them in the order in which they come.  A miss counts for each line that an access is in.
 */
#include <mmprof_tool.h>

#include <stdlib.h>

#define TOP 20

static struct mmprof_caches *caches;

/* ---- what is counted ---- */

/* Of a class, a method, a line; its 'user' leads here. */
struct access_counts {
    uint64_t n_accesses, n_l1, n_l2;
    const void *of;
};

enum kind { BY_CLASS, BY_METHOD, BY_LINE, KINDS };

static struct {
    struct access_counts **all;
    size_t n, room;
} found[KINDS];

static struct access_counts sums, no_object, no_method;

/* The counts of something; those of others when there is no memory. */
static struct access_counts *counts_of(enum kind kind, const void *of, void **user, struct access_counts *others)
{
    if (*user != NULL)
        return *user;
    if (found[kind].n == found[kind].room) {
        size_t room = found[kind].room == 0 ? 1024 : 2 * found[kind].room;
        struct access_counts **all = realloc(found[kind].all, room * sizeof *all);
        if (all == NULL)
            return others;
        found[kind].all = all;
        found[kind].room = room;
    }
    struct access_counts *counts = calloc(1, sizeof *counts);
    if (counts == NULL)
        return others;
    counts->of = of;
    *user = counts;
    found[kind].all[found[kind].n++] = counts;
    return counts;
}

static void count(struct access_counts *counts, const struct mmprof_missed *missed)
{
    counts->n_accesses++;
    counts->n_l1 += missed->l1d;
    counts->n_l2 += missed->l2;
}

static void count_object(struct mmprof_object *object, const struct mmprof_missed *missed)
{
    if (object != NULL && object->user == NULL)
        object->user = calloc(1, sizeof(struct access_counts));
    if (object != NULL && object->user != NULL)
        count(object->user, missed);
}

static void on_access(const struct mmprof_access *a)
{
    const struct mmprof_missed missed = mmprof_model->access(caches, a->address, a->bytes, a->is_store);
    struct mmprof_class *of = a->object == NULL ? NULL : a->object->class_of;
    struct mmprof_location *location = a->location;
    count(&sums, &missed);
    count_object(a->object, &missed);
    count(of == NULL ? &no_object : counts_of(BY_CLASS, of, &of->user, &no_object), &missed);
    if (location == NULL) {
        count(&no_method, &missed);
        return;
    }
    count(counts_of(BY_METHOD, location->method, &location->method->user, &no_method), &missed);
    count(counts_of(BY_LINE, location, &location->user, &no_method), &missed);
}

/* ---- tables ---- */

static double per_cent(uint64_t part, uint64_t all)
{
    return all == 0 ? 0 : 100.0 * (double)part / (double)all;
}

/* Misses with the local miss rates, as the thesis has them. */
static void print_counts(const struct access_counts *c)
{
    fprintf(mmprof_out, "%6.2f %12llu (%5.2f %%) %12llu (%5.2f %%)  ", per_cent(c->n_accesses, sums.n_accesses),
            (unsigned long long)c->n_l1, per_cent(c->n_l1, c->n_accesses), (unsigned long long)c->n_l2,
            per_cent(c->n_l2, c->n_l1));
}

static void print_label(enum kind kind, const void *of)
{
    const struct mmprof_class *class_of = of;
    const struct mmprof_location *location = of;
    const struct mmprof_method *method = kind == BY_LINE ? location->method : of;
    if (kind == BY_CLASS) {
        fprintf(mmprof_out, "%s\n", class_of->name);
        return;
    }
    fprintf(mmprof_out, "%s.%s%s", method->class_name, method->name, method->descriptor);
    if (kind == BY_LINE)
        fprintf(mmprof_out, " %s:%u", method->source, location->line);
    fputc('\n', mmprof_out);
}

static int by_misses(const void *a, const void *b)
{
    const struct access_counts *x = *(struct access_counts *const *)a, *y = *(struct access_counts *const *)b;
    if (x->n_l2 != y->n_l2)
        return x->n_l2 > y->n_l2 ? -1 : 1;
    return x->n_l1 > y->n_l1 ? -1 : x->n_l1 < y->n_l1;
}

/* Single objects: those with most misses, of which each is known until it dies. */
static struct one_object {
    struct access_counts counts;
    struct mmprof_object object;
} objects[TOP + 1];
static size_t n_objects;

static int by_object_misses(const void *a, const void *b)
{
    const struct access_counts *x = &((const struct one_object *)a)->counts,
                               *y = &((const struct one_object *)b)->counts;
    return by_misses(&x, &y);
}

static void on_died(struct mmprof_object *object, bool has_died)
{
    (void)has_died; /* those that are there at the end, too */
    if (object->user == NULL)
        return;
    objects[n_objects++] = (struct one_object){ *(struct access_counts *)object->user, *object };
    free(object->user);
    if (n_objects <= TOP)
        return;
    qsort(objects, n_objects, sizeof *objects, by_object_misses);
    n_objects = TOP;
}

static void print_objects(void)
{
    qsort(objects, n_objects, sizeof *objects, by_object_misses);
    fprintf(mmprof_out, "\n%6s %23s %23s  %s\n", "acc. %", "L1D misses", "L2 misses", "object");
    for (size_t i = 0; i < n_objects; i++) {
        const struct mmprof_object *o = &objects[i].object;
        print_counts(&objects[i].counts);
        fprintf(mmprof_out, "%s of %llu bytes, created by ", o->class_of->name, (unsigned long long)o->bytes);
        if (o->site == NULL)
            fprintf(mmprof_out, "no Java code\n");
        else
            print_label(BY_LINE, o->site);
    }
}

static void print_table(enum kind kind, const char *heading, const struct access_counts *others, const char *other)
{
    if (found[kind].n > 0)
        qsort(found[kind].all, found[kind].n, sizeof *found[kind].all, by_misses);
    fprintf(mmprof_out, "\n%6s %23s %23s  %s\n", "acc. %", "L1D misses", "L2 misses", heading);
    for (size_t i = 0; i < found[kind].n && i < TOP; i++) {
        print_counts(found[kind].all[i]);
        print_label(kind, found[kind].all[i]->of);
    }
    print_counts(others);
    fprintf(mmprof_out, "%s\n", other);
}

static void on_end(uint64_t time)
{
    fprintf(mmprof_out, "%llu accesses, %llu by Java code\n", (unsigned long long)sums.n_accesses,
            (unsigned long long)time);
    print_counts(&sums);
    fprintf(mmprof_out, "all\n");
    print_table(BY_CLASS, "class", &no_object, "(in no object whose creation was seen)");
    print_table(BY_METHOD, "method", &no_method, "(no Java method, or not known)");
    print_table(BY_LINE, "line", &no_method, "(no Java method, or not known)");
    print_objects();
}

static const char *on_begin(const char *argument)
{
    static char why[512];
    caches = mmprof_model->make(argument[0] == '\0' ? "javana" : argument, why, sizeof why);
    return caches == NULL ? why : NULL;
}

MMPROF_TOOL(.want_locations = true, .begin = on_begin, .access = on_access, .object_died = on_died, .end = on_end)
