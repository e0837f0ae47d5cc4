/*
 * The recorder's commands.  Flags are switched by the thread that hears of it, at once.  What takes its time (rewriting
 * classes, sampling) gets a thread of its own, one at a time: a method that turns out to be called too often can be
 * switched off while classes are still being rewritten.
 */
#include "core/agent/agent.h"

#include "core/agent/codecache/jit_log.h"
#include "core/agent/control/config.h"
#include "core/agent/control/control.h"
#include "core/agent/control/jvmti_env.h"
#include "core/agent/instrument/classes.h"
#include "core/agent/instrument/instrument.h"
#include "core/agent/instrument/methods.h"
#include "core/agent/instrument/retransform.h"
#include "core/agent/probe/probe.h"
#include "core/agent/stacks/sample.h"

#include "core/agent/codecache/code_asked.h"
#include "core/agent/codecache/code_dependents.h"
#include "core/agent/codecache/compiling.h"
#include "core/agent/instrument/busy.h"
#include "core/base/ticks.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_IDS       (CONTROL_PACKET_BYTES / 2)
#define MAX_ADDRESSES (CONTROL_PACKET_BYTES / 2)
#define CALM_LOOK_MS  200
#define CALM_MS       2000 /* for what is found to be changed, the compilers may be waited for so long */

/* Whoever hears the answer may give the next command at once. */
enum work_state { WORK_NONE, WORK_UNDER_WAY, WORK_ANSWERED };

/* The slow command; unless there is none, the other fields are its thread's. */
static struct {
    _Atomic int state;
    _Atomic bool stopping;
    jvmtiEnv *jvmti;
    const struct control *control;
    char packet[CONTROL_PACKET_BYTES];
    int fd; /* that came with it; owned, or -1 */
    char answer[256];
} work = { .fd = -1 };

/* The numbers behind a command's first word.  Returns how many there are. */
static size_t parse_ids(const char *text, uint32_t ids[MAX_IDS])
{
    size_t n = 0;
    text += strcspn(text, " ");
    while (n < MAX_IDS) {
        char *end;
        unsigned long long id = strtoull(text, &end, 10);
        if (end == text)
            break;
        ids[n++] = id > UINT32_MAX ? UINT32_MAX : (uint32_t)id;
        text = end;
    }
    return n;
}

static bool is_command(const char *packet, const char *name)
{
    size_t n = strlen(name);
    return strncmp(packet, name, n) == 0 && (packet[n] == ' ' || packet[n] == '\0');
}

static void refuse(const struct control *control, const char *packet, const char *why)
{
    control_send(control, "refused %.*s %s", (int)strcspn(packet, " "), packet, why);
}

/* ---- flags ---- */

/* The moment in the answer is one at which the flags are enabled for sure: after they were, before they are no more. */
static void switch_flags(JNIEnv *jni, const struct control *control, const char *packet, bool enable)
{
    uint32_t ids[MAX_IDS];
    size_t n = parse_ids(packet, ids), n_unknown = 0;
    uint64_t before = ticks_now();
    for (size_t i = 0; i < n; i++)
        if (methods_has_id(ids[i]))
            classes_enable(jni, ids[i], enable);
        else
            n_unknown++;
    control_send(control, "%s ticks=%" PRIu64 " n=%zu unknown=%zu", enable ? "enabled" : "disabled",
                 enable ? ticks_now() : before, n - n_unknown, n_unknown);
}

/* ---- the JIT compiler's log ---- */

/* Takes over the descriptor. */
static void log_jit(JNIEnv *jni, const struct control *control, const char *packet, int fd)
{
    struct err err = { "it needs a descriptor" };
    if (fd >= 0 && jit_log_start(work.jvmti, jni, fd, &err) == 0)
        control_send(control, "logging");
    else
        refuse(control, packet, err.text);
}

/* ---- the code that is asked for ---- */

static double thread_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void tell_code(const struct control *control, const char *packet)
{
    uint64_t addresses[MAX_ADDRESSES];
    size_t n = 0;
    double start_ms = thread_ms();
    for (const char *text = packet + strcspn(packet, " "); n < MAX_ADDRESSES;) {
        char *end;
        addresses[n] = strtoull(text, &end, 16);
        if (end == text)
            break;
        n++;
        text = end;
    }
    uint32_t n_known = code_asked_tell(addresses, n);
    control_send(control, "told n=%u cpu_ms=%.3f", n_known, thread_ms() - start_ms);
}

/* ---- what takes its time: each fills work.answer, or returns -1 with *err set ---- */

/* ticks: as for switch_flags. */
static void answer_change(const char *what, uint64_t ticks, const struct retransform_pass *pass, uint32_t n_methods,
                          uint32_t n_unknown, uint32_t n_failed)
{
    snprintf(work.answer, sizeof work.answer,
             "%s ticks=%" PRIu64 " classes=%u methods=%u unknown=%u failed=%u batches=%u longest_ms=%.3f pause_ms=%.3f "
             "total_ms=%.3f cpu_ms=%.3f",
             what, ticks, pass->n_classes, n_methods, n_unknown, n_failed, pass->n_batches, pass->longest_batch_ms,
             pass->longest_pause_ms, pass->total_ms, pass->cpu_ms);
}

static int do_instrument(JNIEnv *jni, struct err *err)
{
    struct agent_config config;
    struct instrument_counts before, after;
    struct retransform_pass pass;
    int rc = -1;
    uint32_t n_methods;
    instrument_counts(&before);
    if (config_read(&config, work.fd, err) < 0)
        goto out;
    n_methods = methods_count(&config);
    busy_note_all(config.loops, config.n_loops);
    jit_log_watch(work.jvmti, &config);
    if (methods_add(jni, &config, err) < 0 ||
        retransform_changed(work.jvmti, jni, work.control, &work.stopping, &config, &pass, err) < 0)
        goto out;
    probe_find_open();
    instrument_counts(&after);
    answer_change("instrumented", ticks_now(), &pass, methods_count(&config) - n_methods, 0,
                  after.n_failed_classes - before.n_failed_classes);
    rc = 0;
out:
    config_free(&config);
    return rc;
}

static int do_remove(JNIEnv *jni, struct err *err)
{
    uint32_t ids[MAX_IDS], n_unknown;
    size_t n = parse_ids(work.packet, ids);
    struct retransform_pass pass;
    uint64_t before = ticks_now();
    for (size_t i = 0; i < n; i++)
        if (methods_has_id(ids[i]))
            classes_enable(jni, ids[i], false);
    if (methods_remove(ids, n, &n_unknown, err) < 0 ||
        retransform_changed(work.jvmti, jni, work.control, &work.stopping, NULL, &pass, err) < 0)
        return -1;
    probe_find_open();
    answer_change("removed", before, &pass, (uint32_t)n - n_unknown, n_unknown, 0);
    return 0;
}

static bool is_stopping(const void *unused)
{
    (void)unused;
    return atomic_load(&work.stopping);
}

static int do_sample(JNIEnv *jni, struct err *err)
{
    uint32_t numbers[MAX_IDS];
    if (parse_ids(work.packet, numbers) < 2 || numbers[0] == 0 || work.fd < 0)
        return err_set(err, "it needs a period, a number and a descriptor");
    int n = sample_run(work.jvmti, jni, work.fd, numbers[0], numbers[1], &work.stopping, err);
    double start_ms = thread_ms();
    /* Before prices are told: more has been compiled by then. */
    compiling_wait((struct compiling_patience){ CALM_MS, CALM_LOOK_MS, true }, is_stopping, NULL);
    code_dependents_tell();
    snprintf(work.answer, sizeof work.answer, "sampled n=%d cpu_ms=%.3f", n, thread_ms() - start_ms);
    return n < 0 ? -1 : 0;
}

static const struct {
    const char *name;
    int (*run)(JNIEnv *jni, struct err *err);
} slow_commands[] = { { "instrument", do_instrument }, { "remove", do_remove }, { "sample", do_sample } };

#define N_SLOW_COMMANDS (sizeof slow_commands / sizeof *slow_commands)

static void JNICALL do_work(jvmtiEnv *jvmti, JNIEnv *jni, void *argument)
{
    (void)jvmti;
    (void)argument;
    struct err err = { "" };
    int rc = -1;
    for (size_t i = 0; i < N_SLOW_COMMANDS; i++)
        if (is_command(work.packet, slow_commands[i].name))
            rc = slow_commands[i].run(jni, &err);
    if (work.fd >= 0)
        close(work.fd);
    work.fd = -1;
    atomic_store(&work.state, WORK_ANSWERED);
    if (rc == 0)
        control_send(work.control, "%s", work.answer);
    else
        refuse(work.control, work.packet, err.text);
    atomic_store(&work.state, WORK_NONE);
}

static void wait_while(enum work_state state)
{
    const struct timespec pause = { 0, 200000 };
    while (atomic_load(&work.state) == (int)state)
        nanosleep(&pause, NULL);
}

static bool is_slow(const char *packet)
{
    for (size_t i = 0; i < N_SLOW_COMMANDS; i++)
        if (is_command(packet, slow_commands[i].name))
            return true;
    return false;
}

/* Takes over the descriptor. */
static void begin_work(JNIEnv *jni, const char *packet, int fd)
{
    memcpy(work.packet, packet, strlen(packet) + 1);
    work.fd = fd;
    atomic_store(&work.state, WORK_UNDER_WAY);
    if (jvmti_env_run_thread(jni, do_work, NULL) < 0)
        do_work(work.jvmti, jni, NULL); /* no thread to be had: flags wait */
}

/* ---- the loop ---- */

/* Returns whether it was "stop"; takes over the descriptor. */
static bool execute(JNIEnv *jni, const struct control *control, const char *packet, int fd)
{
    wait_while(WORK_ANSWERED);
    if (is_slow(packet) && atomic_load(&work.state) == WORK_NONE) {
        begin_work(jni, packet, fd);
        return false;
    }
    if (is_command(packet, "jit")) {
        log_jit(jni, control, packet, fd);
        return false;
    }
    if (fd >= 0)
        close(fd);
    if (is_command(packet, "stop"))
        return true;
    if (is_command(packet, "begin"))
        agent_begin(jni);
    else if (is_command(packet, "enable") || is_command(packet, "disable"))
        switch_flags(jni, control, packet, packet[0] == 'a');
    else if (is_command(packet, "where"))
        tell_code(control, packet);
    else
        refuse(control, packet, is_slow(packet) ? "another command is under way" : "it is not known");
    return false;
}

void commands_run(jvmtiEnv *jvmti, JNIEnv *jni, struct control *control)
{
    char packet[CONTROL_PACKET_BYTES];
    int fd;
    work.jvmti = jvmti;
    work.control = control;
    atomic_store(&work.stopping, false);
    while (control_receive(control, packet, &fd) && !execute(jni, control, packet, fd))
        continue;
    atomic_store(&work.stopping, true);
    wait_while(WORK_UNDER_WAY);
    wait_while(WORK_ANSWERED);
}
