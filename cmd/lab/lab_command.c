#include "cmd/lab/lab_command.h"

#include <sys/mman.h>
#include <sys/stat.h>

int memory_file_open(struct memory_file *file, const char *name, struct arena *arena, struct err *err)
{
    file->fd = memfd_create(name, MFD_CLOEXEC);
    file->path = file->fd < 0 ? NULL : arena_printf(arena, "/proc/%d/fd/%d", (int)getpid(), file->fd);
    return file->path == NULL ? err_set(err, "cannot make a file in memory: %s", strerror(errno)) : 0;
}

static char *read_all(const struct memory_file *file, size_t n_most, struct arena *arena, size_t *n)
{
    struct stat status;
    *n = fstat(file->fd, &status) == 0 && status.st_size < (off_t)n_most ? (size_t)status.st_size : 0;
    char *text = *n == 0 ? NULL : arena_alloc(arena, *n + 1);
    return text != NULL && pread(file->fd, text, *n, 0) == (ssize_t)*n ? text : NULL;
}

char *memory_file_read(const struct memory_file *file, size_t n_most, struct arena *arena, size_t *n,
                       const char *command, const char *lack, struct err *err)
{
    char *text = read_all(file, n_most, arena, n);
    if (text != NULL)
        return text;
    err_set(err, "'%s' ended, and %s", command, lack);
    return NULL;
}

void memory_file_close(struct memory_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

/* ---- commands ---- */

int lab_need_command(const char *name, int argc, char **argv, int i, struct err *err)
{
    if (i < argc && strcmp(argv[i - 1], "--") == 0)
        return 0;
    err_set(err, "no command to run is given");
    return err_next(err, "give it behind '--': mmprof %s -- java ...", name);
}

int lab_print(struct lab_output *output, const struct table *table, const char *title, const char *of,
              const struct html_part *part, struct err *err)
{
    struct html_part its = *part;
    its.table = table;
    if (output->html == NULL)
        return command_print_table(table, output->csv, output->json, &output->display, err);
    return tables_page_write(&(struct html_tables){ title, of, &its, 1, table->arena }, output->html, err);
}
