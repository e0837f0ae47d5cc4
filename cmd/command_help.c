#include "cmd/commands.h"

#include <stdbool.h>
#include <string.h>

int command_parse(const char *usage, const char *purpose, const struct options_row *rows, int argc, char **argv,
                  int *n_parsed, bool *done, struct err *err)
{
    *done = false;
    for (int i = 1; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0; i++)
        *done = *done || strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
    if (*done) {
        printf("usage: mmprof %s\n\n%s\n\n", usage, purpose);
        options_help(stdout, rows);
        printf("%s  %-30s %s\n", rows->type == OPTION_GROUP ? "\n" : "", "-h, --help", "show this");
        return 0;
    }
    return options_parse(rows, argc, argv, n_parsed, err);
}
