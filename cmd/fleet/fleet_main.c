/*
 * mmprof-fleet: many JVMs' recordings as rows, which 'mmprof fleet' starts.
 */
#include "cmd/program.h"

#include <stddef.h>

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
