/*
 * The recorder's commands.  Flags are switched by the thread that hears of it, at once.  What takes its time (rewriting
 * classes, looking through compiled code) gets a thread of its own, one at a time: a method that turns out to be called
 * too often can be switched off while classes are still being rewritten.
 */
#include "core/agent/agent.h"

#include "core/agent/codecache/codecache.h"
#include "core/wire/config.h"
#include "core/agent/control/control.h"
#include "core/agent/control/jvmti_env.h"
#include "core/agent/instrument/classes.h"
#include "core/agent/instrument/methods.h"
#include "core/agent/instrument/retransform.h"
#include "core/agent/probe/probe.h"
#include "core/agent/stacks/stacks.h"

#include "core/agent/codecache/compiling.h"
#include "core/base/ticks.h"

#include <stdatomic.h>

#define CALM_POLL_MS 200
#define CALM_MS      2000 /* for what is found to be changed, the compilers may be waited for so long */

/* Whoever hears the answer may give the next command at once. */
enum work_state { WORK_NONE, WORK_UNDER_WAY, WORK_ANSWERED };

/* The slow command; unless there is none, the other fields are its thread's. */
static struct commands_state {
    _Atomic int state;
    _Atomic bool stopping;
    jvmtiEnv *jvmti;
    const struct commands_session *session;
    const struct control *control; /* the session's */
    struct wire_message asked, answer;
    struct wire_list list; /* what was asked points to it */
    int fd;                /* that came with it; owned, or -1 */
} work = { .fd = -1 };

static void refuse(const struct control *control, enum wire_kind command, const char *why)
{
    control_send(control, &(struct wire_message){ .kind = WIRE_REFUSED, .command = command, .text = why });
}

/* ---- flags ---- */

/* The moment in the answer is one at which the flags are enabled for sure: after they were, before they are no more. */
static void switch_flags(JNIEnv *jni, const struct control *control, const struct wire_message *asked)
{
    const struct wire_list *ids = asked->list;
    bool enable = asked->kind == WIRE_ENABLE;
    struct wire_message answer = { .kind = wire_answer(asked->kind), .ticks = ticks_now() };
    for (size_t i = 0; i < ids->n; i++)
        if (methods_has_id((uint32_t)ids->numbers[i]))
            classes_enable(jni, (uint32_t)ids->numbers[i], enable);
        else
            answer.n_unknown++;
    if (enable)
        answer.ticks = ticks_now();
    answer.n = (uint32_t)ids->n - answer.n_unknown;
    control_send(control, &answer);
}

/* ---- the JIT compiler's log ---- */

/* Takes over the descriptor. */
static void log_jit(JNIEnv *jni, const struct control *control, int fd)
{
    struct err err = { "it needs a descriptor" };
    if (fd >= 0 && jit_log_start(work.jvmti, jni, fd, &err) == 0)
        control_send(control, &(struct wire_message){ .kind = WIRE_LOGGING });
    else
        refuse(control, WIRE_JIT, err.text);
}

/* ---- stack samples ---- */

/* Takes over the descriptor. */
static void poll_stacks(JNIEnv *jni, const struct control *control, const struct wire_message *asked, int fd)
{
    struct err err = { "it needs a period and a descriptor" };
    bool is_whole = asked->period_us > 0 && fd >= 0;
    if (is_whole && poll_start(work.jvmti, jni, fd, asked->period_us, asked->part_ppm, &err) == 0)
        control_send(control, &(struct wire_message){ .kind = WIRE_POLLING });
    else
        refuse(control, WIRE_POLL, err.text);
    if (!is_whole && fd >= 0)
        close(fd);
}

/* Takes over the descriptor. */
static void sample_allocations(JNIEnv *jni, const struct control *control, const struct wire_message *asked, int fd)
{
    struct err err = { "it needs a descriptor" };
    if (fd >= 0 && allocation_log_start(work.jvmti, jni, fd, asked->part_ppm, asked->is_tracking != 0, &err) == 0)
        control_send(control, &(struct wire_message){ .kind = WIRE_ALLOCATIONS_BEGUN });
    else
        refuse(control, WIRE_ALLOCATIONS, err.text);
}

/* ---- the code that is asked for ---- */

static void tell_code(const struct control *control, const struct wire_list *addresses)
{
    double start_ms = clock_ms(CLOCK_THREAD_CPUTIME_ID);
    struct wire_message answer = { .kind = WIRE_TOLD, .n = code_asked_tell(addresses->numbers, addresses->n) };
    answer.cpu_ms = clock_ms(CLOCK_THREAD_CPUTIME_ID) - start_ms;
    control_send(control, &answer);
}

/* ---- what takes its time: each fills work.answer, or returns -1 with *err set ---- */

/* ticks: as for switch_flags. */
static void answer_change(uint64_t ticks, const struct retransform_pass *pass, uint32_t n_methods, uint32_t n_unknown)
{
    work.answer.ticks = ticks;
    work.answer.n_classes = pass->n_classes;
    work.answer.n_methods = n_methods;
    work.answer.n_unknown = n_unknown;
    work.answer.n_batches = pass->n_batches;
    work.answer.longest_pause_ms = pass->longest_pause_ms;
    work.answer.total_ms = pass->total_ms;
    work.answer.cpu_ms = pass->cpu_ms;
}

static int do_instrument(JNIEnv *jni, struct err *err)
{
    struct agent_config config;
    struct retransform_pass pass;
    int rc = -1;
    uint32_t n_methods;
    double start_ms = clock_ms(CLOCK_THREAD_CPUTIME_ID), made_ms;
    if (config_read(&config, work.fd, err) < 0)
        goto out;
    n_methods = methods_count(&config);
    if (calibrate_once(work.jvmti, jni, work.session->plan, work.session->segment, err) < 0)
        goto out;
    made_ms = clock_ms(CLOCK_THREAD_CPUTIME_ID) - start_ms;
    active_loops_note(config.loops, config.n_loops);
    jit_log_watch(work.jvmti, &config);
    if (methods_add(jni, &config, err) < 0 ||
        retransform_changed(work.jvmti, jni, work.control, &work.stopping, &config, &pass, err) < 0)
        goto out;
    probe_find_open();
    pass.cpu_ms += made_ms;
    answer_change(ticks_now(), &pass, methods_count(&config) - n_methods, 0);
    rc = 0;
out:
    config_free(&config);
    return rc;
}

static int do_remove(JNIEnv *jni, struct err *err)
{
    uint32_t ids[WIRE_LIST_MAX], n_unknown;
    size_t n = work.list.n;
    struct retransform_pass pass;
    uint64_t before = ticks_now();
    for (size_t i = 0; i < n; i++) {
        ids[i] = (uint32_t)work.list.numbers[i];
        if (methods_has_id(ids[i]))
            classes_enable(jni, ids[i], false);
    }
    if (methods_remove(ids, n, &n_unknown, err) < 0 ||
        retransform_changed(work.jvmti, jni, work.control, &work.stopping, NULL, &pass, err) < 0)
        return -1;
    probe_find_open();
    answer_change(before, &pass, (uint32_t)n - n_unknown, n_unknown);
    return 0;
}

static bool is_stopping(const void *unused)
{
    (void)unused;
    return atomic_load(&work.stopping);
}

/* The longer it waits, the more has been compiled. */
static int do_dependents(JNIEnv *jni, struct err *err)
{
    (void)jni, (void)err;
    double start_ms = clock_ms(CLOCK_THREAD_CPUTIME_ID);
    compiling_wait((struct compiling_patience){ CALM_MS, CALM_POLL_MS, true }, is_stopping, NULL);
    code_dependents_tell();
    work.answer.cpu_ms = clock_ms(CLOCK_THREAD_CPUTIME_ID) - start_ms;
    return 0;
}

static int do_compile(JNIEnv *jni, struct err *err)
{
    struct agent_config config;
    double start_ms = clock_ms(CLOCK_THREAD_CPUTIME_ID);
    int rc = config_read(&config, work.fd, err);
    if (rc == 0)
        rc = compile_methods(work.jvmti, jni, config.compiles, config.n_compiles, &work.answer.n, err);
    work.answer.n_unknown = (uint32_t)config.n_compiles - work.answer.n;
    work.answer.cpu_ms = clock_ms(CLOCK_THREAD_CPUTIME_ID) - start_ms;
    config_free(&config);
    return rc;
}

static int do_asked(JNIEnv *jni, struct err *err)
{
    switch (work.asked.kind) {
    case WIRE_INSTRUMENT:
        return do_instrument(jni, err);
    case WIRE_REMOVE:
        return do_remove(jni, err);
    case WIRE_COMPILE:
        return do_compile(jni, err);
    default:
        return do_dependents(jni, err);
    }
}

static void JNICALL do_work(jvmtiEnv *jvmti, JNIEnv *jni, void *argument)
{
    (void)jvmti, (void)argument;
    struct err err = { "" };
    work.answer = (struct wire_message){ .kind = wire_answer(work.asked.kind) };
    int rc = do_asked(jni, &err);
    if (work.fd >= 0)
        close(work.fd);
    work.fd = -1;
    atomic_store(&work.state, WORK_ANSWERED);
    if (rc == 0)
        control_send(work.control, &work.answer);
    else
        refuse(work.control, work.asked.kind, err.text);
    atomic_store(&work.state, WORK_NONE);
}

static void wait_while(enum work_state state)
{
    const struct timespec pause = { 0, 200000 };
    while (atomic_load(&work.state) == (int)state)
        nanosleep(&pause, NULL);
}

/* Takes over the descriptor. */
static void begin_work(JNIEnv *jni, const struct control_received *received, int fd)
{
    work.asked = received->message;
    work.list = received->list;
    work.fd = fd;
    atomic_store(&work.state, WORK_UNDER_WAY);
    if (jvmti_env_run_thread(jni, do_work, NULL) < 0)
        do_work(work.jvmti, jni, NULL); /* no thread to be had: flags wait */
}

/* ---- the loop ---- */

/* Let the probes record, where the session begins later. */
static void begin(JNIEnv *jni)
{
    classes_enable_all(jni, work.session->epoch);
    probe_find_open();
}

/* Returns whether it was "stop"; takes over the descriptor. */
static bool execute(JNIEnv *jni, const struct control *control, const struct control_received *received, int fd)
{
    const struct wire_message *asked = &received->message;
    wait_while(WORK_ANSWERED);
    if (wire_is_slow(asked->kind) && atomic_load(&work.state) == WORK_NONE) {
        begin_work(jni, received, fd);
        return false;
    }
    if (asked->kind == WIRE_JIT) {
        log_jit(jni, control, fd);
        return false;
    }
    if (asked->kind == WIRE_POLL) {
        poll_stacks(jni, control, asked, fd);
        return false;
    }
    if (asked->kind == WIRE_ALLOCATIONS) {
        sample_allocations(jni, control, asked, fd);
        return false;
    }
    if (fd >= 0)
        close(fd);
    if (asked->kind == WIRE_BEGIN)
        begin(jni);
    else if (asked->kind == WIRE_ENABLE || asked->kind == WIRE_DISABLE)
        switch_flags(jni, control, asked);
    else if (asked->kind == WIRE_WHERE)
        tell_code(control, asked->list);
    else if (asked->kind != WIRE_STOP)
        refuse(control, asked->kind, wire_is_slow(asked->kind) ? "another command is under way" : "it is not known");
    return asked->kind == WIRE_STOP;
}

void commands_run(jvmtiEnv *jvmti, JNIEnv *jni, const struct commands_session *session)
{
    struct control_received received;
    int fd;
    work.jvmti = jvmti;
    work.session = session;
    work.control = session->control;
    atomic_store(&work.stopping, false);
    while (control_receive(session->control, &received, &fd) && !execute(jni, session->control, &received, fd))
        continue;
    atomic_store(&work.stopping, true);
    poll_stop();
    allocation_log_stop();
    wait_while(WORK_UNDER_WAY);
    wait_while(WORK_ANSWERED);
}
