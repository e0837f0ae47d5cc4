#include "core/emu/plugin/sim_core.h"

#include "core/emu/plugin/qemu_api.h"
#include "core/emu/plugin/sim_misses.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int sim_arguments_refuse(const char *what)
{
    qemu_plugin_outs("mmprof: the simulator cannot start: ");
    qemu_plugin_outs(what);
    qemu_plugin_outs("\n");
    return -1;
}

/* The recorder's memory. */
static int map_slots(const char *path, struct sim_slots **mapped)
{
    struct stat status;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) < 0 || (size_t)status.st_size < sizeof(struct sim_slots))
        return sim_arguments_refuse("there is no memory of mmprof record");
    void *at = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED)
        return sim_arguments_refuse("the memory of mmprof record cannot be mapped");
    struct sim_slots *slots = *mapped = at;
    struct err err;
    if (slots->magic != SIM_SLOTS_MAGIC || (size_t)status.st_size < sim_slots_bytes(slots->n_slots) ||
        sim_model_check(&slots->model, &err) < 0 || sim_window_check(&slots->window, &err) < 0 ||
        sim_sets_check(&slots->model, slots->sets, &err) < 0)
        return sim_arguments_refuse("the memory of mmprof record has another layout");
    return 0;
}

static int open_log(const char *path, struct sim_slots *slots)
{
    int fd = slots == NULL ? -1 : open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && sim_misses_open(slots, fd) == 0)
        return 0;
    if (fd >= 0)
        close(fd);
    return sim_arguments_refuse("out of memory for misses");
}

/* Without a recorder. */
static int make_slots(const char *model, struct sim_slots **made)
{
    struct err err;
    size_t n = sim_slots_bytes(SIM_SLOTS_MAX);
    /* cppcheck-suppress invalidFunctionArg */
    void *at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return sim_arguments_refuse("out of memory");
    struct sim_slots *slots = *made = at;
    slots->magic = SIM_SLOTS_MAGIC;
    slots->n_slots = SIM_SLOTS_MAX;
    return sim_model_load(model, &slots->model, &err) < 0 ? sim_arguments_refuse(err.text) : 0;
}

static int read_window(const char *text, struct sim_slots *slots)
{
    struct err err;
    if (slots == NULL)
        return sim_arguments_refuse("window= comes before model=");
    return sim_window_read(text, &slots->window, &err) < 0 ? sim_arguments_refuse(err.text) : 0;
}

static int read_sets(const char *text, struct sim_slots *slots)
{
    struct err err;
    if (slots == NULL)
        return sim_arguments_refuse("sets= comes before model=");
    bool is_right =
        sim_sets_read(text, &slots->sets, &err) == 0 && sim_sets_check(&slots->model, slots->sets, &err) == 0;
    return is_right ? 0 : sim_arguments_refuse(err.text);
}

#define ARGUMENTS "it takes memory=, or model=, then window= and sets=, and out="

int sim_arguments_read(int argc, char **argv, struct sim_slots **slots, const char **out, bool *is_checked)
{
    for (int i = 0; i < argc; i++) {
        int rc = 0;
        if (strncmp(argv[i], "memory=", 7) == 0)
            rc = map_slots(argv[i] + 7, slots);
        else if (strncmp(argv[i], "model=", 6) == 0)
            rc = make_slots(argv[i] + 6, slots);
        else if (strncmp(argv[i], "log=", 4) == 0)
            rc = open_log(argv[i] + 4, *slots);
        else if (strncmp(argv[i], "window=", 7) == 0)
            rc = read_window(argv[i] + 7, *slots);
        else if (strncmp(argv[i], "sets=", 5) == 0)
            rc = read_sets(argv[i] + 5, *slots);
        else if (strcmp(argv[i], "check=foreseen") == 0 && sim_check_is_there())
            *is_checked = true;
        else if (strncmp(argv[i], "out=", 4) == 0)
            *out = strdup(argv[i] + 4);
        else
            rc = sim_arguments_refuse(ARGUMENTS);
        if (rc < 0)
            return -1;
    }
    return *slots == NULL || (*is_checked && ((*slots)->window.counted > 0 || (*slots)->sets > 0))
               ? sim_arguments_refuse(ARGUMENTS)
               : 0;
}
