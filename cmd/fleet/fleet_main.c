/*
 * mmprof-fleet: many JVMs' recordings as rows, which 'mmprof fleet' starts.
 */
#include "cmd/program.h"

#include <stddef.h>

static const struct command commands[] = {
    { "fleet", "add|select|compare|sql DIR", "select phases over recordings of many JVMs, or query them with SQL",
      command_fleet },
    { "export", "-f parquet [TRACE]", "write traces as rows", command_export },
    { NULL, NULL, NULL, NULL },
};

static const struct program program = { "Rows of many JVMs; 'mmprof fleet' is the same.\n", commands };

int main(int argc, char **argv)
{
    return program_main(&program, argc, argv);
}
