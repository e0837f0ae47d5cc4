/*
 * Which patterns of --include have matched something, and what the others may have meant: told in the segment, for a
 * command's JVM may end at any time.
 */
#include "core/agent/control/included.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define FAR 12 /* characters that differ: no name is nearer than none */

/* 'lock' guards all but the atomics. */
static struct included_state {
    pthread_mutex_t lock;
    struct segment *segment; /* borrowed, or NULL */
} state = { .lock = PTHREAD_MUTEX_INITIALIZER };

void included_begin(struct segment *segment)
{
    pthread_mutex_lock(&state.lock);
    state.segment = segment;
    pthread_mutex_unlock(&state.lock);
}

/* Called with the lock. */
static void suggest(struct segment_include *told, const char *name, size_t n, uint32_t distance)
{
    if (distance >= FAR || (told->distance != 0 && distance >= told->distance) || n >= sizeof told->nearest)
        return;
    told->distance = distance;
    memcpy(told->nearest, name, n);
    told->nearest[n] = '\0';
}

static uint32_t most(const struct segment_include *told)
{
    return told->distance == 0 ? FAR : told->distance;
}

void included_class(const struct pattern *pattern, size_t i, const char *name, size_t n, bool matches)
{
    pthread_mutex_lock(&state.lock);
    struct segment_include *told = state.segment == NULL || i >= SEGMENT_INCLUDES ? NULL : &state.segment->includes[i];
    if (told != NULL && matches && atomic_load(&told->has_class) == 0) {
        told->distance = 0; /* now a method is missing */
        atomic_store(&told->has_class, 1);
    } else if (told != NULL && !matches && atomic_load(&told->has_class) == 0) {
        suggest(told, name, n, pattern_class_distance(pattern, name, n, most(told)));
    }
    pthread_mutex_unlock(&state.lock);
}

void included_method(const struct pattern *pattern, size_t i, const struct rewrite_method *method, bool matches,
                     bool wanted)
{
    pthread_mutex_lock(&state.lock);
    struct segment_include *told = state.segment == NULL || i >= SEGMENT_INCLUDES ? NULL : &state.segment->includes[i];
    if (told != NULL)
        atomic_store(&told->has_compared, 1);
    if (told != NULL && matches) {
        atomic_store(&told->has_method, 1);
        if (wanted)
            atomic_store(&told->has_wanted, 1);
    } else if (told != NULL && atomic_load(&told->has_method) == 0) {
        suggest(told, method->name.at, method->name.n,
                pattern_method_distance(pattern, method->name.at, method->name.n, most(told)));
    }
    pthread_mutex_unlock(&state.lock);
}
