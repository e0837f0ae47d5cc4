/* A recording in several files: their names, and when the next one begins. */
#include "core/recorder/recorder_parts.h"

#include "core/recorder/metadata.h"
#include "core/trace/recording_info.h"

#define PART       ".part" /* behind the name of a file that is being written */
#define SHORT_PART 10      /* no file is shorter than one part in so many, or longer by more */

int recorder_rotation_name(const struct recorder_plan *plan, pid_t pid, struct recorder_file_names *names,
                           struct err *err)
{
    if (plan->files->next(plan->files->context, pid, names->whole, sizeof names->whole, err) < 0)
        return -1;
    int n = snprintf(names->part, sizeof names->part, "%s" PART, names->whole);
    return n >= (int)sizeof names->part ? err_set(err, "the name '%.60s...' is too long", names->whole) : 0;
}

static int write_info(const struct recorder_rotation *files, struct trace_writer *writer, struct err *err)
{
    return metadata_write_started(writer, err) < 0 ? -1 : info_write_count(writer, INFO_RECORDING_FILE, files->n, err);
}

int recorder_rotation_begin(struct recorder_rotation *files, const struct recorder_now *now,
                            const struct recorder_file_names *names, struct err *err)
{
    files->names = *names;
    files->n++;
    files->has_failed = false;
    files->start = now->latest;
    return write_info(files, now->writer, err);
}

int recorder_rotation_open(struct recorder_rotation *files, const struct recorder_now *now, pid_t pid,
                           struct trace_writer **writer, struct err *err)
{
    files->start = now->first;
    if (now->plan->files == NULL)
        return trace_writer_open(writer, now->plan->output, err);
    files->n = 1;
    if (recorder_rotation_name(now->plan, pid, &files->names, err) < 0 ||
        trace_writer_open(writer, files->names.part, err) < 0)
        return -1;
    trace_writer_keep(*writer);
    if (write_info(files, *writer, err) < 0)
        return -1;
    return info_write_count(*writer, INFO_RECORDING_BEGAN_NS, now->first.realtime_ns, err);
}

void recorder_rotation_end(struct recorder_rotation *files, const struct recorder_plan *plan, const struct err *why)
{
    if (plan->files != NULL && files->names.part[0] != '\0')
        plan->files->ended(plan->files->context, files->names.part, files->names.whole, why);
    files->names.part[0] = '\0';
}

static uint64_t every_ns(const struct recorder_plan *plan)
{
    return (uint64_t)(plan->files->every_s * 1e9);
}

/*
 * A file begins at a whole minute, or whatever the period is, of the clock on the wall.  A clock that is set makes one
 * file shorter or longer.
 */
static bool is_over(const struct recorder_rotation *files, const struct recorder_now *now)
{
    uint64_t every = every_ns(now->plan), passed = now->latest.monotonic_ns - files->start.monotonic_ns;
    bool is_next = now->latest.realtime_ns / every != files->start.realtime_ns / every;
    return (is_next && passed >= every / SHORT_PART) || passed >= every + every / SHORT_PART;
}

bool recorder_rotation_is_due(struct recorder_rotation *files, const struct recorder_now *now)
{
    const struct recorder_plan *plan = now->plan;
    const struct err *why = trace_writer_failure(now->writer);
    if (why != NULL && !files->has_failed) {
        files->has_failed = true;
        plan->files->fails(plan->files->context, why);
    }
    bool is_large = plan->max_bytes > 0 && trace_writer_bytes(now->writer) >= plan->max_bytes;
    return is_over(files, now) || (is_large && !files->has_failed);
}

int recorder_rotation_left_ms(const struct recorder_plan *plan)
{
    if (plan->files == NULL)
        return INT_MAX;
    return (int)((every_ns(plan) - clock_ns(CLOCK_REALTIME) % every_ns(plan)) / 1000000) + 1;
}
