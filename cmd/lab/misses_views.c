#include "cmd/lab/lab_command.h"

#include "report/view/bytecode_names.h"
#include "report/view/misses_report.h"

#define FIELDS_MOST 200 /* rows of a page */

int misses_view(struct report_run *run, struct table *table, struct err *err)
{
    const struct report_options *o = run->options;
    const struct report_source *source = run->traces[0].source;
    enum misses_by by = MISSES_BY_CLASS;
    struct misses misses = { .locations = NULL };
    if (o->argument[0] != '\0' && misses_way(o->argument, &by, err) < 0)
        return -1;
    if (o->java && by == MISSES_CONTENTS) {
        err_set(err, "the contents of the caches are not recorded by the code that loaded them");
        return err_next(err, "remove it, or use --view misses=class,java");
    }
    int rc = misses_read(source, o->salvage, by, 0, &misses, err);
    if (rc == 0 && o->java)
        rc = misses_keep_java(&misses, err);
    if (rc == 0)
        rc = misses_table(source, &misses, by, o->rows.top, o->sources, table, err);
    misses_free(&misses);
    return rc;
}

int fields_view(struct report_run *run, struct table *table, struct err *err)
{
    const struct report_options *o = run->options;
    const struct report_source *source = run->traces[0].source;
    struct misses misses = { .locations = NULL };
    bool by_class;
    if (fields_way(o->argument, "--view fields", &by_class, err) < 0)
        return -1;
    int rc = misses_read(source, o->salvage, MISSES_BY_FIELD, o->decay_s, &misses, err);
    if (rc == 0 && o->java)
        rc = misses_keep_java(&misses, err);
    if (rc == 0)
        rc = fields_table(source, &misses, by_class, o->rows.top, table, err);
    misses_free(&misses);
    return rc;
}

int fields_of_page(struct report_run *run, struct table *table)
{
    const struct report_source *source = run->traces[0].source;
    struct misses misses = { .locations = NULL };
    struct err none;
    int rc = misses_read(source, run->options->salvage, MISSES_BY_FIELD, run->options->decay_s, &misses, &none);
    if (rc == 0)
        rc = fields_table(source, &misses, false, FIELDS_MOST, table, &none);
    misses_free(&misses);
    return rc;
}
