/* mmprof's own: it has none. */
#include "cmd/parts.h"

const struct program_parts parts = { .export_parquet = NULL };
