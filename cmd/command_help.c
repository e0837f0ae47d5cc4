#include "cmd/commands.h"

static void print_help(const char *usage, const char *purpose, const struct options_row *rows, bool with_rare)
{
    printf("usage: mmprof %s\n\n%s\n\n", usage, purpose);
    size_t n_left = options_help(stdout, rows, with_rare);
    printf("%s  %-30s %s\n", rows->type == OPTION_GROUP ? "\n" : "", "-h, --help", "show this");
    if (n_left != 0)
        printf("      %-26s %s\n", "--help-all", "show all options");
}

int command_parse(const char *usage, const char *purpose, const struct options_row *rows, int argc, char **argv,
                  int *n_parsed, bool *done, struct err *err)
{
    bool is_all = false;
    *done = false;
    for (int i = 1; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0; i++) {
        is_all = is_all || strcmp(argv[i], "--help-all") == 0;
        *done = *done || is_all || strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
    }
    if (!*done)
        return options_parse(rows, argc, argv, n_parsed, err);
    print_help(usage, purpose, rows, is_all);
    return 0;
}
