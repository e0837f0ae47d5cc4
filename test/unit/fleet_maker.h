/*
 * Files of a fleet whose rows a test makes up, and normal noise.
 */
#ifndef TEST_UNIT_FLEET_MAKER_H
#define TEST_UNIT_FLEET_MAKER_H

#include "report/fleet/fleet_rows.h"

#include <stdint.h>
#include <stdlib.h>

/* Negative numbers are NULL, and so are texts that are. */
struct fleet_made {
    const char *run, *host, *service, *version, *jdk, *cpu_model, *counted_by, *simulated;
    int64_t file, ts; /* file 0: NULL */
    const char *kind, *phase, *parent;
    int64_t calls, called_ns, cpu_ns, self_ns, cycles, instructions;
};

struct fleet_maker {
    struct parquet_writer *writer;
    FILE *out;
    struct err err;
};

static const struct parquet_column fleet_maker_columns[] = {
    { "run", PARQUET_TEXT },
    { "file", PARQUET_NUMBER },
    { "host", PARQUET_TEXT },
    { "service", PARQUET_TEXT },
    { "version", PARQUET_TEXT },
    { "jdk", PARQUET_TEXT },
    { "cpu_model", PARQUET_TEXT },
    { "counted_by", PARQUET_TEXT },
    { "simulated", PARQUET_TEXT },
    { "ts", PARQUET_TIME_US },
    { "kind", PARQUET_TEXT },
    { "phase", PARQUET_TEXT },
    { "parent", PARQUET_TEXT },
    { "calls", PARQUET_NUMBER },
    { "called_ns", PARQUET_NUMBER },
    { "cpu_ns", PARQUET_NUMBER },
    { "self_ns", PARQUET_NUMBER },
    { "cycles", PARQUET_NUMBER },
    { "instructions", PARQUET_NUMBER },
};

#define FLEET_MADE_COLUMNS (sizeof fleet_maker_columns / sizeof fleet_maker_columns[0])

static inline void fleet_maker_open(struct fleet_maker *maker, const char *path)
{
    maker->out = fopen(path, "w");
    if (maker->out == NULL ||
        parquet_open(&maker->writer, maker->out, fleet_maker_columns, FLEET_MADE_COLUMNS, &maker->err) < 0) {
        printf("Bail out! '%s' cannot be written\n", path);
        exit(1);
    }
}

static inline struct parquet_value fleet_made_text(const char *text)
{
    return (struct parquet_value){ .is_there = text != NULL, .text = text };
}

static inline struct parquet_value fleet_made_number(int64_t number)
{
    return (struct parquet_value){ .is_there = number >= 0, .number = number };
}

static inline void fleet_maker_row(struct fleet_maker *maker, const struct fleet_made *row)
{
    const struct parquet_value values[FLEET_MADE_COLUMNS] = {
        fleet_made_text(row->run),
        fleet_made_number(row->file > 0 ? row->file : -1),
        fleet_made_text(row->host),
        fleet_made_text(row->service),
        fleet_made_text(row->version),
        fleet_made_text(row->jdk),
        fleet_made_text(row->cpu_model),
        fleet_made_text(row->counted_by),
        fleet_made_text(row->simulated),
        fleet_made_number(row->ts),
        fleet_made_text(row->kind),
        fleet_made_text(row->phase),
        fleet_made_text(row->parent),
        fleet_made_number(row->calls),
        fleet_made_number(row->called_ns),
        fleet_made_number(row->cpu_ns),
        fleet_made_number(row->self_ns),
        fleet_made_number(row->cycles),
        fleet_made_number(row->instructions),
    };
    parquet_row(maker->writer, values, &maker->err);
}

/* version: of the schema; NULL: as a foreign program writes. */
static inline void fleet_maker_close(struct fleet_maker *maker, const char *version)
{
    if (version != NULL) {
        parquet_metadata(maker->writer, "mmprof.schema", FLEET_SCHEMA);
        parquet_metadata(maker->writer, "mmprof.schema_version", version);
        parquet_metadata(maker->writer, "mmprof.bucket_ns", "60000000000");
    }
    parquet_close(maker->writer, &maker->err);
    fclose(maker->out);
}

/* ---- noise ---- */

static uint64_t fleet_noise_state;

static inline void fleet_noise_seed(int seed)
{
    fleet_noise_state = 88172645463325252u + (uint64_t)seed * 7919;
}

/* Even in 0..1. */
static inline double fleet_noise_even(void)
{
    fleet_noise_state ^= fleet_noise_state << 13;
    fleet_noise_state ^= fleet_noise_state >> 7;
    fleet_noise_state ^= fleet_noise_state << 17;
    return (double)(fleet_noise_state >> 11) / 9007199254740992.0;
}

/* Normal, of mean 0 and deviation 1: the sum of twelve even ones. */
static inline double fleet_noise(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += fleet_noise_even();
    return sum;
}

#endif
