#include "cmd/recording.h"

#include "core/base/arena.h"
#include "core/base/pattern.h"
#include "core/counters/selftest.h"
#include "phases/phases_file.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

int recording_target(struct recording *recording, int argc, char **argv, int n_parsed, const char *name,
                     struct err *err)
{
    recording->command = n_parsed < argc ? argv + n_parsed : NULL;
    if (recording->pid > INT_MAX)
        return err_set(err, "%" PRIu64 " is no process id", recording->pid);
    if (recording->pid != 0 && recording->command != NULL) {
        err_set(err, "there is both a process (-p %" PRIu64 ") and a command ('%s')", recording->pid,
                recording->command[0]);
        return err_next(err, "give one of them");
    }
    if (recording->pid == 0 && recording->command == NULL) {
        err_set(err, "there is no JVM to record");
        return err_next(err, "attach to one with 'mmprof %s -p PID', or start one with 'mmprof %s -- java ...'", name,
                        name);
    }
    return 0;
}

static int check_patterns(const struct options_list *list, const char *option, struct err *err)
{
    struct pattern pattern;
    for (size_t i = 0; i < list->n; i++)
        if (strchr(list->items[i], '\n') != NULL || pattern_parse(&pattern, list->items[i]) < 0) {
            err_set(err, "bad value '%s' of option --%s", list->items[i], option);
            return err_next(err, "give a class and perhaps a method: 'java/util/HashMap.get*'");
        }
    return 0;
}

static int read_phases(const char *path, struct arena *arena, struct recorder_plan *plan, struct err *err)
{
    struct phases_file file;
    if (phases_file_read(path, arena, &file, err) < 0)
        return -1;
    struct recorder_phase *phases = arena_alloc(arena, file.n_rows * sizeof *phases);
    if (phases == NULL)
        return err_set(err, "out of memory");
    for (size_t i = 0; i < file.n_rows; i++) {
        phases[i].class_name = file.rows[i].class_name;
        phases[i].name = file.rows[i].method;
        phases[i].descriptor = file.rows[i].descriptor;
    }
    if (file.n_rows == 0) {
        err_set(err, "'%s' names no phases", path);
        return err_next(err, "select some with lower thresholds: mmprof phases --weight 1%% --grain 0.01%% trace.dat");
    }
    plan->phases = phases;
    plan->n_phases = file.n_rows;
    plan->phases_file = path;
    return 0;
}

/*
 * Which events to count.  The first pass counts none unless told to: time selects the phases.  A live one counts from
 * the start: few methods are armed.  What the user asked for and does not get is said once, with the reason.
 */
static int choose_events(const struct recording *recording, struct arena *arena, struct counter_set *set,
                         struct err *err)
{
    struct err note = { "" };
    set->n = 0;
    if (recording->events == NULL && recording->phases == NULL && recording->live == NULL)
        return 0;
    if (selftest_choose(recording->events, (pid_t)recording->pid, arena, set, &note, err) < 0)
        return -1;
    if (recording->quiet)
        return 0;
    for (size_t i = 0; i < set->n && note.text[0] == '\0'; i++)
        if (set->specs[i].why[0] != '\0')
            err_set(&note, "'%s' is not counted: %s", set->specs[i].name, set->specs[i].why);
    if (note.text[0] != '\0')
        fprintf(stderr, "mmprof: %s\n", note.text);
    return 0;
}

static void tell_summary(const struct recorder_summary *s, const char *output, bool attached, FILE *out)
{
    static const char *const ends[] = { "the time is up", "stopped by a signal", "the JVM ended" };
    if (isatty(fileno(out)))
        fputs("\r\033[K", out); /* over the progress line */
    fprintf(out,
            "mmprof: recorded %.1f s of JVM %d (%s): %" PRIu64 " records of %" PRIu32 " methods, %.1f MB in '%s'\n",
            s->seconds, (int)s->pid, ends[s->end], s->n_records, s->n_methods, (double)s->n_bytes / 1e6, output);
    if (s->instrument_ms > 0)
        fprintf(out, "mmprof: instrumenting the %s took %.2f s, in steps of %.0f ms at most\n",
                attached ? "loaded classes" : "JDK's first classes", s->instrument_ms / 1e3, s->longest_pause_ms);
    if (s->n_lost > 0)
        fprintf(out,
                "mmprof: %" PRIu64 " calls found no room and are not in the trace\n"
                "  next: give a larger --buffer, or instrument less with --include or --min-bytecodes\n",
                s->n_lost);
    if (s->n_kernel_lost > 0)
        fprintf(out, "mmprof: %" PRIu64 " of the kernel's records (thread switches, faults) were lost\n",
                s->n_kernel_lost);
    if (s->n_skipped + s->n_failed_classes > 0)
        fprintf(out, "mmprof: %" PRIu32 " methods and %" PRIu32 " classes could not be instrumented\n", s->n_skipped,
                s->n_failed_classes);
    if (strncmp(s->offcpu, "none", 4) == 0)
        fprintf(out, "mmprof: times are wall-clock time, waiting included: %s\n", s->offcpu + strlen("none: "));
    if (s->warning[0] != '\0')
        fprintf(out, "mmprof: %s\n", s->warning);
}

int recording_run(const struct recording *recording, struct recorder_summary *summary, struct err *err)
{
    struct arena arena = { NULL, 0 };
    struct counter_set events;
    char agent[PATH_MAX];
    int rc = -1;
    struct recorder_plan plan = { .pid = (pid_t)recording->pid,
                                  .argv = recording->command,
                                  .duration_s = recording->duration_s,
                                  .output = recording->output,
                                  .agent = agent,
                                  .events = &events,
                                  .min_bytecodes = (uint32_t)recording->min_bytecodes,
                                  .includes = recording->includes.items,
                                  .n_includes = recording->includes.n,
                                  .excludes = recording->excludes.items,
                                  .n_excludes = recording->excludes.n,
                                  .ring_bytes = recording->ring_bytes,
                                  .is_live = recording->live != NULL,
                                  .observer = recording->live == NULL ? NULL : &recording->live->observer,
                                  .progress = recording->quiet ? NULL : stderr };
    if (check_patterns(&recording->includes, "include", err) < 0 ||
        check_patterns(&recording->excludes, "exclude", err) < 0 || recorder_find_agent(agent, sizeof agent, err) < 0 ||
        (recording->phases != NULL && read_phases(recording->phases, &arena, &plan, err) < 0) ||
        choose_events(recording, &arena, &events, err) < 0)
        goto out;
    if (recorder_run(&plan, summary, err) < 0)
        goto out;
    if (!recording->quiet)
        tell_summary(summary, recording->output, recording->pid != 0, stderr);
    if (!recording->quiet && recording->live != NULL)
        live_session_tell(recording->live, "mmprof: ", stderr);
    rc = 0;
out:
    arena_free(&arena);
    return rc;
}
