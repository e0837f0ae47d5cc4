/*
 * The trace is opened, or one of its files: its name, and what it says of itself at first.
 */
#include "core/recorder/metadata.h"
#include "core/recorder/recorder_state.h"

#include <stdio.h>

/* While it is written it has another name. */
int recorder_name_file(struct recorder *r, struct recorder_file_names *names, struct err *err)
{
    pid_t pid = r->plan->pid != 0 ? r->plan->pid : r->child.pid;
    if (r->plan->files->next(r->plan->files->context, pid, names->whole, sizeof names->whole, err) < 0)
        return -1;
    int n = snprintf(names->part, sizeof names->part, "%s" RECORDER_PART, names->whole);
    return n >= (int)sizeof names->part ? err_set(err, "the name '%.60s...' is too long", names->whole) : 0;
}

int recorder_write_file_info(struct recorder *r, struct err *err)
{
    return metadata_write_started(r->writer, err) < 0
               ? -1
               : info_write_count(r->writer, INFO_RECORDING_FILE, r->files.n, err);
}

int recorder_open_file(struct recorder *r, struct err *err)
{
    const uint64_t began_ns = r->first.realtime_ns;
    r->files.start = r->first;
    if (r->plan->files == NULL)
        return trace_writer_open(&r->writer, r->plan->output, err);
    r->files.n = 1;
    if (recorder_name_file(r, &r->files.names, err) < 0 ||
        trace_writer_open(&r->writer, r->files.names.part, err) < 0 || trace_writer_keep(r->writer, err) < 0 ||
        recorder_write_file_info(r, err) < 0)
        return -1;
    return info_write_count(r->writer, INFO_RECORDING_BEGAN_NS, began_ns, err);
}
