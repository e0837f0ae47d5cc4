/* What a thread was called at a moment. */
#include "core/recorder/thread_names.h"
#include "test/unit/tap.h"

#include <string.h>
#include <unistd.h>

#define GONE 0x3ffffff /* no thread has this id */

int main(void)
{
    static const struct {
        const char *claim;
        int32_t tid;
        uint64_t time_ns;
        const char *name;
        bool is_latest;
    } rows[] = {
        { "before its new names it has the one that it had", 1, 5, "old", false },
        { "from its new name on it has that", 1, 10, "alpha", false },
        { "until the next one", 1, 19, "alpha", false },
        { "though another CPU's records came first", 1, 25, "beta", true },
        { "a new thread's first name is its own, also before it has it", 2, 1, "first", false },
        { "others keep theirs", 3, 50, "other", true },
        { "one that has ended and was not known has none", GONE, 1, "", true },
    };
    struct thread_names names;
    bool is_latest;
    thread_names_init(&names);
    thread_names_set(&names, 1, "old");
    thread_names_set(&names, 3, "other");
    thread_names_change(&names, 1, 20, "beta");
    thread_names_change(&names, 1, 10, "alpha");
    thread_names_change(&names, 2, 7, "first");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *name = thread_names_at(&names, getpid(), rows[i].tid, rows[i].time_ns, &is_latest);
        CHECK(rows[i].claim, strcmp(name, rows[i].name) == 0 && is_latest == rows[i].is_latest);
    }
    thread_names_settle(&names);
    CHECK_TEXT("after the drain the latest that was set counts", thread_names_at(&names, 0, 1, 99, &is_latest), "old");
    thread_names_free(&names);
    return tap_done();
}
