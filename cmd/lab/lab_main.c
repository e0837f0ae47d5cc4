/*
 * mmprof-lab: the laboratory, which 'mmprof memtrace' and others start.  Programs run in an emulator, or under a JIT
 * compiler that is looked at.
 */
#include "cmd/program.h"

/* The first ones are its own; the others are mmprof's, with --simulate, --memtrace, --models and views of misses. */
static const struct command commands[] = {
    { "memtrace", NULL, command_memtrace },   { "placement", NULL, command_placement },
    { "check-jit", NULL, command_check_jit }, { "jit", NULL, command_jit },
    { "drive", NULL, command_drive },         { "sweep", NULL, command_sweep },
    { "profile", NULL, command_profile },     { "record", NULL, command_record },
    { "report", NULL, command_report },       { "advise", NULL, command_advise },
    { "list", NULL, command_list },           { NULL, NULL, NULL },
};

static const struct program program = { "The laboratory of mmprof, which 'mmprof memtrace' and others start.\n",
                                        commands };

int main(int argc, char **argv)
{
    return program_main(&program, argc, argv);
}
