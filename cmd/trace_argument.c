#include "cmd/trace_argument.h"

int command_parse_trace(const char *usage, const char *purpose, const struct options_row *rows, int argc, char **argv,
                        const char **path, bool *done, struct err *err)
{
    *path = NULL;
    for (;;) {
        int n;
        if (command_parse(usage, purpose, rows, argc, argv, &n, done, err) < 0)
            return -1;
        if (*done || n >= argc)
            break;
        if (*path != NULL) {
            err_set(err, "one trace at a time, not '%s' and '%s'", *path, argv[n]);
            return err_next(err, "run it once for each of them");
        }
        *path = argv[n];
        /* The rest is parsed as if the trace's name were the command's. */
        argc -= n;
        argv += n;
    }
    if (*path == NULL)
        *path = DEFAULT_TRACE;
    return 0;
}

int command_print_table(const struct table *table, bool as_csv, bool as_json, struct err *err)
{
    if (as_csv && as_json) {
        err_set(err, "--csv and --json are two formats");
        return err_next(err, "choose one of them");
    }
    if (as_csv)
        return table_print_csv(table, stdout, err);
    return as_json ? table_print_json(table, stdout, err) : table_print_text(table, stdout, err);
}
