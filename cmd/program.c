#include "cmd/program.h"

#include "cmd/output_file.h"
#include "core/base/near.h"
#include "core/base/plain_file.h"
#include "core/base/privileges.h"
#include "core/base/text.h"
#include "core/base/xalloc.h"

#include <cjson/cJSON.h>

#define NAME_START "mmprof-" /* of the programs in libexec/mmprof */

/* ---- help ---- */

static void print_help(const struct program *program, FILE *out)
{
    fprintf(out, "usage: mmprof COMMAND [OPTIONS]\n\n%s", program->purpose);
    for (const struct command *c = program->commands; c->name != NULL; c++)
        if (c->run == NULL)
            fprintf(out, "\n%s:\n", c->summary);
        else if (c->summary != NULL)
            fprintf(out, "  %-10s %s\n", c->name, c->summary);
    fprintf(
        out,
        "\n'mmprof COMMAND --help' lists a command's options (--help-all: all); 'man mmprof-COMMAND' explains them.\n"
        "'source <(mmprof completion bash)' (or zsh) completes them in the shell.\n");
}

static int run_none(const struct program *program, const char *name, const char *word, struct err *err)
{
    static const char *const help[] = { "help", "--help", "-h", NULL };
    static const char *const version[] = { "version", "--version", NULL };
    if (text_is_among(name, help)) {
        print_help(program, stdout);
        return 0;
    }
    if (text_is_among(name, version))
        return puts("mmprof " MMPROF_VERSION) < 0 ? 1 : 0;
    if (strcmp(name, "completion") == 0)
        return completion_print(word, err);
    struct near near;
    near_begin(&near, name);
    for (const struct command *c = program->commands; c->name != NULL; c++)
        if (c->run != NULL && c->summary != NULL)
            near_consider(&near, c->name, c->name);
    err_set(err, "unknown command '%s'", name);
    return near_next(&near, "run 'mmprof help' for the list of commands", err);
}

/* ---- commands ---- */

static const struct command *find_command(const struct program *program, const char *name)
{
    const struct command *c = program->commands;
    while (c->name != NULL && (c->run == NULL || strcmp(name, c->name) != 0))
        c++;
    return c->name == NULL ? NULL : c;
}

/* mmprof-COMMAND, by which a command is started directly: the table's row, or NULL. */
static const struct command *command_of_name(const struct program *program, const char *name)
{
    name = text_base_name(name);
    return text_begins(name, NAME_START) ? find_command(program, name + strlen(NAME_START)) : NULL;
}

/* 'help COMMAND' is 'COMMAND --help'.  *command is NULL where it is none of the table. */
static int run(const struct program *program, int argc, char **argv, const struct command **command, struct err *err)
{
    static char option[] = "--help";
    bool is_help = argc > 2 && strcmp(argv[1], "help") == 0;
    char *help[] = { argv[2], option, NULL };
    const char *name = is_help ? argv[2] : argv[1];
    *command = command_of_name(program, argv[0]);
    if (*command != NULL)
        return (*command)->run(argc, argv, err);
    *command = find_command(program, name);
    if (*command == NULL)
        return run_none(program, name, argv[2], err);
    return is_help ? (*command)->run(2, help, err) : (*command)->run(argc - 1, argv + 1, err);
}

int program_main(const struct program *program, int argc, char **argv)
{
    struct err err = { "" };
    const struct command *command = NULL;
    cJSON_Hooks hooks = { xmalloc, free };
    cJSON_InitHooks(&hooks);
    if (argc < 2) {
        print_help(program, stderr);
        return 1;
    }
    int status = privileges_confine(&err) < 0 ? -1 : run(program, argc, argv, &command, &err);
    if (output_check(&err) == 0 && status >= 0) /* in any case: then that is why the command failed */
        return status;
    fprintf(stderr, "mmprof%s%s: ", command == NULL ? "" : " ", command == NULL ? "" : command->name);
    text_print_lines(stderr, err.text);
    fputc('\n', stderr);
    return 1;
}

/* ---- other programs ---- */

/* mmprof is beside libexec in the build, and in bin beside it when installed; the other programs are in libexec. */
static int find_program(const char *name, char *path, size_t n, struct err *err)
{
    static const char *const from_mmprof[] = { "libexec/mmprof/", "../libexec/mmprof/", NULL };
    static const char *const from_others[] = { "", NULL };
    char file[80];
    snprintf(file, sizeof file, NAME_START "%s", name);
    return own_file_find(&(struct own_places){ from_mmprof, from_others }, file, X_OK, path, n, err);
}

int program_become(const char *name, int argc, char **argv, struct err *err)
{
    static char self[] = "mmprof";
    char path[4096];
    if (find_program(name, path, sizeof path, err) < 0)
        return -1;
    char **words = xcalloc((size_t)argc + 2, sizeof *words);
    words[0] = self;
    memcpy(words + 1, argv, (size_t)argc * sizeof *words);
    fflush(NULL);
    execv(path, words);
    err_set(err, "cannot start '%s': %s", path, strerror(errno));
    free(words);
    return err_next(err, "run 'make' or 'make install' again");
}

int command_elsewhere(int argc, char **argv, struct err *err)
{
    return program_become(argv[0], argc, argv, err);
}
