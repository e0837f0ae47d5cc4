#include "cmd/fleet/fleet_command.h"

const struct program_parts parts = { .export_parquet = export_parquet };
