#include "report/html/html.h"

#include "report/html/html_data.h"

#include <string.h>

/* report/html/, made into one text by the build; the data go to the mark. */
extern const unsigned char html_template[];

static const char mark[] = "@DATA@";

int html_write_json(const cJSON *json, FILE *out, struct err *err)
{
    const char *text = (const char *)html_template, *at = strstr(text, mark);
    fwrite(text, 1, (size_t)(at - text), out);
    int rc = html_print_json(json, out, err);
    fputs(at + strlen(mark), out);
    return rc == 0 && ferror(out) ? err_set(err, "cannot write the page") : rc;
}

int html_write(const struct html_page *page, FILE *out, struct err *err)
{
    cJSON *json = html_data(page);
    if (json == NULL)
        return err_set(err, "out of memory for a page of %zu methods", page->traces[0].n_totals);
    int rc = html_write_json(json, out, err);
    cJSON_Delete(json);
    return rc;
}
