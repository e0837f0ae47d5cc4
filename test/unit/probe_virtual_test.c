/*
 * Virtual threads that come to carriers and go, with calls open, and where those are kept meanwhile.  Also built with
 * ThreadSanitizer.
 */
#include "test/unit/probe_world.h"

#define N_VIRTUAL     200
#define N_TURNS       200 /* of each virtual thread on a carrier */
#define VIRTUAL_DEPTH 50  /* more than fit into a block */

struct virtual_thread {
    uint32_t handle, depth, n_turns;
    jint tokens[VIRTUAL_DEPTH];
};

static struct {
    pthread_mutex_t lock;
    struct virtual_thread threads[N_VIRTUAL];
    struct virtual_thread *queue[N_VIRTUAL];
    uint32_t first, n, n_ended;
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct virtual_thread *next_virtual(bool *all_ended)
{
    struct virtual_thread *v = NULL;
    pthread_mutex_lock(&pool.lock);
    if (pool.n > 0) {
        v = pool.queue[pool.first];
        pool.first = (pool.first + 1) % N_VIRTUAL;
        pool.n--;
    }
    *all_ended = pool.n_ended == N_VIRTUAL;
    pthread_mutex_unlock(&pool.lock);
    return v;
}

static void put_back(struct virtual_thread *v)
{
    pthread_mutex_lock(&pool.lock);
    if (v->n_turns < N_TURNS || v->depth > 0)
        pool.queue[(pool.first + pool.n++) % N_VIRTUAL] = v;
    else
        pool.n_ended++;
    pthread_mutex_unlock(&pool.lock);
}

/* Enter and leave some methods, and leave some open for the next turn. */
static void run_turn(struct caller *c, struct virtual_thread *v)
{
    bool is_last = ++v->n_turns >= N_TURNS;
    for (uint32_t n = next_random(c) % 12; n > 0 && !is_last; n--) {
        if (v->depth > 0 && next_random(c) % 2 == 0) {
            leave(v->tokens[--v->depth]);
        } else if (v->depth < VIRTUAL_DEPTH) {
            v->tokens[v->depth] = enter(1 + next_random(c) % N_METHODS);
            c->n_recorded += v->tokens[v->depth] != 0;
            c->n_dropped += v->tokens[v->depth++] == 0;
        }
    }
    while (is_last && v->depth > 0)
        leave(v->tokens[--v->depth]);
}

static void *run_carrier(void *argument)
{
    struct caller *c = argument;
    bool all_ended = false;
    while (!all_ended) {
        struct virtual_thread *v = next_virtual(&all_ended);
        if (v == NULL)
            continue;
        jint token = next_random(c) % 2 == 0 ? enter(N_METHODS + 1) : 0;
        c->n_recorded += token != 0;
        probe_mount(v->handle);
        run_turn(c, v);
        v->handle = probe_unmount();
        leave(token);
        put_back(v);
    }
    probe_thread_ended();
    atomic_store(&c->done, true);
    return NULL;
}

static bool run_carriers(struct world *w, uint64_t *n_recorded)
{
    struct caller callers[N_THREADS];
    bool ok = true;
    memset(pool.threads, 0, sizeof pool.threads);
    pool.first = pool.n = pool.n_ended = 0;
    for (uint32_t i = 0; i < N_VIRTUAL; i++)
        put_back(&pool.threads[i]);
    for (int i = 0; ok && i < N_THREADS; i++) {
        callers[i] = (struct caller){ .random = (uint32_t)i + 1 };
        ok = pthread_create(&callers[i].thread, NULL, run_carrier, &callers[i]) == 0;
    }
    for (int i = 0; ok && i < N_THREADS; i++) {
        while (ok && !atomic_load(&callers[i].done))
            ok = drain_once(w);
        pthread_join(callers[i].thread, NULL);
        *n_recorded += callers[i].n_recorded;
    }
    return ok;
}

static void test_virtual_threads(uint64_t ring_bytes, bool may_lose)
{
    struct world w;
    struct tally t;
    uint64_t n_recorded = 0;
    CHECK("a session opens for virtual threads", open_world(&w, ring_bytes));
    CHECK("carriers run them", run_carriers(&w, &n_recorded) && close_trace(&w) && read_trace(&w, &t));
    CHECK_NUMBER("all that was recorded is there", t.n_enters, n_recorded);
    CHECK_NUMBER("each one left before it came again", t.n_early, 0);
    CHECK_NUMBER("with its own calls", t.n_unnested, 0);
    if (!may_lose) {
        CHECK("they have come and gone", t.n_moves > N_VIRTUAL);
        CHECK_NUMBER("nothing is lost", t.n_lost, 0);
        CHECK_NUMBER("each entry has its exit, whoever carries it", t.n_exits, n_recorded);
    } else {
        CHECK("what finds no room is lost and counted", t.n_lost > 0 && t.n_exits <= n_recorded);
    }
    close_world(&w);
}

/* A carrier with a call open, and its ring full but for that call's exit. */
static void test_deaf_carrier(void)
{
    struct world w;
    struct tally t;
    CHECK("a session with the smallest rings opens", open_world(&w, 8192));
    jint own = enter(1);
    probe_mount(0);
    jint call = enter(2);
    uint32_t handle = probe_unmount(), n = 0;
    CHECK("a virtual thread leaves a call open", call != 0 && handle != 0);
    for (jint token; (token = enter(3)) != 0; n++)
        leave(token);
    probe_mount(handle);
    CHECK_NUMBER("where there is no room for its coming, its calls are not recorded", enter(1), 0);
    leave(call);
    leave(own); /* as another call of the carrier's method would */
    CHECK_NUMBER("nor what it leaves open", probe_unmount(), 0);
    CHECK("the ring is drained", drain_once(&w));
    jint token = enter(4);
    CHECK("the carrier goes on", token != 0);
    leave(token);
    leave(own);
    CHECK("the trace closes", close_trace(&w) && read_trace(&w, &t));
    CHECK_NUMBER("with the carrier's exits", t.n_exits, n + 2);
    CHECK_NUMBER("the lost calls are counted", t.n_lost, 3);
    CHECK_NUMBER("and what is there is well nested", t.n_unnested, 0);
    close_world(&w);
}

/* A virtual thread comes with a call that no ring says it has left open: what said so was lost. */
static void test_lost_unmount(void)
{
    struct world w;
    struct tally t;
    const uint32_t method = 5;
    uint32_t handle = 0;
    bool is_open = open_world(&w, 8192);
    CHECK("a thread has left a call open, unheard", is_open && unmounted_put(&handle, &method, 1) != 0);
    probe_mount(handle);
    leave(enter(4));
    CHECK("what it does next waits for that", drain_once(&w) && threads_find(&w.threads, (int32_t)getpid()) != NULL);
    CHECK("for two rounds", drain_once(&w));
    CHECK("the trace closes", close_trace(&w) && read_trace(&w, &t));
    CHECK_NUMBER("then it is recorded", t.n_exits, 1);
    close_world(&w);
}

static void test_parked_calls(void)
{
    uint32_t methods[100], fetched[100], handle = 0, n = 0, first = 0, last = 0;
    for (uint32_t i = 0; i < 100; i++)
        methods[i] = 7 * i;
    unmounted_begin();
    uint32_t ticket = unmounted_put(&handle, methods, 100), before = handle;
    CHECK("a hundred calls are parked", ticket != 0 && unmounted_n(handle) == 100);
    CHECK_NUMBER("they have one ticket", unmounted_fetch(handle, fetched, 100), ticket);
    CHECK("and come back", memcmp(methods, fetched, sizeof methods) == 0);
    uint32_t again = unmounted_put(&handle, methods, 1);
    CHECK("the next ones get the same place and another ticket", handle == before && again != 0 && again != ticket);
    unmounted_drop(handle);
    for (handle = 0; (ticket = unmounted_put(&handle, methods, 30)) != 0; handle = 0, n++) {
        first = n == 0 ? handle : first;
        last = handle;
    }
    CHECK_NUMBER("all blocks can be used", n, (UNMOUNTED_BLOCKS - 1) / 2);
    CHECK("then there is no handle", handle == 0 && unmounted_n(0) == 0);
    unmounted_drop(first);
    CHECK("what is dropped is room", unmounted_put(&handle, methods, 30) != 0);
    CHECK("and what is not stays", unmounted_n(last) == 30);
    unmounted_begin();
}

int main(void)
{
    test_parked_calls();
    test_virtual_threads(16 << 20, false);
    test_virtual_threads(8192, true);
    test_deaf_carrier();
    test_lost_unmount();
    return tap_done();
}
