#include "core/emu/run/simulation_run.h"

#include "core/base/xalloc.h"
#include "core/recorder/launch.h"
#include "core/wire/setting.h"

#define PLUGIN_LIBRARY "libmmprof-tool.so"
#define WRITER_LIBRARY "libmmprof-memtrace.so"
#define OPTION_BYTES   ((size_t)8 * PATH_MAX)

/* ",KEY=" and a value in which commas are doubled. */
static void append(char *option, const char *key, const char *value)
{
    size_t n = strlen(option);
    snprintf(option + n, OPTION_BYTES - n, ",%s=", key);
    simulation_append(option, OPTION_BYTES, value);
}

/* From where mmprof is: a script may go elsewhere before it starts the JVM. */
static void append_output(char *option, const char *output)
{
    char directory[PATH_MAX], path[2 * PATH_MAX];
    if (output[0] == '/' || getcwd(directory, sizeof directory) == NULL)
        snprintf(path, sizeof path, "%s", output);
    else
        snprintf(path, sizeof path, "%s/%s", directory, output);
    append(option, "out", path);
}

static int append_tool(const struct tool_run_plan *plan, char *option, struct err *err)
{
    char path[PATH_MAX], tool[2 * PATH_MAX];
    if (plan->tool == NULL) {
        if (simulation_name_plugin(plan->agent, WRITER_LIBRARY, tool, sizeof tool, err) < 0)
            return -1;
        size_t n = strlen(option);
        snprintf(option + n, OPTION_BYTES - n, ",tool=%s", tool);
    } else if (realpath(plan->tool, path) == NULL || access(path, R_OK) < 0) {
        err_set(err, "cannot read the tool '%s': %s", plan->tool, strerror(errno));
        return err_next(err, "build it: cc -shared -fPIC -o my.so my.c, with mmprof_tool.h");
    } else { /* by its own path, and not by that of the dynamic linker's search */
        append(option, "tool", path);
    }
    if (plan->argument[0] != '\0')
        append(option, "argument", plan->argument);
    if (plan->interval_bytes > 0) {
        snprintf(path, sizeof path, "%" PRIu64, plan->interval_bytes);
        append(option, "interval", path);
    }
    return 0;
}

static int make_option(const struct tool_run_plan *plan, char *option, struct err *err)
{
    const char *library = plan->plugin == NULL ? PLUGIN_LIBRARY : plan->plugin;
    if (simulation_name_plugin(plan->agent, library, option, OPTION_BYTES, err) < 0 ||
        (plan->plugin == NULL && append_tool(plan, option, err) < 0))
        return -1;
    for (size_t i = 0; plan->plugin != NULL && plan->options[i] != NULL; i++) {
        size_t n = strlen(option);
        option[n] = n + 1 < OPTION_BYTES ? ',' : '\0';
        option[n + 1] = '\0';
        simulation_append(option, OPTION_BYTES, plan->options[i]);
    }
    if (plan->output != NULL)
        append_output(option, plan->output);
    return 0;
}

static int has_no_jvm(const char *command, struct err *err)
{
    err_set(err, "'%s' ended, and has started no JVM", command);
    return err_next(err, "give a command that starts a JVM (HotSpot 17 to 26)");
}

int tool_run(const struct tool_run_plan *plan, int *status, struct err *err)
{
    const struct setting tracked = { .kind = SETTING_TRACK_OBJECTS, .number = (uint32_t)plan->interval_bytes };
    char emulator[PATH_MAX], program[PATH_MAX], agent[SETTING_OPTION_BYTES];
    struct launch launch;
    char *option = xmalloc(OPTION_BYTES);
    int rc = -1;
    const struct launch_emulator how = { emulator, option, launch_is_java(plan->argv[0], program) ? program : NULL };
    const struct launch_plan launched = {
        .argv = plan->argv, .agent = plan->agent, .options = agent, .emulator = &how
    };
    setting_encode(&tracked, agent);
    if (simulation_find_emulator(emulator, sizeof emulator, err) < 0 || make_option(plan, option, err) < 0 ||
        launch_fork(&launch, &launched, err) < 0)
        goto out;
    if (launch_go(&launch, plan->argv[0], err) == 0) {
        launch_wait_for_jvm(&launch, status);
        rc = launch_is_waiting(&launch) ? has_no_jvm(plan->argv[0], err) : 0;
    }
    launch_end(&launch);
out:
    free(option);
    return rc;
}

/* ---- counting ---- */

static int encode(const struct counted_run_plan *plan, char option[SETTING_OPTION_BYTES], struct err *err)
{
    static const enum setting_kind kinds[] = { [COUNT_OBJECTS] = SETTING_COUNT_OBJECTS,
                                               [COUNT_RECEIVERS] = SETTING_COUNT_RECEIVERS,
                                               [COUNT_CALLS] = SETTING_COUNT_CALLS };
    struct setting setting = { .kind = kinds[plan->what], .number = plan->number, .text = plan->path };
    if (plan->method != NULL) {
        setting.kind = SETTING_COUNT_OBJECTS_IN;
        setting.name = plan->method;
    }
    if (setting_room(&setting) > SETTING_OPTION_BYTES) {
        err_set(err, "'%s' is too long", plan->method == NULL ? plan->path : plan->method);
        return err_next(err, "write '*' for a part of it");
    }
    setting_encode(&setting, option);
    return 0;
}

int counted_run(const struct counted_run_plan *plan, int *status, struct err *err)
{
    char option[SETTING_OPTION_BYTES];
    struct launch launch;
    if (encode(plan, option, err) < 0)
        return -1;
    int out = launch_output_to_error(err), rc = -1;
    if (out < 0)
        return -1;
    const struct launch_plan launched = {
        .argv = plan->argv, .agent = plan->agent, .options = option, .flags = plan->flags
    };
    if (launch_fork(&launch, &launched, err) == 0) {
        rc = launch_go(&launch, plan->argv[0], err);
        if (rc == 0)
            launch_wait_for_jvm(&launch, status);
        launch_end(&launch);
    }
    launch_output_back(out);
    return rc;
}
