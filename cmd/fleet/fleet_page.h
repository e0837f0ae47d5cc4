/*
 * The page of 'mmprof fleet select --html'.
 */
#ifndef CMD_FLEET_FLEET_PAGE_H
#define CMD_FLEET_FLEET_PAGE_H

#include "cmd/fleet/fleet_command.h"

/*
 * Ask for the selected phases by day and version, and write the page.
 *
 * selected  what fleet_select_sql's query answered
 * table     as text has it
 *
 * Returns 0, or -1 with *err set: the page cannot be written, no memory.
 */
int fleet_page_write(struct fleet_command_run *run, const struct fleet_result *selected, const struct table *table,
                     struct err *err);

#endif
