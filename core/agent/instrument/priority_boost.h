/* How short the stops for changed classes are. */
#ifndef CORE_AGENT_PRIORITY_BOOST_H
#define CORE_AGENT_PRIORITY_BOOST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The JVM changes the classes of a batch in its VM thread, while the application stands still.  After the last of n
 * classes was shown to the hook, that thread and the calling one go before all others until the end, where the system
 * allows it (root, CAP_SYS_NICE or a limit on niceness).  With three busy threads for each CPU stops took a third of
 * the time then (javac: 12 to 25 ms, not 21 to 104).
 *
 * Before that, the moment is waited for at which the change costs the JIT compiler least (compiling.h).
 */
struct priority_boost {
    uint32_t n_left;  /* classes to be shown */
    uint32_t wait_ms; /* for that moment at most; given before priority_boost_begin, as the next two are */
    bool (*is_over)(const void *context); /* whether to wait no more; or NULL */
    const void *context;
    double waited_ms;
    pid_t tids[2]; /* the VM thread and the calling one; 0: it is as it was */
    int niceness[2];
};

void priority_boost_begin(struct priority_boost *boost, uint32_t n_classes);
void priority_boost_class_shown(void); /* in the thread that began, else it does nothing */
void priority_boost_end(struct priority_boost *boost);

#endif
