#include "cmd/metrics_file.h"

#include "cmd/output_file.h"
#include "core/base/text.h"
#include "core/trace/recording_info.h"
#include "report/view/phase_report.h"
#include "report/view/view_pass.h"

/* ---- labels ---- */

#define LABEL_BYTES_MAX 200

/* Where the value of a label goes; NULL: there is no such label. */
static const char **label_target(struct metrics_labels *labels, const char *label, size_t n)
{
    const struct {
        const char *name;
        const char **value;
    } known[] = { { "service", &labels->service }, { "version", &labels->version }, { "host", &labels->host } };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i].name) == n && strncmp(label, known[i].name, n) == 0)
            return known[i].value;
    return NULL;
}

static int take_label(const char *label, struct metrics_labels *labels, struct arena *arena, struct err *err)
{
    const char *equals = strchr(label, '=');
    const char **value = equals == NULL ? NULL : label_target(labels, label, (size_t)(equals - label));
    if (value == NULL || equals[1] == '\0') {
        err_set(err, "'%s' is not a label", label);
        return err_next(err, "give --label service=NAME, --label version=NAME or --label host=NAME");
    }
    if (strlen(equals + 1) > LABEL_BYTES_MAX) {
        err_set(err, "the label '%.*s' has more than %d bytes", (int)(equals - label), label, LABEL_BYTES_MAX);
        return err_next(err, "choose a shorter one");
    }
    *value = text_utf8(arena, equals + 1, strlen(equals + 1));
    return 0;
}

int metrics_labels_read(const struct options_list *list, struct metrics_labels *labels, struct arena *arena,
                        struct err *err)
{
    for (size_t i = 0; i < list->n; i++)
        if (take_label(list->items[i], labels, arena, err) < 0)
            return -1;
    return 0;
}

int metrics_file_open(struct metrics_file *file, const struct options_list *labels, struct err *err)
{
    *file = (struct metrics_file){ .labels = labels };
    return metrics_labels_read(labels, &file->options, &file->arena, err);
}

void metrics_file_close(struct metrics_file *file)
{
    arena_free(&file->arena);
}

/* ---- a trace ---- */

static int add_pass(struct metrics_file *file, struct view_pass *pass, struct err *err)
{
    static const struct report_row_options options = { .sort = "time" };
    struct report_source source;
    struct table table;
    sampled_tree(&pass->source, view_pass_samples(pass, &pass->source), false, &source);
    if (report_make(&source, pass->totals, pass->n_totals, &options, &table, err) < 0)
        return -1;
    const char *host = file->options.host != NULL ? file->options.host : info_text(source.reader, INFO_HOST);
    snprintf(file->host, sizeof file->host, "%s", host == NULL ? "" : host);
    metrics_totals_add(&file->totals, &table, &source);
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
        rc = add_pass(file, &pass, err);
    view_pass_close(&pass);
    arena_free(&arena);
    return rc;
}

/* ---- the file ---- */

int metrics_file_write(const struct metrics_file *file, const char *path, bool goes_on, struct err *err)
{
    const struct metrics_labels labels = { .host = file->host[0] == '\0' ? NULL : file->host,
                                           .service = file->options.service,
                                           .version = file->options.version };
    struct output_file out;
    char beside[PATH_MAX];
    if (snprintf(beside, sizeof beside, "%s.%d", path, (int)getpid()) >= (int)sizeof beside)
        return err_set(err, "the name '%.60s...' is too long", path);
    if (output_file_open(&out, beside, "--metrics", err) < 0 ||
        output_file_close(&out, metrics_write(&file->totals, &labels, goes_on, out.out, err), err) < 0)
        return -1;
    if (rename(beside, path) == 0)
        return 0;
    err_set(err, "cannot write '%s': %s", path, strerror(errno));
    unlink(beside);
    return err_next(err, "name another file with --metrics");
}
