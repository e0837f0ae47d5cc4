#include "cmd/fleet/export_parquet.h"

const struct program_parts parts = { .export_parquet = export_parquet };
