/* mmprof-fleet: many JVMs' recordings as rows, which 'mmprof fleet' starts. */
#include "cmd/metrics_file.h"
#include "cmd/parts.h"
#include "cmd/program.h"
#include "core/base/arena.h"
#include "report/fleet/fleet_rows.h"

/* ---- mmprof export --format parquet ---- */

#define BUCKET_S  60
#define MIN_SHARE 0.001 /* of a method that gets rows */

static int write_all(const struct export_parquet_options *o, const struct fleet_options *fleet, FILE *out,
                     struct err *err)
{
    struct parquet_writer *writer;
    if (fleet_rows_open(&writer, out, fleet, err) < 0)
        return -1;
    for (size_t i = 0; i < o->n_paths; i++)
        if (fleet_rows_add(writer, o->paths[i], fleet, err) < 0) {
            parquet_abandon(writer);
            return -1;
        }
    return parquet_close(writer, err);
}

/* The rows of all traces, with labels. */
static int export_parquet(const struct export_parquet_options *o, FILE *out, struct err *err)
{
    struct arena arena = { NULL, 0 };
    struct fleet_options fleet = { .bucket_ns = (o->bucket_s < 0 ? BUCKET_S : o->bucket_s) * 1e9,
                                   .min_share = o->min_share < 0 ? MIN_SHARE : o->min_share,
                                   .salvage = o->salvage };
    struct metrics_labels labels = { NULL, NULL, NULL };
    int rc = metrics_labels_read(o->labels, &labels, &arena, err);
    fleet.host = labels.host;
    fleet.service = labels.service;
    fleet.version = labels.version;
    if (rc == 0)
        rc = write_all(o, &fleet, out, err);
    arena_free(&arena);
    return rc;
}

const struct program_parts parts = { .export_parquet = export_parquet };

static const struct command commands[] = {
    { "fleet", NULL, command_fleet },
    { "export", NULL, command_export }, /* -f parquet */
    { NULL, NULL, NULL },
};

static const struct program program = { "Rows of many JVMs; 'mmprof fleet' is the same.\n", commands };

int main(int argc, char **argv)
{
    return program_main(&program, argc, argv);
}
