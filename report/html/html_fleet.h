/*
 * The phases of services over days and versions as one page.
 */
#ifndef REPORT_HTML_HTML_FLEET_H
#define REPORT_HTML_HTML_FLEET_H

#include "report/html/html_data.h"

/* A phase's values on a day, of the runs of a version.  Texts are borrowed; service, version: or NULL. */
struct html_fleet_point {
    const char *service, *phase, *version, *day; /* day: 2026-11-28, UTC */
    double ns_per_call;
    double share; /* of the service's CPU time of that day and version, 0..1 */
};

/* Everything is borrowed.  points: of a phase one after another, by version, then day. */
struct html_fleet {
    const char *of; /* the directory or server */
    const struct table *table;
    const struct html_fleet_point *points;
    size_t n_points;
    struct arena *arena;
};

/* Write the page.  Returns 0, or -1 with *err set: no memory, or out cannot be written. */
int html_fleet_write(const struct html_fleet *fleet, FILE *out, struct err *err);

#endif
