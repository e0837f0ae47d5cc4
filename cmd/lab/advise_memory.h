/*
 * 'mmprof advise --memtrace'; as parts.h has it.
 */
#ifndef CMD_LAB_ADVISE_MEMORY_H
#define CMD_LAB_ADVISE_MEMORY_H

#include "report/findings/advice.h"

int advise_memory(const char *memtrace, const struct folding_list *libraries,
                  int (*print)(void *context, const struct advice_memory *memory, struct err *err), void *context,
                  struct err *err);

#endif
