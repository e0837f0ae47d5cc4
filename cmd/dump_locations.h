/*
 * What mmprof dump prints of code locations.
 */
#ifndef CMD_DUMP_LOCATIONS_H
#define CMD_DUMP_LOCATIONS_H

#include "core/trace/locations.h"

/* One line: a file, a symbol, a method or a location. */
void dump_locations(FILE *out, const struct location_entry *entry);

#endif
