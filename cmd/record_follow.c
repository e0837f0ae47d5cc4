#include "cmd/record_parts.h"

#include "core/base/stop_signals.h"
#include "core/jvm/target.h"

#include <signal.h>

#define LOOK_MS   1000
#define AGAIN_MS  10000
#define YOUNG_S   1.0  /* it cannot be attached to yet */
#define STARTED_S 20.0 /* it can, if ever */

#define SAID_BYTES 1024

/* Returns whether a signal came in this time. */
static bool wait_for_signal(const sigset_t *signals, int ms)
{
    const struct timespec timeout = { ms / 1000, ms % 1000 * 1000000 };
    return sigtimedwait(signals, NULL, &timeout) >= 0;
}

/* Returns whether there is one.  Of several a list is in said, otherwise "". */
static bool find_jvm(const struct record_follow *follow, struct jvm_running *found, char said[SAID_BYTES])
{
    struct arena arena = { NULL, 0 };
    struct jvm_running *all;
    struct err why = { "" };
    size_t n = 0, n_named = 0;
    bool is_there = false;
    if (jvm_running_list(&arena, &all, &n, &why) == 0 && n > 0)
        is_there = jvm_target_choose(all, n, follow->name, &found->pid, &why) == 0;
    for (size_t i = 0; i < n; i++)
        n_named += strstr(all[i].command, follow->name) != NULL;
    for (size_t i = 0; is_there && i < n; i++)
        if (all[i].pid == found->pid)
            *found = (struct jvm_running){ .pid = found->pid,
                                           .start_ticks = all[i].start_ticks,
                                           .uptime_s = all[i].uptime_s };
    const char *list = is_there || n_named < 2 ? "" : why.text;
    const char *end = strstr(list, "\n  next: ");
    snprintf(said, SAID_BYTES, "%.*s", end != NULL ? (int)(end - list) : (int)strlen(list), list);
    arena_free(&arena);
    return is_there && (found->uptime_s < 0 || found->uptime_s >= YOUNG_S);
}

/* Returns whether there is one before a signal comes. */
static bool wait_for_jvm(const struct record_follow *follow, const sigset_t *signals, struct jvm_running *found)
{
    char said[SAID_BYTES], before[SAID_BYTES] = "";
    bool is_told = false;
    while (!find_jvm(follow, found, said)) {
        if (said[0] != '\0' && strcmp(said, before) != 0)
            fprintf(stderr,
                    "mmprof: %s\n"
                    "  next: start again with a longer part of its command line, such as a -D option; %s\n",
                    said, "mmprof waits until only one is left");
        else if (said[0] == '\0' && !is_told)
            fprintf(stderr, "mmprof: waiting for a JVM that matches '%s'\n", follow->name);
        is_told = true;
        snprintf(before, sizeof before, "%s", said);
        if (wait_for_signal(signals, LOOK_MS))
            return false;
    }
    return true;
}

static int follow_all(const struct record_follow *follow, const sigset_t *signals, struct err *err)
{
    struct jvm_running found = { .uptime_s = -1 };
    char before[256] = "";
    bool is_over = false, is_first = true;
    while (!is_over && wait_for_jvm(follow, signals, &found)) {
        bool is_done = follow->record(follow->context, &found, &is_over, err) == 0;
        bool is_gone = jvm_process_start_ticks(found.pid) != found.start_ticks;
        if (!is_done && is_first && !is_gone && found.uptime_s >= STARTED_S)
            return -1;
        if (is_done) {
            is_first = false;
            continue;
        }
        if (strncmp(before, err->text, sizeof before - 1) != 0)
            fprintf(stderr,
                    "mmprof: %s\n"
                    "mmprof: trying again\n",
                    err->text);
        snprintf(before, sizeof before, "%.255s", err->text);
        if (wait_for_signal(signals, is_gone ? LOOK_MS : AGAIN_MS))
            break;
    }
    return 0;
}

int record_follow(const struct record_follow *follow, struct err *err)
{
    sigset_t signals, before;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, &before);
    stop_signals_watch(STOP_SIGNALS_MS);
    int rc = follow_all(follow, &signals, err);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return rc;
}
