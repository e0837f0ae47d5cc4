/*
 * Work that may take too long: it is done in a thread of its own, asked to end after a time, and left alone if it does
 * not.
 */
#ifndef REPORT_FLEET_FLEET_WATCH_H
#define REPORT_FLEET_FLEET_WATCH_H

#include "core/base/err.h"

enum fleet_watched { FLEET_WATCHED_DONE, FLEET_WATCHED_STOPPED, FLEET_WATCHED_LOST };

struct fleet_work {
    void (*work)(void *context);
    void (*interrupt)(void *context); /* asks it to end, from another thread */
    void *context;                    /* the work's own from LOST on: nobody else may touch or free it */
    double limit_s, grace_s;          /* until it is asked, and from then on until it is lost */
};

/*
 * Returns 0 and *watched: DONE; STOPPED: it was asked to end, and has; LOST: it goes on until the process ends.  Or -1
 * with *err set: there is no thread for it.
 */
int fleet_watch(const struct fleet_work *work, enum fleet_watched *watched, struct err *err);

#endif
