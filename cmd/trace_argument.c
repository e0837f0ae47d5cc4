#include "cmd/trace_argument.h"

#include "cmd/output_file.h"
#include "core/base/text.h"
#include "core/trace/recording_info.h"

#include <sys/stat.h>

int command_parse_traces(const char *usage, const char *purpose, const struct options_row *rows, int argc, char **argv,
                         const char **paths, size_t max, size_t *n, bool *done, struct err *err)
{
    *n = 0;
    for (;;) {
        int i;
        if (command_parse(usage, purpose, rows, argc, argv, &i, done, err) < 0)
            return -1;
        if (*done || i >= argc)
            break;
        if (*n == max) {
            if (max == 1) {
                err_set(err, "one trace at a time, not '%s' and '%s'", paths[0], argv[i]);
                return err_next(err, "run it once for each of them");
            }
            return err_set(err, "more than %zu traces", max);
        }
        paths[(*n)++] = argv[i];
        /* The rest is parsed as if the trace's name were the command's. */
        argc -= i;
        argv += i;
    }
    if (*n == 0)
        paths[(*n)++] = DEFAULT_TRACE;
    return 0;
}

int command_parse_trace(const char *usage, const char *purpose, const struct options_row *rows, int argc, char **argv,
                        const char **path, bool *done, struct err *err)
{
    size_t n;
    return command_parse_traces(usage, purpose, rows, argc, argv, path, 1, &n, done, err);
}

/* ---- directories ---- */

struct traces_found {
    struct arena *arena;
    const char **paths;
    size_t n, max;
    bool is_full;
};

static bool is_directory(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* Returns whether it is there. */
static bool add_trace(struct traces_found *found, const char *path)
{
    if (access(path, F_OK) < 0)
        return false;
    found->is_full = found->is_full || found->n == found->max;
    if (!found->is_full)
        found->paths[found->n++] = path;
    return true;
}

/* "phases" of DIR: phases.dat, or phases.1.dat and so on. */
static bool add_traces(struct traces_found *found, const char *dir, const char *name)
{
    const char *slash = dir[0] == '\0' || dir[strlen(dir) - 1] == '/' ? "" : "/";
    if (add_trace(found, arena_printf(found->arena, "%s%s%s.dat", dir, slash, name)))
        return true;
    unsigned number = 1;
    while (!found->is_full && add_trace(found, arena_printf(found->arena, "%s%s%s.%u.dat", dir, slash, name, number)))
        number++;
    return number > 1;
}

static bool add_directory(struct traces_found *found, const char *dir)
{
    const char *slash = dir[0] == '\0' || dir[strlen(dir) - 1] == '/' ? "" : "/";
    const char *profile = arena_printf(found->arena, "%s%smmprof-profile", dir, slash);
    return add_traces(found, dir, "phases") || add_traces(found, dir, "trace") ||
           add_traces(found, profile, "phases") || add_traces(found, profile, "trace");
}

int trace_argument_find(struct arena *arena, const char **paths, size_t max, size_t *n, struct err *err)
{
    const char *found_paths[TRACE_ARGUMENTS_MAX];
    struct traces_found found = { arena, found_paths, 0, max < TRACE_ARGUMENTS_MAX ? max : TRACE_ARGUMENTS_MAX, false };
    for (size_t i = 0; i < *n; i++) {
        if (is_directory(paths[i]) ? add_directory(&found, paths[i]) : add_trace(&found, paths[i]))
            continue;
        if (is_directory(paths[i])) {
            err_set(err, "there is no trace in the directory '%s'", paths[i]);
            return err_next(err, "name one that 'mmprof profile -o' or 'mmprof record -o' wrote");
        }
        /* One that is not there: who reads it says so. */
        if ((strcmp(paths[i], DEFAULT_TRACE) != 0 || !add_directory(&found, "")) && found.n < found.max)
            found.paths[found.n++] = paths[i];
    }
    if (found.is_full) {
        err_set(err, "more than %zu trace%s in '%s'", found.max, text_plural(found.max), paths[0]);
        return err_next(err, "name the trace, such as '%s'", found_paths[0]);
    }
    memcpy(paths, found_paths, found.n * sizeof *paths);
    *n = found.n;
    return 0;
}

int trace_argument_one(struct arena *arena, const char **path, struct err *err)
{
    size_t n = 1;
    return trace_argument_find(arena, path, 1, &n, err);
}

/* 0: not known. */
static pid_t traced_pid(const char *path, bool salvage)
{
    struct trace_reader *outline;
    struct err ignored;
    if (trace_outline(&outline, path, salvage, &ignored) < 0)
        return 0;
    const char *text = info_text(outline, INFO_JVM_PID);
    pid_t pid = text == NULL ? 0 : (pid_t)atoi(text);
    trace_close(outline);
    return pid;
}

int trace_argument_output(const char *trace, bool salvage, const char *pattern, const char *option, char name[PATH_MAX],
                          struct err *err)
{
    pid_t pid = strstr(pattern, "%p") == NULL ? 0 : traced_pid(trace, salvage);
    return output_file_name(pattern, option, pid, name, err);
}

int command_print_table(const struct table *table, bool as_csv, bool as_json, struct display *display, struct err *err)
{
    if (as_csv && as_json) {
        err_set(err, "--csv and --json are two formats");
        return err_next(err, "choose one of them");
    }
    if (as_csv)
        return table_print_csv(table, stdout, err);
    if (as_json)
        return table_print_json(table, stdout, err);
    return display_open(display, err) < 0 ? -1 : table_print_look(table, &display->look, stdout, err);
}
