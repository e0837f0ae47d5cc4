/*
 * The agent's library: where it is, how a JVM that runs gets it, in a container, too, and loading it into the JVM that
 * is named, or into one that a command has started without the agent.
 */
#include "core/recorder/recorder_parts.h"

#include "core/base/plain_file.h"
#include "core/jvm/attach.h"
#include "core/jvm/flags.h"
#include "core/jvm/jvm_memory.h"
#include "core/recorder/clock.h"

#define ENDING_TIMEOUT_NS 30000000000u
#define METASPACE_LEAST   ((uint64_t)256 * 1024) /* a few classes */
#define YOUNG_NS          1000000000u            /* a JVM that is told of the agent connects before it is seen */

/* ---- where it is ---- */

#define AGENT_LIBRARY "libmmprof-agent.so"

static int find_library(const char *name, char *path, size_t n, struct err *err)
{
    static const char *const from_mmprof[] = { "", "../lib/mmprof/", "../lib64/mmprof/", NULL };
    static const char *const from_others[] = { "../../", "../../lib/mmprof/", "../../lib64/mmprof/", NULL };
    return own_file_find(&(struct own_places){ from_mmprof, from_others }, name, R_OK, path, n, err);
}

int recorder_find_agent(char *path, size_t n, struct err *err)
{
    return find_library(AGENT_LIBRARY, path, n, err);
}

int recorder_find_lab_agent(char *path, size_t n, struct err *err)
{
    return find_library("libmmprof-lab-agent.so", path, n, err);
}

void recorder_prepare_option(char *text, size_t n)
{
    char found[4096], whole[PATH_MAX];
    const char *path = "/usr/local/lib/mmprof/" AGENT_LIBRARY;
    struct err ignored; /* then it is where 'make install' puts it */
    if (recorder_find_agent(found, sizeof found, &ignored) == 0)
        path = realpath(found, whole) == NULL ? found : whole;
    snprintf(text, n, "-agentpath:%s=prepare", path);
}

/* ---- where a JVM sees it ---- */

/* Where a container may be written to; /tmp is often a file system from which nothing can be loaded (noexec). */
static const char *const directories[] = { "/tmp", "/var/tmp", "/dev/shm", "/run", "/var/run" };

#define N_DIRECTORIES (sizeof directories / sizeof *directories)

/*
 * A second copy would be another library, and find the first one's classes in its way.  The first one's path will do
 * even when its file is gone: the dynamic linker knows what it loaded by name.
 */
static bool find_loaded(const struct jvm_process *process, char *path, size_t n)
{
    struct jvm_mapped mapped;
    struct jvm_root root;
    char made[GUEST_PATH_BYTES];
    if (jvm_mapped_find(process->pid, "/" GUEST_LIBRARY, &mapped) <= 0)
        return false;
    const char *at = jvm_root_open(&root, process->pid) < 0 ? NULL : jvm_root_path(&root, mapped.path);
    jvm_root_close(&root);
    at = at == NULL ? mapped.path : at;
    /* In front of ours there may be where the container's file system is mounted. */
    for (size_t i = 0; i < N_DIRECTORIES; i++) {
        snprintf(made, sizeof made, "%s/.mmprof-", directories[i]);
        const char *ours = strstr(mapped.path, made);
        at = ours != NULL ? ours : at;
    }
    int wrote = snprintf(path, n, "%s", at);
    return wrote > 0 && (size_t)wrote < n;
}

/* May it be loaded from where it is here? */
static bool sees(const struct jvm_process *process, const char *library)
{
    struct jvm_root root;
    int fd = jvm_root_open(&root, process->pid) < 0 ? -1 : jvm_root_file(&root, library);
    if (fd >= 0)
        close(fd);
    jvm_root_close(&root);
    return fd >= 0;
}

static int copy_into(const struct jvm_process *process, const char *directory, const char *library, struct guest *copy,
                     struct err *err)
{
    if (guest_open(copy, process, directory, err) < 0 || guest_make_directory(copy, err) < 0 ||
        guest_copy_library(copy, library, err) < 0) {
        guest_close(copy);
        return -1;
    }
    return 0;
}

static int refuse_container(const struct jvm_process *process, const struct err *why, struct err *err)
{
    err_set(err, "the agent's library cannot be brought to JVM %d in its container: %.*s", (int)process->pid,
            (int)strcspn(why->text, "\n"), why->text);
    return err_next(err,
                    "give it a directory to write into and load from, such as a tmpfs with the option exec at /tmp");
}

/*
 * Say by which path a JVM finds the library: the one that it loaded already, if so; else the file itself, or in a
 * container a copy in one of its directories.
 *
 * library  as we see it.
 * copy     is opened if a copy is made; to be closed (which removes it) when the library is loaded, in any case.
 * path     as the JVM sees it, n bytes.
 *
 * Returns 0, or -1 with *err set: the JVM's libc is another one, or no directory in its container will do.
 */
static int bring_agent(const struct jvm_process *process, const char *library, struct guest *copy, char *path, size_t n,
                       struct err *err)
{
    const struct guest none = GUEST_NONE;
    struct err first = { "" }, why;
    struct jvm_mapped musl;
    *copy = none;
    if (jvm_mapped_find(process->pid, "/ld-musl-", &musl) > 0) {
        err_set(err, "JVM %d runs on musl libc ('%.200s'), and the agent needs glibc", (int)process->pid, musl.path);
        return err_next(err, "run the program in an image with glibc (Debian, Ubuntu, RHEL), not in one of Alpine");
    }
    if (find_loaded(process, path, n))
        return 0;
    snprintf(path, n, "%s", library);
    if (process->same_mounts)
        return 0;
    for (size_t i = 0; i < N_DIRECTORIES; i++) {
        if (copy_into(process, directories[i], library, copy, &why) == 0) {
            char theirs[GUEST_PATH_BYTES];
            guest_their_path(copy, GUEST_LIBRARY, theirs);
            snprintf(path, n, "%s", theirs);
            return 0;
        }
        first = i == 0 ? why : first;
    }
    return sees(process, library) ? 0 : refuse_container(process, &first, err);
}

/* ---- loading it ---- */

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
static int load_agent(struct recorder_attaching *a, const char *path, int *result, struct err *err)
{
    const struct timespec pause = { 0, 50000000 };
    uint64_t start = clock_ns(CLOCK_MONOTONIC);
    char option[SETTING_OPTION_BYTES];
    int rc;
    setting_encode(&(struct setting){ .kind = SETTING_RECORDER, .text = a->session->socket_path }, option);
    while ((rc = jvm_attach_load(a->process, &a->session->guest, path, option, result, err)) == 0 &&
           *result == PROTOCOL_ENDING && clock_ns(CLOCK_MONOTONIC) - start < ENDING_TIMEOUT_NS)
        nanosleep(&pause, NULL);
    return rc;
}

static int look_at_metaspace(struct recorder_attaching *a, struct err *err)
{
    struct jvm_metaspace metaspace;
    if (jvm_metaspace_ask(a->process, &a->session->guest, &metaspace, err) < 0)
        return -1;
    uint64_t room = jvm_metaspace_room(&metaspace);
    a->room->is_less = a->room->change_bytes < room;
    a->session->segment->metaspace_bytes = a->room->is_less ? a->room->change_bytes : room;
    if (room >= METASPACE_LEAST)
        return 0;
    err_set(err,
            "JVM %d has used %.0f of its %.0f MB of metaspace (-XX:MaxMetaspaceSize), and changing classes takes more",
            (int)a->plan->pid, (double)metaspace.committed_bytes / 1048576, (double)metaspace.max_bytes / 1048576);
    return err_next(err,
                    "if earlier recordings used it, run 'jcmd %d GC.run' twice, which pauses the program; or start the "
                    "JVM with more",
                    (int)a->plan->pid);
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

int recorder_attach(struct recorder_attaching *a, struct err *err)
{
    char path[PATH_MAX];
    struct guest copy;
    struct jvm_flags flags;
    int result = 0;
    /* The agent would find that, too; but a JVM from JDK 21 on prints a warning when it is loaded. */
    if (!a->plan->is_live && jvm_flags_read(a->plan->pid, &flags) == 0 && flags.archive[0] != '\0')
        return recorder_refuse_archive(a->plan->pid, flags.archive, err);
    if (bring_agent(a->process, a->plan->agent, &copy, path, sizeof path, err) < 0)
        return -1;
    int rc = look_at_metaspace(a, err) < 0 ? -1 : load_agent(a, path, &result, err);
    guest_close(&copy);
    if (rc < 0)
        return -1;
    if (result != 0)
        return agent_refused(a->plan->pid, result, err);
    return 0;
}

/*
 * ---- without the agent, since its launcher was not told of it (core/jvm/started.h): a program that contains a JVM,
 * or one whose environment was made anew ----
 */

static int load_late(struct recorder_attaching *a, struct err *err)
{
    char path[PATH_MAX];
    struct guest copy;
    struct jvm_flags flags;
    int result = 0;
    if (jvm_process_inspect(a->late.pid, a->process, err) < 0)
        return -1;
    if (jvm_flags_read(a->late.pid, &flags) == 0 && flags.archive[0] != '\0')
        return recorder_refuse_archive(a->late.pid, flags.archive, err);
    if (session_move(a->session, a->process, err) < 0 ||
        bring_agent(a->process, a->plan->agent, &copy, path, sizeof path, err) < 0)
        return -1;
    int rc = load_agent(a, path, &result, err);
    guest_close(&copy);
    return rc < 0 || result == 0 ? rc : agent_refused(a->late.pid, result, err);
}

void recorder_attach_late(struct recorder_attaching *a)
{
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    struct err why;
    pid_t pid = a->follows_jvms && a->plan->simulation == NULL ? jvm_started(getpid(), a->plan->name) : 0;
    if (pid == 0 || (pid == a->late.pid && (a->late.is_tried || now_ns - a->late.seen_ns < YOUNG_NS)))
        return;
    if (pid != a->late.pid) {
        a->late = (struct recorder_late){ .pid = pid, .seen_ns = now_ns };
        return;
    }
    a->late.is_tried = true;
    bool is_loaded = load_late(a, &why) == 0;
    struct err ignored;
    if (!is_loaded)
        session_move(a->session, NULL, &ignored); /* for another one that is attached to */
    if (a->plan->progress == NULL)
        return;
    if (is_loaded)
        fprintf(a->plan->progress, "mmprof: JVM %d started without the agent, and was attached to %.1f s later\n",
                (int)pid, (double)(clock_ns(CLOCK_MONOTONIC) - a->late.seen_ns) / 1e9);
    else
        fprintf(a->plan->progress, "mmprof: JVM %d of the command started without the agent: %.*s\n", (int)pid,
                (int)strcspn(why.text, "\n"), why.text);
}
