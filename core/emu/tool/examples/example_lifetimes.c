/*
 * Object lifetimes (thesis §2.4.3, Figures 2.8 and 2.9): how many objects had their last use so many data accesses
 * after their creation, as a cumulative distribution on a log scale.  As there, each object has data of the tool's own.
 */
#include <mmprof_tool.h>

#include <stdlib.h>

struct life {
    uint64_t creation_time, last_access;
};

static double lives[65], n_lives; /* by the number of bits of the lifetime; with --interval, one stands for others */

static void on_created(struct mmprof_object *object)
{
    struct life *life = object->user = malloc(sizeof *life);
    if (life != NULL)
        life->creation_time = life->last_access = object->created;
}

static void on_access(const struct mmprof_access *a)
{
    struct life *life = a->object == NULL || !a->thread->is_java ? NULL : a->object->user;
    if (life != NULL && a->time > life->last_access)
        life->last_access = a->time;
}

static void on_died(struct mmprof_object *object, bool has_died)
{
    const struct life *life = object->user;
    uint64_t lifetime = life == NULL ? 0 : life->last_access - life->creation_time;
    (void)has_died; /* what is there at the end is not used any more */
    lives[lifetime == 0 ? 0 : 64 - __builtin_clzll(lifetime)] += object->stands_for;
    n_lives += object->stands_for;
    free(object->user);
}

static void on_end(uint64_t time)
{
    double so_far = 0;
    fprintf(mmprof_out, "%.0f objects, %llu data accesses\n", n_lives, (unsigned long long)time);
    for (int i = 0; i < 64 && so_far < n_lives; i++) {
        so_far += lives[i];
        fprintf(mmprof_out, "%20llu %6.2f %%\n", 1ULL << i, 100 * so_far / n_lives);
    }
}

MMPROF_TOOL(.object_created = on_created, .access = on_access, .object_died = on_died, .end = on_end)
