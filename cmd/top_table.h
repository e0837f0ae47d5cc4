/* What 'mmprof top' shows: the phases of the last interval. */
#ifndef CMD_TOP_TABLE_H
#define CMD_TOP_TABLE_H

#include "phases/live/live_session.h"

enum top_sort { TOP_BY_TIME, TOP_BY_CALLS, TOP_BY_CALL, TOP_BY_CPI, TOP_BY_NAME, TOP_SORTS };

/* By letter (t c p i n) or name (time calls call cpi name).  Returns 0, or -1 when there is none such. */
int top_sort_parse(const char *text, enum top_sort *sort);

struct top_table {
    enum top_sort sort;
    bool has_keys;               /* tell which */
    struct live_account *before; /* owned: methods' figures at the last refresh, in their order */
    size_t n_before, before_room;
    uint64_t before_ns, before_cpu_ns, before_own_ns; /* when that was; 0: never */
    uint64_t before_out_ns, before_out_cpu_ns;        /* what no figure covered until then: see struct live_cost */
};

void top_table_free(struct top_table *top);

/* An interval begins now. */
void top_table_begin(struct top_table *top, const struct live_session *session);

/* Text of the table for the interval, which ends.  Returns it, for free(), or NULL with *err set. */
char *top_table_text(struct top_table *top, struct live_session *session, struct err *err);

/* Below the phases of 'mmprof top': methods that samples found, and that have no probes. */

/* What samples found; all 0: there are none yet. */
struct top_sampled {
    char *text;             /* owned: the table; NULL: there is nothing to show */
    uint64_t n_samples, ns; /* ns: in which they were taken */
};

#endif
