#include "cmd/doctor.h"

#include "core/recorder/simulation.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

/* Does a command succeed?  The first bytes of what it prints are in text. */
static bool succeeds(char *const *argv, char *text, size_t n)
{
    posix_spawn_file_actions_t actions;
    int out[2], status = -1;
    pid_t pid;
    text[0] = '\0';
    if (pipe2(out, O_CLOEXEC) < 0)
        return false;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDERR_FILENO);
    int rc = posix_spawn(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    if (rc == 0) {
        ssize_t got = read(out[0], text, n - 1);
        text[got < 0 ? 0 : got] = '\0';
    }
    close(out[0]);
    return rc == 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The plugin, as an option of the emulator; its path is as the agent's. */
static void name_plugin(const struct doctor *doctor, char *option, size_t n)
{
    const char *slash = strrchr(doctor->agent, '/');
    snprintf(option, n, "%.*slibmmprof-sim.so,model=zen4,window=1K+1K/4K,out=/dev/stdout",
             slash == NULL ? 0 : (int)(slash + 1 - doctor->agent), doctor->agent);
}

/* core/agent/lab/emulated.c; core/emu/plugin/qemu_api.h */
static bool is_worked_around(const char *version)
{
#if defined(__x86_64__)
    return strstr(version, " 7.2") != NULL;
#else
    (void)version;
    return false;
#endif
}

/* It is tried: there are builds of QEMU without plugins. */
enum doctor_level doctor_simulate(struct doctor *doctor, struct err *said)
{
    char emulator[PATH_MAX], option[PATH_MAX + 64], version[256], text[2048];
    if (simulation_find_emulator(emulator, sizeof emulator, said) < 0)
        return doctor->n_counters > 0 ? DOCTOR_SILENT : DOCTOR_LIMIT;
    name_plugin(doctor, option, sizeof option);
    char *const ask[] = { emulator, (char[]){ "--version" }, NULL };
    char *const attempt[] = { emulator, (char[]){ "-plugin" }, option, (char[]){ "/bin/true" }, NULL };
    succeeds(ask, version, sizeof version);
    version[strcspn(version, "(\n")] = '\0';
    for (size_t n = strlen(version); n > 0 && version[n - 1] == ' '; n--)
        version[n - 1] = '\0';
    if (!succeeds(attempt, text, sizeof text)) {
        err_set(said, "%s does not run mmprof's plugin: %.*s", emulator, (int)strcspn(text, "\n"), text);
        err_next(said, "install a build of QEMU 6.0 to 8.2 with plugins: on Debian 12, 'apt-get install qemu-user'");
        return DOCTOR_LIMIT;
    }
    err_set(said,
            "%s runs programs on a simulated processor (record --simulate) and traces all their accesses (memtrace): a "
            "JVM, or the first one that a script starts; programs that this JVM starts run on the machine itself%s%s",
            version[0] == '\0' ? emulator : version,
            is_worked_around(version) ? "; mmprof works around two faults of this version: misaligned stacks of signal "
                                        "handlers, and calls of freed callbacks"
                                      : "",
            strstr(text, "windows light") != NULL
                ? ""
                : "; with --window, skipped code runs slower than in QEMU 7.2 for x86-64");
    return DOCTOR_OK;
}
