/* What an observer may ask the recorder for that the agent does not hear of. */
#include "core/recorder/link_state.h"

struct trace_writer *recorder_trace(struct recorder_link *link)
{
    return link->writer;
}

const struct wanted *recorder_wanted(struct recorder_link *link, struct err *err)
{
    if (link->wanted == NULL)
        link->wanted = wanted_open(link->session->config_fd, err);
    return link->wanted;
}

void recorder_pace(struct recorder_link *link, uint32_t round_ms)
{
    link->round_ms = round_ms;
}

void recorder_end(struct recorder_link *link)
{
    link->is_over = true;
}
