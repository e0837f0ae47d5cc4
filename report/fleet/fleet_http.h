/*
 * Requests over HTTP by libcurl, which is loaded when it is needed.
 */
#ifndef REPORT_FLEET_FLEET_HTTP_H
#define REPORT_FLEET_FLEET_HTTP_H

#include "core/base/arena.h"
#include "core/base/err.h"

#include <stddef.h>

struct fleet_http;

/* user, password: for the server; password may be NULL.  Returns 0, or -1 with *err set: there is no libcurl. */
int fleet_http_open(struct fleet_http **http, const char *user, const char *password, struct err *err);
void fleet_http_close(struct fleet_http *http); /* NULL is fine */

/* From now on a request may take so long; 10 minutes before. */
void fleet_http_limit(struct fleet_http *http, long seconds);

/*
 * POST a body of n bytes, or with path a file's content, and read the answer.
 *
 * answer  with a closing NUL, for free(); NULL where -1 is returned
 * status  of the answer, as 200
 *
 * Returns 0, or -1 with *err set: the server cannot be reached, the file cannot be read, no memory.
 */
int fleet_http_post(struct fleet_http *http, const char *url, const void *body, size_t n, const char *path,
                    char **answer, long *status, struct err *err);

/* A text as a part of a URL's query, in the arena; NULL: no memory. */
const char *fleet_http_escape(struct arena *arena, const char *text);

#endif
