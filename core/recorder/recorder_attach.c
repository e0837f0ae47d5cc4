/*
 * Loading the agent into a JVM that runs: the one that is named, or one that a command has started without the agent.
 */
#include "core/recorder/recorder_state.h"

#include "core/jvm/attach.h"
#include "core/jvm/flags.h"
#include "core/jvm/metaspace.h"
#include "core/recorder/bring_agent.h"
#include "core/wire/setting.h"

#include <limits.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ENDING_TIMEOUT_NS 30000000000u
#define METASPACE_LEAST   ((uint64_t)256 * 1024) /* a few classes */
#define YOUNG_NS          1000000000u            /* a JVM that is told of the agent connects before it is seen */

static int agent_refused(pid_t pid, int result, struct err *err)
{
    if (result == PROTOCOL_BUSY) {
        err_set(err, "another mmprof is recording JVM %d", (int)pid);
        return err_next(err, "wait until it has ended ('pgrep -a mmprof'), then try again");
    }
    if (result == PROTOCOL_ENDING) {
        err_set(err, "JVM %d is still removing the probes of the previous recording", (int)pid);
        return err_next(err, "try again in a moment");
    }
    if (result == PROTOCOL_NO_JVMTI) {
        err_set(err, "JVM %d does not allow classes to be instrumented", (int)pid);
        return err_next(err, "see whether another agent holds the capability");
    }
    err_set(err, "the agent in JVM %d cannot reach mmprof (code %d)", (int)pid, result);
    return err_next(err, "see that the JVM's user may use its /tmp");
}

/*
 * Load the agent.  What an earlier recorder left, when it was killed or just ended, is cleaned up by then: in half a
 * second mostly, longer where many classes lose their probes.
 */
static int load_agent(struct recorder *r, const char *path, int *result, struct err *err)
{
    const struct timespec pause = { 0, 50000000 };
    uint64_t start = clock_ns(CLOCK_MONOTONIC);
    char option[SETTING_OPTION_BYTES];
    int rc;
    setting_encode(&(struct setting){ .kind = SETTING_RECORDER, .text = r->session.socket_path }, option);
    while ((rc = jvm_attach_load(&r->process, &r->session.guest, path, option, result, err)) == 0 &&
           *result == PROTOCOL_ENDING && clock_ns(CLOCK_MONOTONIC) - start < ENDING_TIMEOUT_NS)
        nanosleep(&pause, NULL);
    return rc;
}

static int look_at_metaspace(struct recorder *r, struct err *err)
{
    struct jvm_metaspace metaspace;
    if (jvm_metaspace_ask(&r->process, &r->session.guest, &metaspace, err) < 0)
        return -1;
    uint64_t room = jvm_metaspace_room(&metaspace);
    r->room.is_less = r->room.change_bytes < room;
    r->session.segment->metaspace_bytes = r->room.is_less ? r->room.change_bytes : room;
    if (room >= METASPACE_LEAST)
        return 0;
    err_set(err,
            "JVM %d has used %.0f of its %.0f MB of metaspace (-XX:MaxMetaspaceSize), and changing classes takes more",
            (int)r->plan->pid, (double)metaspace.committed_bytes / 1048576, (double)metaspace.max_bytes / 1048576);
    return err_next(err,
                    "if earlier recordings used it, run 'jcmd %d GC.run' twice, which pauses the program; or start the "
                    "JVM with more",
                    (int)r->plan->pid);
}

int recorder_refuse_archive(pid_t pid, const char *option, struct err *err)
{
    char jvm[32] = "the program's JVM";
    if (pid != 0)
        snprintf(jvm, sizeof jvm, "JVM %d", (int)pid);
    err_set(
        err,
        "%s writes a class archive (%s): with probes, it would crash while writing, or the archive would lack classes",
        jvm, option);
    return err_next(err, "run the program without that option; or use --live, which takes samples only here");
}

int recorder_attach(struct recorder *r, struct err *err)
{
    char path[PATH_MAX];
    struct guest copy;
    struct jvm_flags flags;
    int result = 0;
    /* The agent would find that, too; but a JVM from JDK 21 on prints a warning when it is loaded. */
    if (!r->plan->is_live && jvm_flags_read(r->plan->pid, &flags) == 0 && flags.archive[0] != '\0')
        return recorder_refuse_archive(r->plan->pid, flags.archive, err);
    if (bring_agent(&r->process, r->plan->agent, &copy, path, sizeof path, err) < 0)
        return -1;
    int rc = look_at_metaspace(r, err) < 0 ? -1 : load_agent(r, path, &result, err);
    guest_close(&copy);
    if (rc < 0)
        return -1;
    if (result != 0)
        return agent_refused(r->plan->pid, result, err);
    r->target = r->plan->pid;
    return 0;
}

/*
 * ---- without the agent, since its launcher was not told of it (core/jvm/start_java.h): a program that contains a JVM,
 * or one whose environment was made anew ----
 */

static int load_late(struct recorder *r, struct err *err)
{
    char path[PATH_MAX];
    struct guest copy;
    struct jvm_flags flags;
    int result = 0;
    if (jvm_process_inspect(r->late.pid, &r->process, err) < 0)
        return -1;
    if (jvm_flags_read(r->late.pid, &flags) == 0 && flags.archive[0] != '\0')
        return recorder_refuse_archive(r->late.pid, flags.archive, err);
    if (session_move(&r->session, &r->process, err) < 0 ||
        bring_agent(&r->process, r->plan->agent, &copy, path, sizeof path, err) < 0)
        return -1;
    int rc = load_agent(r, path, &result, err);
    guest_close(&copy);
    return rc < 0 || result == 0 ? rc : agent_refused(r->late.pid, result, err);
}

void recorder_attach_late(struct recorder *r)
{
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    struct err why;
    pid_t pid = r->follows_jvms && r->plan->simulation == NULL ? jvm_started(getpid(), r->plan->name) : 0;
    if (pid == 0 || (pid == r->late.pid && (r->late.is_tried || now_ns - r->late.seen_ns < YOUNG_NS)))
        return;
    if (pid != r->late.pid) {
        r->late = (struct recorder_late){ .pid = pid, .seen_ns = now_ns };
        return;
    }
    r->late.is_tried = true;
    bool is_loaded = load_late(r, &why) == 0;
    struct err ignored;
    if (!is_loaded)
        session_move(&r->session, NULL, &ignored); /* for another one that is attached to */
    if (r->plan->progress == NULL)
        return;
    if (is_loaded)
        fprintf(r->plan->progress, "mmprof: JVM %d started without the agent, and was attached to %.1f s later\n",
                (int)pid, (double)(clock_ns(CLOCK_MONOTONIC) - r->late.seen_ns) / 1e9);
    else
        fprintf(r->plan->progress, "mmprof: JVM %d of the command started without the agent: %.*s\n", (int)pid,
                (int)strcspn(why.text, "\n"), why.text);
}
