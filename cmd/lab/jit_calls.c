#include "cmd/lab/lab_command.h"

#include "core/base/xalloc.h"

#include <sys/mman.h>

struct looking {
    bool *are_there; /* owned: by piece of code, as of the last look that saw all */
    uint32_t n, room;
};

static bool wants_all(void *context, const struct compiled_method *method)
{
    (void)context, (void)method;
    return true;
}

static void looked(void *context, const struct jit_codes *codes)
{
    struct looking *l = context;
    xgrow(l->are_there, l->room, codes->n);
    l->n = codes->n;
    for (uint32_t i = 0; i < codes->n; i++)
        l->are_there[i] = codes->all[i].is_there;
}

static int judge(struct call_counts *counts, enum call_run run, const struct looking *l, const struct jit_codes *codes,
                 const char *command, struct err *err)
{
    if (l->n > 0) {
        call_counts_judge(counts, run, codes, l->are_there, l->n);
        return 0;
    }
    err_set(err, "'%s' ended before any of its code was seen", command);
    return err_next(err, "give a command that runs for some seconds, so that its code is that of a program in use");
}

static int look(struct call_counts *counts, enum call_run run, char *const *argv, const char *command, int *status,
                struct err *err)
{
    struct looking l = { .are_there = NULL };
    const struct jit_look_user user = { wants_all, NULL, NULL, looked, &l, true };
    struct jit_look look;
    int out = launch_output_to_error(err);
    if (out < 0)
        return -1;
    jit_look_init(&look, &user, 0);
    int rc = jit_look_into_command(&look, argv, err);
    jit_look_end_command(&look);
    launch_output_back(out);
    *status = look.status;
    if (rc == 0)
        rc = judge(counts, run, &l, &look.codes, command, err);
    jit_look_close(&look);
    free(l.are_there);
    return rc;
}

/* ---- in a process of its own: what core/hotspot knows of a JVM, it knows of one for ever ---- */

struct result {
    int rc, status;
    struct err err;
    uint64_t n_of[][CALL_FATES]; /* by site */
};

static void take_result(struct call_counts *counts, enum call_run run, struct result *result)
{
    for (uint32_t i = 0; i < counts->n_sites; i++)
        memcpy(counts->sites[i].n_of[run], result->n_of[i], sizeof result->n_of[i]);
}

static void give_result(const struct call_counts *counts, enum call_run run, struct result *result)
{
    for (uint32_t i = 0; i < counts->n_sites; i++)
        memcpy(result->n_of[i], counts->sites[i].n_of[run], sizeof result->n_of[i]);
}

static int look_apart(struct call_counts *counts, enum call_run run, char *const *argv, const char *command,
                      struct result *result, struct err *err)
{
    int ended = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        result->rc = look(counts, run, argv, command, &result->status, &result->err);
        give_result(counts, run, result);
        fflush(NULL);
        _exit(0);
    }
    if (pid < 0)
        return err_set(err, "cannot start a process: %s", strerror(errno));
    launch_wait(pid, LAUNCH_FOREVER, &ended);
    if (ended != 0)
        return err_set(err, "the process that looks at the code of '%s' ended with status %d", command, ended);
    *err = result->rc < 0 ? result->err : *err;
    take_result(counts, run, result);
    return result->rc;
}

/* The command; with probes, as 'mmprof record' runs it.  Owned. */
static char **argv_of(enum call_run run, char *const *argv)
{
    static char *const record[] = {
        "/proc/self/exe", "record", "-q", "--all-methods", "--min-bytecodes", "0", "--frequency", "0", "-o",
        "/dev/null",      "--"
    };
    const size_t n_record = run == CALLS_WITH_PROBES ? sizeof record / sizeof *record : 0;
    size_t n = 0;
    while (argv[n] != NULL)
        n++;
    char **with = xcalloc(n_record + n + 1, sizeof *with);
    for (size_t i = 0; i < n_record + n; i++)
        with[i] = i < n_record ? record[i] : argv[i - n_record];
    return with;
}

int jit_calls_run(struct call_counts *counts, enum call_run run, char *const *argv, int *status, struct err *err)
{
    size_t n_bytes = sizeof(struct result) + counts->n_sites * sizeof(uint64_t[CALL_FATES]);
    /* -1 is what MAP_ANONYMOUS wants. */
    // cppcheck-suppress invalidFunctionArg
    struct result *result = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char **with = argv_of(run, argv);
    if (result == MAP_FAILED)
        out_of_memory();
    int rc = look_apart(counts, run, with, argv[0], result, err);
    *status = result->status;
    free(with);
    munmap(result, n_bytes);
    return rc;
}
