/*
 * ClickHouse's answers: TabSeparatedWithNamesAndTypes.
 *
 * Source: https://clickhouse.com/docs/interfaces/formats/TabSeparatedWithNamesAndTypes
 */
#ifndef REPORT_FLEET_FLEET_TSV_H
#define REPORT_FLEET_FLEET_TSV_H

#include "report/fleet/fleet_engine.h"

/*
 * Read an answer: a line of names, one of types, and a line for each row.  Where a line has too few fields the next
 * one's follow: it is the server's, and only read.  All of *result is the arena's.  Returns 0, or -1: no memory.
 */
int fleet_tsv_read(const char *answer, struct arena *arena, struct fleet_result *result);

#endif
