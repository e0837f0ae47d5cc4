#include "cmd/fleet/fleet_command.h"

#include "cmd/output_file.h"
#include "report/fleet/fleet_queries.h"
#include "report/html/html_fleet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHARTS_MAX 60

static bool is_same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* The points of the selected phases, in their order. */
static void choose_points(const struct fleet_result *selected, const struct fleet_result *days,
                          struct html_fleet_point *points, size_t *n)
{
    *n = 0;
    for (size_t s = 0; s < selected->n_rows && s < CHARTS_MAX; s++) {
        const char *const *phase = selected->values + s * selected->n_columns;
        for (size_t d = 0; d < days->n_rows; d++) {
            const char *const *day = days->values + d * days->n_columns;
            if (is_same(day[0], phase[0]) && is_same(day[1], phase[1]))
                points[(*n)++] = (struct html_fleet_point){ .service = day[0],
                                                            .phase = day[1],
                                                            .version = day[2],
                                                            .day = day[3],
                                                            .ns_per_call = day[4] == NULL ? NAN : strtod(day[4], NULL),
                                                            .share = day[5] == NULL ? NAN : strtod(day[5], NULL) };
        }
    }
}

static int write_page(const struct html_fleet *page, const char *pattern, struct err *err)
{
    char path[PATH_MAX];
    struct output_file file;
    if (output_file_name(pattern, "--html", 0, path, err) < 0 || output_file_open(&file, path, "--html", err) < 0)
        return -1;
    return output_file_close(&file, html_fleet_write(page, file.out, err), err);
}

int fleet_page_write(struct fleet_command_run *run, const struct fleet_result *selected, const struct table *table,
                     struct err *err)
{
    const struct fleet_arguments *a = run->arguments;
    const char *sql = fleet_days_sql(run->engine, &run->arena, a->service);
    struct html_fleet page = { .of = a->server != NULL ? a->server : a->words[1],
                               .table = table,
                               .arena = &run->arena };
    struct fleet_result days;
    if (sql == NULL)
        return err_set(err, "out of memory for a query");
    if (fleet_engine_query(run->engine, sql, &run->arena, &days, err) < 0)
        return -1;
    struct html_fleet_point *points = arena_alloc(&run->arena, (days.n_rows + 1) * sizeof *points);
    if (points == NULL)
        return err_set(err, "out of memory for a page");
    choose_points(selected, &days, points, &page.n_points);
    page.points = points;
    return write_page(&page, a->html, err);
}
