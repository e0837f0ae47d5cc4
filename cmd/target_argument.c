#include "cmd/target_argument.h"

#include "core/base/privileges.h"
#include "core/base/text.h"
#include "core/jvm/target.h"

#include <sys/stat.h>

static bool is_file_to_run(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

/* As a shell would find it. */
static bool is_program(const char *word)
{
    char path[4096];
    const char *at = privileges_path();
    if (strchr(word, '/') != NULL)
        return is_file_to_run(word);
    for (; *at != '\0'; at += strcspn(at, ":"), at += *at == ':') {
        snprintf(path, sizeof path, "%.*s/%s", (int)strcspn(at, ":"), at, word);
        if (is_file_to_run(path))
            return true;
    }
    return false;
}

int target_argument_parse(const char *usage, const char *purpose, const struct options_row *rows, int argc, char **argv,
                          struct target_argument *target, bool *done, struct err *err)
{
    int i;
    target->command = NULL;
    for (;;) {
        if (command_parse(usage, purpose, rows, argc, argv, &i, done, err) < 0)
            return -1;
        if (*done || i >= argc)
            return 0;
        if (target->name != NULL || strcmp(argv[i - 1], "--") == 0 || is_program(argv[i]))
            break;
        target->name = argv[i];
        /* The rest is parsed as if the JVM's name were the command's. */
        argc -= i;
        argv += i;
    }
    target->command = argv + i;
    return 0;
}

int target_argument_find(struct target_argument *target, const char *what, struct err *err)
{
    char text[64];
    target->pid = 0;
    target->start_ticks = 0;
    if (target->name != NULL && target->command != NULL) {
        err_set(err, "there is both a JVM ('%s') and a command ('%s')", target->name, target->command[0]);
        return err_next(err, "give one of them");
    }
    if (target->command != NULL)
        return 0;
    if (target->among != NULL) {
        err_set(err, "--name '%s' chooses among the JVMs of a command, and there is no command", target->among);
        return err_next(err, "give '%s' as the JVM; or a command behind '--'", target->among);
    }
    if (target->name != NULL)
        return jvm_target_find(target->name, &target->pid, &target->start_ticks, err);
    snprintf(text, sizeof text, "no JVM given to %s", what);
    return jvm_target_none(text, err);
}

void target_argument_tell_others(uint32_t n_jvms, pid_t pid, const char *program, const char *measured)
{
    if (n_jvms < 2)
        return;
    fprintf(stderr, "mmprof: the command started %" PRIu32 " JVMs or more; JVM %d (", n_jvms, (int)pid);
    text_print(stderr, program);
    fprintf(stderr, ") was %s\n  next: for another one, add --name and a part of its command line\n", measured);
}
