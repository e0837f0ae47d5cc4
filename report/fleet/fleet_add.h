/*
 * How files come into the directory of a fleet.
 */
#ifndef REPORT_FLEET_FLEET_ADD_H
#define REPORT_FLEET_FLEET_ADD_H

#include "report/fleet/fleet_listing.h"

/*
 * Copy a file into a directory, under a name that its content makes: a file that is there already is left, and so is
 * one whose rows a compacted file has.  Written beside, brought to the disk and renamed, so that no half file is ever
 * there.
 *
 * there  what the directory had before; NULL: nothing was compacted in it
 *
 * Returns 1, 0: it was there, or -1 with *err set.
 */
int fleet_file_add(const char *directory, const char *path, const struct fleet_listing *there, struct err *err);

/* Remove what copies left behind in the directory that were killed, an hour ago or more. */
void fleet_add_tidy(const char *directory);

#endif
