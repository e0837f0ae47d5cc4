/* Virtual threads in the probes: they come to the current thread, and go. */
#include "core/agent/probe/probe_parts.h"

static void mount(struct ring *ring, uint32_t handle, uint32_t n)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint32_t *methods = probe_self.stack + probe_self.depth, ticket = n == 0 ? 0 : unmounted_fetch(handle, methods, n);
    if (ring->n_lost_unrecorded > 0)
        head = put_gap(ring, head);
    head = put_record(head, RING_MOUNT, ticket);
    for (uint32_t i = 0; i < n; i++)
        head = put_again(head, RING_RESUME, methods[i]);
    probe_self.depth += n;
    atomic_store_explicit(&ring->head, head, memory_order_release);
}

/*
 * There is nothing to say when neither the carrier nor the virtual thread has calls open: what it opens stands alone in
 * the ring.
 */
void probe_mount(uint32_t handle)
{
    uint32_t epoch = atomic_load_explicit(&probe_session.epoch, memory_order_acquire), n = unmounted_n(handle);
    probe_self.handle = 0;
    if (epoch == 0 || (probe_self.epoch != epoch && (n == 0 || !probe_take_ring(epoch)))) {
        unmounted_drop(handle);
        return;
    }
    probe_self.base = probe_self.depth;
    probe_self.is_deaf = (n > 0 || probe_self.depth > 0) && !has_room_for(probe_self.ring, n);
    probe_self.is_mounted = (n > 0 || probe_self.depth > 0) && !probe_self.is_deaf;
    if (probe_self.is_mounted) {
        probe_self.handle = handle;
        mount(probe_self.ring, handle, n);
        return;
    }
    if (n > 0)
        lose(probe_self.ring, n);
    if (probe_self.is_deaf)
        probe_self.ring->limit = 0; /* entries check this first */
    unmounted_drop(handle);
}

/* Its entries and its coming reserved the room. */
uint32_t probe_unmount(void)
{
    uint32_t handle = probe_self.handle, n = probe_self.depth - probe_self.base,
             epoch = atomic_load(&probe_session.epoch), ticket = 0;
    struct ring *ring = probe_self.ring;
    bool is_told = probe_self.is_mounted || (n > 0 && !probe_self.is_deaf);
    probe_self.handle = 0;
    probe_self.is_deaf = probe_self.is_mounted = false;
    if (epoch == 0 || probe_self.epoch != epoch)
        return 0;
    if (n > 0)
        ticket = unmounted_put(&handle, probe_self.stack + probe_self.base, n);
    if (n > 0 && ticket == 0)
        lose(ring, n);
    if (n == 0) {
        unmounted_drop(handle);
        handle = 0;
    }
    if (is_told) {
        uint64_t head = put_record(atomic_load_explicit(&ring->head, memory_order_relaxed), RING_UNMOUNT, ticket);
        atomic_store_explicit(&ring->head, head, memory_order_release);
    }
    probe_self.depth = probe_self.base;
    probe_self.base = 0;
    return handle;
}

/* ---- the JVM's events ---- */

static struct virtual_session *const known = &probe_session.virtual;

/* What the virtual thread on this carrier had in its storage when it came: epoch and handle of the calls left open. */
static _Thread_local uint64_t stored;

static uint32_t stored_handle(uint64_t value, uint32_t epoch)
{
    return value >> 32 == epoch ? (uint32_t)value : 0;
}

static void JNICALL on_mount(jvmtiEnv *jvmti, ...)
{
    void *value = NULL;
    uint32_t epoch = atomic_load_explicit(&known->epoch, memory_order_acquire);
    if ((*jvmti)->GetThreadLocalStorage(jvmti, NULL, &value) != JVMTI_ERROR_NONE)
        value = NULL;
    stored = (uint64_t)(uintptr_t)value;
    probe_mount(stored_handle(stored, epoch));
}

static void JNICALL on_unmount(jvmtiEnv *jvmti, ...)
{
    uint32_t epoch = atomic_load_explicit(&known->epoch, memory_order_acquire), handle = probe_unmount();
    uint64_t value = handle == 0 ? 0 : (uint64_t)epoch << 32 | handle;
    if (value != stored)
        (*jvmti)->SetThreadLocalStorage(jvmti, NULL, (void *)(uintptr_t)value);
    stored = 0;
}

static void find_events(jvmtiEnv *jvmti)
{
    jvmtiExtensionEventInfo *events = NULL;
    jint n = 0;
    if ((*jvmti)->GetExtensionEvents(jvmti, &n, &events) != JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < n; i++) {
        jint index = events[i].extension_event_index;
        if (strcmp(events[i].id, "com.sun.hotspot.events.VirtualThreadMount") == 0 &&
            (*jvmti)->SetExtensionEventCallback(jvmti, index, on_mount) == JVMTI_ERROR_NONE)
            known->mount = index;
        if (strcmp(events[i].id, "com.sun.hotspot.events.VirtualThreadUnmount") == 0 &&
            (*jvmti)->SetExtensionEventCallback(jvmti, index, on_unmount) == JVMTI_ERROR_NONE)
            known->unmount = index;
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)events);
}

void probe_virtual_init(jvmtiEnv *jvmti)
{
    if (virtual_find(jvmti))
        find_events(jvmti);
}

void probe_virtual_listen(jvmtiEnv *jvmti, uint32_t epoch)
{
    jvmtiEventMode mode = epoch == 0 ? JVMTI_DISABLE : JVMTI_ENABLE;
    if (known->mount == 0 || known->unmount == 0)
        return;
    if (epoch != 0)
        unmounted_begin();
    atomic_store_explicit(&known->epoch, epoch, memory_order_release);
    (*jvmti)->SetEventNotificationMode(jvmti, mode, (jvmtiEvent)known->mount, NULL);
    (*jvmti)->SetEventNotificationMode(jvmti, mode, (jvmtiEvent)known->unmount, NULL);
}
