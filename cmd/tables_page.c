#include "cmd/tables_page.h"

#include "cmd/output_file.h"
#include "core/base/text.h"

int tables_page_check(const char *html, bool as_csv, bool as_json, struct err *err)
{
    if (html == NULL || (!as_csv && !as_json))
        return 0;
    err_set(err, "--html writes a page, and --%s a table", as_csv ? "csv" : "json");
    return err_next(err, "choose one of them");
}

const char *tables_page_command(struct arena *arena, char *const *argv)
{
    size_t n = 0;
    while (argv[n] != NULL)
        n++;
    return text_words(arena, (const char *const *)argv, n);
}

int tables_page_write(const struct html_tables *tables, const char *pattern, struct err *err)
{
    char path[PATH_MAX];
    struct output_file file;
    if (output_file_name(pattern, "--html", 0, path, err) < 0 || output_file_open(&file, path, "--html", err) < 0)
        return -1;
    return output_file_close(&file, html_tables_write(tables, file.out, err), err);
}
