#include "cmd/lab/lab_command.h"

#include "report/view/last_uses.h"
#include "report/view/live_bytes.h"

int advise_memory(const char *memtrace, const struct folding_list *libraries,
                  int (*print)(void *context, const struct advice_memory *memory, struct err *err), void *context,
                  struct err *err)
{
    struct last_uses uses = { .n = 0 };
    struct live_bytes live = { .time = 0 };
    struct live_points points = { NULL, 0, 0 };
    const struct advice_memory memory = { &advice_memory_rules, &uses, &live, &points };
    int rc = last_uses_file(&uses, memtrace, err);
    if (rc == 0)
        last_uses_fold(&uses, libraries);
    if (rc == 0)
        rc = live_bytes_file(&live, memtrace, err) < 0 ? -1 : live_points_find(&live, &points, err);
    if (rc == 0)
        rc = print(context, &memory, err);
    live_points_free(&points);
    live_bytes_free(&live);
    last_uses_free(&uses);
    return rc;
}
