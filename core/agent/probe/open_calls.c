#include "core/agent/probe/probe.h"

/*
 * The recorded calls among those found: from the innermost on, for a call under way is outside of what was recorded of
 * the same method since.
 */
static bool match(struct open_calls *c, const uint32_t *open, uint32_t n_open, uint32_t (*method_of)(uint32_t))
{
    uint32_t at = c->n_found;
    for (uint32_t i = n_open; i-- > 0;) {
        if ((open[i] & OPEN_CALL) != 0)
            continue;
        while (at > 0 && (c->found[at - 1] & ~OPEN_CALL) != method_of(open[i]))
            at--;
        if (at == 0)
            return false;
        c->found[--at] = open[i]; /* as it is on the thread's stack */
        c->is_known[at] = true;
    }
    return true;
}

/* Take one of the thread's calls under way that it had from 'first' on. */
static bool take_call(uint32_t call, const uint32_t *open, uint32_t n_open, uint32_t *first)
{
    for (uint32_t i = *first; i < n_open; i++)
        if (open[i] == call) {
            *first = i + 1;
            return true;
        }
    return false;
}

bool open_calls_merge(struct open_calls *c, const uint32_t *open, uint32_t n_open, uint32_t (*method_of)(uint32_t))
{
    uint32_t first;
    for (uint32_t i = 0; i < c->n_found; i++)
        c->is_known[i] = false;
    if (!match(c, open, n_open, method_of))
        return false;
    c->n = 0;
    for (uint32_t i = 0; i < c->n_found; i++)
        if (c->is_known[i] || (c->found[i] & OPEN_CALL) != 0) {
            c->is_known[c->n] = c->is_known[i];
            c->calls[c->n++] = c->found[i];
        }
    for (c->n_same = 0; c->n_same < c->n && c->n_same < n_open && c->calls[c->n_same] == open[c->n_same];)
        c->n_same++;
    first = c->n_same;
    for (uint32_t i = c->n_same; i < c->n; i++)
        c->is_known[i] = c->is_known[i] || take_call(c->calls[i], open, n_open, &first);
    return true;
}
