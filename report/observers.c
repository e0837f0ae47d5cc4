#include "report/second_pass.h"

static int tell_step(void *context, const struct calltree_step *step, struct err *err)
{
    const struct second_pass *pass = context;
    for (size_t i = 0; i < pass->n_observers; i++)
        if (pass->observers[i].step != NULL && pass->observers[i].step(pass->observers[i].context, step, err) < 0)
            return -1;
    return 0;
}

static int tell_flow(void *context, const struct calltree_flow *flow, struct err *err)
{
    const struct second_pass *pass = context;
    for (size_t i = 0; i < pass->n_observers; i++)
        if (pass->observers[i].flow != NULL && pass->observers[i].flow(pass->observers[i].context, flow, err) < 0)
            return -1;
    return 0;
}

/* Only what somebody wants is told, for each call costs. */
static struct calltree_observer observer_of(struct second_pass *pass)
{
    struct calltree_observer observer = { .context = pass };
    for (size_t i = 0; i < pass->n_observers; i++) {
        observer.step = pass->observers[i].step != NULL ? tell_step : observer.step;
        observer.flow = pass->observers[i].flow != NULL ? tell_flow : observer.flow;
    }
    return pass->n_observers == 1 ? pass->observers[0] : observer;
}

/* Without calls there is no tree to be built. */
static int read_events(struct trace_reader *reader, struct err *err)
{
    struct trace_event event;
    int rc;
    while ((rc = trace_next(reader, &event, err)) > 0)
        continue;
    return rc;
}

int second_pass_run(const struct second_pass *pass, const struct report_source *source, bool salvage, struct err *err)
{
    struct second_pass copy = *pass;
    struct calltree_observer observer = observer_of(&copy);
    const struct calltree_options options = { .observer = &observer };
    struct trace_reader *reader;
    struct calltree tree = { .n_nodes = 0 };
    if (pass->n_observers == 0 && !pass->is_listening)
        return 0;
    if (trace_open(&reader, source->path, salvage, err) < 0)
        return -1;
    if (pass->is_listening)
        trace_listen(reader, &pass->listener);
    int rc = pass->n_observers == 0 ? read_events(reader, err) : calltree_build(reader, &options, &tree, err);
    calltree_free(&tree);
    trace_close(reader);
    return rc;
}
