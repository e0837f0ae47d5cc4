#include "cmd/metrics_file.h"

#include "cmd/export_parquet.h"
#include "cmd/output_file.h"
#include "report/view/phase_report.h"
#include "report/view/view_pass.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

int metrics_file_open(struct metrics_file *file, const struct options_list *labels, struct err *err)
{
    *file = (struct metrics_file){ .labels = labels };
    return export_labels(labels, &file->options, &file->arena, err);
}

void metrics_file_close(struct metrics_file *file)
{
    arena_free(&file->arena);
}

/* ---- a trace ---- */

static int add_pass(struct metrics_file *file, struct view_pass *pass, struct arena *arena, struct err *err)
{
    static const struct report_row_options options = { .sort = "time" };
    struct report_source source;
    struct fleet_run run;
    struct table table;
    if (sampled_tree(&pass->source, view_pass_samples(pass, &pass->source), false, &source, err) < 0 ||
        report_make(&source, pass->totals, pass->n_totals, &options, &table, err) < 0)
        return -1;
    if (fleet_run_find(source.reader, &file->options, arena, &run) < 0)
        return err_set(err, "out of memory for metrics");
    snprintf(file->host, sizeof file->host, "%s", run.host == NULL ? "" : run.host);
    fleet_totals_add(&file->totals, &table, &source);
    return 0;
}

int metrics_file_add(struct metrics_file *file, const char *trace, bool salvage, struct err *err)
{
    struct arena arena = { NULL, 0 };
    struct view_pass pass = { .arena = &arena };
    struct view_pass_options options = { .path = trace,
                                         .salvage = salvage,
                                         .parts = VIEW_PASS_SAMPLES,
                                         .clock = PHASES_CPU,
                                         .libraries = folding_read(NULL, &arena, err) };
    int rc = options.libraries == NULL || view_pass_read(&options, &arena, &pass, err) < 0 ? -1 : 0;
    if (rc == 0)
        rc = add_pass(file, &pass, &arena, err);
    view_pass_close(&pass);
    arena_free(&arena);
    return rc;
}

/* ---- the file ---- */

int metrics_file_write(const struct metrics_file *file, const char *path, bool goes_on, struct err *err)
{
    const struct fleet_run run = { .host = file->host[0] == '\0' ? NULL : file->host,
                                   .service = file->options.service,
                                   .version = file->options.version };
    struct output_file out;
    char beside[PATH_MAX];
    if (snprintf(beside, sizeof beside, "%s.%d", path, (int)getpid()) >= (int)sizeof beside)
        return err_set(err, "the name '%.60s...' is too long", path);
    if (output_file_open(&out, beside, "--metrics", err) < 0 ||
        output_file_close(&out, fleet_metrics_write(&file->totals, &run, goes_on, out.out, err), err) < 0)
        return -1;
    if (rename(beside, path) == 0)
        return 0;
    err_set(err, "cannot write '%s': %s", path, strerror(errno));
    unlink(beside);
    return err_next(err, "name another file with --metrics");
}
