#include "report/some_threads.h"

static void tell_step(void *context, const struct calltree_step *step)
{
    const struct observers *to = context;
    for (size_t i = 0; i < to->n; i++)
        if (to->all[i].step != NULL)
            to->all[i].step(to->all[i].context, step);
}

static void tell_flow(void *context, const struct calltree_flow *flow)
{
    const struct observers *to = context;
    for (size_t i = 0; i < to->n; i++)
        if (to->all[i].flow != NULL)
            to->all[i].flow(to->all[i].context, flow);
}

/* Only what somebody wants is told, for each call costs. */
struct calltree_observer observers_join(struct observers *observers)
{
    struct calltree_observer observer = { .context = observers };
    for (size_t i = 0; i < observers->n; i++) {
        observer.step = observers->all[i].step != NULL ? tell_step : observer.step;
        observer.flow = observers->all[i].flow != NULL ? tell_flow : observer.flow;
    }
    return observers->n == 1 ? observers->all[0] : observer;
}
