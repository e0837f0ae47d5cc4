#include "cmd/export_parquet.h"

#include "core/base/text.h"

#include <string.h>

#define LABEL_BYTES_MAX 200

/* Where the value of a label goes; NULL: there is no such label. */
static const char **label_target(struct fleet_options *fleet, const char *label, size_t n)
{
    const struct {
        const char *name;
        const char **value;
    } labels[] = { { "service", &fleet->service }, { "version", &fleet->version }, { "host", &fleet->host } };
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++)
        if (strlen(labels[i].name) == n && strncmp(label, labels[i].name, n) == 0)
            return labels[i].value;
    return NULL;
}

static int take_label(const char *label, struct fleet_options *fleet, struct arena *arena, struct err *err)
{
    const char *equals = strchr(label, '=');
    const char **value = equals == NULL ? NULL : label_target(fleet, label, (size_t)(equals - label));
    if (value == NULL || equals[1] == '\0') {
        err_set(err, "'%s' is no label", label);
        return err_next(err, "give --label service=NAME, --label version=NAME or --label host=NAME");
    }
    if (strlen(equals + 1) > LABEL_BYTES_MAX) {
        err_set(err, "the label '%.*s' has more than %d bytes", (int)(equals - label), label, LABEL_BYTES_MAX);
        return err_next(err, "choose a shorter one");
    }
    *value = text_utf8(arena, equals + 1, strlen(equals + 1));
    return *value == NULL ? err_set(err, "out of memory for labels") : 0;
}

int export_labels(const struct options_list *labels, struct fleet_options *fleet, struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < labels->n; i++)
        if (take_label(labels->items[i], fleet, arena, err) < 0)
            return -1;
    return 0;
}

static int write_all(const struct export_parquet_options *o, const struct fleet_options *fleet, FILE *out,
                     struct err *err)
{
    struct parquet_writer *writer;
    if (fleet_rows_open(&writer, out, fleet, err) < 0)
        return -1;
    for (size_t i = 0; i < o->n_paths; i++)
        if (fleet_rows_add(writer, o->paths[i], fleet, err) < 0) {
            parquet_abandon(writer);
            return -1;
        }
    return parquet_close(writer, err);
}

int export_parquet(const struct export_parquet_options *o, FILE *out, struct err *err)
{
    struct arena arena = { NULL, 0 };
    struct fleet_options fleet = { .bucket_ns = o->bucket_s * 1e9, .min_share = o->min_share, .salvage = o->salvage };
    int rc = export_labels(o->labels, &fleet, &arena, err);
    if (rc == 0)
        rc = write_all(o, &fleet, out, err);
    arena_free(&arena);
    return rc;
}
