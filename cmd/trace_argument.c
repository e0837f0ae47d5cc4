#include "cmd/trace_argument.h"

int command_parse_traces(const char *usage, const char *purpose, const struct options_row *rows, int argc, char **argv,
                         const char **paths, size_t max, size_t *n, bool *done, struct err *err)
{
    *n = 0;
    for (;;) {
        int i;
        if (command_parse(usage, purpose, rows, argc, argv, &i, done, err) < 0)
            return -1;
        if (*done || i >= argc)
            break;
        if (*n == max) {
            if (max == 1) {
                err_set(err, "one trace at a time, not '%s' and '%s'", paths[0], argv[i]);
                return err_next(err, "run it once for each of them");
            }
            return err_set(err, "more than %zu traces", max);
        }
        paths[(*n)++] = argv[i];
        /* The rest is parsed as if the trace's name were the command's. */
        argc -= i;
        argv += i;
    }
    if (*n == 0)
        paths[(*n)++] = DEFAULT_TRACE;
    return 0;
}

int command_parse_trace(const char *usage, const char *purpose, const struct options_row *rows, int argc, char **argv,
                        const char **path, bool *done, struct err *err)
{
    size_t n;
    return command_parse_traces(usage, purpose, rows, argc, argv, path, 1, &n, done, err);
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
