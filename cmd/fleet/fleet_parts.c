#include "cmd/fleet/export_parquet.h"

const struct parts parts = { .export_parquet = export_parquet };
