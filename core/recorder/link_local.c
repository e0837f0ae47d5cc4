/* What an observer may ask the recorder for that the agent does not hear of. */
#include "core/recorder/link_state.h"

#include "core/base/xalloc.h"

struct trace_writer *recorder_trace(struct recorder_link *link)
{
    return link->writer;
}

const struct agent_config *recorder_rules(struct recorder_link *link, struct err *err)
{
    if (link->rules != NULL)
        return link->rules;
    struct agent_config *rules = xcalloc(1, sizeof *rules);
    if (config_read(rules, link->session->config_fd, err) == 0)
        return link->rules = rules;
    config_free(rules);
    free(rules);
    return NULL;
}

void recorder_pace(struct recorder_link *link, uint32_t round_ms)
{
    link->round_ms = round_ms;
}

void recorder_end(struct recorder_link *link)
{
    link->is_over = true;
}
