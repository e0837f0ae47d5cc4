/*
 * How many objects have another lifetime where only Java code is looked at (thesis Figure 2.10): those that native code
 * or the JVM used last.  Behind the comma of --tool: a class, such as java/lang/String, if only its objects are meant.
 */
#include <mmprof_tool.h>

#include <stdlib.h>
#include <string.h>

struct uses {
    uint64_t last, last_by_java; /* times */
};

static char only[256];
static double n_objects, n_native; /* with --interval, one stands for others */

static const char *on_begin(const char *argument)
{
    snprintf(only, sizeof only, "%s", argument);
    return NULL;
}

static void on_created(struct mmprof_object *object)
{
    if (only[0] == '\0' || strcmp(object->class_of->name, only) == 0)
        object->user = calloc(1, sizeof(struct uses));
}

static void on_access(const struct mmprof_access *a)
{
    struct uses *uses = a->object == NULL || !a->thread->is_java ? NULL : a->object->user;
    if (uses == NULL)
        return;
    uses->last = a->time > uses->last ? a->time : uses->last;
    if (a->is_java)
        uses->last_by_java = a->time > uses->last_by_java ? a->time : uses->last_by_java;
}

static void on_died(struct mmprof_object *object, bool has_died)
{
    const struct uses *uses = object->user;
    (void)has_died;
    n_objects += uses != NULL ? object->stands_for : 0;
    n_native += uses != NULL && uses->last > uses->last_by_java ? object->stands_for : 0;
    free(object->user);
}

static void on_end(uint64_t time)
{
    (void)time;
    fprintf(mmprof_out, "%.0f objects, %.0f (%.2f %%) last used by native code\n", n_objects, n_native,
            n_objects > 0 ? 100 * n_native / n_objects : 0);
}

MMPROF_TOOL(.begin = on_begin, .object_created = on_created, .access = on_access, .object_died = on_died, .end = on_end)
