/* What comes from outside of the recorder: the agent's packets, signals, the target's end. */
#include "core/recorder/recorder_state.h"

#include "core/recorder/metadata.h"
#include "core/trace/recording_info.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define COUNT_NS    1000000000u
#define PACKETS_MAX 10000 /* at a time, however fast they come */

/* Of a command that is not java itself: which JVMs came of it, to say that there were others. */
static void count_jvms(struct recorder *r)
{
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    if (!r->attaching.follows_jvms || now_ns - r->jvms.counted_ns < COUNT_NS)
        return;
    r->jvms.counted_ns = now_ns;
    jvm_started_add(&r->jvms.all, getpid());
}

static void read_program(struct recorder *r)
{
    struct err ignored;
    struct jvm_process *process = arena_alloc(&r->arena, sizeof *process);
    if (jvm_process_read(r->now.target, process, &ignored) == 0)
        snprintf(r->jvms.program, sizeof r->jvms.program, "%.255s", process->command);
    char *ours = strstr(r->jvms.program, " -agentpath:");
    if (ours != NULL)
        memmove(ours, ours + 1 + strcspn(ours + 1, " "), strlen(ours + 1 + strcspn(ours + 1, " ")) + 1);
}

static int meet_agent(struct recorder *r, struct err *err)
{
    int rc = session_accept(&r->session, err);
    if (rc <= 0)
        return rc;
    r->connected = true;
    if (r->now.plan->pid == 0) {
        r->now.target = r->kernel.pid = r->ip_samples.pid = r->child.watched = r->session.peer_pid;
        r->pidfd = (int)syscall(SYS_pidfd_open, r->now.target, 0);
        if (r->stacks.sampler != NULL)
            stack_sampler_choose(r->stacks.sampler, r->now.target);
        read_program(r);
        recorder_find_groups(r);
        jvm_started_put(&r->jvms.all, r->now.target); /* it does not look like one yet */
        r->drain.pid = r->drain.inner_pid = r->now.target;
        if (r->kernel.rings != NULL)
            perf_rings_choose(r->kernel.rings, r->now.target);
    }
    return r->now.writer == NULL ? 0 : recorder_write_target(r, err);
}

/* Metadata for the trace, which begins later where classes are changed before. */
static int note(struct recorder *r, enum info_key key, const char *text, struct err *err)
{
    if (r->now.writer != NULL)
        return info_write_text(r->now.writer, key, text, err);
    struct recorder_note *note = arena_alloc(&r->arena, sizeof *note);
    *note = (struct recorder_note){ r->notes, key, arena_text(&r->arena, text, strlen(text)) };
    r->notes = note;
    return 0;
}

int recorder_write_target(struct recorder *r, struct err *err)
{
    recorder_name_threads(r);
    if (metadata_write_target(r->now.writer, r->now.target, r->session.jvm, r->now.plan->argv, err) < 0)
        return -1;
    for (; r->notes != NULL; r->notes = r->notes->next)
        if (info_write_text(r->now.writer, r->notes->key, r->notes->text, err) < 0)
            return -1;
    return 0;
}

static int become_ready(struct recorder *r, const struct wire_message *ready, struct err *err)
{
    if (r->ready)
        return 0;
    bool all;
    struct err why;
    if (r->now.plan->pid != 0 && recorder_includes_nothing(r->now.plan, r->session.segment, &all, &why) && all) {
        *err = why;
        return -1;
    }
    r->ready = true;
    r->ready_ns = clock_ns(CLOCK_MONOTONIC_RAW);
    r->costs.instrument_ms = ready->total_ms;
    r->costs.longest_pause_ms = ready->longest_ms;
    if (r->now.plan->pid == 0) /* its own counters were not there when it loaded the agent */
        pauses_open(&r->pauses, r->now.target, r->now.target, true);
    if (r->now.writer == NULL) /* it is not there yet, or the recording is over */
        return 0;
    return metadata_write_ready(r->now.writer, r->costs.instrument_ms, r->costs.longest_pause_ms, err);
}

static int note_archive(struct recorder *r, const char *option, struct err *err)
{
    snprintf(r->archive, sizeof r->archive, "%.250s", option);
    return note(r, INFO_JVM_ARCHIVE, option, err);
}

static int agent_failed(const struct recorder *r, const char *why, struct err *err)
{
    if (r->archive[0] != '\0')
        return recorder_refuse_archive(r->now.target, r->archive, err);
    err_set(err, "the agent cannot work in JVM %d: %s", (int)r->now.target, why);
    return err_next(err, "see 'mmprof record --help' for options that change what it does");
}

/* WIRE_CHANGING, WIRE_PAUSE: of the first pass. */
static void hear_change(struct recorder *r, const struct wire_message *told)
{
    struct recorder_change *change = &r->change;
    if (r->ready)
        return;
    if (told->kind == WIRE_CHANGING) {
        change->n_wanted = told->n_classes;
        change->start_ns = clock_ns(CLOCK_MONOTONIC_RAW);
        return;
    }
    change->n_changed += told->n_classes;
    if (change->n_batches++ == 0 && change->n_wanted > told->n_classes)
        batch_forecast(change->n_wanted - told->n_classes, told->n_classes, told->call_ms, (double)told->pause_ns / 1e6,
                       &change->forecast);
}

static int take_message(struct recorder *r, const struct wire_message *told, struct err *err)
{
    switch (told->kind) {
    case WIRE_FAILED:
        return agent_failed(r, told->text, err);
    case WIRE_READY:
        return become_ready(r, told, err);
    case WIRE_COUNTERS:
        readings_hand_over(&r->readings, told, r->session.fds, r->session.n_fds);
        r->session.n_fds = 0;
        return 0;
    case WIRE_PERF_MAP:
        return note(r, INFO_PERF_MAP, told->text, err);
    case WIRE_PERF_MAP_FAILED:
        snprintf(r->perf_map_why, sizeof r->perf_map_why, "%s", told->text);
        return note(r, INFO_PERF_MAP_FAILED, told->text, err);
    case WIRE_CODE_MAP_FAILED:
        return note(r, INFO_CODE_FAILED, told->text, err);
    case WIRE_CODE_MAP_ALL:
        return note(r, INFO_CODE_ALL, told->text, err);
    case WIRE_ARCHIVE:
        return note_archive(r, told->text, err);
    case WIRE_CHANGING:
    case WIRE_PAUSE:
        hear_change(r, told);
        return 0;
    default:
        return 0;
    }
}

int recorder_hear(struct recorder *r, bool *stopped, bool *has_news, struct err *err)
{
    struct wire_message told;
    int rc = 1;
    *has_news = !r->connected;
    if (!r->connected && meet_agent(r, err) < 0)
        return -1;
    if (!r->connected) {
        recorder_attach_late(&r->attaching);
        return 0;
    }
    for (int i = 0; i < PACKETS_MAX && (rc = session_receive(&r->session, &told)) > 0; i++) {
        *has_news = *has_news || told.kind != WIRE_TOLD;
        /* Methods that an answer is about come before it. */
        if (told.kind != WIRE_FAILED && ((r->now.writer != NULL && drain_methods(&r->drain, r->now.writer, err) < 0) ||
                                         link_hear(&r->link, &told, err) < 0))
            return -1;
        if (take_message(r, &told, err) < 0)
            return -1;
        *stopped = *stopped || told.kind == WIRE_STOPPED;
    }
    if (rc < 0)
        *stopped = *has_news = true;
    return 0;
}

void recorder_reap(struct recorder *r)
{
    struct pollfd exit = { .fd = r->pidfd, .events = POLLIN };
    bool has_ended =
        (r->pidfd >= 0 && poll(&exit, 1, 0) > 0) || (r->pidfd < 0 && r->now.target != 0 && kill(r->now.target, 0) < 0);
    bool is_left = r->child.pid <= 0 || launch_look(&r->child);
    count_jvms(r);
    r->gone = r->gone || has_ended || (r->now.target == 0 && !is_left);
    if (r->now.target != 0 || !is_left || r->child.pid <= 0 || !r->child.is_over || r->jvms.told_orphans)
        return;
    r->jvms.told_orphans = true;
    if (r->now.plan->progress != NULL)
        fprintf(r->now.plan->progress,
                "mmprof: the command has ended; waiting for a JVM among the processes that it left "
                "(Ctrl-C: stop waiting)\n");
}

enum woken_by recorder_wait_for(struct recorder *r, int timeout_ms)
{
    struct signalfd_siginfo info;
    struct pollfd fds[] = { { .fd = r->signals.fd, .events = POLLIN },
                            { .fd = session_fd(&r->session), .events = POLLIN },
                            { .fd = r->gone ? -1 : r->pidfd, .events = POLLIN },
                            { .fd = kernel_fd(&r->kernel), .events = POLLIN },
                            { .fd = r->stacks.sampler == NULL ? -1 : stack_sampler_fd(r->stacks.sampler),
                              .events = POLLIN } };
    int n = poll(fds, sizeof fds / sizeof *fds, timeout_ms);
    if (n == 0 && r->pidfd >= 0)
        return WOKEN_BY_TIME;
    while (read(r->signals.fd, &info, sizeof info) == (ssize_t)sizeof info)
        /* A started command gets the terminal's Ctrl-C itself: its end ends the recording. */
        if (info.ssi_signo != SIGCHLD && (r->now.plan->pid != 0 || r->child.is_over || info.ssi_code == SI_USER))
            r->signals.interrupted = true;
    recorder_reap(r);
    return n == 0 ? WOKEN_BY_TIME : n == 1 && fds[1].revents != 0 ? WOKEN_BY_AGENT : WOKEN_BY_OTHERS;
}
